// SPDX-License-Identifier: Apache-2.0
// warpfold_untrained_scene: the Gaussians from which 3D Gaussian Splatting would start a training,
// from the points and cameras of a reconstruction. Needs no GPU.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>

#include "traces/capture/common/input.hpp"
#include "traces/capture/splat/scene_file.hpp"
#include "traces/capture/training/model.hpp"
#include "traces/capture/training/point_cloud.hpp"
#include "traces/capture/training/views.hpp"

namespace {

using namespace warpfold::capture;
using namespace warpfold::capture::training;

constexpr int kBadInput = 2;

int run(int argc, char** argv) {
  CLI::App app("Writes a .gaussians file of the initial, untrained Gaussians of a point cloud");
  std::filesystem::path points, cameras, out;
  std::string view_name, name;
  app.add_option("--points", points, "coloured points, a binary PLY file")->required();
  app.add_option("--camera", cameras, "the cameras.json of a 3D Gaussian Splatting model")
      ->required();
  app.add_option("--view", view_name, "name of the view's picture, such as 00001")->required();
  app.add_option("--name", name, "of the scene")->required();
  app.add_option("--out", out, "the .gaussians file to write")->required();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kBadInput;
  }
  std::error_code error;
  for (const std::filesystem::path& input : {points, cameras}) {
    if (std::filesystem::equivalent(input, out, error)) {
      throw InputError(out.string() + ": is a file to read");
    }
  }
  const std::vector<View> views = read_camera_list(cameras);
  const auto view = std::find_if(views.begin(), views.end(),
                                 [&](const View& entry) { return entry.name == view_name; });
  if (view == views.end()) {
    throw InputError(cameras.string() + ": has no view \"" + view_name + "\"; the first is \"" +
                     views.front().name + "\"");
  }
  const Model model = initial_model(read_point_cloud(points));
  Scene scene;
  scene.name = name;
  scene.state = "untrained: initialised from the points of a reconstruction";
  scene.view = "view " + view->name + " of " + cameras.filename().string();
  scene.camera = view->camera;
  scene.gaussians = training::activate(model, 0, view->camera);
  write_gaussians(out, scene);
  std::printf("%s: %zu Gaussians, %dx%d\n", out.c_str(), scene.gaussians.size(), view->camera.width,
              view->camera.height);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "warpfold_untrained_scene: %s\n", error.what());
    return kBadInput;
  }
}

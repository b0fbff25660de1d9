// SPDX-License-Identifier: Apache-2.0
// Scenes of Gaussians: .splat, .gaussians, and the points of a .ply that a training starts from.
#include <cmath>
#include <cstring>

#include "tb/fuzz/fuzz.hpp"
#include "traces/capture/common/input.hpp"
#include "traces/capture/splat/scene.hpp"
#include "traces/capture/splat/scene_file.hpp"
#include "traces/capture/training/model.hpp"
#include "traces/capture/training/point_cloud.hpp"

namespace warpfold::fuzz {

namespace {

using namespace warpfold::capture;

constexpr std::size_t kMostPoints = 500;  // of which a model is made here

template <class Gaussian>
void check_finite(const Gaussian& g) {
  for (const float value : {g.position[0], g.position[1], g.position[2], g.scale[0], g.scale[1],
                            g.scale[2], g.opacity}) {
    if (!std::isfinite(value)) {
      finding("a Gaussian that is not finite");
    }
  }
}

void read_splat(std::string_view bytes) {
  const std::filesystem::path path = file("scene.splat", bytes);
  takes<InputError>(
      [&] {
        for (const SceneGaussian& g : decode(load_splats(path))) {
          check_finite(g);
        }
      },
      path);
}

void read_own(std::string_view bytes) {
  const std::filesystem::path path = file("scene.gaussians", bytes);
  takes<InputError>(
      [&] {
        const Scene scene = read_gaussians(path);
        const std::filesystem::path again = folder() / "again.gaussians";
        try {
          write_gaussians(again, scene);
          if (read_gaussians(again).gaussians.size() != scene.gaussians.size()) {
            finding("written again, the scene is another");
          }
        } catch (const InputError& error) {
          finding(std::string("what was read is not written: ") + error.what());
        }
      },
      path);
}

void read_ply(std::string_view bytes) {
  const std::filesystem::path path = file("points.ply", bytes);
  takes<InputError>(
      [&] {
        const auto points = training::read_point_cloud(path);
        if (points.size() <= kMostPoints) {
          takes<InputError>([&] { static_cast<void>(training::initial_model(points)); });
        }
      },
      path);
}

}  // namespace

void run(std::string_view input) {
  Front front(input);
  switch (front.number(1) % 3) {
    case 0:
      read_splat(front.rest());
      break;
    case 1:
      read_own(front.rest());
      break;
    default:
      read_ply(front.rest());
  }
}

std::vector<std::string> seeds() {
  Scene scene;
  scene.name = "made@1";
  scene.state = "untrained";
  scene.view = "a view";
  scene.loss = "a loss";
  scene.camera.width = 4;
  scene.camera.height = 2;
  scene.camera.focal_x = scene.camera.focal_y = 5;
  scene.camera.tan_x = scene.camera.tan_y = 0.5F;
  SceneGaussian gaussian{};
  gaussian.rotation[0] = 1;
  gaussian.scale[0] = gaussian.opacity = 0.5F;
  scene.gaussians = {gaussian, gaussian};
  std::vector<std::string> all;
  for (const std::size_t pixels : {0U, 8U}) {
    scene.loss_gradient.assign(3 * pixels, 0.25F);
    write_gaussians(folder() / "made.gaussians", scene);
    all.push_back("\1" + content_of(folder() / "made.gaussians"));
  }
  std::string splat(65, '\0');
  const float one = 1;
  for (const std::size_t at : {0U, 12U, 16U, 20U, 36U, 44U}) {
    std::memcpy(splat.data() + 1 + at, &one, sizeof one);
  }
  all.push_back(splat);
  std::string ply =
      "\2ply\nformat binary_little_endian 1.0\ncomment made\nelement vertex 4\nproperty float x\n"
      "property float y\nproperty float z\nproperty uchar red\nproperty uchar green\nproperty "
      "uchar "
      "blue\nelement face 0\nproperty list uchar int vertex_indices\nend_header\n";
  for (int i = 0; i < 4; ++i) {
    std::string point(15, static_cast<char>(i));
    std::memcpy(point.data() + 4 * (i % 3), &one, sizeof one);
    ply += point;
  }
  all.push_back(ply);
  all.push_back(
      "\2ply\nformat ascii 1.0\nelement camera 1\nproperty list uchar int ids\nelement vertex 4\n"
      "property double x\nproperty double y\nproperty double z\nproperty float r\nproperty float "
      "g\nproperty ushort b\nend_header\n2 3 4\n0 0 0 1 0 0\n1 0 0 0 .5 9\n0 1 0 0 1 65535\n0 0 "
      "1e0 0 0 "
      "0\n");
  return all;
}

}  // namespace warpfold::fuzz

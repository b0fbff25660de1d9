// SPDX-License-Identifier: Apache-2.0
#include "traces/capture/splat/scene_file.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>

#include "traces/capture/common/input.hpp"
#include "traces/format/whole_file.hpp"

namespace warpfold::capture {
namespace {

constexpr std::array<char, 8> kMagic = {'\x89', 'W', 'F', 'G', '\r', '\n', '\x1a', '\n'};
constexpr std::uint32_t kVersion = 1;
constexpr std::uint32_t kMaxTextBytes = 1U << 20;
constexpr const char* kWavesLoss = "mean squared error against a fixed picture of waves";

struct Prelude {
  std::array<char, 8> magic = kMagic;
  std::uint32_t version = kVersion;
  std::uint32_t text_bytes = 0;
};
static_assert(sizeof(Prelude) == 16);

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& why) {
  throw InputError(path.string() + ": is no .gaussians file: " + why);
}

template <std::size_t N>
void read_numbers(const nlohmann::json& json, float (&out)[N]) {
  const auto values = json.get<std::array<float, N>>();
  std::copy(values.begin(), values.end(), out);
}

Camera read_camera(const nlohmann::json& json) {
  Camera camera;
  camera.width = static_cast<int>(whole_number(json, "width", 1, kMaxSide));
  camera.height = static_cast<int>(whole_number(json, "height", 1, kMaxSide));
  float focal[2], tan[2];
  read_numbers(json.at("focal"), focal);
  read_numbers(json.at("tan"), tan);
  read_numbers(json.at("view"), camera.view);
  camera.focal_x = focal[0];
  camera.focal_y = focal[1];
  camera.tan_x = tan[0];
  camera.tan_y = tan[1];
  return camera;
}

bool usable(const Camera& camera) {
  const auto positive = [](float v) { return std::isfinite(v) && v > 0; };
  return camera.width >= 1 && camera.height >= 1 && camera.width <= kMaxSide &&
         camera.height <= kMaxSide && positive(camera.focal_x) && positive(camera.focal_y) &&
         positive(camera.tan_x) && positive(camera.tan_y) &&
         std::all_of(std::begin(camera.view), std::end(camera.view),
                     [](float v) { return std::isfinite(v); });
}

bool usable(const SceneGaussian& g) {
  const auto finite = [](std::span<const float> values) {
    return std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); });
  };
  const bool turned =
      std::any_of(std::begin(g.rotation), std::end(g.rotation), [](float v) { return v != 0; });
  return finite(g.position) && finite(g.scale) && finite(g.rotation) && turned &&
         std::isfinite(g.opacity) && finite(g.color);
}

template <class T>
void read_array(std::ifstream& file, std::vector<T>& out, const std::filesystem::path& path) {
  if (!file.read(reinterpret_cast<char*>(out.data()),
                 static_cast<std::streamsize>(out.size() * sizeof(T)))) {
    refuse(path, "it has been cut off");
  }
}

}  // namespace

Scene read_gaussians(const std::filesystem::path& path) {
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  std::ifstream file(path, std::ios::binary);
  if (error || !file) {
    throw InputError(path.string() + ": cannot read the scene");
  }
  Prelude prelude;
  if (!file.read(reinterpret_cast<char*>(&prelude), sizeof prelude) || prelude.magic != kMagic) {
    refuse(path, "it does not start as one");
  }
  if (prelude.version != kVersion) {
    refuse(path, "its version is " + std::to_string(prelude.version) + ", not 1");
  }
  if (prelude.text_bytes > kMaxTextBytes) {
    refuse(path, "its text is too long");
  }
  std::vector<char> text(prelude.text_bytes);
  read_array(file, text, path);
  Scene scene;
  std::uint64_t count = 0;
  bool has_gradient = false;
  try {
    const auto json = nlohmann::json::parse(text.begin(), text.end());
    scene.name = json.at("name").get<std::string>();
    scene.state = json.at("state").get<std::string>();
    scene.view = json.at("view").get<std::string>();
    scene.loss = json.at("loss").get<std::string>();
    scene.camera = read_camera(json.at("camera"));
    check_file_name(scene.name);  // outputs are named after it
    count = whole_number(json, "gaussians", 1, bytes);
    has_gradient = json.at("loss_gradient").get<bool>();
  } catch (const nlohmann::json::exception& broken) {
    refuse(path, broken.what());
  } catch (const InputError& wrong) {
    refuse(path, wrong.what());
  }
  if (!usable(scene.camera)) {
    refuse(path, "its camera cannot be used");
  }
  const auto pixels = static_cast<std::uint64_t>(scene.camera.pixels());
  const std::uint64_t head = sizeof prelude + prelude.text_bytes;
  const std::uint64_t tail = has_gradient ? 3 * pixels * sizeof(float) : 0;
  if (count == 0 || count > bytes / sizeof(SceneGaussian) ||
      bytes != head + count * sizeof(SceneGaussian) + tail) {
    refuse(path, "its size is not what its text says");
  }
  scene.gaussians.resize(count);
  read_array(file, scene.gaussians, path);
  if (has_gradient) {
    scene.loss_gradient.resize(3 * pixels);
    read_array(file, scene.loss_gradient, path);
  }
  for (std::size_t i = 0; i < scene.gaussians.size(); ++i) {
    if (!usable(scene.gaussians[i])) {
      refuse(path, "Gaussian " + std::to_string(i) + " is not finite or has no rotation");
    }
  }
  return scene;
}

void write_gaussians(const std::filesystem::path& path, const Scene& scene) {
  // What read_gaussians would refuse is not written.
  const auto cannot = [&path](const std::string& why) {
    throw InputError(path.string() + ": cannot be written: " + why);
  };
  const Camera& camera = scene.camera;
  try {
    check_file_name(scene.name);
  } catch (const InputError& wrong) {
    cannot(wrong.what());
  }
  if (!usable(camera)) {
    cannot("its camera cannot be used");
  }
  if (scene.gaussians.empty()) {
    cannot("it has no Gaussians");
  }
  for (std::size_t i = 0; i < scene.gaussians.size(); ++i) {
    if (!usable(scene.gaussians[i])) {
      cannot("Gaussian " + std::to_string(i) + " is not finite or has no rotation");
    }
  }
  if (!scene.loss_gradient.empty() &&
      scene.loss_gradient.size() != 3 * static_cast<std::size_t>(camera.pixels())) {
    cannot("its loss gradient is not of its picture");
  }
  nlohmann::ordered_json json;
  json["name"] = scene.name;
  json["state"] = scene.state;
  json["view"] = scene.view;
  json["loss"] = scene.loss_gradient.empty() ? kWavesLoss : scene.loss;
  json["camera"] = {{"width", camera.width},
                    {"height", camera.height},
                    {"focal", {camera.focal_x, camera.focal_y}},
                    {"tan", {camera.tan_x, camera.tan_y}},
                    {"view", camera.view}};
  json["gaussians"] = scene.gaussians.size();
  json["loss_gradient"] = !scene.loss_gradient.empty();
  const std::string text = json.dump();
  if (text.size() > kMaxTextBytes) {
    cannot("its text is too long");
  }
  Prelude prelude;
  prelude.text_bytes = static_cast<std::uint32_t>(text.size());

  try {
    trace::WholeFile file(path);
    file.write(&prelude, sizeof prelude);
    file.write(text.data(), text.size());
    file.write(scene.gaussians.data(), scene.gaussians.size() * sizeof(SceneGaussian));
    file.write(scene.loss_gradient.data(), scene.loss_gradient.size() * sizeof(float));
    file.commit();
  } catch (const trace::FileError& error) {
    throw InputError(error.what());
  }
}

Scene load_scene(const std::filesystem::path& path, const std::filesystem::path& cameras,
                 const std::string& name, TileRule tiles) {
  if (path.extension() == ".gaussians") {
    Scene scene = read_gaussians(path);
    scene.tiles = tiles;
    scene.name += name_ending(tiles);
    return scene;
  }
  if (cameras.empty() || name.empty()) {
    throw InputError(path.string() + ": a .splat file needs --camera and --name");
  }
  const Viewpoint viewpoint = load_viewpoint(cameras, name);
  Scene scene;
  scene.name = name + name_ending(tiles);
  scene.tiles = tiles;
  scene.state = "trained";
  scene.view = describe(viewpoint);
  scene.loss = kWavesLoss;
  scene.camera = make_camera(viewpoint);
  scene.gaussians = decode(load_splats(path));
  if (tiles == TileRule::kBox) {
    scene.published_ms = viewpoint.published_ms;
  }
  return scene;
}

}  // namespace warpfold::capture

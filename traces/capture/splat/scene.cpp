// SPDX-License-Identifier: Apache-2.0
#include "traces/capture/splat/scene.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <numbers>
#include <random>
#include <sstream>
#include <string_view>
#include <utility>

#include "traces/capture/common/input.hpp"

namespace warpfold::capture {
namespace {

static_assert(std::endian::native == std::endian::little, ".splat files are little endian");

using Vector3 = std::array<double, 3>;

Vector3 cross(const Vector3& a, const Vector3& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

double dot(const Vector3& a, const Vector3& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

Vector3 normalized(const Vector3& a, const char* what) {
  const double length = std::sqrt(dot(a, a));
  if (!(length > 1e-12)) {
    throw InputError(std::string("camera: ") + what);
  }
  return {a[0] / length, a[1] / length, a[2] / length};
}

void read_vector(const nlohmann::json& json, const char* key, double (&out)[3]) {
  const auto& array = json.at(key);
  if (!array.is_array() || array.size() != 3) {
    throw InputError(std::string("\"") + key + "\" is not a list of three numbers");
  }
  for (std::size_t i = 0; i < 3; ++i) {
    out[i] = array[i].get<double>();
  }
}

}  // namespace

std::vector<Splat> load_splats(const std::filesystem::path& path) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(path, error);
  if (error) {
    throw InputError(path.string() + ": cannot read the scene: " + error.message());
  }
  if (path.extension() == ".gz") {
    throw InputError(path.string() + ": is compressed; gunzip it first");
  }
  if (bytes == 0 || bytes % sizeof(Splat) != 0) {
    throw InputError(path.string() + ": is no .splat file: " + std::to_string(bytes) +
                     " bytes is not a positive multiple of 32");
  }
  std::vector<Splat> splats(bytes / sizeof(Splat));
  std::ifstream file(path, std::ios::binary);
  if (!file.read(reinterpret_cast<char*>(splats.data()), static_cast<std::streamsize>(bytes))) {
    throw InputError(path.string() + ": cannot read the scene");
  }
  // Records have no mark of their own: other files that begin with one may be as long.
  const std::string_view begin(reinterpret_cast<const char*>(splats.data()), sizeof(Splat));
  for (const auto& [mark, what] : {std::pair<std::string_view, const char*>{"ply\n", "a PLY file"},
                                   {"ply\r", "a PLY file"},
                                   {"\x89WFG\r\n", "a .gaussians file"},
                                   {"\x89PNG\r\n", "a PNG file"},
                                   {"\x1f\x8b", "compressed"},
                                   {"PK\x03\x04", "a ZIP file"}}) {
    if (begin.starts_with(mark)) {
      throw InputError(path.string() + ": is no .splat file: it is " + what);
    }
  }
  for (std::size_t i = 0; i < splats.size(); ++i) {
    for (int axis = 0; axis < 3; ++axis) {
      if (!std::isfinite(splats[i].position[axis]) || !std::isfinite(splats[i].scale[axis])) {
        throw InputError(path.string() + ": is no .splat file: record " + std::to_string(i) +
                         " holds a number that is not finite");
      }
      if (splats[i].scale[axis] < 0) {
        throw InputError(path.string() + ": is no .splat file: record " + std::to_string(i) +
                         " has a scale below 0");
      }
    }
  }
  return splats;
}

std::vector<SceneGaussian> decode(std::span<const Splat> splats) {
  std::vector<SceneGaussian> gaussians;
  gaussians.reserve(splats.size());
  for (const Splat& splat : splats) {
    SceneGaussian& g = gaussians.emplace_back();
    std::copy(std::begin(splat.position), std::end(splat.position), g.position);
    std::copy(std::begin(splat.scale), std::end(splat.scale), g.scale);
    float length2 = 0;
    for (int k = 0; k < 4; ++k) {
      g.rotation[k] = (static_cast<float>(splat.rotation[k]) - 128.0F) / 128.0F;
      length2 += g.rotation[k] * g.rotation[k];
    }
    if (length2 == 0) {
      g.rotation[0] = 1;
    }
    g.opacity = static_cast<float>(splat.rgba[3]) / 255.0F;
    for (int c = 0; c < 3; ++c) {
      g.color[c] = static_cast<float>(splat.rgba[c]) / 255.0F;
    }
  }
  return gaussians;
}

Viewpoint load_viewpoint(const std::filesystem::path& path, const std::string& name) {
  std::ifstream file(path);
  if (!file) {
    throw InputError(path.string() + ": cannot read the cameras");
  }
  try {
    const auto json = nlohmann::json::parse(file);
    const auto& scenes = json.at("scenes");
    if (!scenes.contains(name)) {
      std::string known;
      for (const auto& [key, unused] : scenes.items()) {
        known += (known.empty() ? "" : ", ") + key;
      }
      throw InputError("no camera named \"" + name + "\"; it has " + known);
    }
    const auto& entry = scenes.at(name);
    Viewpoint viewpoint;
    viewpoint.width = static_cast<int>(whole_number(entry, "width", 1, kMaxSide));
    viewpoint.height = static_cast<int>(whole_number(entry, "height", 1, kMaxSide));
    viewpoint.fov_x_degrees = entry.at("fov_x").get<double>();
    read_vector(entry, "eye", viewpoint.eye);
    read_vector(entry, "target", viewpoint.target);
    read_vector(entry, "up", viewpoint.up);
    if (entry.contains("published_ms")) {
      for (const auto& [policy, value] : entry.at("published_ms").items()) {
        if (value.is_number()) {
          viewpoint.published_ms[policy] = value.get<double>();
          continue;
        }
        for (const auto& [threshold, ms] : value.items()) {
          viewpoint.published_ms[policy + ":" + threshold] = ms.get<double>();
        }
      }
    }
    return viewpoint;
  } catch (const nlohmann::json::exception& error) {
    throw InputError(path.string() + ": " + error.what());
  } catch (const InputError& error) {
    throw InputError(path.string() + ": " + error.what());
  }
}

Camera make_camera(const Viewpoint& viewpoint) {
  if (viewpoint.width < 1 || viewpoint.height < 1 || viewpoint.width > kMaxSide ||
      viewpoint.height > kMaxSide) {
    throw InputError("camera: the picture must be 1 to 16384 pixels on each side");
  }
  if (!(viewpoint.fov_x_degrees > 0 && viewpoint.fov_x_degrees < 180)) {
    throw InputError("camera: fov_x must lie between 0 and 180 degrees");
  }
  const Vector3 eye{viewpoint.eye[0], viewpoint.eye[1], viewpoint.eye[2]};
  const Vector3 up{viewpoint.up[0], viewpoint.up[1], viewpoint.up[2]};
  const Vector3 forward = normalized(
      {viewpoint.target[0] - eye[0], viewpoint.target[1] - eye[1], viewpoint.target[2] - eye[2]},
      "eye and target are the same point");
  const Vector3 right = normalized(cross(forward, up), "the view runs along the up vector");
  const Vector3 down = cross(forward, right);

  Camera camera;
  camera.width = viewpoint.width;
  camera.height = viewpoint.height;
  const Vector3* rows[3] = {&right, &down, &forward};
  for (std::size_t r = 0; r < 3; ++r) {
    for (std::size_t c = 0; c < 3; ++c) {
      camera.view[r * 4 + c] = static_cast<float>((*rows[r])[c]);
    }
    camera.view[r * 4 + 3] = static_cast<float>(-dot(*rows[r], eye));
  }
  const double tan_x = std::tan(viewpoint.fov_x_degrees * std::numbers::pi / 360.0);
  camera.tan_x = static_cast<float>(tan_x);
  camera.tan_y = static_cast<float>(tan_x * viewpoint.height / viewpoint.width);
  camera.focal_x = static_cast<float>(viewpoint.width / (2.0 * tan_x));
  camera.focal_y = camera.focal_x;
  return camera;
}

std::string describe(const Viewpoint& viewpoint) {
  std::ostringstream out;
  const auto vector = [&out](const char* name, const double(&v)[3]) {
    out << ' ' << name << "=[" << v[0] << ',' << v[1] << ',' << v[2] << ']';
  };
  out << viewpoint.width << 'x' << viewpoint.height << " fov_x=" << viewpoint.fov_x_degrees;
  vector("eye", viewpoint.eye);
  vector("target", viewpoint.target);
  vector("up", viewpoint.up);
  return out.str();
}

std::vector<Splat> random_splats(std::size_t count, std::uint64_t seed) {
  // The engine's output is fixed by the standard, that of its distributions is not: so none is
  // used.
  std::mt19937_64 engine(seed);
  const auto uniform = [&engine](double low, double high) {
    return low + (high - low) * static_cast<double>(engine() >> 11) * 0x1p-53;
  };
  std::vector<Splat> splats(count);
  for (Splat& splat : splats) {
    const double z = uniform(1.5, 6.0);
    splat.position[0] = static_cast<float>(uniform(-0.7, 0.7) * z);
    splat.position[1] = static_cast<float>(uniform(-0.7, 0.7) * z);
    splat.position[2] = static_cast<float>(z);
    for (float& s : splat.scale) {
      s = static_cast<float>(std::exp(uniform(-4.5, -1.7)));
    }
    for (int c = 0; c < 3; ++c) {
      splat.rgba[c] = static_cast<std::uint8_t>(uniform(0, 255.99));
    }
    splat.rgba[3] = static_cast<std::uint8_t>(uniform(20, 250));
    for (std::uint8_t& q : splat.rotation) {
      q = static_cast<std::uint8_t>(uniform(0, 255.99));
    }
    splat.rotation[0] = static_cast<std::uint8_t>(splat.rotation[0] | 0x80U);  // never all zero
    splat.rotation[0] = std::max<std::uint8_t>(splat.rotation[0], 0x90U);
  }
  return splats;
}

Camera random_camera(int width, int height) {
  Viewpoint viewpoint;
  viewpoint.width = width;
  viewpoint.height = height;
  viewpoint.fov_x_degrees = 70;
  viewpoint.target[2] = 1;
  viewpoint.up[1] = -1;
  return make_camera(viewpoint);
}

std::vector<float> target_image(int width, int height) {
  // Waves across the picture along x and y, and phase, for red, green and blue.
  constexpr double kWaves[3][3] = {{1.0, 2.0, 0.1}, {2.0, -1.0, 0.4}, {-1.0, 3.0, 0.7}};
  std::vector<float> target;
  target.reserve(3 * static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  for (const auto& wave : kWaves) {
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        const double turns = wave[0] * x / width + wave[1] * y / height + wave[2];
        target.push_back(static_cast<float>(0.5 + 0.5 * std::sin(2.0 * std::numbers::pi * turns)));
      }
    }
  }
  return target;
}

std::vector<float> loss_gradient(std::span<const float> image, std::span<const float> target) {
  std::vector<float> gradient(image.size());
  const float scale = 2.0F / static_cast<float>(image.size());
  for (std::size_t i = 0; i < image.size(); ++i) {
    gradient[i] = scale * (image[i] - target[i]);
  }
  return gradient;
}

}  // namespace warpfold::capture

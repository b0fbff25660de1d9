// SPDX-License-Identifier: Apache-2.0
#include "traces/capture/training/views.hpp"

#include <array>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numbers>

#include "traces/capture/common/input.hpp"

namespace warpfold::capture::training {
namespace {

using Vector3 = std::array<double, 3>;

template <class Parse>
std::vector<View> parse(const std::filesystem::path& path, const Parse& parse_views) {
  std::ifstream file(path);
  if (!file) {
    throw InputError(path.string() + ": cannot read the views");
  }
  try {
    std::vector<View> views = parse_views(nlohmann::json::parse(file));
    if (views.empty()) {
      throw InputError("there are no views");
    }
    return views;
  } catch (const nlohmann::json::exception& error) {
    throw InputError(path.string() + ": " + error.what());
  } catch (const InputError& error) {
    throw InputError(path.string() + ": " + error.what());
  }
}

// `axes` are the camera's right, down and forward in the world.
void set_view(Camera& camera, const std::array<Vector3, 3>& axes, const Vector3& centre) {
  constexpr double kTolerance = 1e-3;
  for (std::size_t r = 0; r < 3; ++r) {
    for (std::size_t s = 0; s < 3; ++s) {
      double product = 0;
      for (std::size_t a = 0; a < 3; ++a) {
        product += axes[r][a] * axes[s][a];
      }
      if (!(std::abs(product - (r == s ? 1.0 : 0.0)) < kTolerance)) {
        throw InputError("a camera's axes are not orthonormal");
      }
    }
    double shift = 0;
    for (std::size_t a = 0; a < 3; ++a) {
      camera.view[4 * r + a] = static_cast<float>(axes[r][a]);
      shift -= axes[r][a] * centre[a];
    }
    camera.view[4 * r + 3] = static_cast<float>(shift);
  }
}

void set_focal(Camera& camera, double x, double y) {
  if (camera.width < 1 || camera.height < 1 || camera.width > kMaxSide ||
      camera.height > kMaxSide || !(x > 0) || !(y > 0)) {
    throw InputError("a camera without size or focal length");
  }
  camera.focal_x = static_cast<float>(x);
  camera.focal_y = static_cast<float>(y);
  camera.tan_x = static_cast<float>(camera.width / (2 * x));
  camera.tan_y = static_cast<float>(camera.height / (2 * y));
}

}  // namespace

std::vector<View> read_transforms(const std::filesystem::path& path, int width, int height) {
  return parse(path, [&](const nlohmann::json& json) {
    const double angle = json.at("camera_angle_x").get<double>();
    if (!(angle > 0 && angle < std::numbers::pi)) {
      throw InputError("camera_angle_x must lie between 0 and pi");
    }
    std::vector<View> views;
    for (const auto& frame : json.at("frames")) {
      const auto m = frame.at("transform_matrix").get<std::array<std::array<double, 4>, 4>>();
      View& view = views.emplace_back();
      view.name = std::filesystem::path(frame.at("file_path").get<std::string>()).stem().string();
      view.camera.width = width;
      view.camera.height = height;
      const double focal = width / (2 * std::tan(angle / 2));
      set_focal(view.camera, focal, focal);
      const auto axis = [&m](std::size_t column, double sign) {
        return Vector3{sign * m[0][column], sign * m[1][column], sign * m[2][column]};
      };
      set_view(view.camera, {axis(0, 1), axis(1, -1), axis(2, -1)}, axis(3, 1));
    }
    return views;
  });
}

std::vector<View> read_camera_list(const std::filesystem::path& path) {
  return parse(path, [](const nlohmann::json& json) {
    std::vector<View> views;
    for (const auto& entry : json) {
      const auto rotation = entry.at("rotation").get<std::array<Vector3, 3>>();
      const auto centre = entry.at("position").get<Vector3>();
      View& view = views.emplace_back();
      view.name = std::filesystem::path(entry.at("img_name").get<std::string>()).stem().string();
      view.camera.width = static_cast<int>(whole_number(entry, "width", 1, kMaxSide));
      view.camera.height = static_cast<int>(whole_number(entry, "height", 1, kMaxSide));
      set_focal(view.camera, entry.at("fx").get<double>(), entry.at("fy").get<double>());
      const auto axis = [&rotation](std::size_t column) {
        return Vector3{rotation[0][column], rotation[1][column], rotation[2][column]};
      };
      set_view(view.camera, {axis(0), axis(1), axis(2)}, centre);
    }
    return views;
  });
}

std::vector<std::uint8_t> on_black(const std::vector<std::uint8_t>& rgba) {
  const std::size_t pixels = rgba.size() / 4;
  std::vector<std::uint8_t> planes(3 * pixels);
  for (std::size_t i = 0; i < pixels; ++i) {
    const unsigned alpha = rgba[4 * i + 3];
    for (std::size_t c = 0; c < 3; ++c) {
      planes[c * pixels + i] = static_cast<std::uint8_t>((rgba[4 * i + c] * alpha + 127U) / 255U);
    }
  }
  return planes;
}

}  // namespace warpfold::capture::training

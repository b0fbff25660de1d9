// SPDX-License-Identifier: Apache-2.0
// What a training sees: cameras and photos. Host only. All functions throw InputError.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "traces/capture/splat/scene.hpp"

namespace warpfold::capture::training {

struct View {
  std::string name;
  Camera camera;
  std::vector<std::uint8_t> photo;  // planar RGB, on black; empty if there is none
};

// The views of a NeRF-synthetic transforms.json: `camera_angle_x` and for each frame a
// `transform_matrix` from the camera, with OpenGL's axes, to the world. Photos are not read: the
// pictures' size must be known.
[[nodiscard]] std::vector<View> read_transforms(const std::filesystem::path& path, int width,
                                                int height);

// The cameras.json that 3D Gaussian Splatting writes beside a model: position, rotation (its
// columns are the camera's axes, OpenCV's, in the world), fx, fy, width and height of each picture.
[[nodiscard]] std::vector<View> read_camera_list(const std::filesystem::path& path);

// RGBA, row by row, to planar RGB on black.
[[nodiscard]] std::vector<std::uint8_t> on_black(const std::vector<std::uint8_t>& rgba);

}  // namespace warpfold::capture::training

// SPDX-License-Identifier: Apache-2.0
// What the capture programs take as --scene: a .splat file, to be seen from a viewpoint of a
// cameras.json, or a .gaussians file, which holds one view of a scene with all that a capture
// needs. Host only.
//
// A .gaussians file, little endian:
//
//   8 bytes   89 57 46 47 0d 0a 1a 0a ("\x89WFG\r\n\x1a\n")
//   4 bytes   version: 1
//   4 bytes   n: bytes of the text
//   n bytes   one JSON object:
//               "name"       of the scene, such as "lego@1000"
//               "state"      what the Gaussians are: "untrained", "after 999 iterations"
//               "view"       the view in words
//               "loss"       the loss in words
//               "camera"     {"width", "height", "focal": [x, y], "tan": [x, y], "view": [12]}, as
//                            struct Camera has them
//               "gaussians"  their number
//               "loss_gradient"  whether it follows
//   56 bytes  each Gaussian, as struct SceneGaussian: position, scale, rotation, opacity, colour
//   12 bytes  each pixel, if there is a loss gradient: planes of red, green and blue, row by row
//
// Without a loss gradient the loss is the mean squared error against the picture of waves.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "traces/capture/splat/scene.hpp"

namespace warpfold::capture {

struct Scene {
  std::string name;
  std::string state;
  std::string view;
  std::string loss;
  Camera camera;
  TileRule tiles = TileRule::kBox;
  std::vector<SceneGaussian> gaussians;
  std::vector<float> loss_gradient;  // planar; empty: that of the picture of waves
  // Milliseconds of other code on this view by policy, where known.
  std::map<std::string, double> published_ms;
};

// All of these throw InputError.
// `cameras` and `name` say which view of a .splat file is meant; a .gaussians file needs neither.
// The scene's name ends as `tiles` has it.
[[nodiscard]] Scene load_scene(const std::filesystem::path& path,
                               const std::filesystem::path& cameras, const std::string& name,
                               TileRule tiles = TileRule::kBox);
// The two for .gaussians files. Writing goes through a temporary file beside `path`.
[[nodiscard]] Scene read_gaussians(const std::filesystem::path& path);
void write_gaussians(const std::filesystem::path& path, const Scene& scene);

}  // namespace warpfold::capture

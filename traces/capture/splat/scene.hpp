// SPDX-License-Identifier: Apache-2.0
// Inputs of a capture: the Gaussians of a .splat file and the camera that looks at them. Host only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace warpfold::capture {

inline constexpr int kTileSize = 16;  // pixels on a side; one CTA renders one tile
inline constexpr int kTilePixels = kTileSize * kTileSize;

// One record of a .splat file, little endian, exactly as stored.
struct Splat {
  float position[3];
  float scale[3];            // linear, along the three local axes
  std::uint8_t rgba[4];      // colour with SH degree 0 already evaluated; A is the opacity
  std::uint8_t rotation[4];  // w, x, y, z as q * 128 + 128; normalised after reading
};
static_assert(sizeof(Splat) == 32);

// A Gaussian in the world as the rasterizer takes it.
struct SceneGaussian {
  float position[3];
  float scale[3];     // linear, along the three local axes
  float rotation[4];  // quaternion w, x, y, z of any length but 0
  float opacity;
  float color[3];
};
static_assert(sizeof(SceneGaussian) == 56);

// Pinhole camera in OpenCV's orientation: x right, y down, z forward.
struct Camera {
  int width = 0;
  int height = 0;
  float view[12] = {};  // world to camera, 3 rows of (rotation | translation)
  float focal_x = 0;    // pixels
  float focal_y = 0;
  float tan_x = 0;  // of half the field of view
  float tan_y = 0;

  [[nodiscard]] int tiles_x() const { return (width + kTileSize - 1) / kTileSize; }
  [[nodiscard]] int tiles_y() const { return (height + kTileSize - 1) / kTileSize; }
  [[nodiscard]] int tiles() const { return tiles_x() * tiles_y(); }
  [[nodiscard]] int pixels() const { return width * height; }
};

// Which tiles a Gaussian is put on.
enum class TileRule {
  kBox,    // those of the square around it whose half side is three standard deviations, as in 3DGS
  kTight,  // of these, the ones where it can reach an alpha that counts (tile_overlap.cuh)
};
// What the name of a scene gets behind it.
[[nodiscard]] inline const char* name_ending(TileRule rule) {
  return rule == TileRule::kTight ? "-tight" : "";
}
// For the header of a trace.
inline constexpr const char* kTightTiles =
    "tight: those where a Gaussian can reach an alpha of 1/255";

// A viewpoint as a cameras.json describes it.
struct Viewpoint {
  int width = 0;
  int height = 0;
  double fov_x_degrees = 0;
  double eye[3] = {};
  double target[3] = {};
  double up[3] = {};  // the world's up vector
  // Milliseconds of other code on this view by policy ("baseline", "sw-b:16"), where known.
  std::map<std::string, double> published_ms;
};

// All of these throw InputError.
[[nodiscard]] std::vector<Splat> load_splats(const std::filesystem::path& path);
[[nodiscard]] std::vector<SceneGaussian> decode(std::span<const Splat> splats);
[[nodiscard]] Viewpoint load_viewpoint(const std::filesystem::path& path, const std::string& name);
[[nodiscard]] Camera make_camera(const Viewpoint& viewpoint);
// The viewpoint in one line, for provenance.
[[nodiscard]] std::string describe(const Viewpoint& viewpoint);

// `count` Gaussians in front of `random_camera`, for tests. The same on every machine for a seed.
[[nodiscard]] std::vector<Splat> random_splats(std::size_t count, std::uint64_t seed);
[[nodiscard]] Camera random_camera(int width, int height);

// The fixed synthetic picture that the loss compares with: one slow wave for each channel, in [0,
// 1]. Planar, [channel][y][x].
[[nodiscard]] std::vector<float> target_image(int width, int height);
// Gradient of the loss by the rendered picture. The loss is the mean squared error over all pixels
// and channels against the target, so the gradient is 2 (c - t) / (3 width height).
[[nodiscard]] std::vector<float> loss_gradient(std::span<const float> image,
                                               std::span<const float> target);

}  // namespace warpfold::capture

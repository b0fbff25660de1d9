// SPDX-License-Identifier: Apache-2.0
// A model on the host, and where training starts. Host only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "traces/capture/splat/scene.hpp"
#include "traces/capture/training/gaussian_math.cuh"

namespace warpfold::capture::training {

using Model = std::vector<Parameters<float>>;

struct ColoredPoint {
  std::array<float, 3> position;
  std::array<float, 3> color;  // 0..1
};

// One Gaussian for each point as 3D Gaussian Splatting does it: round, as large as the root of the
// mean squared distance to the three nearest others, opacity 0.1, the point's colour from all
// sides.
[[nodiscard]] Model initial_model(std::span<const ColoredPoint> points);

// Points where a scene has none: uniform in the cube from -1.3 to 1.3, in shades of grey that lie
// within 1/255 * 0.28 of the middle. The same on every machine for a seed.
[[nodiscard]] std::vector<ColoredPoint> random_points(std::size_t count, std::uint64_t seed);

// As the rasterizer takes it.
[[nodiscard]] std::vector<SceneGaussian> activate(std::span<const Parameters<float>> model,
                                                  int degree, const Camera& camera);

// Size of a scene: 1.1 times the largest distance of a camera from the mean of all.
[[nodiscard]] double extent_of(std::span<const Camera> cameras);

}  // namespace warpfold::capture::training

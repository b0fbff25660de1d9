// SPDX-License-Identifier: Apache-2.0
// Levels of a hash grid, samples along rays, and the gradient of the grid in double precision: what
// the CUDA kernel is checked against. Host only.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "traces/capture/hash_grid/grid_math.cuh"

namespace warpfold::capture::hash_grid {

struct GridOptions {
  int rays = 2048;
  int samples = 32;        // of a ray, behind each other
  int table_bits = 19;     // entries of a level at most, as a power of two
  int base = 16;           // cells on a side of the coarsest level
  double growth = 1.3819;  // from level to level: 2,048 cells on the finest
  std::uint32_t seed = 1;
};

[[nodiscard]] Levels make_levels(const GridOptions& options);
[[nodiscard]] std::size_t entry_count(const Levels& levels);

// Points in the unit cube, ray by ray. A ray goes through a point of a ball's surface in any
// direction; its samples lie around that point, 1/1024 of the cube's diagonal apart.
[[nodiscard]] std::vector<std::array<float, 3>> make_samples(const GridOptions& options);

// dL/dfeature, [level][sample][feature], from -0.75 to 1.25.
[[nodiscard]] std::vector<float> make_gradients(std::size_t samples, std::uint32_t seed);

// dL/dgrid, [entry][feature].
[[nodiscard]] std::vector<double> backward(const Levels& levels,
                                           std::span<const std::array<float, 3>> samples,
                                           std::span<const float> gradients);

// The same in binary16, one addition after the other in the order of the samples, each of what a
// lane of the kernel adds.
[[nodiscard]] std::vector<float> backward_in_halves(const Levels& levels,
                                                    std::span<const std::array<float, 3>> samples,
                                                    std::span<const float> gradients);

}  // namespace warpfold::capture::hash_grid

// SPDX-License-Identifier: Apache-2.0
#include "traces/capture/hash_grid/grid.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "traces/capture/common/half.hpp"

namespace warpfold::capture::hash_grid {
namespace {

constexpr double kRadius = 0.3;  // of the ball in the middle of the cube

double uniform(std::mt19937& random) {
  return static_cast<double>(random()) / 4294967296.0;
}

// A direction, all alike.
std::array<double, 3> direction(std::mt19937& random) {
  const double z = 2 * uniform(random) - 1;
  const double angle = 6.283185307179586 * uniform(random);
  const double r = std::sqrt(1 - z * z);
  return {r * std::cos(angle), r * std::sin(angle), z};
}

}  // namespace

Levels make_levels(const GridOptions& options) {
  Levels levels{};
  unsigned first = 0;
  for (int l = 0; l < kLevels; ++l) {
    Level& level = levels.level[l];
    const double cells = options.base * std::pow(options.growth, l) - 1;
    level.scale = static_cast<float>(cells);
    level.resolution = static_cast<unsigned>(std::ceil(cells)) + 1;
    const std::uint64_t points =
        std::uint64_t{level.resolution} * level.resolution * level.resolution;
    const std::uint64_t most = std::uint64_t{1} << static_cast<unsigned>(options.table_bits);
    level.hashed = points > most ? 1 : 0;
    // A line of the L2 begins with each level.
    level.entries = static_cast<unsigned>(std::min((points + 15) / 16 * 16, most));
    level.first = first;
    first += level.entries;
  }
  return levels;
}

std::size_t entry_count(const Levels& levels) {
  return std::size_t{levels.level[kLevels - 1].first} + levels.level[kLevels - 1].entries;
}

std::vector<std::array<float, 3>> make_samples(const GridOptions& options) {
  std::mt19937 random(options.seed);
  const double step = std::sqrt(3.0) / 1024;
  std::vector<std::array<float, 3>> samples;
  for (int r = 0; r < options.rays; ++r) {
    const auto normal = direction(random);
    const auto along = direction(random);
    for (int s = 0; s < options.samples; ++s) {
      const double t = (s - options.samples / 2.0) * step;
      std::array<float, 3> point{};
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const double at = 0.5 + kRadius * normal[axis] + t * along[axis];
        point[axis] = static_cast<float>(std::clamp(at, 0.0, 1.0));
      }
      samples.push_back(point);
    }
  }
  return samples;
}

std::vector<float> make_gradients(std::size_t samples, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<float> gradients(samples * kLevels * kFeatures);
  for (float& gradient : gradients) {
    gradient = static_cast<float>(2 * uniform(random) - 0.75);
  }
  return gradients;
}

std::vector<double> backward(const Levels& levels, std::span<const std::array<float, 3>> samples,
                             std::span<const float> gradients) {
  std::vector<double> sums(entry_count(levels) * kFeatures);
  for (std::size_t l = 0; l < kLevels; ++l) {
    const Level& level = levels.level[l];
    for (std::size_t s = 0; s < samples.size(); ++s) {
      const Cell cell = cell_of({samples[s][0], samples[s][1], samples[s][2]}, level);
      for (int corner = 0; corner < kCorners; ++corner) {
        const auto share = [corner](int axis, float far) {
          return (corner >> axis & 1) != 0 ? static_cast<double>(far)
                                           : 1 - static_cast<double>(far);
        };
        const double weight = share(0, cell.fx) * share(1, cell.fy) * share(2, cell.fz);
        const auto entry = static_cast<std::size_t>(corner_entry(cell, level, corner));
        for (std::size_t f = 0; f < kFeatures; ++f) {
          sums[entry * kFeatures + f] +=
              weight * static_cast<double>(gradients[(l * samples.size() + s) * kFeatures + f]);
        }
      }
    }
  }
  return sums;
}

std::vector<float> backward_in_halves(const Levels& levels,
                                      std::span<const std::array<float, 3>> samples,
                                      std::span<const float> gradients) {
  std::vector<float> sums(entry_count(levels) * kFeatures);
  for (std::size_t l = 0; l < kLevels; ++l) {
    const Level& level = levels.level[l];
    for (std::size_t s = 0; s < samples.size(); ++s) {
      const Cell cell = cell_of({samples[s][0], samples[s][1], samples[s][2]}, level);
      for (int corner = 0; corner < kCorners; ++corner) {
        const auto entry = static_cast<std::size_t>(corner_entry(cell, level, corner));
        const float weight = corner_weight(cell, corner);
        for (std::size_t f = 0; f < kFeatures; ++f) {
          const float gradient = gradients[(l * samples.size() + s) * kFeatures + f];
          float& sum = sums[entry * kFeatures + f];
          // Single precision is wide enough that the second rounding is as if there were no first.
          sum = rounded_to_half(sum + rounded_to_half(weight * gradient));
        }
      }
    }
  }
  return sums;
}

}  // namespace warpfold::capture::hash_grid

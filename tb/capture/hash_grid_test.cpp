// SPDX-License-Identifier: Apache-2.0
// The hash grid workload without a GPU: levels, cells, and the reference against finite differences
// of the look-up that it is the gradient of.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "traces/capture/common/half.hpp"
#include "traces/capture/common/relative_error.hpp"
#include "traces/capture/hash_grid/grid.hpp"

namespace warpfold::capture::hash_grid {
namespace {

GridOptions small() {
  GridOptions options;
  options.rays = 5;
  options.samples = 8;
  options.table_bits = 10;
  return options;
}

// A level's feature at a point: all corners by their shares.
double feature(const Level& level, const std::array<float, 3>& point,
               const std::vector<double>& grid, std::size_t f) {
  const Cell cell = cell_of({point[0], point[1], point[2]}, level);
  double sum = 0;
  for (int corner = 0; corner < kCorners; ++corner) {
    const auto entry = static_cast<std::size_t>(corner_entry(cell, level, corner));
    sum += static_cast<double>(corner_weight(cell, corner)) * grid.at(entry * kFeatures + f);
  }
  return sum;
}

double loss(const Levels& levels, const std::vector<std::array<float, 3>>& samples,
            const std::vector<float>& gradients, const std::vector<double>& grid) {
  double sum = 0;
  for (std::size_t l = 0; l < kLevels; ++l) {
    for (std::size_t s = 0; s < samples.size(); ++s) {
      for (std::size_t f = 0; f < kFeatures; ++f) {
        sum += static_cast<double>(gradients[(l * samples.size() + s) * kFeatures + f]) *
               feature(levels.level[l], samples[s], grid, f);
      }
    }
  }
  return sum;
}

TEST(Levels, LieBehindEachOther) {
  const GridOptions options;
  const Levels levels = make_levels(options);
  unsigned first = 0;
  for (const Level& level : levels.level) {
    EXPECT_EQ(level.first, first);
    EXPECT_EQ(level.first % 16, 0U);
    first += level.entries;
    EXPECT_LE(level.entries, 1U << 19U);
    const double points = std::pow(static_cast<double>(level.resolution), 3);
    EXPECT_EQ(level.hashed != 0, points > (1U << 19U));
  }
  EXPECT_EQ(entry_count(levels), first);
  EXPECT_EQ(levels.level[0].resolution, 16U);
  EXPECT_NEAR(levels.level[kLevels - 1].resolution, 2048, 4);
}

TEST(Cells, HaveTheirPointInside) {
  const Levels levels = make_levels(small());
  std::mt19937 random(5);
  std::uniform_real_distribution<float> uniform(0, 1);
  for (int i = 0; i < 2000; ++i) {
    const std::array<float, 3> point = {uniform(random), uniform(random), uniform(random)};
    for (const Level& level : levels.level) {
      const Cell cell = cell_of({point[0], point[1], point[2]}, level);
      double weights = 0;
      std::set<int> entries;
      for (int corner = 0; corner < kCorners; ++corner) {
        weights += static_cast<double>(corner_weight(cell, corner));
        const int entry = corner_entry(cell, level, corner);
        entries.insert(entry);
        EXPECT_GE(entry, static_cast<int>(level.first));
        EXPECT_LT(entry, static_cast<int>(level.first + level.entries));
      }
      EXPECT_NEAR(weights, 1, 1e-5);
      EXPECT_TRUE(level.hashed != 0 || entries.size() == kCorners);
    }
  }
}

TEST(HashGrid, ReferenceIsTheGradientOfTheLookUp) {
  const GridOptions options = small();
  const Levels levels = make_levels(options);
  const auto samples = make_samples(options);
  ASSERT_EQ(samples.size(), 40U);
  const auto gradients = make_gradients(samples.size(), 2);
  const auto sums = backward(levels, samples, gradients);
  ASSERT_EQ(sums.size(), entry_count(levels) * kFeatures);
  std::vector<double> grid(sums.size());
  int touched = 0;
  for (std::size_t i = 0; i < grid.size(); ++i) {
    if (sums[i] == 0 || touched == 200) {
      continue;
    }
    ++touched;
    grid[i] = 1;
    EXPECT_NEAR(loss(levels, samples, gradients, grid), sums[i], 1e-4) << i;
    grid[i] = 0;
  }
  EXPECT_EQ(touched, 200);
}

// The tolerance of the kernel in halves: binary16 is too narrow for that of floats, and another
// order of the additions errs by about as much.
TEST(HashGrid, HalvesErrByTheirRounding) {
  GridOptions options;
  options.rays = 512;
  const Levels levels = make_levels(options);
  auto samples = make_samples(options);
  auto gradients = make_gradients(samples.size(), options.seed);
  const auto exact = backward(levels, samples, gradients);
  const auto sums = backward_in_halves(levels, samples, gradients);
  ASSERT_EQ(sums.size(), exact.size());
  const double error = relative_error(sums, exact);
  EXPECT_GT(error, 5e-4);
  EXPECT_LT(error, 5e-3);
  for (const float sum : sums) {
    ASSERT_EQ(sum, rounded_to_half(sum));
  }
  std::reverse(samples.begin(), samples.end());
  const auto reversed = gradients;
  for (std::size_t l = 0; l < kLevels; ++l) {
    for (std::size_t s = 0; s < samples.size(); ++s) {
      for (std::size_t f = 0; f < kFeatures; ++f) {
        gradients[(l * samples.size() + s) * kFeatures + f] =
            reversed[((l + 1) * samples.size() - 1 - s) * kFeatures + f];
      }
    }
  }
  const double other = relative_error(backward_in_halves(levels, samples, gradients), exact);
  EXPECT_LT(other, 1.5 * error);
  EXPECT_GT(other, error / 1.5);
}

TEST(Samples, OfARayLieBesideEachOther) {
  const GridOptions options;
  const auto samples = make_samples(options);
  ASSERT_EQ(samples.size(), 65'536U);
  for (std::size_t s = 0; s + 1 < samples.size(); ++s) {
    double square = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      EXPECT_GE(samples[s][axis], 0);
      EXPECT_LE(samples[s][axis], 1);
      square += std::pow(static_cast<double>(samples[s + 1][axis] - samples[s][axis]), 2);
    }
    if ((s + 1) % 32 != 0) {
      EXPECT_NEAR(std::sqrt(square), std::sqrt(3.0) / 1024, 1e-5);
    }
  }
}

}  // namespace
}  // namespace warpfold::capture::hash_grid

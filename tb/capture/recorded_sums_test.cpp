// SPDX-License-Identifier: Apache-2.0
#include "traces/capture/common/recorded_sums.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <vector>

namespace warpfold::capture {
namespace {

const auto kAll = [](std::size_t) { return true; };

// One address that gets `count` values: all of one sign, or of both.
struct Launch {
  Launch(std::size_t count, bool cancelling) : sums(1) {
    std::mt19937 random(7);
    std::uniform_real_distribution<float> value(cancelling ? -1.0F : 0.0F, 1.0F);
    for (std::size_t i = 0; i < count; ++i) {
      values.push_back(value(random));
      sums.add(0, values.back());
    }
  }
  [[nodiscard]] float added(std::size_t left_out = ~std::size_t{0}) const {
    float sum = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      sum += i == left_out ? 0.0F : values[i];
    }
    return sum;
  }
  std::vector<float> values;
  RecordedSums sums;
};

TEST(RecordedSums, AcceptsWhatRoundingDoes) {
  for (const std::size_t count : {1U, 2U, 100U, 10000U, 3000000U}) {
    for (const bool cancelling : {false, true}) {
      const Launch launch(count, cancelling);
      EXPECT_LE(launch.sums.worst_error(std::vector{launch.added()}, kAll), 1) << count;
    }
  }
}

TEST(RecordedSums, FindsAValueThatIsMissing) {
  for (const std::size_t count : {2U, 100U, 1000U}) {
    for (const bool cancelling : {false, true}) {
      const Launch launch(count, cancelling);
      EXPECT_GT(launch.sums.worst_error(std::vector{launch.added(count / 2)}, kAll), 1) << count;
    }
  }
}

// A large sum elsewhere does not hide it, and an address that gets nothing must hold zero.
TEST(RecordedSums, LooksAtEveryAddress) {
  RecordedSums sums(3);
  sums.add(0, 1e30F);
  sums.add(1, 1.0F);
  EXPECT_EQ(sums.worst_error(std::vector{1e30F, 1.0F, 0.0F}, kAll), 0);
  EXPECT_GT(sums.worst_error(std::vector{1e30F, 1.001F, 0.0F}, kAll), 1);
  EXPECT_GT(sums.worst_error(std::vector{1e30F, 1.0F, 1e-20F}, kAll), 1);
  EXPECT_GT(
      sums.worst_error(std::vector{1e30F, std::numeric_limits<float>::quiet_NaN(), 0.0F}, kAll), 1);
  EXPECT_EQ(sums.worst_error(std::vector{1e30F, 2.0F, 0.0F}, [](std::size_t i) { return i == 0; }),
            0);
}

// A single value must be there to the bit; one that is too small for a normal number counts as 0.
// Halves lose eight thousand times as much at each addition.
TEST(RecordedSums, AllowWhatThePrecisionTakes) {
  constexpr Precision kHalf{1.0 / 2048, 1.0 / (1 << 24)};
  RecordedSums floats(1);
  RecordedSums halves(1, kHalf);
  for (int i = 0; i < 100; ++i) {
    floats.add(0, 1.0F);
    halves.add(0, 1.0F);
  }
  EXPECT_GT(floats.worst_error(std::vector{100.5F}, kAll), 1);
  EXPECT_LE(halves.worst_error(std::vector{100.5F}, kAll), 1);
  EXPECT_GT(halves.worst_error(std::vector{106.0F}, kAll), 1);
}

TEST(RecordedSums, ComparesSingleValuesExactly) {
  RecordedSums sums(4);
  sums.add(0, 0.1F);
  sums.add(1, std::numeric_limits<float>::denorm_min());
  sums.add(2, 1.0F);
  sums.add(2, 2.0F);
  EXPECT_EQ(sums.singles(), 2U);
  EXPECT_EQ(sums.inexact_singles(std::vector{0.1F, 0.0F, 4.0F, 5.0F}), 0U);
  EXPECT_EQ(sums.inexact_singles(std::vector{0.10000001F, 0.0F, 3.0F, 0.0F}), 1U);
}

}  // namespace
}  // namespace warpfold::capture

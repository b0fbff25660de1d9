// SPDX-License-Identifier: Apache-2.0
// Recursive halving, its shuffles played by the host.
#include "traces/capture/reduce/halving.cuh"

#include <gtest/gtest.h>

#include <array>
#include <set>

namespace warpfold {
namespace {

constexpr unsigned kLanes = 32;

// The steps of `halve`. Whole numbers, so that every order of the additions gives the same.
template <unsigned N>
void check_sums(unsigned expected_shuffles) {
  std::array<float[N], kLanes> rest{};
  std::array<float, N> sums{};
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    for (unsigned i = 0; i < N; ++i) {
      rest[lane][i] = static_cast<float>(lane * lane + 100 * i * lane + 7);
      sums[i] += rest[lane][i];
    }
  }
  unsigned values = N;
  unsigned shuffles = 0;
  for (unsigned offset = 16; offset >= 1; offset /= 2) {
    const auto before = rest;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const unsigned partner = lane ^ offset;
      const bool upper = (lane & offset) != 0;
      if (values == 1) {
        rest[lane][0] = before[lane][0] + before[partner][0];
        continue;
      }
      for (unsigned i = 0; i < halved(values); ++i) {
        rest[lane][i] =
            kept(before[lane], values, i, upper) + given(before[partner], values, i, !upper);
      }
    }
    shuffles += halved(values);
    values = halved(values);
  }
  EXPECT_EQ(values, 1U);
  EXPECT_EQ(shuffles, expected_shuffles);
  std::multiset<int> found;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const int sum = sum_of_lane<N>(lane);
    if (sum >= 0) {
      ASSERT_LT(sum, static_cast<int>(N));
      found.insert(sum);
      EXPECT_EQ(rest[lane][0], sums[static_cast<std::size_t>(sum)]) << "lane " << lane;
    }
  }
  EXPECT_EQ(found.size(), std::size_t{N});
  EXPECT_EQ(std::set<int>(found.begin(), found.end()).size(), std::size_t{N});
}

TEST(Halving, EachSumEndsInOneLane) {
  check_sums<9>(12);
  check_sums<2>(5);
  check_sums<12>(13);
  check_sums<32>(31);
}

}  // namespace
}  // namespace warpfold

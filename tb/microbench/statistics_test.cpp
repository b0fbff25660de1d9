// SPDX-License-Identifier: Apache-2.0
#include "traces/capture/microbench/statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace warpfold::microbench {
namespace {

TEST(Statistics, SummaryOfFive) {
  const Summary s = summarize(std::vector<double>{5, 1, 4, 2, 3});
  EXPECT_DOUBLE_EQ(s.median, 3);
  EXPECT_DOUBLE_EQ(s.min, 1);
  EXPECT_DOUBLE_EQ(s.max, 5);
  EXPECT_DOUBLE_EQ(s.quartile_low, 2);
  EXPECT_DOUBLE_EQ(s.quartile_high, 4);
  EXPECT_EQ(s.count, 5);
}

TEST(Statistics, QuantilesLieBetweenValues) {
  const Summary s = summarize(std::vector<double>{1, 2});
  EXPECT_DOUBLE_EQ(s.median, 1.5);
  EXPECT_DOUBLE_EQ(s.quartile_low, 1.25);
  EXPECT_DOUBLE_EQ(s.quartile_high, 1.75);
}

TEST(Statistics, OneValueAndNone) {
  EXPECT_DOUBLE_EQ(summarize(std::vector<double>{7}).quartile_high, 7);
  EXPECT_THROW((void)summarize({}), std::invalid_argument);
}

// A queue of `depth` ahead of a server that takes one every `service` cycles; the producer needs
// `gap` cycles between two.
std::vector<double> burst(int count, int depth, double gap, double service) {
  std::vector<double> issue;
  std::vector<double> taken;  // by the server
  for (int i = 0; i < count; ++i) {
    double at = i == 0 ? 0 : issue.back() + gap;
    if (i >= depth) {
      at = std::max(at, taken[static_cast<std::size_t>(i - depth)]);
    }
    issue.push_back(at);
    taken.push_back(i == 0 ? at : std::max(at, taken.back() + service));
  }
  return issue;
}

TEST(Statistics, QueueDepthIsFound) {
  for (const int depth : {2, 4, 8, 15}) {
    const QueueFit fit = fit_queue(burst(64, depth, 2, 32));
    EXPECT_DOUBLE_EQ(fit.first_gap, depth > 2 ? 2 : fit.first_gap);
    EXPECT_NEAR(fit.steady_gap, 32, 1e-9);
    EXPECT_NEAR(fit.depth, depth, 0.1) << depth;
    if (depth > 3) {
      EXPECT_GE(fit.first_blocked, depth) << depth;
      EXPECT_LE(fit.first_blocked, depth + 2) << depth;
    }
  }
}

TEST(Statistics, AWarpThatIsNeverBlocked) {
  const QueueFit fit = fit_queue(burst(64, 8, 4, 2));
  EXPECT_NEAR(fit.steady_gap, 4, 1e-9);
  EXPECT_NEAR(fit.depth, 0, 1e-9);
  EXPECT_EQ(fit.first_blocked, -1);
}

TEST(Statistics, AShortBurstIsRefused) {
  EXPECT_THROW((void)fit_queue(std::vector<double>{0, 1, 2}), std::invalid_argument);
}

}  // namespace
}  // namespace warpfold::microbench

// SPDX-License-Identifier: Apache-2.0
// The embedding workload without a GPU: how often words come, and what their rows add up to.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "traces/capture/embedding/tokens.hpp"

namespace warpfold::capture::embedding {
namespace {

std::vector<int> counts(const TokenOptions& options) {
  std::vector<int> result(static_cast<std::size_t>(options.rows));
  for (const std::int32_t token : make_tokens(options)) {
    ++result.at(static_cast<std::size_t>(token));
  }
  return result;
}

TEST(Tokens, FollowZipf) {
  TokenOptions options;
  options.tokens = 200'000;
  options.rows = 1000;
  std::vector<int> found = counts(options);
  EXPECT_GT(std::max_element(found.begin(), found.end()) - found.begin(), 0);
  std::sort(found.begin(), found.end(), std::greater<>());
  double sum = 0;
  for (int r = 1; r <= options.rows; ++r) {
    sum += 1.0 / r;
  }
  for (const int rank : {1, 2, 5, 20, 100}) {
    const double expected = options.tokens / (sum * rank);
    EXPECT_NEAR(found[static_cast<std::size_t>(rank - 1)] / expected, 1.0, 0.1) << rank;
  }
}

TEST(Tokens, ComeAlikeWithoutAnExponent) {
  TokenOptions options;
  options.tokens = 100'000;
  options.rows = 10;
  options.exponent = 0;
  for (const int count : counts(options)) {
    EXPECT_NEAR(count, 10'000, 400);
  }
}

TEST(Tokens, AreThoseOfTheSeed) {
  TokenOptions options;
  options.tokens = 1000;
  const auto first = make_tokens(options);
  EXPECT_EQ(make_tokens(options), first);
  options.seed = 2;
  EXPECT_NE(make_tokens(options), first);
}

TEST(Embedding, AddsRowsOfTheSameWord) {
  std::vector<float> gradients(3 * kColumns);
  std::iota(gradients.begin(), gradients.end(), 1.0F);
  const std::vector<std::int32_t> tokens = {2, 0, 2};
  const auto sums = backward(tokens, gradients, 4);
  ASSERT_EQ(sums.size(), 4U * kColumns);
  for (int c = 0; c < kColumns; ++c) {
    const auto column = static_cast<std::size_t>(c);
    EXPECT_EQ(sums[column], kColumns + c + 1);
    EXPECT_EQ(sums[kColumns + column], 0);
    EXPECT_EQ(sums[2 * kColumns + column], (c + 1) + (2 * kColumns + c + 1));
    EXPECT_EQ(sums[3 * kColumns + column], 0);
  }
}

TEST(Embedding, GradientsDoNotCancel) {
  const auto gradients = make_gradients(1000, 3);
  ASSERT_EQ(gradients.size(), 1000U * kColumns);
  EXPECT_GE(*std::min_element(gradients.begin(), gradients.end()), -0.75F);
  EXPECT_LE(*std::max_element(gradients.begin(), gradients.end()), 1.25F);
  const double mean = std::accumulate(gradients.begin(), gradients.end(), 0.0) /
                      static_cast<double>(gradients.size());
  EXPECT_NEAR(mean, 0.25, 0.02);
}

}  // namespace
}  // namespace warpfold::capture::embedding

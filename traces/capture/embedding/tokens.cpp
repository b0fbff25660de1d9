// SPDX-License-Identifier: Apache-2.0
#include "traces/capture/embedding/tokens.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace warpfold::capture::embedding {
namespace {

// From 0 to 1, the same with every standard library.
double uniform(std::mt19937& random) {
  return static_cast<double>(random()) / 4294967296.0;
}

}  // namespace

std::vector<std::int32_t> make_tokens(const TokenOptions& options) {
  std::mt19937 random(options.seed);
  const auto rows = static_cast<std::size_t>(options.rows);
  std::vector<std::int32_t> row_of_rank(rows);
  std::iota(row_of_rank.begin(), row_of_rank.end(), 0);
  for (std::size_t i = rows - 1; i > 0; --i) {
    std::swap(row_of_rank[i], row_of_rank[random() % (i + 1)]);
  }
  std::vector<double> up_to(rows);
  double sum = 0;
  for (std::size_t r = 0; r < rows; ++r) {
    sum += std::pow(static_cast<double>(r + 1), -options.exponent);
    up_to[r] = sum;
  }
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(options.tokens));
  for (std::int32_t& token : tokens) {
    const auto found = std::upper_bound(up_to.begin(), up_to.end(), uniform(random) * sum);
    const auto rank = static_cast<std::size_t>(found - up_to.begin());
    token = row_of_rank[std::min(rank, rows - 1)];
  }
  return tokens;
}

std::vector<float> make_gradients(std::size_t tokens, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<float> gradients(tokens * kColumns);
  for (float& gradient : gradients) {
    gradient = static_cast<float>(2 * uniform(random) - 0.75);
  }
  return gradients;
}

std::vector<double> backward(std::span<const std::int32_t> tokens, std::span<const float> gradients,
                             int rows) {
  std::vector<double> sums(static_cast<std::size_t>(rows) * kColumns);
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    for (std::size_t c = 0; c < kColumns; ++c) {
      sums[static_cast<std::size_t>(tokens[t]) * kColumns + c] +=
          static_cast<double>(gradients[t * kColumns + c]);
    }
  }
  return sums;
}

}  // namespace warpfold::capture::embedding

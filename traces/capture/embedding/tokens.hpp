// SPDX-License-Identifier: Apache-2.0
// Tokens whose frequencies follow Zipf's law, gradients of what an embedding gave for them, and the
// gradient of the embedding in double precision: what the CUDA kernels are checked against. Host
// only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace warpfold::capture::embedding {

inline constexpr int kColumns = 32;  // floats of a row

struct TokenOptions {
  int tokens = 1 << 18;
  int rows = 50'000;
  double exponent = 1.0;  // the word of rank r comes as often as r to the minus exponent
  std::uint32_t seed = 1;
};

// The row of each token. Ranks are dealt out to the rows at random.
[[nodiscard]] std::vector<std::int32_t> make_tokens(const TokenOptions& options);

// dL/doutput, [token][column]: from -0.75 to 1.25, so that sums do not cancel.
[[nodiscard]] std::vector<float> make_gradients(std::size_t tokens, std::uint32_t seed);

// dL/dembedding, [row][column].
[[nodiscard]] std::vector<double> backward(std::span<const std::int32_t> tokens,
                                           std::span<const float> gradients, int rows);

}  // namespace warpfold::capture::embedding

// SPDX-License-Identifier: Apache-2.0
// Made-up traces for the tests of the trace library.
#pragma once

#include <cstdint>
#include <random>

#include "traces/format/trace.hpp"

namespace warpfold::trace::test {

// Valid header: `ctas` CTAs of `threads` threads, 3 paths, 2 parameters, 1000 primitives.
[[nodiscard]] Header small_header(std::uint32_t ctas, std::uint32_t threads);

// Any record kinds in any order within what `header` allows, in the form that Reader gives back.
[[nodiscard]] CtaTrace random_cta(const Header& header, std::uint64_t cta, std::mt19937_64& random);

// The backward pass of Gaussian splatting over a frame of 62x35 tiles of 16x16 pixels: random
// ellipses are blended front to back in each tile, and an event is a warp in which a lane's pixel
// takes part. Sizes are such that a frame has about as many events, lanes, and (tile, Gaussian)
// pairs as the truck scene: 758,844 events, 13.1 lanes, 209,211 pairs.
class SyntheticFrame {
 public:
  explicit SyntheticFrame(std::uint64_t seed) : random_(seed) {}
  static constexpr std::uint32_t kTilesX = 62;
  static constexpr std::uint32_t kTilesY = 35;
  [[nodiscard]] static Header header();
  [[nodiscard]] CtaTrace cta(std::uint64_t index);

 private:
  std::mt19937_64 random_;
};

}  // namespace warpfold::trace::test

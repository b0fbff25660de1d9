// SPDX-License-Identifier: Apache-2.0
// What a policy asks for of the instruction costs that a trace has for its code.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace warpfold {

// How often a warp waits for the shuffles of a part at least and at most.
struct ShuffleRounds {
  std::uint32_t least = 0;
  std::uint32_t most = 32;
};
inline constexpr ShuffleRounds kAsWaits{};                               // as the code says
inline constexpr ShuffleRounds kSerialTurn{.least = 1, .most = 32};      // a turn of a serial loop
inline constexpr ShuffleRounds kButterflyRounds{.least = 5, .most = 5};  // one for each halving

// A part of the code that a reduce call is compiled to.
struct CodePart {
  std::string_view name;  // key of VariantCost::reduce
  ShuffleRounds shuffles = kAsWaits;
  // Parts that run ahead of it: the words that they have waited for are there.
  std::vector<std::string_view> behind = {};
  // Of the baseline's code, and nothing where the trace has none.
  bool of_baseline = false;
};

}  // namespace warpfold

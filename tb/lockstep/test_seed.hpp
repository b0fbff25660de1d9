// SPDX-License-Identifier: Apache-2.0
// The seed of every random test of this folder: WARPFOLD_SEED of the environment, or a fixed
// number, and printed either way.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <iostream>

namespace warpfold {

inline std::uint64_t test_seed() {
  const char* text = std::getenv("WARPFOLD_SEED");
  const std::uint64_t seed = text != nullptr ? std::strtoull(text, nullptr, 0) : 20250330;
  std::cout << "WARPFOLD_SEED=" << seed << '\n';
  return seed;
}

}  // namespace warpfold

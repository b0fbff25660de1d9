// SPDX-License-Identifier: Apache-2.0
// Launches of one thread for each of `count` things.
#pragma once

#include <cstddef>

namespace warpfold::capture {

inline constexpr unsigned kLinearBlock = 256;  // threads of a CTA

// CTAs.
[[nodiscard]] inline unsigned linear_grid(std::size_t count, unsigned block = kLinearBlock) {
  return static_cast<unsigned>((count + block - 1) / block);
}

}  // namespace warpfold::capture

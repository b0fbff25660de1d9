// SPDX-License-Identifier: Apache-2.0
// Sets of up to 32 things, a bit for each.
#pragma once

#include <bit>
#include <cstdint>

namespace warpfold {

template <typename Handle>
void for_each_bit(std::uint32_t mask, Handle&& handle) {
  for (; mask != 0; mask &= mask - 1) {
    handle(static_cast<std::uint32_t>(std::countr_zero(mask)));
  }
}

// Lowest set bit of `mask`, which is not empty, at or above `from`, else the lowest of all.
inline std::uint32_t next_from(std::uint32_t mask, std::uint32_t from) {
  const std::uint32_t above = from < 32 ? mask & (~std::uint32_t{0} << from) : 0;
  return static_cast<std::uint32_t>(std::countr_zero(above != 0 ? above : mask));
}

}  // namespace warpfold

// SPDX-License-Identifier: Apache-2.0
// Sums that software forms of a warp's values before it adds them to memory.
#pragma once

#include <cstdint>

#include "model/types.hpp"

namespace warpfold {

// Order in which software sums lanes, which decides the rounding: one after the other, halves of
// the warp first (offsets 16 to 1), or neighbours first (offsets 1 to 16).
enum class SumOrder : std::uint8_t { kSerial, kButterfly, kNeighbours };

// Sum of the values of the lanes in `mask` as software forms it, with plain FADD (subnormals kept),
// of halves with HADD2: serial in lane order, or a tree over all 32 lanes where inactive lanes hold
// +0.
Fp32Bits software_sum(const std::uint32_t* lane_values, LaneMask mask, SumOrder order,
                      WordType type = WordType::kFp32);

}  // namespace warpfold

// SPDX-License-Identifier: Apache-2.0
// Value types that every layer of the model shares. No state, no clock. C++17.
#pragma once

#include <bit>
#include <cstdint>

namespace warpfold {

// Threads in a warp; one bit of a LaneMask each, lane 0 in bit 0.
inline constexpr int kLanes = 32;

using LaneMask = std::uint32_t;
// Byte address in the GPU's global memory. The RTL carries the low arc_pkg::AddrWidth (48) bits.
using Address = std::uint64_t;
// The bits of an IEEE 754 single-precision value. Sums are compared as bits, never as floats.
using Fp32Bits = std::uint32_t;
// A sector, as the L2 adds to it in one operation.
inline constexpr std::uint32_t kSectorBytes = 32;
inline constexpr std::uint32_t kSectorWords = kSectorBytes / sizeof(Fp32Bits);
// What the 32 bits of a word that is added are: an FP32, or two binary16 values.
enum class WordType : std::uint8_t { kFp32, kHalves };
// SM clock cycles since the launch of the kernel.
using Cycle = std::uint64_t;
// What the unit hands back untouched with every request: in a GPU the warp slot and the register
// number of the operand. arc_pkg::TagWidth (12) bits.
using Tag = std::uint16_t;

inline constexpr int kAddrWidth = 48;
inline constexpr int kTagWidth = 12;
inline constexpr Address kAddrMask = (Address{1} << kAddrWidth) - 1;
inline constexpr Tag kTagMask = (1U << kTagWidth) - 1;

inline int lane_count(LaneMask mask) {
  return __builtin_popcount(mask);
}

}  // namespace warpfold

// SPDX-License-Identifier: Apache-2.0
// What the RED kernels take: which lanes add, and where. Plain data, seen by host and device.
#pragma once

#include <cstdint>

namespace warpfold::microbench {

inline constexpr int kReds = 9;  // arrays that one event adds to, as in 3D Gaussian Splatting

// In iteration i warp w has the primitive P = (w * warp_step + i * step) & mask, lane l of it
// P + lane[l]. It adds at offset[a] + primitive * scale[a] bytes of array a.
struct RedPattern {
  std::uint32_t active = 0xffffffffU;  // lanes
  std::uint32_t warp_step = 0;
  std::uint32_t step = 0;
  std::uint32_t mask = 0;
  std::uint32_t lane[32] = {};
  std::uint32_t scale[kReds] = {};
  std::uint64_t offset[kReds] = {};
};

inline constexpr std::uint64_t kRedBytes = 64U << 20U;  // of the buffer that patterns lie in

}  // namespace warpfold::microbench

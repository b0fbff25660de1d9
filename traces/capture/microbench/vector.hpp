// SPDX-License-Identifier: Apache-2.0
// What the kernels of vector REDs and bulk reductions take: which lanes add, and where. Plain data,
// seen by host and device.
#pragma once

#include <cstdint>

namespace warpfold::microbench {

inline constexpr int kVectorArrays = 4;  // that one iteration adds to

// In iteration i warp w has the primitive P = (w * warp_step + i * step) & mask. Lane l adds from
// byte a * array + P * scale + lane[l] on, for each array a.
struct VectorPattern {
  std::uint32_t active = 1;  // lanes
  std::uint32_t warp_step = 0;
  std::uint32_t step = 0;
  std::uint32_t mask = 0;
  std::uint32_t scale = 0;
  std::uint32_t array = 0;
  std::uint32_t lane[32] = {};
};

}  // namespace warpfold::microbench

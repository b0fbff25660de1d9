// SPDX-License-Identifier: Apache-2.0
// The loop of REDs of a pattern. In a header, since several benchmarks run it.
#pragma once

#include "traces/capture/microbench/probe.cuh"
#include "traces/capture/microbench/red.hpp"

namespace warpfold::microbench {

__device__ inline void red_add(const void* address, float value) {
  asm volatile("red.global.add.f32 [%0], %1;" ::"l"(address), "f"(value) : "memory");
}

// `warp` is the number of the warp, `iterations` those of kReds REDs each.
__device__ inline void red_loop(char* base, const RedPattern& pattern, std::uint32_t warp,
                                int iterations, float value) {
  const std::uint32_t lane = lane_id();
  if ((pattern.active >> lane & 1U) == 0) {
    return;
  }
  const char* array[kReds];
#pragma unroll
  for (int a = 0; a < kReds; ++a) {
    array[a] = base + pattern.offset[a];
    // In registers, so that one instruction makes the address.
    asm volatile("" : "+l"(array[a]));
  }
  const std::uint32_t own = pattern.lane[lane];
  std::uint32_t place = warp * pattern.warp_step;
#pragma unroll 1
  for (int i = 0; i < iterations; ++i) {
    const std::uint32_t primitive = (place & pattern.mask) + own;
#pragma unroll
    for (int a = 0; a < kReds; ++a) {
      red_add(array[a] + static_cast<std::uint64_t>(primitive) * pattern.scale[a], value);
    }
    place += pattern.step;
  }
}

}  // namespace warpfold::microbench

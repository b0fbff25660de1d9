// SPDX-License-Identifier: Apache-2.0
// Loads that several benchmarks make.
#pragma once

#include "traces/capture/microbench/probe.cuh"

namespace warpfold::microbench {

// Shared memory in which each word holds its own address, so that a load is the
// address of the next, and the next is the same.
struct SharedTable {
  static constexpr std::uint32_t kBytes = 8192;
  alignas(16) std::uint32_t words[kBytes / 4];

  __device__ std::uint32_t address(std::uint32_t byte) {
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(words)) + byte % kBytes;
  }
  // Whoever loads less than 16 bytes finds the address of what it has loaded.
  __device__ void fill() {
    for (std::uint32_t i = threadIdx.x; i < kBytes / 4; i += blockDim.x) {
      words[i] = address(i * 4);
    }
    __syncthreads();
  }
};

// The address comes back in the first word.
template <int kWidth>
__device__ inline void load_shared(std::uint32_t& at) {
  if constexpr (kWidth == 4) {
    asm volatile("ld.shared.u32 %0, [%0];" : "+r"(at)::"memory");
  } else if constexpr (kWidth == 8) {
    asm volatile("{ .reg .u32 b; ld.volatile.shared.v2.u32 {%0, b}, [%0]; }" : "+r"(at)::"memory");
  } else {
    asm volatile("{ .reg .u32 b, c, d; ld.volatile.shared.v4.u32 {%0, b, c, d}, [%0]; }"
                 : "+r"(at)::"memory");
  }
}

// Reads all bytes once, 16 a lane at a time and four of them in flight, the warps in turn.
__device__ inline void stream_loop(const char* base, std::uint64_t bytes, std::uint64_t warp,
                                   std::uint64_t warps, std::uint32_t* sink) {
  std::uint32_t sum = 0;
  for (std::uint64_t at = warp * 2048; at + 2048 <= bytes; at += warps * 2048) {
    std::uint32_t words[4][4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(words[k][0]), "=r"(words[k][1]), "=r"(words[k][2]), "=r"(words[k][3])
                   : "l"(base + at + k * 512 + lane_id() * 16)
                   : "memory");
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      sum |= words[k][0] | words[k][1] | words[k][2] | words[k][3];
    }
  }
  if (sum == 0x12345678U) {
    *sink = sum;
  }
}

}  // namespace warpfold::microbench

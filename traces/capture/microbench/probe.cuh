// SPDX-License-Identifier: Apache-2.0
// Device side of a measurement: which warps take part, a common start, and a record of the clocks
// of every warp. Included by the kernels only.
#pragma once

#include <cstdint>

#include "traces/capture/microbench/harness.hpp"

namespace warpfold::microbench {

__device__ inline std::uint32_t sm_id() {
  std::uint32_t id;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
  return id;
}

__device__ inline std::uint32_t hardware_warp() {
  std::uint32_t warp;
  asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
  return warp;
}

__device__ inline std::uint64_t global_time() {
  std::uint64_t ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns)::"memory");
  return ns;
}

__device__ inline std::uint64_t clock_now() {
  std::uint64_t now;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(now)::"memory");
  return now;
}

// The same once `zero`, which is 0, is there.
__device__ inline std::uint64_t clock_after(std::uint32_t zero) {
  std::uint64_t now = 0;
  asm volatile("{ .reg .pred p; setp.eq.u32 p, %1, 0; @p mov.u64 %0, %%clock64; }"
               : "+l"(now)
               : "r"(zero)
               : "memory");
  return now;
}

// The low half of clock64: reading %clock goes by the uniform data path and takes longer.
__device__ inline std::uint32_t clock_low() {
  return static_cast<std::uint32_t>(clock_now());
}

__device__ inline std::uint32_t lane_id() {
  return threadIdx.x & 31U;
}

// Number of this warp among those of the measurement, or -1: it has no part and must end. The CTAs
// that have one start together. To be called by all threads, once.
__device__ inline int enter(const Probe& probe) {
  // So long at most do CTAs wait for each other, should they not all be resident.
  constexpr std::uint64_t kPatience = 1U << 20U;
  __shared__ int shared_cta;
  const bool elsewhere = probe.only_sm >= 0 && sm_id() != static_cast<std::uint32_t>(probe.only_sm);
  if (threadIdx.x == 0) {
    int cta = static_cast<int>(blockIdx.x);
    if (probe.only_sm >= 0) {
      cta = elsewhere ? -1 : static_cast<int>(atomicAdd(probe.counters, 1U));
      cta = cta < probe.ctas ? cta : -1;
    }
    if (cta >= 0) {
      atomicAdd(probe.counters + 1, 1U);
      volatile std::uint32_t* arrived = probe.counters + 1;
      const std::uint64_t begin = clock_now();
      while (*arrived < static_cast<std::uint32_t>(probe.ctas) && clock_now() - begin < kPatience) {
      }
      if (*arrived < static_cast<std::uint32_t>(probe.ctas)) {
        atomicAdd(probe.counters + 2, 1U);
      }
    }
    shared_cta = cta;
  }
  if (elsewhere) {
    // Keeps its place, so that the one SM gets its share of the CTAs.
    __nanosleep(30000);
  }
  __syncthreads();
  const int warp = static_cast<int>(threadIdx.x / 32U);
  // Warps of a CTA are dealt out to the sub-cores in turns, but CTAs beside each other do not all
  // begin with the same one.
  const int turn = probe.only_sm >= 0 ? static_cast<int>(hardware_warp()) : warp;
  if (shared_cta < 0 || turn % kSubcores >= probe.subcores) {
    return -1;
  }
  return shared_cta * static_cast<int>(blockDim.x / 32U) + warp;
}

// Clocks of a warp around the measured loop.
class Stopwatch {
 public:
  __device__ void start() {
    __syncwarp();
    time_start_ = global_time();
    start_ = clock_now();
  }
  // Behind the loop; `drain` waits for the memory operations of this warp, too.
  __device__ void stop(const Probe& probe, int slot, bool drain) {
    stop_when(probe, slot, [drain] {
      if (drain) {
        __threadfence();
      }
    });
  }
  // The same where `done` waits for what this warp began.
  template <class Done>
  __device__ void stop_when(const Probe& probe, int slot, const Done& done) {
    __syncwarp();
    const std::uint64_t end = clock_now();
    done();
    const std::uint64_t drained = clock_now();
    record(probe, slot, end, drained, global_time());
  }
  // For a warp that works beside those that are measured.
  __device__ void leave_out(const Probe& probe, int slot) {
    record(probe, slot, start_, start_, time_start_);
  }

 private:
  __device__ void record(const Probe& probe, int slot, std::uint64_t end, std::uint64_t drained,
                         std::uint64_t time_end) {
    if (lane_id() == 0) {
      probe.records[slot] = {start_,          end, drained, time_start_, time_end, sm_id(),
                             hardware_warp(), 1,   0};
    }
  }

  std::uint64_t start_ = 0;
  std::uint64_t time_start_ = 0;
};

}  // namespace warpfold::microbench

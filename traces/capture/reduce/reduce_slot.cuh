// SPDX-License-Identifier: Apache-2.0
// A policy of reduce_arc.cuh after nvdiffrast: lanes with the same idx add in shared memory, in the
// slot of the lowest of them, which adds the sums.
#pragma once

#include "traces/capture/reduce/reduce_arc.cuh"

namespace warpfold {

// Divergent. For blocks of up to kMaxWarps warps in one dimension or more.
struct SharedSlot {
  static constexpr bool kConverged = false;
  static constexpr unsigned kMaxWarps = 8;

  template <int N, class Parameters>
  static __device__ __forceinline__ void reduce(int idx, const Parameters& params,
                                                const float (&val)[N], int /*threshold*/) {
    __shared__ float slots[kMaxWarps][32][N];
    const unsigned here = __activemask();
    const unsigned group = __match_any_sync(here, idx);
    if ((group & (group - 1)) == 0) {
      detail::add_all(idx, params, val);
      return;
    }
    const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    float* const slot = slots[thread / 32][__ffs(static_cast<int>(group)) - 1];
    const bool leads = detail::is_lowest(group);
    if (leads) {
#pragma unroll
      for (int i = 0; i < N; ++i) {
        slot[i] = val[i];
      }
    }
    __syncwarp(group);
    if (!leads) {
#pragma unroll
      for (int i = 0; i < N; ++i) {
        atomicAdd(slot + i, val[i]);
      }
    }
    __syncwarp(group);
    if (leads) {
      float sum[N];
#pragma unroll
      for (int i = 0; i < N; ++i) {
        sum[i] = slot[i];
      }
      detail::add_all(idx, params, sum);
    }
  }
};

}  // namespace warpfold

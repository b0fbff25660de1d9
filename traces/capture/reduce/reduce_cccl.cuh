// SPDX-License-Identifier: Apache-2.0
// The reduction that ARC (ASPLOS '25, section 7.2) compares with: cub::WarpReduce of NVIDIA's CCCL,
// which comes with the CUDA toolkit. It needs every lane of the warp, so all of them are made
// active, with zeros, in every pass, also where no lane has something to add: that sets it apart
// from Skip, which leaves such a pass early. Called as the converged policies of reduce_arc.cuh.
#pragma once

#include <cub/warp/warp_reduce.cuh>

#include "traces/capture/reduce/reduce_arc.cuh"

namespace warpfold {

struct Cccl {
  static constexpr bool kConverged = true;
  static constexpr bool kEveryPass = true;

  // The sums are in lane 0. It adds them unless they are sums of nothing but made-up zeros.
  template <int N, class Parameters>
  static __device__ __forceinline__ void reduce(unsigned lanes, int idx, const Parameters& params,
                                                const float (&val)[N], int /*threshold*/) {
    using Reduce = cub::WarpReduce<float>;
    // It sums by shuffles and stores nothing, so that warps may share it.
    static_assert(sizeof(typename Reduce::TempStorage) == 1);
    __shared__ typename Reduce::TempStorage storage;
    float sum[N];
#pragma unroll
    for (int i = 0; i < N; ++i) {
      sum[i] = Reduce(storage).Sum(val[i]);
    }
    if (lanes != 0 && detail::lane_id() == 0) {
      detail::add_all(idx, params, sum);
    }
  }
};

}  // namespace warpfold

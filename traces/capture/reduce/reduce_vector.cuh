// SPDX-License-Identifier: Apache-2.0
// Policies of reduce_arc.cuh for parameters that lie one behind the other from a multiple of 16
// bytes on, as the fields of a struct do: four of them go in one vector RED. Before sm_90, which
// has it, they go one by one.
#pragma once

#include "traces/capture/reduce/reduce_arc.cuh"

namespace warpfold {

namespace detail {

__device__ __forceinline__ void add_four(float* to, float a, float b, float c, float d) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("red.relaxed.gpu.global.add.v4.f32 [%0], {%1, %2, %3, %4};"
               :
               : "l"(__cvta_generic_to_global(to)), "f"(a), "f"(b), "f"(c), "f"(d)
               : "memory");
#else
  atomicAdd(to, a);
  atomicAdd(to + 1, b);
  atomicAdd(to + 2, c);
  atomicAdd(to + 3, d);
#endif
}

template <int N, class Parameters>
__device__ __forceinline__ void add_vectors(int idx, const Parameters& params,
                                            const float (&val)[N]) {
#pragma unroll
  for (int i = 0; i + 4 <= N; i += 4) {
    add_four(params(idx, i), val[i], val[i + 1], val[i + 2], val[i + 3]);
  }
#pragma unroll
  for (int i = N / 4 * 4; i < N; ++i) {
    atomicAdd(params(idx, i), val[i]);
  }
}

}  // namespace detail

// Baseline with vector REDs.
struct Vector {
  static constexpr bool kConverged = false;

  template <int N, class Parameters>
  static __device__ __forceinline__ void reduce(int idx, const Parameters& params,
                                                const float (&val)[N], int /*threshold*/) {
    detail::add_vectors(idx, params, val);
  }
};

// Skip with vector REDs.
struct SkipVector {
  static constexpr bool kConverged = true;

  template <int N, class Parameters>
  static __device__ __forceinline__ void reduce(unsigned lanes, int idx, const Parameters& params,
                                                const float (&val)[N], int /*threshold*/) {
    if (lanes == 0) {
      return;
    }
    float sum[N];
    detail::butterfly(val, sum);
    if (detail::is_lowest(lanes)) {
      detail::add_vectors(idx, params, sum);
    }
  }
};

}  // namespace warpfold

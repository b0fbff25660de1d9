// SPDX-License-Identifier: Apache-2.0
// A policy of reduce_arc.cuh that adds whole structs from shared memory to global memory by bulk
// operations (cp.reduce.async.bulk), for parameters that lie one behind the other from a multiple
// of 16 bytes on, with room to the next such multiple: what lies in that room gets zeros added.
// sm_90; for older architectures it compiles and adds nothing.
#pragma once

#include "traces/capture/reduce/reduce_arc.cuh"

namespace warpfold {

// Divergent. For blocks of up to kThreads threads. Where `params` has a member `summed`, it points
// to the values in shared memory, as a struct of whole 16 bytes: written after `ready_to_write`,
// followed by `written` in the threads that wrote. Else each thread has a struct there of its own.
// A kernel ends with `finish`.
template <int kThreads>
struct Bulk {
  static constexpr bool kConverged = false;

  // Bulk operations of this thread have read what they add.
  static __device__ __forceinline__ void ready_to_write() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
#endif
  }
  // Bulk operations see what this thread wrote.
  static __device__ __forceinline__ void written() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
  }
  static __device__ __forceinline__ void finish() {
    ready_to_write();
  }

  template <int N, class Parameters>
  static __device__ __forceinline__ void reduce(int idx, const Parameters& params,
                                                const float (&val)[N], int /*threshold*/) {
    constexpr int kFloats = (N + 3) / 4 * 4;
    if constexpr (requires { params.summed; }) {
      add<kFloats>(params(idx, 0), params.summed);
    } else {
      __shared__ __align__(16) float structs[kThreads][kFloats];
      const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
      ready_to_write();
#pragma unroll
      for (int i = 0; i < kFloats; ++i) {
        structs[thread][i] = i < N ? val[i] : 0.0F;
      }
      written();
      add<kFloats>(params(idx, 0), structs[thread]);
    }
  }

 private:
  template <int kFloats>
  static __device__ __forceinline__ void add(float* to, const float* from) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile(
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;\n"
        "cp.async.bulk.commit_group;"
        :
        : "l"(__cvta_generic_to_global(to)),
          "r"(static_cast<unsigned>(__cvta_generic_to_shared(from))),
          "n"(kFloats * static_cast<int>(sizeof(float)))
        : "memory");
#endif
  }
};

}  // namespace warpfold

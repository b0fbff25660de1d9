// SPDX-License-Identifier: Apache-2.0
// Kernels that do little but reduce: from their machine code come the costs of ARC-SW's code for
// kernels that do not have it (reduction_costs.py). A pass of their loop adds kCount values at
// addresses that are one register and a constant, so that no address arithmetic is in the costs: a
// kernel that adds has its own.
#include "traces/capture/reduce/reduce_arc.cuh"

namespace {

struct Source {
  const float* values;
  float* sums;
  const int* passes;  // of each thread
  const int* steps;   // of primitive and address from pass to pass
};

// Parameter i lies i floats behind the first.
struct Behind {
  float* first;
  __device__ __forceinline__ float* operator()(int /*idx*/, int i) const { return first + i; }
};

struct Pass {
  const float* values;
  float* sums;
  int idx;
  int idx_step;
  int sums_step;

  __device__ __forceinline__ explicit Pass(const Source& source, int thread)
      : values(source.values + thread),
        sums(source.sums + thread),
        idx(thread),
        idx_step(source.steps[thread]),
        sums_step(source.steps[thread + 1]) {}

  template <int N>
  __device__ __forceinline__ void next() {
    values += 32 * N;
    sums += sums_step;
    idx += idx_step;
  }
};

__device__ __forceinline__ int thread_of_grid() {
  return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
}

template <class Policy, int N>
__device__ __forceinline__ void divergent(const Source& source, int threshold) {
  Pass at(source, thread_of_grid());
  const int passes = source.passes[thread_of_grid()];
#pragma unroll 1
  for (int pass = 0; pass < passes; ++pass) {
    float val[N];
#pragma unroll
    for (int i = 0; i < N; ++i) {
      val[i] = at.values[32 * i];
    }
    warpfold::reduce_arc<Policy>(at.idx, Behind{at.sums}, val, threshold);
    at.next<N>();
  }
}

template <class Policy, int N>
__device__ __forceinline__ void converged(const Source& source, int threshold) {
  Pass at(source, thread_of_grid());
  const int own = source.passes[thread_of_grid()];
  const int passes = __reduce_max_sync(warpfold::kFullWarp, own);
#pragma unroll 1
  for (int pass = 0; pass < passes; ++pass) {
    const bool active = pass < own;
    float val[N];
#pragma unroll
    for (int i = 0; i < N; ++i) {
      val[i] = active ? at.values[32 * i] : 0.0F;
    }
    warpfold::reduce_arc<Policy>(at.idx, Behind{at.sums}, val, threshold, active);
    at.next<N>();
  }
}

}  // namespace

#define KERNELS(N)                                                                           \
  extern "C" __global__ void warpfold_reduction_baseline_##N(Source source, int threshold) { \
    divergent<warpfold::Baseline, N>(source, threshold);                                     \
  }                                                                                          \
  extern "C" __global__ void warpfold_reduction_sw_s_##N(Source source, int threshold) {     \
    divergent<warpfold::SwS, N>(source, threshold);                                          \
  }                                                                                          \
  extern "C" __global__ void warpfold_reduction_sw_b_##N(Source source, int threshold) {     \
    converged<warpfold::SwB, N>(source, threshold);                                          \
  }                                                                                          \
  extern "C" __global__ void warpfold_reduction_skip_##N(Source source, int threshold) {     \
    converged<warpfold::Skip, N>(source, threshold);                                         \
  }

KERNELS(1)
KERNELS(2)
KERNELS(3)
KERNELS(4)
KERNELS(6)
KERNELS(8)
KERNELS(9)
KERNELS(12)
KERNELS(16)
KERNELS(24)
KERNELS(32)

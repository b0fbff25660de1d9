// SPDX-License-Identifier: Apache-2.0
// The functions that the arithmetic of kernels takes beside CUDA's own, on device and host. On the
// host the three approximate ones (cuda_on_host.hpp) differ in their last bits.
#pragma once

#if !defined(__CUDACC__)
#include "traces/capture/common/cuda_on_host.hpp"
#endif

namespace warpfold::capture {

inline constexpr float kLog2E = 1.44269504088896341F;
inline constexpr float kLn2 = 0.693147180559945309F;

#if defined(__CUDACC__)
__device__ __forceinline__ float exp2_approx(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

__device__ __forceinline__ float reciprocal_approx(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

__device__ __forceinline__ float log2_approx(float x) {
  float y;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
#endif

}  // namespace warpfold::capture

// SPDX-License-Identifier: Apache-2.0
// DynIBaR's motion trajectories at one point, one direction and one frame: the product of the
// point's coefficients and the frame's row of the basis, and its derivatives. Shared by the kernels
// and, on the host, their tests; explicit rounding, so that every kernel computes the same bits.
#pragma once

#if !defined(__CUDACC__)
#include "traces/capture/common/cuda_on_host.hpp"
#endif

namespace warpfold::capture::dynibar {

inline constexpr int kBasis = 6;       // vectors of the basis
inline constexpr int kFrames = 7;      // the frame that is rendered and three on each side
inline constexpr int kCentre = 3;      // of them, the frame that is rendered
inline constexpr int kDirections = 3;  // x, y, z

// Coefficients of a point: those of x, then of y, then of z.
inline constexpr int kCoefficients = kDirections * kBasis;

__device__ __forceinline__ float trajectory(const float (&coefficients)[kBasis],
                                            const float (&basis)[kBasis]) {
  float sum = 0.0F;
  for (int i = 0; i < kBasis; ++i) {
    sum = __fmaf_rn(coefficients[i], basis[i], sum);
  }
  return sum;
}

// dL/dbasis of this point, direction and frame.
__device__ __forceinline__ void basis_gradient(const float (&coefficients)[kBasis], float dl,
                                               float (&out)[kBasis]) {
  for (int i = 0; i < kBasis; ++i) {
    out[i] = __fmul_rn(coefficients[i], dl);
  }
}

// Adds the frame's part to dL/dcoefficients of this point and direction.
__device__ __forceinline__ void add_coefficient_gradient(const float (&basis)[kBasis], float dl,
                                                         float (&sum)[kBasis]) {
  for (int i = 0; i < kBasis; ++i) {
    sum[i] = __fmaf_rn(basis[i], dl, sum[i]);
  }
}

}  // namespace warpfold::capture::dynibar

// SPDX-License-Identifier: Apache-2.0
// Sums of the warps of a CTA for a group of Gaussians, side by side in shared memory, and what they
// come to for the CTA. Shared by the kernels and, on the host, their tests.
#pragma once

#include "traces/capture/reduce/halving.cuh"
#include "traces/capture/splat/pixel_math.cuh"
#include "traces/capture/splat/recording.hpp"

namespace warpfold::capture::splat_forms {

// kFloats: from Gaussian to Gaussian.
template <unsigned kGaussians, unsigned kFloats>
struct alignas(16) WarpSums {
  float sum[kWarpsPerTile][kGaussians][kFloats];
  unsigned
      gaussians[kWarpsPerTile];  // those that count for a warp, a bit each; others have no sums

  __device__ __forceinline__ bool counted(int gaussian) const {
    unsigned any = 0;
    for (int w = 0; w < kWarpsPerTile; ++w) {
      any |= gaussians[w];
    }
    return (any >> static_cast<unsigned>(gaussian) & 1U) != 0;
  }
  __device__ __forceinline__ bool counted(int warp, int gaussian) const {
    return (gaussians[warp] >> static_cast<unsigned>(gaussian) & 1U) != 0;
  }
  // From the first warp to the last.
  __device__ __forceinline__ float of_block(int gaussian, int parameter) const {
    float result = 0.0F;
    for (int w = 0; w < kWarpsPerTile; ++w) {
      result = __fadd_rn(result, counted(w, gaussian) ? sum[w][gaussian][parameter] : 0.0F);
    }
    return result;
  }
  // Four parameters, from 4 * vector on; zero behind the last.
  __device__ __forceinline__ float4 vector_of_block(int gaussian, int vector) const {
    float4 result = make_float4(0.0F, 0.0F, 0.0F, 0.0F);
    const int last = kParameters - 1 - 4 * vector;
    for (int w = 0; w < kWarpsPerTile; ++w) {
      const float4 own = reinterpret_cast<const float4*>(sum[w][gaussian])[vector];
      const bool counts = counted(w, gaussian);
      result.x = __fadd_rn(result.x, counts ? own.x : 0.0F);
      result.y = __fadd_rn(result.y, counts && last >= 1 ? own.y : 0.0F);
      result.z = __fadd_rn(result.z, counts && last >= 2 ? own.z : 0.0F);
      result.w = __fadd_rn(result.w, counts && last >= 3 ? own.w : 0.0F);
    }
    return result;
  }
};

#if defined(__CUDACC__)
// A lane of a warp that writes its sums.
class WarpSummer {
 public:
  __device__ __forceinline__ explicit WarpSummer(int rank)
      : lane_(static_cast<unsigned>(rank) % trace::kWarpLanes),
        warp_(rank / trace::kWarpLanes),
        parameter_(sum_of_lane<kParameters>(lane_)) {}
  // By all lanes.
  template <class Sums>
  __device__ __forceinline__ void store(const float (&val)[kParameters], int gaussian,
                                        Sums& sums) const {
    const float own = halve(val, lane_);
    if (parameter_ >= 0) {
      sums.sum[warp_][gaussian][parameter_] = own;
    }
  }
  template <class Sums>
  __device__ __forceinline__ void end(unsigned gaussians, Sums& sums) const {
    if (lane_ == 0) {
      sums.gaussians[warp_] = gaussians;
    }
  }

 private:
  unsigned lane_;
  int warp_;
  int parameter_;
};
#endif

}  // namespace warpfold::capture::splat_forms

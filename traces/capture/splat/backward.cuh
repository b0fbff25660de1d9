// SPDX-License-Identifier: Apache-2.0
// Backward render kernels: what they take and how they are launched.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "traces/capture/splat/pixel_math.cuh"
#include "traces/capture/splat/recording.hpp"

namespace warpfold::capture {

// The four arrays that are added to, in the original kernel's layout.
struct GradientPointers {
  float* array[kGradientArrays];

  // As warpfold::reduce_arc wants it; `parameter` indexes kGradientSlots.
  __device__ __forceinline__ float* operator()(int idx, int parameter) const {
    switch (parameter) {
      case 0:
      case 1:
        return array[kMean2d] + static_cast<long long>(idx) * 3 + parameter;
      case 2:
      case 3:
        return array[kConic] + static_cast<long long>(idx) * 4 + (parameter - 2);
      case 4:
        return array[kConic] + static_cast<long long>(idx) * 4 + 3;
      case 5:
        return array[kOpacity] + idx;
      default:
        return array[kColor] + static_cast<long long>(idx) * 3 + (parameter - 6);
    }
  }
};

// Where the sums of a backward kernel lie: parameter k of Gaussian i at first[k][i * stride[k]].
struct GradientView {
  const float* first[kParameters];
  int stride[kParameters];  // floats

  __device__ __forceinline__ float operator()(int idx, int parameter) const {
    return first[parameter][static_cast<long long>(idx) * stride[parameter]];
  }
};

struct BackwardArgs {
  const uint2* ranges;  // by tile: begin and end in `primitives`
  const std::uint32_t* primitives;
  int width;
  int height;
  const float2* mean2d;
  const float4* conic_opacity;
  const float* color;         // 3 for each Gaussian
  const float* final_t;       // by pixel
  const std::uint32_t* last;  // by pixel: contributors up to and including the last
  const float* dl_dpixels;    // planar
  MeanScale mean_scale;
  GradientPointers out;
};

// What the recorder writes beside the gradients' values.
struct RecorderArgs {
  BackwardArgs backward;
  std::uint32_t* masks;          // Recording::masks, or null
  std::uint8_t* stages;          // Recording::stages
  const std::uint32_t* tiles;    // tile of each CTA, or null: CTA i is tile i
  const std::uint64_t* offsets;  // SampledValues::offsets, or null
  float* values;
};

// Index into the kernel table: a Variant (rasterizer.hpp).
[[nodiscard]] const void* backward_kernel(int variant);
void launch_backward(int variant, dim3 grid, const BackwardArgs& args, int threshold);
void launch_recorder(unsigned ctas, dim3 grid, const RecorderArgs& args);

}  // namespace warpfold::capture

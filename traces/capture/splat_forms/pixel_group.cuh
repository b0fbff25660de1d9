// SPDX-License-Identifier: Apache-2.0
// Pixels of one row that one thread carries through the backward pass, and what a Gaussian does to
// them. Shared by the kernels and, on the host, their tests.
#pragma once

#include "traces/capture/splat/pixel_math.cuh"

namespace warpfold::capture::splat_forms {

template <unsigned N>
struct PixelGroup {
  float2 pixel;       // the first; the others are to the right of it
  int first_pass[N];  // passes before it lie beyond the pixel's last contributor
  PixelState state[N];

  __device__ __forceinline__ int first() const {
    int least = first_pass[0];
    for (unsigned i = 1; i < N; ++i) {
      least = first_pass[i] < least ? first_pass[i] : least;
    }
    return least;
  }
};

// How a Gaussian falls on the group. Where it does not count, falloff and alpha_raw are 0, so that
// `group_gradients` leaves the pixel as it is.
template <unsigned N>
struct GroupFootprint {
  Footprint footprint[N];
  float falloff[N];
  float alpha_raw[N];
};

// Does the Gaussian count for a pixel of the group?
template <unsigned N>
__device__ __forceinline__ bool group_footprint(const PixelGroup<N>& group, float2 mean,
                                                float4 conic, int pass, GroupFootprint<N>& out) {
  bool any = false;
  for (unsigned i = 0; i < N; ++i) {
    const float2 pixel = {__fadd_rn(group.pixel.x, static_cast<float>(i)), group.pixel.y};
    const Footprint f = footprint(mean, conic, pixel);
    const float falloff = exp2_approx(f.power);
    const float alpha_raw = __fmul_rn(conic.w, falloff);
    const bool counts =
        pass >= group.first_pass[i] && !(f.power > 0.0F) && !(alpha_raw < kMinAlpha);
    out.footprint[i] = f;
    out.falloff[i] = counts ? falloff : 0.0F;
    out.alpha_raw[i] = counts ? alpha_raw : 0.0F;
    any = any || counts;
  }
  return any;
}

// Sums over the group of what `gradients` gives for each pixel.
template <unsigned N>
__device__ __forceinline__ void group_gradients(const GroupFootprint<N>& in, float4 conic,
                                                float3 color, MeanScale scale, PixelGroup<N>& group,
                                                float (&out)[9]) {
  gradients(in.footprint[0], conic, color, in.falloff[0], in.alpha_raw[0], scale, group.state[0],
            out);
  for (unsigned i = 1; i < N; ++i) {
    float own[9];
    gradients(in.footprint[i], conic, color, in.falloff[i], in.alpha_raw[i], scale, group.state[i],
              own);
    for (unsigned k = 0; k < 9; ++k) {
      out[k] = __fadd_rn(out[k], own[k]);
    }
  }
}

// Fills state[N] and first_pass[N] from the forward pass; pixels outside of the picture get none.
// `total`: Gaussians of the tile.
template <unsigned N, class Frame>
__device__ __forceinline__ PixelGroup<N> load_group(const Frame& frame, int x, int y, int total) {
  PixelGroup<N> group;
  group.pixel = {static_cast<float>(x), static_cast<float>(y)};
  for (unsigned i = 0; i < N; ++i) {
    group.first_pass[i] = total;
    group.state[i] = {0.0F, 0.0F, {0.0F, 0.0F, 0.0F}};
    const int column = x + static_cast<int>(i);
    if (column < frame.width && y < frame.height) {
      const int at = y * frame.width + column;
      const int pixels = frame.width * frame.height;
      group.first_pass[i] = total - static_cast<int>(frame.last[at]);
      group.state[i].transmittance = frame.final_t[at];
      group.state[i].dl_dcolor = {frame.dl_dpixels[at], frame.dl_dpixels[pixels + at],
                                  frame.dl_dpixels[2 * pixels + at]};
    }
  }
  return group;
}

}  // namespace warpfold::capture::splat_forms

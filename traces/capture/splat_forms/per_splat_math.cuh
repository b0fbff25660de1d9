// SPDX-License-Identifier: Apache-2.0
// The backward pass from a Gaussian's point of view: pixels come past it, front to back, and it
// sums its own gradients. Shared by the kernels and, on the host, their tests.
//
// `gradients` (pixel_math.cuh) works back to front and divides the transmittance by 1 - alpha to
// come to the next Gaussian in front. Here a pixel brings along what is in front of the Gaussian,
// and `rest`: the colour from the Gaussian on, dotted with dl_dcolor.
#pragma once

#include "traces/capture/splat/pixel_math.cuh"

namespace warpfold::capture::splat_forms {

inline constexpr int kBucket = 32;  // Gaussians of a tile that a warp takes, one a lane

// What moves with a pixel from Gaussian to Gaussian.
struct PassingPixel {
  float transmittance;
  float rest;
};

// Sums over the pixels. `slope` is dl_dpower, of the power base 2.
struct SplatSums {
  float slope;
  float slope_x, slope_y;              // times dx, dy
  float slope_xx, slope_xy, slope_yy;  // times the products
  float red, green, blue;
};

// Adds what one pixel has to the sums. `weight` is alpha times the transmittance in front.
__device__ __forceinline__ void add_to_sums(float dx, float dy, float3 dl_dcolor, float weight,
                                            float slope, SplatSums& sums) {
  sums.red = __fmaf_rn(weight, dl_dcolor.x, sums.red);
  sums.green = __fmaf_rn(weight, dl_dcolor.y, sums.green);
  sums.blue = __fmaf_rn(weight, dl_dcolor.z, sums.blue);
  const float slope_x = __fmul_rn(slope, dx);
  const float slope_y = __fmul_rn(slope, dy);
  sums.slope = __fadd_rn(sums.slope, slope);
  sums.slope_x = __fadd_rn(sums.slope_x, slope_x);
  sums.slope_y = __fadd_rn(sums.slope_y, slope_y);
  sums.slope_xx = __fmaf_rn(slope_x, dx, sums.slope_xx);
  sums.slope_xy = __fmaf_rn(slope_x, dy, sums.slope_xy);
  sums.slope_yy = __fmaf_rn(slope_y, dy, sums.slope_yy);
}

// One pixel passes the Gaussian; it moves the pixel's state behind itself. Where the Gaussian does
// not count, nothing changes.
__device__ __forceinline__ void pass_pixel(float2 mean, float4 conic, float3 color, float2 pixel,
                                           float3 dl_dcolor, bool counts, PassingPixel& state,
                                           SplatSums& sums) {
  const Footprint f = footprint(mean, conic, pixel);
  const float falloff = exp2_approx(f.power);
  const float alpha_raw = counts ? __fmul_rn(conic.w, falloff) : 0.0F;
  const float alpha = fminf(kMaxAlpha, alpha_raw);
  const float own = __fmaf_rn(color.z, dl_dcolor.z,
                              __fmaf_rn(color.y, dl_dcolor.y, __fmul_rn(color.x, dl_dcolor.x)));
  const float weight = __fmul_rn(alpha, state.transmittance);
  state.rest = __fmaf_rn(-weight, own, state.rest);
  const float through = __fsub_rn(1.0F, alpha);
  const float dl_dalpha =
      __fmaf_rn(-state.rest, reciprocal_approx(through), __fmul_rn(state.transmittance, own));
  add_to_sums(f.dx, f.dy, dl_dcolor, weight, __fmul_rn(alpha_raw, dl_dalpha), sums);
  state.transmittance = __fmul_rn(state.transmittance, through);
}

// A pixel meets the Gaussian from behind, as in `gradients`. With alpha_raw = 0 nothing changes.
__device__ __forceinline__ void meet_from_behind(float dx, float dy, float3 color, float alpha_raw,
                                                 PixelState& state, SplatSums& sums) {
  const float alpha = fminf(kMaxAlpha, alpha_raw);
  state.transmittance = __fmul_rn(state.transmittance, reciprocal_approx(__fsub_rn(1.0F, alpha)));
  const float3 dl_dcolor = state.dl_dcolor;
  const float own = __fmaf_rn(color.z, dl_dcolor.z,
                              __fmaf_rn(color.y, dl_dcolor.y, __fmul_rn(color.x, dl_dcolor.x)));
  const float difference = __fsub_rn(own, state.behind);
  state.behind = __fmaf_rn(alpha, difference, state.behind);
  const float dl_dalpha = __fmul_rn(state.transmittance, difference);
  add_to_sums(dx, dy, dl_dcolor, __fmul_rn(alpha, state.transmittance),
              __fmul_rn(alpha_raw, dl_dalpha), sums);
}

// The gradients in the order of kGradientSlots, as `gradients` has them.
__device__ __forceinline__ void splat_gradients(const SplatSums& sums, float4 conic,
                                                MeanScale scale, float (&out)[9]) {
  const float twice_x = __fadd_rn(conic.x, conic.x);
  const float twice_y = __fadd_rn(conic.z, conic.z);
  out[0] = __fmul_rn(scale.x, __fmaf_rn(twice_x, sums.slope_x, __fmul_rn(conic.y, sums.slope_y)));
  out[1] = __fmul_rn(scale.y, __fmaf_rn(conic.y, sums.slope_x, __fmul_rn(twice_y, sums.slope_y)));
  out[2] = __fmul_rn(-0.5F, sums.slope_xx);
  out[3] = __fmul_rn(-0.5F, sums.slope_xy);
  out[4] = __fmul_rn(-0.5F, sums.slope_yy);
  out[5] = __fmul_rn(sums.slope, reciprocal_approx(conic.w));
  out[6] = sums.red;
  out[7] = sums.green;
  out[8] = sums.blue;
}

}  // namespace warpfold::capture::splat_forms

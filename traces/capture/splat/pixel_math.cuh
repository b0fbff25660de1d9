// SPDX-License-Identifier: Apache-2.0
// The arithmetic of one pixel and one Gaussian, shared by the forward kernel, every backward
// variant, the recorder and the recorder of the host. Written with explicit rounding so that all of
// them compute the same bits: which lanes take part, and what they add, must not depend on the code
// around it. On the host only the two approximate functions differ in their last bits.
#pragma once

#include "traces/capture/common/kernel_math.cuh"

namespace warpfold::capture {

inline constexpr float kMinAlpha = 1.0F / 255.0F;
inline constexpr float kMaxAlpha = 0.99F;
inline constexpr float kMinTransmittance = 1e-4F;

// A conic (a, b, c) and opacity, scaled so that alpha = w * 2^(x dx^2 + y dx dy + z dy^2).
__device__ __forceinline__ float4 scale_conic(float4 conic_opacity) {
  return make_float4(conic_opacity.x * (-0.5F * kLog2E), conic_opacity.y * -kLog2E,
                     conic_opacity.z * (-0.5F * kLog2E), conic_opacity.w);
}

// How a Gaussian falls on a pixel. `power` is base 2.
struct Footprint {
  float dx, dy;
  float half_x;  // x dx + y dy
  float half_y;  // z dy
  float power;
};

__device__ __forceinline__ Footprint footprint(float2 mean, float4 conic, float2 pixel) {
  Footprint f;
  f.dx = __fsub_rn(mean.x, pixel.x);
  f.dy = __fsub_rn(mean.y, pixel.y);
  f.half_x = __fmaf_rn(conic.x, f.dx, __fmul_rn(conic.y, f.dy));
  f.half_y = __fmul_rn(conic.z, f.dy);
  f.power = __fmaf_rn(f.dx, f.half_x, __fmul_rn(f.dy, f.half_y));
  return f;
}

// What a pixel carries from Gaussian to Gaussian in the backward pass.
struct PixelState {
  float transmittance;  // in front of the Gaussian just done
  float behind;         // colour behind the next Gaussian, dotted with dl_dcolor
  float3 dl_dcolor;
};

// Constants of a launch: d(mean in pixels)/d(mean in normalised device coordinates) times ln 2,
// which undoes the scaling of the conic.
struct MeanScale {
  float x, y;
};

// Gradients of one pixel by one Gaussian, in the order of kGradientSlots; moves the pixel's state
// in front of the Gaussian. With falloff = alpha_raw = 0 all gradients are zero and the state stays
// as it was: that is how a lane takes part without contributing.
__device__ __forceinline__ void gradients(const Footprint& f, float4 conic, float3 color,
                                          float falloff, float alpha_raw, MeanScale scale,
                                          PixelState& state, float (&out)[9]) {
  const float alpha = fminf(kMaxAlpha, alpha_raw);
  state.transmittance = __fmul_rn(state.transmittance, reciprocal_approx(__fsub_rn(1.0F, alpha)));
  const float weight = __fmul_rn(alpha, state.transmittance);
  out[6] = __fmul_rn(weight, state.dl_dcolor.x);
  out[7] = __fmul_rn(weight, state.dl_dcolor.y);
  out[8] = __fmul_rn(weight, state.dl_dcolor.z);

  // The original keeps the three colours behind the Gaussian; only their product with dl_dcolor
  // counts.
  const float own =
      __fmaf_rn(color.z, state.dl_dcolor.z,
                __fmaf_rn(color.y, state.dl_dcolor.y, __fmul_rn(color.x, state.dl_dcolor.x)));
  const float difference = __fsub_rn(own, state.behind);
  state.behind = __fmaf_rn(alpha, difference, state.behind);
  const float dl_dalpha = __fmul_rn(state.transmittance, difference);
  out[5] = __fmul_rn(falloff, dl_dalpha);

  const float dl_dpower = __fmul_rn(alpha_raw, dl_dalpha);
  const float slope_x = __fmaf_rn(conic.x, f.dx, f.half_x);
  const float slope_y = __fmaf_rn(conic.y, f.dx, __fadd_rn(f.half_y, f.half_y));
  out[0] = __fmul_rn(__fmul_rn(dl_dpower, scale.x), slope_x);
  out[1] = __fmul_rn(__fmul_rn(dl_dpower, scale.y), slope_y);
  const float half = __fmul_rn(-0.5F, dl_dpower);
  const float half_dx = __fmul_rn(half, f.dx);
  out[2] = __fmul_rn(half_dx, f.dx);
  out[3] = __fmul_rn(half_dx, f.dy);
  out[4] = __fmul_rn(__fmul_rn(half, f.dy), f.dy);
}

}  // namespace warpfold::capture

// SPDX-License-Identifier: Apache-2.0
// Does a Gaussian count for a pixel of a tile? Shared by the kernels that make tile lists and, on
// the host, by the host recorder. Written with explicit rounding: one kernel counts the tiles of a
// Gaussian and another fills in as many.
#pragma once

#include "traces/capture/splat/pixel_math.cuh"
#include "traces/capture/splat/scene.hpp"

namespace warpfold::capture {

// What rounding may take from the power of a pixel: a share of its two squares, and of the limit.
inline constexpr float kPowerSlack = 2e-6F;
inline constexpr float kLimitSlack = 1e-4F;

// The largest power, base 2, on one side of the box, which lies `across` from the mean; `along`
// reaches from `low` to `high` there. Powers are a across^2 + b across along + c along^2. Rounded
// up.
__device__ __forceinline__ float power_on_side(float a, float b, float c, float across, float low,
                                               float high) {
  const float free = __fmul_rn(__fmul_rn(-0.5F * b, across), reciprocal_approx(c));
  const float along = fminf(high, fmaxf(low, free));
  const float square_a = __fmul_rn(__fmul_rn(a, across), across);
  const float square_c = __fmul_rn(__fmul_rn(c, along), along);
  const float squares = __fadd_rn(square_a, square_c);
  const float power = __fmaf_rn(__fmul_rn(b, across), along, squares);
  return __fmaf_rn(-kPowerSlack, squares, power);
}

// `conic` is scaled (scale_conic). False only where no pixel of the tile reaches kMinAlpha: the
// power has its largest value over the box of the pixels' centres at the mean or on one of the
// two sides that face it.
__device__ __forceinline__ bool touches_tile(float2 mean, float4 conic, int tile_x, int tile_y) {
  const float left = static_cast<float>(tile_x * kTileSize);
  const float top = static_cast<float>(tile_y * kTileSize);
  // Differences to the mean, as footprint() has them.
  const float x_high = __fsub_rn(mean.x, left);
  const float x_low = __fsub_rn(mean.x, __fadd_rn(left, static_cast<float>(kTileSize - 1)));
  const float y_high = __fsub_rn(mean.y, top);
  const float y_low = __fsub_rn(mean.y, __fadd_rn(top, static_cast<float>(kTileSize - 1)));
  const float dx = fminf(x_high, fmaxf(x_low, 0.0F));
  const float dy = fminf(y_high, fmaxf(y_low, 0.0F));
  const float limit =
      __fsub_rn(__fsub_rn(log2_approx(kMinAlpha), log2_approx(conic.w)), kLimitSlack);
  if (!(conic.x < 0.0F) || !(conic.z < 0.0F)) {
    return true;  // no ellipse
  }
  if (dx == 0.0F && dy == 0.0F) {
    return !(0.0F < limit);
  }
  const bool by_x =
      dx != 0.0F && !(power_on_side(conic.x, conic.y, conic.z, dx, y_low, y_high) < limit);
  const bool by_y =
      dy != 0.0F && !(power_on_side(conic.z, conic.y, conic.x, dy, x_low, x_high) < limit);
  return by_x || by_y;
}

}  // namespace warpfold::capture

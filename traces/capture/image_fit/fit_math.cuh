// SPDX-License-Identifier: Apache-2.0
// Blobs, which are 2D Gaussians that paint a picture: from the numbers that are learned to what is
// drawn and back, which tiles a blob touches, and how it blends. Shared by the kernels and, on the
// host, their tests. What decides who adds what has explicit rounding, so that every kernel
// computes the same bits; the gradients of a blob are those of pixel_math.cuh.
#pragma once

#include <cmath>

#include "traces/capture/splat/pixel_math.cuh"

namespace warpfold::capture::image_fit {

inline constexpr int kTileX = 8;  // pixels; a CTA is one warp
inline constexpr int kTileY = 4;
inline constexpr int kListLength = 512;  // most blobs of a tile
inline constexpr int kBlobParameters = 9;
inline constexpr float kDeviations = 4.0F;       // to where a blob reaches
inline constexpr float kOpaque = 1.0F / 255.0F;  // less light than that ends a pixel
inline constexpr float kLeastVariance = 0.25F;   // pixels^2, added to both axes

// What is learned of a blob: mean (2, pixels), logarithms of its deviations along its axes (2),
// angle of the first axis, logits of colour (3) and opacity.
template <class Real>
struct Blob {
  Real mean[2];
  Real conic[3];  // a, b, c of the inverse covariance [a b; b c]
  Real opacity;
  Real color[3];
  Real axis[2];    // of length 1
  Real extent[2];  // along the axis and across it
};

template <class Real>
__device__ __forceinline__ Real sigmoid(Real x) {
  return Real(1) / (Real(1) + std::exp(-x));
}

template <class Real>
__device__ __forceinline__ Blob<Real> make_blob(const Real (&raw)[kBlobParameters]) {
  Blob<Real> blob;
  blob.mean[0] = raw[0];
  blob.mean[1] = raw[1];
  const Real c = std::cos(raw[4]);
  const Real s = std::sin(raw[4]);
  const Real variance1 = std::exp(Real(2) * raw[2]) + Real(kLeastVariance);
  const Real variance2 = std::exp(Real(2) * raw[3]) + Real(kLeastVariance);
  blob.conic[0] = c * c / variance1 + s * s / variance2;
  blob.conic[1] = c * s / variance1 - c * s / variance2;
  blob.conic[2] = s * s / variance1 + c * c / variance2;
  blob.axis[0] = c;
  blob.axis[1] = s;
  blob.extent[0] = Real(kDeviations) * std::sqrt(variance1);
  blob.extent[1] = Real(kDeviations) * std::sqrt(variance2);
  for (int k = 0; k < 3; ++k) {
    blob.color[k] = sigmoid(raw[5 + k]);
  }
  blob.opacity = sigmoid(raw[8]);
  return blob;
}

// `gradient`: by mean, a, half of that by b, c, opacity and colour, as the kernels add them up.
template <class Real>
__device__ __forceinline__ void chain(const Real (&raw)[kBlobParameters],
                                      const Real (&gradient)[kBlobParameters],
                                      Real (&out)[kBlobParameters]) {
  const Real c = std::cos(raw[4]);
  const Real s = std::sin(raw[4]);
  const Real square1 = std::exp(Real(2) * raw[2]);
  const Real square2 = std::exp(Real(2) * raw[3]);
  const Real inverse1 = Real(1) / (square1 + Real(kLeastVariance));
  const Real inverse2 = Real(1) / (square2 + Real(kLeastVariance));
  const Real by_a = gradient[2];
  const Real by_b = Real(2) * gradient[3];
  const Real by_c = gradient[4];
  out[0] = gradient[0];
  out[1] = gradient[1];
  out[2] = Real(-2) * square1 * inverse1 * inverse1 * (by_a * c * c + by_b * c * s + by_c * s * s);
  out[3] = Real(-2) * square2 * inverse2 * inverse2 * (by_a * s * s - by_b * c * s + by_c * c * c);
  const Real difference = inverse1 - inverse2;
  out[4] = difference * (Real(2) * c * s * (by_c - by_a) + (c * c - s * s) * by_b);
  for (int k = 0; k < 3; ++k) {
    const Real color = sigmoid(raw[5 + k]);
    out[5 + k] = gradient[6 + k] * color * (Real(1) - color);
  }
  const Real opacity = sigmoid(raw[8]);
  out[8] = gradient[5] * opacity * (Real(1) - opacity);
}

// Does the box around a blob meet the tile whose first pixel is (x, y)? `box`: axis and extents.
__device__ __forceinline__ bool touches(float2 mean, float4 box, int x, int y) {
  constexpr float kHalfX = 0.5F * static_cast<float>(kTileX - 1);
  constexpr float kHalfY = 0.5F * static_cast<float>(kTileY - 1);
  const float dx = __fsub_rn(mean.x, __fadd_rn(static_cast<float>(x), kHalfX));
  const float dy = __fsub_rn(mean.y, __fadd_rn(static_cast<float>(y), kHalfY));
  const float ax = fabsf(box.x);
  const float ay = fabsf(box.y);
  const float along = fabsf(__fmaf_rn(dx, box.x, __fmul_rn(dy, box.y)));
  const float across = fabsf(__fmaf_rn(dy, box.x, -__fmul_rn(dx, box.y)));
  // All four are worked out: a branch would save nothing, as some lane needs them.
  const int apart =
      static_cast<int>(along > __fmaf_rn(kHalfX, ax, __fmaf_rn(kHalfY, ay, box.z))) |
      static_cast<int>(across > __fmaf_rn(kHalfX, ay, __fmaf_rn(kHalfY, ax, box.w))) |
      static_cast<int>(fabsf(dx) > __fmaf_rn(box.z, ax, __fmaf_rn(box.w, ay, kHalfX))) |
      static_cast<int>(fabsf(dy) > __fmaf_rn(box.z, ay, __fmaf_rn(box.w, ax, kHalfY)));
  return apart == 0;
}

// A pixel on its way from the first blob to the last.
struct Canvas {
  float3 color;
  float transmittance;
  int applied;  // blobs of the list
};

struct Stroke {
  Footprint footprint;
  float falloff;
  float alpha_raw;
};

// `conic`: scaled (pixel_math.cuh), with the opacity.
__device__ __forceinline__ Stroke stroke(float2 mean, float4 conic, float2 pixel) {
  Stroke s;
  s.footprint = footprint(mean, conic, pixel);
  s.falloff = exp2_approx(s.footprint.power);
  s.alpha_raw = __fmul_rn(conic.w, s.falloff);
  return s;
}

__device__ __forceinline__ void blend(const Stroke& s, float4 color, Canvas& canvas) {
  if (canvas.transmittance >= kOpaque) {
    const float alpha = fminf(kMaxAlpha, s.alpha_raw);
    const float weight = __fmul_rn(alpha, canvas.transmittance);
    canvas.color.x = __fmaf_rn(weight, color.x, canvas.color.x);
    canvas.color.y = __fmaf_rn(weight, color.y, canvas.color.y);
    canvas.color.z = __fmaf_rn(weight, color.z, canvas.color.z);
    canvas.transmittance = __fmul_rn(canvas.transmittance, __fsub_rn(1.0F, alpha));
    ++canvas.applied;
  }
}

}  // namespace warpfold::capture::image_fit

// SPDX-License-Identifier: Apache-2.0
// One ray and one sphere: how much the sphere weighs in the pixel, and the gradients of that.
// Shared by the kernels and, on the host, their tests; explicit rounding, so that every kernel
// computes the same bits.
//
// As in Pulsar (CVPR '21) a pixel is the mean of the colours of the spheres that its ray meets. A
// sphere of opacity o weighs
//
//     o * k * exp(o * z / gamma)      k = 1 - distance of the ray from the centre / radius
//                                     z = (far - depth of the hit) / (far - near)
//
// and the background, which is black, exp(epsilon / gamma). The camera is at the origin and looks
// along +z.
#pragma once

#include "traces/capture/common/kernel_math.cuh"

namespace warpfold::capture::spheres {

inline constexpr int kSphereParameters = 8;  // position, radius, opacity, colour
inline constexpr float kLeastSquare = 1e-12F;
inline constexpr float kBackground = 1e-4F;  // epsilon

#if defined(__CUDACC__)
__device__ __forceinline__ float rsqrt_approx(float x) {
  float y;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
#else
inline float rsqrt_approx(float x) {
  return flush_subnormal(1.0F / std::sqrt(flush_subnormal(x)));
}
inline float3 make_float3(float x, float y, float z) {
  return {x, y, z};
}
#endif

// Constants of a picture.
struct SphereCamera {
  int width, height;
  float step;      // from pixel to pixel on the plane z = 1
  float corner_x;  // of the middle of pixel (0, 0) there
  float corner_y;
  float far_depth;
  float inverse_range;  // 1 / (far - near)
  float per_gamma;      // 1 / gamma
  float exponent;       // log2(e) / gamma
};

__device__ __forceinline__ float dot3(float3 a, float3 b) {
  return __fmaf_rn(a.z, b.z, __fmaf_rn(a.y, b.y, __fmul_rn(a.x, b.x)));
}

// Direction of a pixel's ray, of length 1.
__device__ __forceinline__ float3 pixel_ray(const SphereCamera& camera, int x, int y) {
  const float rx = __fmaf_rn(static_cast<float>(x), camera.step, camera.corner_x);
  const float ry = __fmaf_rn(static_cast<float>(y), camera.step, camera.corner_y);
  const float scale = rsqrt_approx(__fmaf_rn(rx, rx, __fmaf_rn(ry, ry, 1.0F)));
  return make_float3(__fmul_rn(rx, scale), __fmul_rn(ry, scale), scale);
}

struct SphereHit {
  float3 apart;  // from the ray to the centre
  float e2;      // its square
  float h2;      // square of half the chord: a hit if positive
  float along;   // from the camera to the foot of `apart`
};

// `sphere`: centre, and the radius in w.
__device__ __forceinline__ SphereHit intersect(float3 ray, float4 sphere) {
  SphereHit hit;
  const float3 centre = make_float3(sphere.x, sphere.y, sphere.z);
  hit.along = dot3(ray, centre);
  hit.apart =
      make_float3(__fmaf_rn(-hit.along, ray.x, centre.x), __fmaf_rn(-hit.along, ray.y, centre.y),
                  __fmaf_rn(-hit.along, ray.z, centre.z));
  hit.e2 = dot3(hit.apart, hit.apart);
  hit.h2 = __fmaf_rn(sphere.w, sphere.w, -hit.e2);
  return hit;
}

// What of a hit both passes need.
struct SphereShade {
  float inverse_e, inverse_h, inverse_r;
  float e;  // distance of the ray from the centre
  float depth;
  float closeness;  // k
  float exponent;   // o z / gamma, base 2
};

__device__ __forceinline__ SphereShade shade(const SphereCamera& camera, const SphereHit& hit,
                                             float radius, float opacity) {
  SphereShade s;
  const float e2 = fmaxf(hit.e2, kLeastSquare);
  const float h2 = fmaxf(hit.h2, kLeastSquare);
  s.inverse_e = rsqrt_approx(e2);
  s.inverse_h = rsqrt_approx(h2);
  s.inverse_r = reciprocal_approx(radius);
  s.e = __fmul_rn(e2, s.inverse_e);
  s.depth = __fmaf_rn(-h2, s.inverse_h, hit.along);
  s.closeness = fmaxf(__fmaf_rn(-s.e, s.inverse_r, 1.0F), 0.0F);
  const float z = __fmul_rn(__fsub_rn(camera.far_depth, s.depth), camera.inverse_range);
  s.exponent = __fmul_rn(__fmul_rn(z, opacity), camera.exponent);
  return s;
}

// What a pixel brings to the backward pass.
struct SpherePixel {
  float3 ray;
  float greatest;  // of the exponents, base 2
  float inverse;   // 1 / sum of the weights, which are over 2^greatest
  float3 dl_dcolor;
  float mean;  // its colour, dotted with dl_dcolor
};

// Gradients of one pixel by one sphere: position, radius, opacity, colour. `color`: with the
// opacity in w.
__device__ __forceinline__ void sphere_gradients(const SphereCamera& camera,
                                                 const SpherePixel& pixel, float4 sphere,
                                                 float4 color, float (&out)[kSphereParameters]) {
  const SphereHit hit = intersect(pixel.ray, sphere);
  const float opacity = color.w;
  const SphereShade s = shade(camera, hit, sphere.w, opacity);
  const float raised = exp2_approx(__fsub_rn(s.exponent, pixel.greatest));
  const float by_opacity = __fmul_rn(__fmul_rn(s.closeness, raised), pixel.inverse);
  const float share = __fmul_rn(by_opacity, opacity);
  out[5] = __fmul_rn(share, pixel.dl_dcolor.x);
  out[6] = __fmul_rn(share, pixel.dl_dcolor.y);
  out[7] = __fmul_rn(share, pixel.dl_dcolor.z);

  // The weight moves the mean towards this colour.
  const float own = dot3(make_float3(color.x, color.y, color.z), pixel.dl_dcolor);
  const float away = __fsub_rn(own, pixel.mean);
  out[4] = __fmul_rn(__fmul_rn(away, by_opacity), __fmaf_rn(s.exponent, kLn2, 1.0F));

  const float dl_dcloseness = __fmul_rn(__fmul_rn(away, opacity), __fmul_rn(raised, pixel.inverse));
  const float dl_ddepth =
      -__fmul_rn(__fmul_rn(__fmul_rn(away, share), __fmul_rn(opacity, camera.per_gamma)),
                 camera.inverse_range);
  const float inward = __fmul_rn(dl_dcloseness, s.inverse_r);
  const float aside = __fmaf_rn(dl_ddepth, s.inverse_h, -__fmul_rn(inward, s.inverse_e));
  out[0] = __fmaf_rn(aside, hit.apart.x, __fmul_rn(dl_ddepth, pixel.ray.x));
  out[1] = __fmaf_rn(aside, hit.apart.y, __fmul_rn(dl_ddepth, pixel.ray.y));
  out[2] = __fmaf_rn(aside, hit.apart.z, __fmul_rn(dl_ddepth, pixel.ray.z));
  out[3] = __fmaf_rn(__fmul_rn(inward, s.e), s.inverse_r,
                     -__fmul_rn(__fmul_rn(dl_ddepth, sphere.w), s.inverse_h));
}

}  // namespace warpfold::capture::spheres

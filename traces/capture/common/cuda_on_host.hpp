// SPDX-License-Identifier: Apache-2.0
// What the arithmetic of kernels takes from CUDA, for a host compiler: vector types, arithmetic
// with round to nearest even and kept subnormals, and stand-ins for the three approximate
// functions, which flush subnormals as the GPU's do and are within a few units in the last place of
// them.
#pragma once

#include <cmath>
#include <limits>

#define __device__
#define __forceinline__ inline

namespace warpfold::capture {

struct float2 {
  float x, y;
};
struct float3 {
  float x, y, z;
};
struct float4 {
  float x, y, z, w;
};
inline float4 make_float4(float x, float y, float z, float w) {
  return {x, y, z, w};
}

inline float __fadd_rn(float a, float b) {
  return a + b;
}
inline float __fsub_rn(float a, float b) {
  return a - b;
}
inline float __fmul_rn(float a, float b) {
  return a * b;
}
inline float __fmaf_rn(float a, float b, float c) {
  return std::fma(a, b, c);
}

inline float flush_subnormal(float x) {
  return std::abs(x) < std::numeric_limits<float>::min() ? std::copysign(0.0F, x) : x;
}
inline float exp2_approx(float x) {
  return flush_subnormal(std::exp2(flush_subnormal(x)));
}
inline float reciprocal_approx(float x) {
  return flush_subnormal(1.0F / flush_subnormal(x));
}
inline float log2_approx(float x) {
  return flush_subnormal(std::log2(flush_subnormal(x)));
}

}  // namespace warpfold::capture

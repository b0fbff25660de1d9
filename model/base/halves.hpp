// SPDX-License-Identifier: Apache-2.0
// Addition of words that are two binary16 values each, as the GPU's red.global.add.noftz.f16x2 does
// it: the lower and the upper halves apart, each rounded to nearest even, with gradual underflow;
// every NaN is 0x7fff. (An H100 gives these bits for all 2^32 pairs of binary16.) Pure functions.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "model/types.hpp"

#ifdef __FAST_MATH__
#error "halves.hpp needs IEEE 754 semantics: do not compile with -ffast-math"
#endif

namespace warpfold {

using HalfBits = std::uint16_t;

inline constexpr HalfBits kHalfSign = 0x8000U;
inline constexpr HalfBits kHalfInfinity = 0x7c00U;
inline constexpr HalfBits kHalfCanonicalNan = 0x7fffU;
// Two times the neutral element of the addition, -0.
inline constexpr Fp32Bits kMinusZeros = 0x80008000U;

constexpr HalfBits lower_half(Fp32Bits word) {
  return static_cast<HalfBits>(word);
}
constexpr HalfBits upper_half(Fp32Bits word) {
  return static_cast<HalfBits>(word >> 16U);
}
constexpr Fp32Bits word_of_halves(HalfBits lower, HalfBits upper) {
  return static_cast<Fp32Bits>(upper) << 16U | lower;
}

// Exact.
inline float half_value(HalfBits half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & kHalfSign) << 16U;
  const std::uint32_t magnitude = half & ~static_cast<std::uint32_t>(kHalfSign);
  if (magnitude >= kHalfInfinity) {
    return std::bit_cast<float>(sign | 0x7f800000U | magnitude << 13U);
  }
  // In the fields of FP32 its exponent stands for 2^-112 times as much, subnormal or not.
  return std::bit_cast<float>(sign | magnitude << 13U) * 0x1p112F;
}

// The nearest one, of two the even one; relies on the host's default rounding mode.
inline HalfBits half_of(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<HalfBits>(bits >> 16U & kHalfSign);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  constexpr std::uint32_t kRoundsToInfinity = std::bit_cast<std::uint32_t>(65520.0F);
  constexpr std::uint32_t kLeastNormal = std::bit_cast<std::uint32_t>(0x1p-14F);
  if (magnitude > 0x7f800000U) {
    return kHalfCanonicalNan;
  }
  if (magnitude >= kRoundsToInfinity) {
    return sign | kHalfInfinity;
  }
  if (magnitude < kLeastNormal) {
    return sign | static_cast<HalfBits>(std::nearbyint(std::fabs(value) * 0x1p24F));
  }
  constexpr std::uint32_t kExponents = 112U << 23U;  // between the two formats
  const std::uint32_t up = 0xfffU + (magnitude >> 13U & 1U);
  return sign | static_cast<HalfBits>((magnitude - kExponents + up) >> 13U);
}

// The sum in FP32 may be rounded, but that does not show: 24 bits are twice the 11 of binary16 and
// two more (Figueroa, "When is double rounding innocuous?", SIGNUM Newsletter 30(3), 1995). Sums
// below the normal range are exact.
inline HalfBits half_add(HalfBits a, HalfBits b) {
  return half_of(half_value(a) + half_value(b));
}

inline Fp32Bits halves_add(Fp32Bits a, Fp32Bits b) {
  return word_of_halves(half_add(lower_half(a), lower_half(b)),
                        half_add(upper_half(a), upper_half(b)));
}

}  // namespace warpfold

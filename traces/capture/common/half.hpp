// SPDX-License-Identifier: Apache-2.0
// Numbers of 16 bits (binary16), as kernels keep them in pairs, on the host.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace warpfold::capture {

inline constexpr double kHalfRoundoff = 1.0 / 2048;             // of the nearest
inline constexpr double kLeastHalf = 1.0 / (1024.0 * 16384.0);  // above zero, subnormal

// The nearest, of two the even one; beyond the greatest, infinity.
[[nodiscard]] inline std::uint16_t to_half(float x) {
  constexpr float kGreatest = 65504;
  constexpr int kFraction = 10;
  constexpr int kLeastExponent = -14;
  constexpr int kBias = 15;
  const unsigned sign = std::bit_cast<std::uint32_t>(x) >> 16U & 0x8000U;
  const float size = std::abs(x);
  if (std::isnan(x)) {
    return static_cast<std::uint16_t>(sign | 0x7e00U);
  }
  // In units of the last place, a whole number; exact but for the rounding.
  const int exponent =
      size == 0 || std::isinf(x) ? kLeastExponent : std::max(std::ilogb(size), kLeastExponent);
  const float units = std::nearbyint(std::ldexp(size, kFraction - exponent));
  const float rounded = std::ldexp(units, exponent - kFraction);
  if (rounded > kGreatest) {
    return static_cast<std::uint16_t>(sign | 0x7c00U);
  }
  // A carry out of the fraction goes into the exponent; subnormals have the exponent 0.
  const unsigned above = static_cast<unsigned>(exponent + kBias - 1) << kFraction;
  return static_cast<std::uint16_t>(sign | (above + static_cast<unsigned>(units)));
}

[[nodiscard]] inline float from_half(std::uint16_t half) {
  const unsigned exponent = half >> 10U & 0x1fU;
  const auto fraction = static_cast<float>(half & 0x3ffU);
  const float sign = (half & 0x8000U) != 0 ? -1.0F : 1.0F;
  if (exponent == 0x1fU) {
    return fraction != 0 ? std::numeric_limits<float>::quiet_NaN()
                         : sign * std::numeric_limits<float>::infinity();
  }
  return sign * (exponent == 0 ? std::ldexp(fraction, -24)
                               : std::ldexp(1024.0F + fraction, static_cast<int>(exponent) - 25));
}

[[nodiscard]] inline float rounded_to_half(float x) {
  return from_half(to_half(x));
}

}  // namespace warpfold::capture

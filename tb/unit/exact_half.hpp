// SPDX-License-Identifier: Apache-2.0
// The sum of two binary16 values by another way than the model and the RTL: as whole numbers of
// 2^-24, of which every finite one is a multiple, and then the nearest value that there is.
#pragma once

#include <cstdint>

#include "model/base/halves.hpp"
#include "model/types.hpp"

namespace warpfold {

// Of a magnitude's bits; infinity stands for the number behind the largest one.
constexpr std::int64_t half_units(std::uint32_t magnitude) {
  const std::uint32_t exponent = magnitude >> 10U;
  const std::int64_t fraction = magnitude & 0x3ffU;
  return exponent == 0 ? fraction : (0x400 + fraction) << (exponent - 1);
}

// `flush`: subnormal values and sums count as zero of their sign.
inline HalfBits exact_half_add(HalfBits a, HalfBits b, bool flush) {
  constexpr std::uint32_t kMagnitude = 0x7fffU;
  if ((a & kMagnitude) > kHalfInfinity || (b & kMagnitude) > kHalfInfinity) {
    return kHalfCanonicalNan;
  }
  const bool a_infinite = (a & kMagnitude) == kHalfInfinity;
  const bool b_infinite = (b & kMagnitude) == kHalfInfinity;
  if (a_infinite || b_infinite) {
    return a_infinite && b_infinite && a != b ? kHalfCanonicalNan : a_infinite ? a : b;
  }
  const auto value = [flush](HalfBits half) {
    const std::uint32_t magnitude = half & kMagnitude;
    const std::int64_t units = flush && magnitude < 0x400U ? 0 : half_units(magnitude);
    return (half & kHalfSign) != 0 ? -units : units;
  };
  const std::int64_t sum = value(a) + value(b);
  if (sum == 0) {
    return a & b & kHalfSign;
  }
  const std::int64_t units = sum < 0 ? -sum : sum;
  // The first magnitude that is not smaller, and the one before it.
  std::uint32_t low = 0;
  std::uint32_t high = kHalfInfinity;
  while (low < high) {
    const std::uint32_t middle = (low + high) / 2;
    if (half_units(middle) < units) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  const std::int64_t above = half_units(high) - units;
  const std::int64_t below = high == 0 ? above : units - half_units(high - 1);
  const bool down = below < above || (below == above && high % 2 == 1);
  std::uint32_t magnitude = high - (down ? 1 : 0);
  if (flush && magnitude < 0x400U) {
    magnitude = 0;
  }
  return static_cast<HalfBits>(magnitude | (sum < 0 ? kHalfSign : 0U));
}

inline Fp32Bits exact_halves_add(Fp32Bits a, Fp32Bits b, bool flush) {
  return word_of_halves(exact_half_add(lower_half(a), lower_half(b), flush),
                        exact_half_add(upper_half(a), upper_half(b), flush));
}

}  // namespace warpfold

// SPDX-License-Identifier: Apache-2.0
#include "model/unit/window_sum.hpp"

#include <algorithm>
#include <bit>

#include "model/unit/fp32.hpp"

namespace warpfold {

namespace {

constexpr int kFractionBits = 23;

}  // namespace

void WindowSum::add(Fp32Bits value, int window) {
  const auto exponent = static_cast<int>(value >> kFractionBits & 0xffU);
  const Fp32Bits fraction = value & 0x7fffffU;
  const bool negative = (value & kFp32Sign) != 0;
  any_without_sign |= !negative;
  if (exponent == 0xff) {
    any_nan |= fraction != 0;
    any_positive_infinity |= fraction == 0 && !negative;
    any_negative_infinity |= fraction == 0 && negative;
  } else if (exponent != 0) {
    // Exponent of the window's top bit less that of the value: so many bits stand before it. Words
    // above it are none of the operand's, but may stand at the ports before they have settled.
    const int top = static_cast<int>(bin << kBinShift | 7U);
    const int shift = window - (kFractionBits + 1) - std::max(top - exponent, 0);
    const std::int64_t significand = fraction | 1U << kFractionBits;
    const std::int64_t kept = shift >= 0                ? significand << shift
                              : shift >= -kFractionBits ? significand >> -shift
                                                        : 0;
    units += negative ? -kept : kept;
  }
}

void WindowSum::add(const WindowSum& other) {
  units += other.units;
  any_nan |= other.any_nan;
  any_positive_infinity |= other.any_positive_infinity;
  any_negative_infinity |= other.any_negative_infinity;
  any_without_sign |= other.any_without_sign;
}

Fp32Bits WindowSum::round(int window) const {
  if (any_nan || (any_positive_infinity && any_negative_infinity)) {
    return kFp32CanonicalNan;
  }
  if (any_positive_infinity || any_negative_infinity) {
    return kFp32Infinity | (any_negative_infinity ? kFp32Sign : 0);
  }
  if (units == 0) {
    return any_without_sign ? 0 : kFp32Sign;
  }
  const Fp32Bits sign = units < 0 ? kFp32Sign : 0;
  auto magnitude = static_cast<std::uint64_t>(units < 0 ? -units : units);
  const int leading = static_cast<int>(std::bit_width(magnitude)) - 1;
  // Exponent of the leading one, the window's top bit having that of its bin's top.
  int exponent = static_cast<int>(bin << kBinShift | 7U) + leading - (window - 1);
  if (exponent < 1) {
    return sign;
  }
  if (const int excess = leading - kFractionBits; excess > 0) {
    const std::uint64_t half = std::uint64_t{1} << (excess - 1);
    const std::uint64_t rest = magnitude & (2 * half - 1);
    magnitude >>= excess;
    magnitude += rest > half || (rest == half && (magnitude & 1U) != 0) ? 1 : 0;
  } else {
    magnitude <<= -excess;
  }
  if (magnitude >> (kFractionBits + 1) != 0) {
    magnitude >>= 1;
    ++exponent;
  }
  if (exponent >= 0xff) {
    return sign | kFp32Infinity;
  }
  return sign | static_cast<Fp32Bits>(exponent) << kFractionBits |
         (static_cast<Fp32Bits>(magnitude) & 0x7fffffU);
}

}  // namespace warpfold

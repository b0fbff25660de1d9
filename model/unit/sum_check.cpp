// SPDX-License-Identifier: Apache-2.0
#include "model/unit/sum_check.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>

#include "model/unit/fp32.hpp"

namespace warpfold {
namespace {

constexpr int kFractionBits = 23;
constexpr Fp32Bits kFraction = 0x007fffff;
constexpr Fp32Bits kMagnitude = 0x7fffffff;

bool is_nan(Fp32Bits value) {
  return (value & kMagnitude) > kFp32Infinity;
}
bool is_infinity(Fp32Bits value) {
  return (value & kMagnitude) == kFp32Infinity;
}
// Biased, 1 for subnormal numbers: the value is significand() 2^(exponent - 150).
int exponent(Fp32Bits value) {
  return std::max(static_cast<int>(value >> kFractionBits & 0xffU), 1);
}
std::int64_t significand(Fp32Bits value) {
  const Fp32Bits hidden = (value & kFp32Infinity) != 0 ? kFraction + 1 : 0;
  return static_cast<std::int64_t>((value & kFraction) | hidden);
}

// An exact sum of finite values, in units of the least subnormal number, 2^-149.
class ExactSum {
 public:
  // units << shift, of units below 2^24
  void add(std::int64_t units, int shift) {
    // Pieces of 32 bits, so that no place leaves the range of its 64 bits in some thousand sums.
    auto place = static_cast<std::size_t>(shift / kBits);
    for (auto rest = static_cast<std::uint64_t>(std::abs(units)) << shift % kBits; rest != 0;
         rest >>= kBits) {
      const auto piece = static_cast<std::int64_t>(rest & kMask);
      places_[place++] += units < 0 ? -piece : piece;
    }
  }
  // Rounded to nearest even.
  [[nodiscard]] Fp32Bits round(bool flush_subnormals) const {
    std::array<std::int64_t, kPlaces> digits = places_;
    const bool negative = carry(digits);
    const Fp32Bits sign = negative ? kFp32Sign : 0;
    int top = -1;
    for (int bit = kPlaces * kBits - 1; bit >= 0 && top < 0; --bit) {
      top = bit_of(digits, bit) ? bit : -1;
    }
    if (top < 0) {
      return 0;
    }
    if (top < kFractionBits) {
      return flush_subnormals ? sign : sign | static_cast<Fp32Bits>(digits[0]);
    }
    const int lowest = top - kFractionBits;
    Fp32Bits bits = 0;
    for (int bit = top; bit >= lowest; --bit) {
      bits = bits << 1 | (bit_of(digits, bit) ? 1U : 0U);
    }
    bool sticky = false;
    for (int bit = 0; bit < lowest - 1 && !sticky; ++bit) {
      sticky = bit_of(digits, bit);
    }
    const bool half = lowest > 0 && bit_of(digits, lowest - 1);
    // A carry out of the fraction is one into the exponent, up to infinity.
    const std::uint64_t packed = (static_cast<std::uint64_t>(lowest) << kFractionBits) + bits +
                                 (half && (sticky || (bits & 1) != 0) ? 1 : 0);
    return sign | static_cast<Fp32Bits>(std::min<std::uint64_t>(packed, kFp32Infinity));
  }
  [[nodiscard]] long double value() const {
    long double sum = 0;
    for (int place = kPlaces - 1; place >= 0; --place) {
      sum += std::ldexp(static_cast<long double>(places_[static_cast<std::size_t>(place)]),
                        place * kBits - 149);
    }
    return sum;
  }

 private:
  static constexpr int kBits = 32;
  static constexpr int kPlaces = 11;
  static constexpr std::uint64_t kMask = 0xffffffffU;

  // Digits of the magnitude; true if it is negative.
  static bool carry(std::array<std::int64_t, kPlaces>& digits) {
    const auto pass = [&digits] {
      std::int64_t over = 0;
      for (std::int64_t& digit : digits) {
        digit += over;
        over = digit >> kBits;
        digit &= static_cast<std::int64_t>(kMask);
      }
      return over < 0;
    };
    const std::array<std::int64_t, kPlaces> before = digits;
    if (!pass()) {
      return false;
    }
    std::transform(before.begin(), before.end(), digits.begin(),
                   [](std::int64_t digit) { return -digit; });
    pass();
    return true;
  }
  static bool bit_of(const std::array<std::int64_t, kPlaces>& digits, int bit) {
    return (digits[static_cast<std::size_t>(bit / kBits)] >> bit % kBits & 1) != 0;
  }

  std::array<std::int64_t, kPlaces> places_{};
};

struct Summary {
  int count = 0;
  bool any_nan = false;
  bool any_positive_infinity = false;
  bool any_negative_infinity = false;
  int largest_exponent = 1;
  long double magnitudes = 0;  // their sum
  ExactSum exact;
};

Summary summarize(bool flush_subnormals, LaneMask lanes,
                  const std::array<Fp32Bits, kLanes>& values) {
  Summary all;
  for (; lanes != 0; lanes &= lanes - 1) {
    const Fp32Bits given = values[static_cast<std::size_t>(std::countr_zero(lanes))];
    const Fp32Bits value = flush_subnormals ? fp32_flush_subnormal(given) : given;
    ++all.count;
    all.any_nan |= is_nan(value);
    if (is_infinity(value)) {
      ((value & kFp32Sign) != 0 ? all.any_negative_infinity : all.any_positive_infinity) = true;
    } else if (!is_nan(value)) {
      const std::int64_t units = significand(value);
      all.largest_exponent = std::max(all.largest_exponent, exponent(value));
      all.exact.add((value & kFp32Sign) != 0 ? -units : units, exponent(value) - 1);
      all.magnitudes += std::ldexp(static_cast<long double>(units), exponent(value) - 150);
    }
  }
  return all;
}

std::string text(const char* format, double a, double b) {
  std::array<char, 128> out{};
  std::snprintf(out.data(), out.size(), format, a, b);
  return out.data();
}

std::string fp32_hex(Fp32Bits bits) {
  std::array<char, 16> out{};
  std::snprintf(out.data(), out.size(), "0x%08x", bits);
  return out.data();
}

// With infinities or NaNs among the values there is one right answer.
std::string special_error(const Summary& all, Fp32Bits sum) {
  if (all.any_nan || (all.any_positive_infinity && all.any_negative_infinity)) {
    return is_nan(sum) ? "" : "a NaN";
  }
  const Fp32Bits infinity = kFp32Infinity | (all.any_negative_infinity ? kFp32Sign : 0);
  return sum == infinity ? "" : fp32_hex(infinity);
}

std::string any_order_error(const UnitPromise& promise, const Summary& all, Fp32Bits sum) {
  constexpr long double kUnit = 0x1p-24L;  // of the rounding of one addition
  const auto additions = static_cast<long double>(all.count - 1);
  // The one more unit in 2^20 is for the arithmetic here.
  const long double bound =
      additions * kUnit / (1 - additions * kUnit) * all.magnitudes * (1 + 0x1p-20L) +
      (promise.flush_subnormals ? all.count * 0x1p-126L : 0);
  const long double exact = all.exact.value();
  const auto found = static_cast<long double>(std::bit_cast<float>(sum));
  if (!is_nan(sum) && std::abs(found - exact) <= bound) {
    return "";
  }
  return text("%.9g within %.3g", static_cast<double>(exact), static_cast<double>(bound));
}

std::string one_rounding_error(const UnitPromise& promise, const Summary& all, Fp32Bits sum) {
  ExactSum least = all.exact;
  ExactSum most = all.exact;
  // Eight exponents are a bin; what lies below the window is cut off.
  const int top = (all.largest_exponent | 7) - 1 + kFractionBits;
  const int below = top - (static_cast<int>(promise.window) - 1);
  if (promise.window != 0 && below > 0) {
    least.add(-all.count, below);
    most.add(all.count, below);
  }
  const float low = std::bit_cast<float>(least.round(promise.flush_subnormals));
  const float high = std::bit_cast<float>(most.round(promise.flush_subnormals));
  const float found = std::bit_cast<float>(sum);
  if (low <= found && found <= high) {
    return "";
  }
  return text("from %.9g to %.9g", low, high);
}

Fp32Bits chain(bool flush_subnormals, LaneMask lanes, const std::array<Fp32Bits, kLanes>& values) {
  Fp32Bits sum = kFp32MinusZero;
  for (; lanes != 0; lanes &= lanes - 1) {
    sum = fp32_add_integer(sum, values[static_cast<std::size_t>(std::countr_zero(lanes))],
                           flush_subnormals);
  }
  return sum;
}

}  // namespace

std::string sum_error(const UnitPromise& promise, LaneMask lanes,
                      const std::array<Fp32Bits, kLanes>& values, Fp32Bits sum) {
  if (promise.sum == SumKind::kChain) {
    const bool as_model = promise.flush_subnormals || promise.adds == WordType::kHalves;
    const Fp32Bits right = as_model ? reduction_reference(lanes, values, promise.adds)
                                    : chain(promise.flush_subnormals, lanes, values);
    return sum == right ? "" : fp32_hex(right);
  }
  const Summary all = summarize(promise.flush_subnormals, lanes, values);
  // Some order of the additions overflows.
  const bool overflows = promise.sum == SumKind::kAnyOrder &&
                         all.magnitudes * (1 + 0x1p-18L) > std::numeric_limits<float>::max();
  if (overflows && is_nan(sum)) {
    return "";
  }
  if (all.any_nan || all.any_positive_infinity || all.any_negative_infinity) {
    return special_error(all, sum);
  }
  if (overflows && is_infinity(sum)) {
    return "";
  }
  return promise.sum == SumKind::kAnyOrder ? any_order_error(promise, all, sum)
                                           : one_rounding_error(promise, all, sum);
}

}  // namespace warpfold

// SPDX-License-Identifier: Apache-2.0
#include "model/unit/sum_check.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <optional>

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
  // By their sign bits, zeros too.
  bool all_negative = true;
  bool all_positive = true;
  int largest_exponent = 1;
  int smallest_exponent = 255;  // of those that are not zero
  // Sums of magnitudes.
  long double positive = 0;
  long double negative = 0;
  ExactSum exact;
  std::array<Fp32Bits, kLanes> values;  // so many
};

Summary summarize(bool flush_subnormals, LaneMask lanes,
                  const std::array<Fp32Bits, kLanes>& values) {
  Summary all;
  for (; lanes != 0; lanes &= lanes - 1) {
    const Fp32Bits given = values[static_cast<std::size_t>(std::countr_zero(lanes))];
    const Fp32Bits value = flush_subnormals ? fp32_flush_subnormal(given) : given;
    const bool negative = (value & kFp32Sign) != 0;
    all.values[static_cast<std::size_t>(all.count++)] = value;
    all.any_nan |= is_nan(value);
    all.all_negative &= negative;
    all.all_positive &= !negative;
    if (is_infinity(value)) {
      (negative ? all.any_negative_infinity : all.any_positive_infinity) = true;
    } else if (!is_nan(value)) {
      const std::int64_t units = significand(value);
      all.largest_exponent = std::max(all.largest_exponent, exponent(value));
      all.smallest_exponent =
          units == 0 ? all.smallest_exponent : std::min(all.smallest_exponent, exponent(value));
      all.exact.add(negative ? -units : units, exponent(value) - 1);
      (negative ? all.negative : all.positive) +=
          std::ldexp(static_cast<long double>(units), exponent(value) - 150);
    }
  }
  return all;
}

std::string text(const char* format, double a) {
  std::array<char, 128> out{};
  std::snprintf(out.data(), out.size(), format, a);
  return out.data();
}

std::string fp32_text(Fp32Bits bits) {
  return word_text(WordType::kFp32, bits);
}

bool is_zero(Fp32Bits value) {
  return (value & kMagnitude) == 0;
}
bool is_subnormal(Fp32Bits value) {
  return (value & kFp32Infinity) == 0 && !is_zero(value);
}

// With infinities or NaNs among the values there is one right answer.
std::string special_error(const Summary& all, Fp32Bits sum) {
  Fp32Bits right = kFp32Infinity | (all.any_negative_infinity ? kFp32Sign : 0);
  if (all.any_nan || (all.any_positive_infinity && all.any_negative_infinity)) {
    right = kFp32CanonicalNan;
  }
  return sum == right ? "" : fp32_text(right);
}

// The one zero that the signs of the values leave; nothing where they leave both.
std::optional<Fp32Bits> zero_of_signs(const Summary& all) {
  if (all.all_negative || all.all_positive) {
    return all.all_negative ? kFp32MinusZero : 0;
  }
  return std::nullopt;
}

// The largest error of so many additions that round, of magnitudes with this sum.
long double rounding_bound(int count, long double magnitudes) {
  constexpr long double kUnit = 0x1p-24L;  // of one addition
  const long double units = static_cast<long double>(count - 1) * kUnit;
  // The one more unit in 2^20 is for the arithmetic here.
  return units / (1 - units) * magnitudes * (1 + 0x1p-20L);
}

// Whether a unit that may round to more bits than RED, but flushes as it does, gives `sum` where
// RED gives `red`.
bool is_about(Fp32Bits sum, Fp32Bits red, long double bound) {
  const bool finite = (sum & kMagnitude) < kFp32Infinity && (red & kMagnitude) < kFp32Infinity;
  if (sum == red || !finite || sum == kFp32MinusZero || (is_zero(sum) && is_zero(red))) {
    return sum == red;
  }
  return std::abs(static_cast<long double>(std::bit_cast<float>(sum)) -
                  static_cast<long double>(std::bit_cast<float>(red))) <= bound;
}

// Whether the sum is about that of some order of the additions of the first `count` values.
bool some_order_gives(bool flush_subnormals, const std::array<Fp32Bits, kLanes>& values,
                      std::size_t count, Fp32Bits sum, long double bound) {
  if (count == 1) {
    return is_about(sum, is_nan(values[0]) ? kFp32CanonicalNan : values[0], bound);
  }
  for (std::size_t i = 1; i < count; ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      std::array<Fp32Bits, kLanes> rest = values;
      rest[k] = fp32_add_integer(values[i], values[k], flush_subnormals);
      rest[i] = values[count - 1];
      if (some_order_gives(flush_subnormals, rest, count - 1, sum, bound)) {
        return true;
      }
    }
  }
  return false;
}

// So few that all orders can be tried: 18 of four.
constexpr int kFew = 4;

// The largest error that additions make beyond their rounding: those that give a subnormal number,
// which is flushed. There are none where all values have one sign, nor where each is a multiple of
// the least normal number.
long double flush_bound(const UnitPromise& promise, const Summary& all) {
  constexpr int kMultiple = kFractionBits + 1;  // exponent of those
  const bool none = !promise.flush_subnormals || all.all_negative || all.all_positive ||
                    all.smallest_exponent >= kMultiple;
  return none ? 0 : (all.count - 1) * 0x1p-126L;
}

std::string finite_error(const UnitPromise& promise, const Summary& all, Fp32Bits sum) {
  const long double flushed = flush_bound(promise, all);
  const long double bound = rounding_bound(all.count, all.positive + all.negative) + flushed;
  const long double exact = all.exact.value();
  const auto found = static_cast<long double>(std::bit_cast<float>(sum));
  if (is_nan(sum) || std::abs(found - exact) > bound) {
    return fp32_text(std::bit_cast<Fp32Bits>(static_cast<float>(exact))) +
           text(" within %.3g", static_cast<double>(bound));
  }
  if (is_zero(sum)) {
    // What cancels is +0. A zero that was flushed has the sign of what it was.
    const auto zero = zero_of_signs(all);
    const bool may_be_flushed = !zero && flushed > 0;
    if (!may_be_flushed && sum != zero.value_or(0)) {
      return fp32_text(zero.value_or(0));
    }
  }
  return "";
}

std::string any_order_error(const UnitPromise& promise, const Summary& all, Fp32Bits sum) {
  if (promise.flush_subnormals && is_subnormal(sum)) {
    return "no subnormal number";
  }
  if (all.count <= kFew && flush_bound(promise, all) > 0) {
    const long double bound = rounding_bound(all.count, all.positive + all.negative);
    return some_order_gives(promise.flush_subnormals, all.values,
                            static_cast<std::size_t>(all.count), sum, bound)
               ? ""
               : text("the sum of its %.0f values in some order, subnormal ones flushed",
                      all.count);
  }
  // Infinities that some order of the additions may meet.
  constexpr long double kMost = std::numeric_limits<float>::max() * (1 - 0x1p-18L);
  const bool plus = all.any_positive_infinity || all.positive > kMost;
  const bool minus = all.any_negative_infinity || all.negative > kMost;
  if (all.any_nan || (plus && minus && is_nan(sum))) {
    return sum == kFp32CanonicalNan ? "" : fp32_text(kFp32CanonicalNan);
  }
  if (is_infinity(sum) && ((sum & kFp32Sign) != 0 ? minus : plus)) {
    // An infinity among the values stays, and meets one of the other sign as a NaN alone.
    const bool lost =
        (sum & kFp32Sign) != 0 ? all.any_positive_infinity : all.any_negative_infinity;
    return lost ? special_error(all, sum) : "";
  }
  if (all.any_positive_infinity || all.any_negative_infinity) {
    return special_error(all, sum);
  }
  return finite_error(promise, all, sum);
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
  if (promise.flush_subnormals && is_subnormal(sum)) {
    return "no subnormal number";
  }
  const float low = std::bit_cast<float>(least.round(promise.flush_subnormals));
  const float high = std::bit_cast<float>(most.round(promise.flush_subnormals));
  const float found = std::bit_cast<float>(sum);
  if (!(low <= found && found <= high)) {
    return "from " + fp32_text(std::bit_cast<Fp32Bits>(low)) + " to " +
           fp32_text(std::bit_cast<Fp32Bits>(high));
  }
  if (is_zero(sum)) {
    // What cancels is +0. A zero that was flushed has the sign of what it was.
    const bool may_be_negative = promise.flush_subnormals && least.value() < 0;
    const bool may_be_positive = most.value() >= 0;
    const bool negative = sum == kFp32MinusZero;
    const auto zero = zero_of_signs(all);
    if (zero ? sum != *zero : negative ? !may_be_negative : !may_be_positive) {
      return fp32_text(zero.value_or(negative ? 0 : kFp32MinusZero));
    }
  }
  return "";
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

std::string word_text(WordType type, Fp32Bits word) {
  std::array<char, 64> out{};
  std::snprintf(out.data(), out.size(), type == WordType::kHalves ? "0x%08x" : "0x%08x (%.9g)",
                word, static_cast<double>(std::bit_cast<float>(word)));
  return out.data();
}

std::string sum_error(const UnitPromise& promise, LaneMask lanes,
                      const std::array<Fp32Bits, kLanes>& values, Fp32Bits sum) {
  if (promise.sum == SumKind::kChain) {
    const bool as_model = promise.flush_subnormals || promise.adds == WordType::kHalves;
    const Fp32Bits right = as_model ? reduction_reference(lanes, values, promise.adds)
                                    : chain(promise.flush_subnormals, lanes, values);
    return sum == right ? "" : word_text(promise.adds, right);
  }
  const Summary all = summarize(promise.flush_subnormals, lanes, values);
  if (promise.sum == SumKind::kAnyOrder) {
    return any_order_error(promise, all, sum);
  }
  if (all.any_nan || all.any_positive_infinity || all.any_negative_infinity) {
    return special_error(all, sum);
  }
  return one_rounding_error(promise, all, sum);
}

}  // namespace warpfold

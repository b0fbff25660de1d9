// SPDX-License-Identifier: Apache-2.0
#include "model/unit/fp32.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace warpfold {

namespace {

constexpr int kFractionWidth = 23;
constexpr std::uint32_t kFractionMask = (1U << kFractionWidth) - 1;
constexpr std::uint32_t kHiddenBit = 1U << kFractionWidth;
constexpr std::uint32_t kExponentMax = 255;
// Guard, round and sticky below the significand.
constexpr int kExtraBits = 3;

constexpr std::uint32_t exponent_of(Fp32Bits bits) {
  return (bits >> kFractionWidth) & kExponentMax;
}
constexpr std::uint32_t fraction_of(Fp32Bits bits) {
  return bits & kFractionMask;
}
constexpr bool is_nan(Fp32Bits bits) {
  return exponent_of(bits) == kExponentMax && fraction_of(bits) != 0;
}
constexpr bool is_infinity(Fp32Bits bits) {
  return exponent_of(bits) == kExponentMax && fraction_of(bits) == 0;
}

// The processor's own addition in a state of its float unit that is written before and restored
// after. It is one statement of instructions, so that no compiler moves it across the writes of the
// state or folds it at compile time, where the bits that flush do not count.
#if defined(__x86_64__)
// MXCSR: flush results to zero, inputs are zero, all exceptions masked, round to nearest.
constexpr std::uint32_t kMxcsrFtz = 0x8000U;
constexpr std::uint32_t kMxcsrDaz = 0x0040U;
constexpr std::uint32_t kMxcsrMasks = 0x1f80U;

float add_as_host(float a, float b, bool flush_subnormals) {
  std::uint32_t saved = 0;
  const std::uint32_t state = flush_subnormals ? kMxcsrMasks | kMxcsrFtz | kMxcsrDaz : kMxcsrMasks;
  __asm__ volatile(
      "stmxcsr %1\n\t"
      "ldmxcsr %3\n\t"
      "addss %2, %0\n\t"
      "ldmxcsr %1"
      : "+x"(a), "+m"(saved)
      : "x"(b), "m"(state)
      : "memory");
  return a;
}
#elif defined(__aarch64__)
// FPCR: inputs and results that are subnormal are zero; its other bits 0 mean no traps, round to
// nearest.
constexpr std::uint64_t kFpcrFlush = std::uint64_t{1} << 24U;

float add_as_host(float a, float b, bool flush_subnormals) {
  std::uint64_t saved = 0;
  const std::uint64_t state = flush_subnormals ? kFpcrFlush : 0;
  __asm__ volatile(
      "mrs %1, fpcr\n\t"
      "msr fpcr, %3\n\t"
      "fadd %s0, %s0, %s2\n\t"
      "msr fpcr, %1"
      : "+w"(a), "=&r"(saved)
      : "w"(b), "r"(state)
      : "memory");
  return a;
}
#else
#error "fp32.cpp: which bits make this processor flush subnormal numbers?"
#endif

}  // namespace

Fp32Bits fp32_add_integer(Fp32Bits a, Fp32Bits b, bool flush_subnormals) {
  if (is_nan(a) || is_nan(b)) {
    return kFp32CanonicalNan;
  }
  if (is_infinity(a) || is_infinity(b)) {
    if (is_infinity(a) && is_infinity(b) && a != b) {
      return kFp32CanonicalNan;
    }
    return is_infinity(a) ? a : b;
  }

  // Magnitudes are ordered like their bits: `a` becomes the larger one.
  if ((a & ~kFp32Sign) < (b & ~kFp32Sign)) {
    std::swap(a, b);
  }
  const bool negative = (a & kFp32Sign) != 0;
  const bool subtract = ((a ^ b) & kFp32Sign) != 0;

  // Unpack to 1.23 significands with three bits below; a subnormal has exponent 1 without the
  // hidden bit, and none of its fraction when it is flushed.
  auto significand = [flush_subnormals](Fp32Bits bits) -> std::uint32_t {
    if (exponent_of(bits) == 0) {
      return flush_subnormals ? 0 : fraction_of(bits) << kExtraBits;
    }
    return (kHiddenBit | fraction_of(bits)) << kExtraBits;
  };
  std::uint32_t exponent = exponent_of(a) == 0 ? 1 : exponent_of(a);
  const std::uint32_t exponent_small = exponent_of(b) == 0 ? 1 : exponent_of(b);
  const std::uint32_t large = significand(a);
  std::uint32_t small = significand(b);

  // Align; what is shifted out stays visible as the sticky bit.
  const std::uint32_t shift = exponent - exponent_small;
  if (shift >= kFractionWidth + 1 + kExtraBits) {
    small = small != 0 ? 1 : 0;
  } else {
    const std::uint32_t lost = small & ((1U << shift) - 1);
    small = (small >> shift) | (lost != 0 ? 1U : 0U);
  }

  std::uint32_t sum = subtract ? large - small : large + small;
  if (sum == 0) {
    // Equal signs keep theirs (only zeros can meet here), unlike signs cancel to +0.
    return negative && !subtract ? kFp32Sign : 0;
  }

  // Normalise, down to the exponent of the subnormals at most.
  constexpr std::uint32_t kLeading = kHiddenBit << kExtraBits;
  if (sum >= kLeading << 1) {
    sum = (sum >> 1) | (sum & 1);
    ++exponent;
  }
  while (sum < kLeading && exponent > 1) {
    sum <<= 1;
    --exponent;
  }
  if (sum < kLeading && flush_subnormals) {
    return negative ? kFp32Sign : 0;
  }

  // Round to nearest, ties to even.
  std::uint32_t rounded = sum >> kExtraBits;
  const std::uint32_t below = sum & ((1U << kExtraBits) - 1);
  constexpr std::uint32_t kHalf = 1U << (kExtraBits - 1);
  if (below > kHalf || (below == kHalf && (rounded & 1) != 0)) {
    ++rounded;
  }
  if (rounded >= kHiddenBit << 1) {
    rounded >>= 1;
    ++exponent;
  }

  const std::uint32_t sign = negative ? kFp32Sign : 0;
  if (exponent >= kExponentMax) {
    return sign | kFp32Infinity;
  }
  if (rounded < kHiddenBit) {
    return sign | rounded;
  }
  return sign | (exponent << kFractionWidth) | (rounded & kFractionMask);
}

Fp32Bits fp32_add_host(Fp32Bits a, Fp32Bits b, bool flush_subnormals) {
  const Fp32Bits bits = std::bit_cast<Fp32Bits>(
      add_as_host(std::bit_cast<float>(a), std::bit_cast<float>(b), flush_subnormals));
  return is_nan(bits) ? kFp32CanonicalNan : bits;
}

Fp32Bits reduction_reference(LaneMask mask, const std::array<Fp32Bits, kLanes>& values,
                             WordType type) {
  Fp32Bits sum = neutral_word(type);
  for (std::size_t lane = 0; lane < values.size(); ++lane) {
    if ((mask >> lane & 1U) != 0) {
      sum = word_add(type, sum, values[lane]);
    }
  }
  return sum;
}

namespace {

// What decides a sum that is rounded once before any arithmetic.
struct Summary {
  Fp32Bits largest = 0;  // magnitude
  bool any_nan = false;
  bool all_negative = true;
  float infinities = 0;  // their sum
};

Summary summarize(LaneMask mask, const std::array<Fp32Bits, kLanes>& values) {
  Summary all;
  for (LaneMask left = mask; left != 0; left &= left - 1) {
    const Fp32Bits value =
        fp32_flush_subnormal(values[static_cast<std::size_t>(std::countr_zero(left))]);
    const Fp32Bits magnitude = value & ~kFp32Sign;
    all.largest = std::max(all.largest, magnitude);
    all.any_nan |= magnitude > kFp32Infinity;
    all.infinities += magnitude == kFp32Infinity ? std::bit_cast<float>(value) : 0.0F;
    all.all_negative &= (value & kFp32Sign) != 0;
  }
  return all;
}

// A sum of finite values, which is exact, as the units that round once give it; or what the
// infinities and NaNs make of it.
Fp32Bits rounded_once(const Summary& all, double sum) {
  if (all.any_nan || std::isnan(all.infinities)) {
    return kFp32CanonicalNan;
  }
  if (all.infinities != 0) {
    return std::bit_cast<Fp32Bits>(all.infinities);
  }
  if (sum == 0) {
    return all.all_negative ? kFp32Sign : 0;
  }
  if (std::abs(sum) < 0x1p-126) {
    return sum < 0 ? kFp32Sign : 0;
  }
  return std::bit_cast<Fp32Bits>(static_cast<float>(sum));
}

// Exponent, unbiased, of the lowest place of a window below the bin of a magnitude: its top place
// has the largest exponent of the bin.
int lowest_place(Fp32Bits magnitude, int window) {
  return static_cast<int>(magnitude >> kFractionWidth | 7U) - 127 - (window - 1);
}

// A finite value cut to the place.
double cut(Fp32Bits value, int lowest) {
  const double exact{std::bit_cast<float>(fp32_flush_subnormal(value))};
  return std::ldexp(std::trunc(std::ldexp(exact, -lowest)), lowest);
}

}  // namespace

Fp32Bits fused_reference(LaneMask mask, const std::array<Fp32Bits, kLanes>& values) {
  const Summary all = summarize(mask, values);
  if (all.largest >= kFp32Infinity) {
    return rounded_once(all, 0);
  }
  double sum = 0;
  for (LaneMask left = mask; left != 0; left &= left - 1) {
    sum += cut(values[static_cast<std::size_t>(std::countr_zero(left))],
               lowest_place(all.largest, kFusedWindow));
  }
  return rounded_once(all, sum);
}

Fp32Bits paired_reference(LaneMask mask, const std::array<Fp32Bits, kLanes>& values) {
  const Summary all = summarize(mask, values);
  if (all.largest >= kFp32Infinity) {
    return rounded_once(all, 0);
  }
  constexpr LaneMask kEven = 0x55555555U;
  double sum = 0;
  int lowest = lowest_place(0, kPairedWindow);
  for (LaneMask left = mask; left != 0;) {
    const LaneMask even = left & kEven;
    const LaneMask odd = left & ~kEven;
    const LaneMask read = (even & (~even + 1)) | (odd & (~odd + 1));
    left &= ~read;
    const int before = lowest;
    lowest = std::max(lowest, lowest_place(summarize(read, values).largest, kPairedWindow));
    sum = lowest - before < 40 ? std::ldexp(std::floor(std::ldexp(sum, -lowest)), lowest) : 0;
    for (LaneMask lanes = read; lanes != 0; lanes &= lanes - 1) {
      sum += cut(values[static_cast<std::size_t>(std::countr_zero(lanes))], lowest);
    }
  }
  return rounded_once(all, sum);
}

}  // namespace warpfold

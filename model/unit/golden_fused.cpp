// SPDX-License-Identifier: Apache-2.0
#include "model/unit/golden_fused.hpp"

#include <algorithm>

#include "model/unit/fp32.hpp"

namespace warpfold {

namespace {

constexpr std::uint32_t kBinShift = 3;
constexpr int kFractionBits = 23;

// Of the lanes left, the lowest of each bank; lane l is in bank l % kBanks.
LaneMask lowest_of_each_bank(LaneMask left) {
  constexpr LaneMask kBank0 = 0x11111111U;
  LaneMask lanes = 0;
  for (std::uint32_t bank = 0; bank < kBanks; ++bank) {
    const LaneMask of_bank = left & (kBank0 << bank);
    lanes |= of_bank & (~of_bank + 1U);
  }
  return lanes;
}

}  // namespace

void GoldenFused::add(Sum& sum, Fp32Bits value) {
  const auto exponent = static_cast<int>(value >> kFractionBits & 0xffU);
  const Fp32Bits fraction = value & 0x7fffffU;
  const bool negative = (value & kFp32Sign) != 0;
  sum.any_without_sign |= !negative;
  if (exponent == 0xff) {
    sum.any_nan |= fraction != 0;
    sum.any_positive_infinity |= fraction == 0 && !negative;
    sum.any_negative_infinity |= fraction == 0 && negative;
  } else if (exponent != 0) {
    // Exponent of the window's top bit less that of the value: so many bits stand before it. Words
    // above it are none of the operand's, but may stand at the ports before they have settled.
    const int top = static_cast<int>(sum.bin << kBinShift | 7U);
    const int shift = kFusedWindow - (kFractionBits + 1) - std::max(top - exponent, 0);
    const std::int64_t significand = fraction | 1U << kFractionBits;
    const std::int64_t units = shift >= 0                ? significand << shift
                               : shift >= -kFractionBits ? significand >> -shift
                                                         : 0;
    sum.units += negative ? -units : units;
  }
}

Fp32Bits GoldenFused::round(const Sum& sum) {
  if (sum.any_nan || (sum.any_positive_infinity && sum.any_negative_infinity)) {
    return kFp32CanonicalNan;
  }
  if (sum.any_positive_infinity || sum.any_negative_infinity) {
    return kFp32Infinity | (sum.any_negative_infinity ? kFp32Sign : 0);
  }
  if (sum.units == 0) {
    return sum.any_without_sign ? 0 : kFp32Sign;
  }
  const Fp32Bits sign = sum.units < 0 ? kFp32Sign : 0;
  auto magnitude = static_cast<std::uint64_t>(sum.units < 0 ? -sum.units : sum.units);
  const int leading = static_cast<int>(std::bit_width(magnitude)) - 1;
  // Exponent of the leading one, the window's top bit having that of its bin's top.
  int exponent = static_cast<int>(sum.bin << kBinShift | 7U) + leading - (kFusedWindow - 1);
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

bool GoldenFused::step(const UnitInputs& inputs, UnitOutputs& outputs) {
  // Result register.
  const bool taken = result_valid_ && inputs.lsu_room;
  if (result_valid_) {
    offer_sum(outputs, front_.address, result_, front_.tag, front_.place);
  }

  // Fetch stage: the lowest lane left in each bank.
  const LaneMask lanes = lowest_of_each_bank(mask_);
  const LaneMask rest = mask_ & ~lanes;
  bool grant = false;
  if (mask_ != 0) {
    const Entry& younger = back_.valid ? back_ : front_;
    ask_for(outputs, lanes, younger.tag, younger.place.word);
    grant = inputs.rf_ready;
  }
  const bool advance = !front_.valid || taken;
  const bool ready = (mask_ == 0 || (grant && rest == 0)) && (!back_.valid || advance);

  // Edge, from the last stage back to the first.
  const bool leave = done_ && !norm_valid_ && (!result_valid_ || taken);
  if (norm_valid_) {
    result_ = round(norm_sum_);
  }
  result_valid_ = norm_valid_ || (result_valid_ && !taken);
  norm_valid_ = leave;
  norm_sum_ = sum_;

  done_ = (add_.valid && add_.last) || (done_ && !leave);
  if (add_.valid) {
    if (add_.first) {
      sum_ = {};
    }
    sum_.units += add_sum_.units;
    sum_.bin = add_sum_.bin;
    sum_.any_nan |= add_sum_.any_nan;
    sum_.any_positive_infinity |= add_sum_.any_positive_infinity;
    sum_.any_negative_infinity |= add_sum_.any_negative_infinity;
    sum_.any_without_sign |= add_sum_.any_without_sign;
  }
  add_ = align_;
  add_sum_ = align_sum_;

  align_ = unpack_;
  if (unpack_.valid) {
    if (unpack_.first) {
      bin_ = 0;
      for (LaneMask left = unpack_mask_; left != 0; left &= left - 1) {
        bin_ = std::max<std::uint32_t>(
            bin_, inputs.rf_bins[static_cast<std::size_t>(std::countr_zero(left))]);
      }
    }
    align_sum_ = {.bin = bin_};
    for (LaneMask left = unpack_lanes_; left != 0; left &= left - 1) {
      add(align_sum_, inputs.rf_data[static_cast<std::size_t>(std::countr_zero(left)) % kBanks]);
    }
  }

  unpack_ = {.valid = grant, .first = fetch_first_, .last = rest == 0};
  unpack_mask_ = mask_;
  unpack_lanes_ = lanes;
  if (grant) {
    mask_ = rest;
    fetch_first_ = false;
  }

  if (advance) {
    front_ = back_;
    back_.valid = false;
  }
  return ready;
}

}  // namespace warpfold

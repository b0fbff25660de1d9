// SPDX-License-Identifier: Apache-2.0
#include "model/unit/golden_paired.hpp"

#include <algorithm>
#include <bit>

#include "model/unit/fp32.hpp"

namespace warpfold {

bool GoldenPaired::step(const UnitInputs& inputs, UnitOutputs& outputs) {
  // Result register.
  const bool taken = result_valid_ && inputs.lsu_room;
  if (result_valid_) {
    const Reduce& front = front_.transaction;
    offer_sum(outputs, front.address, result_, front.tag, front.place);
  }

  // Fetch stage: the lowest lane left in each bank.
  const LaneMask lanes = lowest_of_each_bank(mask_, kPairedBanks);
  const LaneMask rest = mask_ & ~lanes;
  bool grant = false;
  if (mask_ != 0) {
    const Reduce& younger = (back_.valid ? back_ : front_).transaction;
    ask_for(outputs, lanes, younger.tag, younger.place.word);
    grant = inputs.rf_ready;
  }
  const bool advance = !front_.valid || taken;
  const bool ready = (mask_ == 0 || (grant && rest == 0)) && (!back_.valid || advance);

  // Edge.
  round(taken);
  add();
  align(inputs);
  align_ = {.valid = grant, .first = fetch_first_, .last = rest == 0};
  align_lanes_ = lanes;
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

// A complete sum leaves for the result register when that will be free.
void GoldenPaired::round(bool taken) {
  const bool leave = done_ && !norm_valid_ && (!result_valid_ || taken);
  if (norm_valid_) {
    result_ = norm_sum_.round(kPairedWindow);
  }
  result_valid_ = norm_valid_ || (result_valid_ && !taken);
  norm_valid_ = leave;
  norm_sum_ = sum_;
  done_ = (add_.valid && add_.last) || (done_ && !leave);
}

// The running sum moves down to the window of the read, and its values join it.
void GoldenPaired::add() {
  if (!add_.valid) {
    return;
  }
  if (add_.first) {
    sum_ = {};
  }
  constexpr std::uint32_t kBinBits = 1U << kBinShift;
  constexpr std::uint32_t kMostDown = 4;  // bins; what is farther down is dropped
  sum_.units = add_down_ <= kMostDown ? sum_.units >> kBinBits * add_down_ : 0;
  sum_.bin = add_sum_.bin;
  sum_.add(add_sum_);
}

// The values of a read, cut to the window below the largest bin so far.
void GoldenPaired::align(const UnitInputs& inputs) {
  add_ = align_;
  if (!align_.valid) {
    return;
  }
  const auto value = [&](LaneMask lane) {
    return inputs.rf_data[static_cast<std::size_t>(std::countr_zero(lane)) % kPairedBanks];
  };
  const std::uint32_t before = align_.first ? 0 : bin_;
  bin_ = before;
  for (LaneMask left = align_lanes_; left != 0; left &= left - 1) {
    bin_ = std::max<std::uint32_t>(bin_, exponent_bin(value(left)));
  }
  add_down_ = bin_ - before;
  add_sum_ = {.bin = bin_};
  for (LaneMask left = align_lanes_; left != 0; left &= left - 1) {
    add_sum_.add(value(left), kPairedWindow);
  }
}

}  // namespace warpfold

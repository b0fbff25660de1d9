// SPDX-License-Identifier: Apache-2.0
#include "model/unit/golden_fused.hpp"

#include <algorithm>

#include "model/unit/fp32.hpp"

namespace warpfold {

bool GoldenFused::step(const UnitInputs& inputs, UnitOutputs& outputs) {
  // Result register.
  const bool taken = result_valid_ && inputs.lsu_room;
  if (result_valid_) {
    const Reduce& front = front_.transaction;
    offer_sum(outputs, front.address, result_, front.tag, front.place);
  }

  // Fetch stage: the lowest lane left in each bank.
  const LaneMask lanes = lowest_of_each_bank(mask_, kBanks);
  const LaneMask rest = mask_ & ~lanes;
  bool grant = false;
  if (mask_ != 0) {
    const Reduce& younger = (back_.valid ? back_ : front_).transaction;
    ask_for(outputs, lanes, younger.tag, younger.place.word);
    grant = inputs.rf_ready;
  }
  const bool advance = !front_.valid || taken;
  const bool ready = (mask_ == 0 || (grant && rest == 0)) && (!back_.valid || advance);

  // Edge, from the last stage back to the first.
  const bool leave = done_ && !norm_valid_ && (!result_valid_ || taken);
  if (norm_valid_) {
    result_ = norm_sum_.round(kFusedWindow);
  }
  result_valid_ = norm_valid_ || (result_valid_ && !taken);
  norm_valid_ = leave;
  norm_sum_ = sum_;

  done_ = (add_.valid && add_.last) || (done_ && !leave);
  if (add_.valid) {
    if (add_.first) {
      sum_ = {};
    }
    sum_.bin = add_sum_.bin;
    sum_.add(add_sum_);
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
      align_sum_.add(inputs.rf_data[static_cast<std::size_t>(std::countr_zero(left)) % kBanks],
                     kFusedWindow);
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

// SPDX-License-Identifier: Apache-2.0
#include "model/unit/golden_unit.hpp"

#include <algorithm>

#include "model/unit/fp32.hpp"
#include "model/unit/golden_fused.hpp"

namespace warpfold {

namespace {

// Lanes of `pending` that have the leader's address.
LaneMask lanes_at(const std::array<Address, kLanes>& addresses, LaneMask pending, Address leader) {
  LaneMask same = 0;
  for (std::size_t lane = 0; lane < addresses.size(); ++lane) {
    same |= LaneMask{((addresses[lane] ^ leader) & kAddrMask) == 0} << lane;
  }
  return same & pending;
}

}  // namespace

template <class Reduction>
UnitOutputs GoldenUnit<Reduction>::tick(const UnitInputs& inputs) {
  UnitOutputs outputs;
  outputs.busy = busy();
  const bool reduce_ready = reduction_.step(inputs, outputs);
  const bool result_valid = outputs.lsu_valid;

  // Coalescer and scheduler. The grouping matters only in the cycle in which the transaction goes,
  // so the 32 addresses are compared once a transaction and not in every cycle that it waits.
  if (inputs.req_valid) {
    const LaneMask pending = inputs.req_mask & ~done_;
    const bool red_free = inputs.lsu_ready && !result_valid;
    if (pending == 0) {
      outputs.req_ready = true;
    } else if (red_free || reduce_ready) {
      const auto leader = static_cast<std::size_t>(std::countr_zero(pending));
      const Address address = inputs.req_addr[leader] & kAddrMask;
      const Tag tag = inputs.req_tag & kTagMask;
      const LaneMask transaction = lanes_at(inputs.req_addr, pending, address);
      const bool last = transaction == pending;
      if (red_free) {
        outputs.lsu_valid = true;
        outputs.lsu_addr = address;
        outputs.lsu_mask = transaction;
        outputs.lsu_tag = tag;
      } else {
        reduction_.load(address, transaction, tag, inputs, outputs);
      }
      done_ = last ? 0 : done_ | transaction;
      outputs.req_ready = last;
    }
  }
  return outputs;
}

// ------------------------------------------------------------------------------------------------
// Serial
// ------------------------------------------------------------------------------------------------

void GoldenSerial::fetch(const UnitInputs& inputs, UnitOutputs& outputs) {
  const LaneMask rest = mask_ & (mask_ - 1);
  ask_for(outputs, mask_ & ~rest, tag_);
  if (inputs.rf_ready) {
    mask_ = rest;
    add_valid_ = true;
  }
}

bool GoldenSerial::step(const UnitInputs& inputs, UnitOutputs& outputs) {
  if (!busy()) {
    return true;
  }
  // Add stage: the value of the read that was granted last joins the running sum, or completes it.
  if (add_valid_) {
    const Fp32Bits sum = fp32_add(acc_, inputs.rf_data[0]);
    if (mask_ == 0) {
      offer_sum(outputs, addr_, sum, tag_);
      add_valid_ = !inputs.lsu_ready;
      return inputs.lsu_ready;
    }
    acc_ = sum;
    add_valid_ = false;
  }
  fetch(inputs, outputs);
  return false;
}

void GoldenSerial::load(Address address, LaneMask mask, Tag tag, const UnitInputs& inputs,
                        UnitOutputs& outputs) {
  mask_ = mask;
  addr_ = address;
  tag_ = tag;
  acc_ = kFp32MinusZero;
  fetch(inputs, outputs);
}

// ------------------------------------------------------------------------------------------------
// Pipelined
// ------------------------------------------------------------------------------------------------

bool GoldenPipelined::step(const UnitInputs& inputs, UnitOutputs& outputs) {
  if (result_valid_) {
    offer_sum(outputs, result_.addr, result_.sum, result_.tag);
  }
  const bool stay = result_valid_ && !inputs.lsu_ready;

  // Read the lowest lane left.
  Place& read = places_[kRead];
  if (read.valid && read.mask != 0) {
    const LaneMask rest = read.mask & (read.mask - 1);
    ask_for(outputs, read.mask & ~rest, read.tag);
    if (inputs.rf_ready) {
      read.mask = rest;
      read.read = true;
    }
  }

  // The value of the read that was granted in the last cycle joins its sum.
  Place& add = places_[kAdd];
  if (add.read) {
    add.sum = fp32_add(add.sum, inputs.rf_data[0]);
    add.read = false;
  }

  // A transaction without lanes leaves, unless a result waits.
  Place& last = places_[kLast];
  const bool leave = last.valid && last.mask == 0 && !stay;
  if (!stay) {
    result_valid_ = leave;
  }
  if (leave) {
    result_ = last;
    last.valid = false;
  }
  const bool ready = !last.valid;

  // Edge: everything moves on.
  std::rotate(places_.begin(), places_.end() - 1, places_.end());
  return ready;
}

template class GoldenUnit<GoldenSerial>;
template class GoldenUnit<GoldenFused>;
template class GoldenUnit<GoldenPipelined>;

}  // namespace warpfold

// SPDX-License-Identifier: Apache-2.0
#include "model/unit/arc_golden.hpp"

#include "model/unit/fp32.hpp"

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

void GoldenUnit::reset() {
  done_ = 0;
  mask_ = 0;
  add_valid_ = false;
}

UnitOutputs GoldenUnit::tick(const UnitInputs& inputs) {
  UnitOutputs outputs;
  outputs.busy = busy();

  // Add stage: the value of the read that was granted last joins the running sum.
  Fp32Bits sum = 0;
  if (add_valid_) {
    sum = fp32_add(add_first_ ? kFp32MinusZero : acc_, inputs.rf_data);
  }
  const bool result_valid = add_valid_ && add_last_;
  const bool add_stall = result_valid && !inputs.lsu_ready;
  if (result_valid) {
    outputs.lsu_valid = true;
    outputs.lsu_addr = add_addr_;
    outputs.lsu_mask = 1;
    outputs.lsu_reduced = true;
    outputs.lsu_data = sum;
    outputs.lsu_tag = add_tag_;
  }

  // Fetch stage: read the lowest lane left.
  bool grant = false;
  bool fetch_last = false;
  LaneMask rest = mask_;
  if (mask_ != 0) {
    rest = mask_ & (mask_ - 1);
    fetch_last = rest == 0;
    if (!add_stall) {
      outputs.rf_valid = true;
      outputs.rf_lane = static_cast<std::uint8_t>(std::countr_zero(mask_));
      outputs.rf_tag = tag_;
      grant = inputs.rf_ready;
    }
  }
  const bool reduce_ready = mask_ == 0 || (grant && fetch_last);

  // Edge of the add stage and of the fetch stage, before the coalescer may load the latter.
  if (!add_stall) {
    if (add_valid_ && !add_last_) {
      acc_ = sum;
    }
    add_valid_ = grant;
    if (grant) {
      add_first_ = fetch_first_;
      add_last_ = fetch_last;
      add_addr_ = addr_;
      add_tag_ = tag_;
      mask_ = rest;
      fetch_first_ = false;
    }
  }

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
        mask_ = transaction;
        addr_ = address;
        tag_ = tag;
        fetch_first_ = true;
      }
      done_ = last ? 0 : done_ | transaction;
      outputs.req_ready = last;
    }
  }
  return outputs;
}

}  // namespace warpfold

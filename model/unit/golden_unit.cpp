// SPDX-License-Identifier: Apache-2.0
#include "model/unit/golden_unit.hpp"

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
        reduction_.load(address, transaction, tag);
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

bool GoldenSerial::step(const UnitInputs& inputs, UnitOutputs& outputs) {
  // Add stage: the value of the read that was granted last joins the running sum.
  Fp32Bits sum = 0;
  if (add_valid_) {
    sum = fp32_add(add_first_ ? kFp32MinusZero : acc_, inputs.rf_data[0]);
  }
  const bool result_valid = add_valid_ && add_last_;
  const bool add_stall = result_valid && !inputs.lsu_ready;
  if (result_valid) {
    offer_sum(outputs, add_addr_, sum, add_tag_);
  }

  // Fetch stage: read the lowest lane left.
  bool grant = false;
  bool fetch_last = false;
  LaneMask rest = mask_;
  if (mask_ != 0) {
    rest = mask_ & (mask_ - 1);
    fetch_last = rest == 0;
    if (!add_stall) {
      ask_for(outputs, mask_ & ~rest, tag_);
      grant = inputs.rf_ready;
    }
  }
  const bool ready = mask_ == 0 || (grant && fetch_last);

  // Edge.
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
  return ready;
}

template class GoldenUnit<GoldenSerial>;
template class GoldenUnit<GoldenFused>;

}  // namespace warpfold

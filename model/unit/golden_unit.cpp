// SPDX-License-Identifier: Apache-2.0
#include "model/unit/golden_unit.hpp"

#include <algorithm>

#include "model/unit/fp32.hpp"
#include "model/unit/golden_fused.hpp"
#include "model/unit/golden_paired.hpp"
#include "model/unit/golden_vector.hpp"

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

  // Coalescer and scheduler.
  if (!inputs.req_valid) {
    return outputs;
  }
  const LaneMask pending = inputs.req_mask & ~done_ & ~lone_;
  const LaneMask left = pending | lone_;
  if (left == 0) {
    outputs.req_ready = true;
    watch(inputs, false);
    return outputs;
  }
  const LaneMask leads = pending != 0 ? pending : lone_;
  // There is one; the remainder tells the compiler so.
  const std::size_t leader = static_cast<std::size_t>(std::countr_zero(leads)) % kLanes;
  const Address address = inputs.req_addr[leader] & kAddrMask;
  if (group_ == 0) {
    group_ = lanes_at(inputs.req_addr, leads, address);
  }
  const bool gather = pending != 0 && lane_count(group_) == 1 && group_ != left;
  const bool scattered = lane_count(lone_ | (gather ? group_ : 0)) > 1;
  const bool offered = !gather && (pending != 0 || !scattered);
  const bool red_free = inputs.lsu_room && !result_valid;
  const Tag tag = inputs.req_tag & kTagMask;
  const SchedulerOffer offer{.lanes = group_,
                             .reduce_ready = reduce_ready,
                             .scattered = scattered,
                             .all_lone = pending == 0,
                             .congested = congestion_.congested(),
                             .by_request = Reduction::kByRequest};
  LaneMask sent = 0;
  bool reduced = false;
  if (red_free && (offered || scattered) && passes_on_(offer)) {
    sent = scattered ? left : group_;
    outputs.lsu_valid = true;
    outputs.lsu_addr = scattered ? 0 : address;
    outputs.lsu_mask = sent;
    outputs.lsu_tag = tag;
    outputs.lsu_last = true;
  } else if (offered && reduce_ready && (reduces_ == nullptr || reduces_(offer))) {
    sent = group_;
    reduced = true;
    reduction_.load(address, sent, tag, inputs, outputs);
  } else if (gather) {
    lone_ |= group_;
    group_ = 0;
  }
  watch(inputs, reduced);
  if (sent == 0) {
    return outputs;
  }
  outputs.req_ready = sent == left;
  done_ = outputs.req_ready ? 0 : done_ | sent;
  lone_ = outputs.req_ready ? 0 : lone_;
  group_ = 0;
  return outputs;
}

// ------------------------------------------------------------------------------------------------
// Serial
// ------------------------------------------------------------------------------------------------

template <UnitKind kKind>
void GoldenChain<kKind>::fetch(const UnitInputs& inputs, UnitOutputs& outputs) {
  const LaneMask rest = mask_ & (mask_ - 1);
  ask_for(outputs, mask_ & ~rest, tag_);
  if (inputs.rf_ready) {
    mask_ = rest;
    add_valid_ = true;
  }
}

template <UnitKind kKind>
bool GoldenChain<kKind>::step(const UnitInputs& inputs, UnitOutputs& outputs) {
  if (!busy()) {
    return true;
  }
  // Add stage: the value of the read that was granted last joins the running sum, or completes it.
  if (add_valid_) {
    const Fp32Bits sum = word_add(kWord, acc_, inputs.rf_data[0]);
    if (mask_ == 0) {
      offer_sum(outputs, addr_, sum, tag_);
      add_valid_ = !inputs.lsu_room;
      return inputs.lsu_room;
    }
    acc_ = sum;
    add_valid_ = false;
  }
  fetch(inputs, outputs);
  return false;
}

template <UnitKind kKind>
void GoldenChain<kKind>::load(Address address, LaneMask mask, Tag tag, const UnitInputs& inputs,
                              UnitOutputs& outputs) {
  mask_ = mask;
  addr_ = address;
  tag_ = tag;
  acc_ = neutral_word(kWord);
  fetch(inputs, outputs);
}

// ------------------------------------------------------------------------------------------------
// Pipelined
// ------------------------------------------------------------------------------------------------

bool GoldenPipelined::step(const UnitInputs& inputs, UnitOutputs& outputs) {
  if (result_valid_) {
    offer_sum(outputs, result_.addr, result_.sum, result_.tag);
  }
  const bool stay = result_valid_ && !inputs.lsu_room;

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
template class GoldenUnit<GoldenHalves>;
template class GoldenUnit<GoldenFused>;
template class GoldenUnit<GoldenPaired>;
template class GoldenUnit<GoldenVector>;
template class GoldenUnit<GoldenPipelined>;

}  // namespace warpfold

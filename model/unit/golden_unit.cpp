// SPDX-License-Identifier: Apache-2.0
#include "model/unit/golden_unit.hpp"

#include "model/unit/fp32.hpp"
#include "model/unit/golden_fused.hpp"
#include "model/unit/golden_paired.hpp"
#include "model/unit/golden_words.hpp"
#include "model/unit/group_pays.hpp"

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
    pays_ = group_pays(inputs.req_addr, left, group_);
  }
  const bool gather = pending != 0 && !pays_ && group_ != left;
  const bool scattered = lane_count(lone_ | (gather ? group_ : 0)) > 1;
  const bool offered = !gather && (pending != 0 || !scattered);
  const bool red_free = inputs.lsu_room && !result_valid;
  const Tag tag = inputs.req_tag & kTagMask;
  const SchedulerOffer offer{.lanes = group_,
                             .reduce_ready = reduce_ready,
                             .scattered = scattered,
                             .all_lone = pending == 0,
                             .congested = congestion_.congested(),
                             .by_request = by_request_};
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
    reduction_.load({.address = address, .mask = sent, .tag = tag}, inputs, outputs);
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

template <WordType kWord>
void GoldenSerial<kWord>::fetch(const UnitInputs& inputs, UnitOutputs& outputs) {
  const LaneMask rest = mask_ & (mask_ - 1);
  ask_for(outputs, mask_ & ~rest, here_.tag, here_.place.word);
  if (inputs.rf_ready) {
    mask_ = rest;
    add_valid_ = true;
  }
}

template <WordType kWord>
bool GoldenSerial<kWord>::step(const UnitInputs& inputs, UnitOutputs& outputs) {
  if (!busy()) {
    return true;
  }
  // Add stage: the value of the read that was granted last joins the running sum, or completes it.
  if (add_valid_) {
    const Fp32Bits sum = word_add(kWord, acc_, inputs.rf_data[0]);
    if (mask_ == 0) {
      offer_sum(outputs, here_.address, sum, here_.tag, here_.place);
      add_valid_ = !inputs.lsu_room;
      return inputs.lsu_room;
    }
    acc_ = sum;
    add_valid_ = false;
  }
  fetch(inputs, outputs);
  return false;
}

template <WordType kWord>
void GoldenSerial<kWord>::load(const Reduce& transaction, const UnitInputs& inputs,
                               UnitOutputs& outputs) {
  here_ = transaction;
  mask_ = transaction.mask;
  acc_ = neutral_word(kWord);
  fetch(inputs, outputs);
}

template class GoldenUnit<GoldenSerial<WordType::kFp32>>;
template class GoldenUnit<GoldenSerial<WordType::kHalves>>;
template class GoldenUnit<GoldenPaired>;
template class GoldenUnit<GoldenFused>;
template class GoldenUnit<GoldenWords<GoldenSerial<WordType::kFp32>>>;
template class GoldenUnit<GoldenWords<GoldenSerial<WordType::kHalves>>>;
template class GoldenUnit<GoldenWords<GoldenPaired>>;
template class GoldenUnit<GoldenWords<GoldenFused>>;

}  // namespace warpfold

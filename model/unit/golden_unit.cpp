// SPDX-License-Identifier: Apache-2.0
#include "model/unit/golden_unit.hpp"

#include "model/unit/fp32.hpp"
#include "model/unit/golden_fused.hpp"
#include "model/unit/golden_paired.hpp"
#include "model/unit/golden_words.hpp"

namespace warpfold {

template <class Reduction>
template <class Coalescer>
void GoldenUnit<Reduction>::pass_on(Coalescer& coalescer, const UnitInputs& inputs,
                                    bool reduce_ready, UnitOutputs& outputs) {
  const bool red_free = inputs.lsu_room && !outputs.lsu_valid;
  const CoalescerOffer found = coalescer.offer(inputs);
  if (found.left == 0) {
    outputs.req_ready = true;
    watch(inputs, false);
    return;
  }
  const Tag tag = inputs.req_tag & kTagMask;
  const SchedulerOffer offer{.lanes = found.lanes,
                             .reduce_ready = reduce_ready,
                             .scattered = found.all_may_go,
                             .all_lone = found.all_lone,
                             .congested = congestion_.congested(),
                             .by_request = by_request_};
  LaneMask sent = 0;
  bool reduced = false;
  if (red_free && (found.offered || found.all_may_go) && passes_on_(offer)) {
    sent = found.all_may_go ? found.left : found.lanes;
    outputs.lsu_valid = true;
    outputs.lsu_addr = found.all_may_go ? 0 : found.address;
    outputs.lsu_mask = sent;
    outputs.lsu_tag = tag;
    outputs.lsu_last = true;
  } else if (found.offered && reduce_ready && (reduces_ == nullptr || reduces_(offer))) {
    sent = found.lanes;
    reduced = true;
    reduction_.load({.address = found.address, .mask = sent, .tag = tag}, inputs, outputs);
  }
  watch(inputs, reduced);
  outputs.req_ready = sent == found.left;
  if (outputs.req_ready) {
    coalescer = {};
  } else {
    coalescer.step(inputs, sent);
  }
}

template <class Reduction>
UnitOutputs GoldenUnit<Reduction>::tick(const UnitInputs& inputs) {
  UnitOutputs outputs;
  outputs.busy = busy();
  const bool reduce_ready = reduction_.step(inputs, outputs);
  if (!inputs.req_valid) {
    return outputs;
  }
  if (is_staged_) {
    pass_on(staged_, inputs, reduce_ready, outputs);
  } else {
    pass_on(direct_, inputs, reduce_ready, outputs);
  }
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

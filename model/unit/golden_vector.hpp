// SPDX-License-Identifier: Apache-2.0
// The vector reduction unit in plain C++: arc_word_sequencer in front of the fused unit, with the
// same state registers. A Reduction for GoldenUnit. Owned by its GoldenUnit; step() is one clock
// cycle.
#pragma once

#include <string_view>

#include "model/types.hpp"
#include "model/unit/arc_unit.hpp"
#include "model/unit/golden_fused.hpp"

namespace warpfold {

// Gives the fused unit a transaction once for each of its words.
class GoldenVector {
 public:
  // Rests as the fused one: what waits here is handed on before the last read has gone through.
  static constexpr ArcUnit::Ports kPorts = unit_declaration(UnitKind::kVector).ports;
  static constexpr std::string_view kScheduler = "reduce-groups";
  static constexpr bool kByRequest = true;

  void reset() { *this = {}; }
  [[nodiscard]] bool busy() const { return valid_ || fused_.busy(); }
  bool step(const UnitInputs& inputs, UnitOutputs& outputs) {
    const bool taken = fused_.step(inputs, outputs) && valid_;
    if (taken) {
      const bool last = word_ == last_word_;
      fused_.load(address_, mask_, tag_, {.word = word_, .last = last});
      ++word_;
      valid_ = !last;
    }
    return !valid_;
  }
  void load(Address address, LaneMask mask, Tag tag, const UnitInputs& inputs, UnitOutputs&) {
    valid_ = true;
    mask_ = mask;
    address_ = address;
    tag_ = tag;
    last_word_ = (inputs.req_words - 1) % kMaxWords;
    word_ = 0;
  }

 private:
  // The transaction, the number of its last word, and of the next one that is to go.
  bool valid_ = false;
  LaneMask mask_ = 0;
  Address address_ = 0;
  Tag tag_ = 0;
  std::uint32_t last_word_ = 0;
  std::uint32_t word_ = 0;

  GoldenFused fused_;
};

}  // namespace warpfold

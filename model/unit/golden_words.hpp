// SPDX-License-Identifier: Apache-2.0
// A reduction unit for requests of several words in plain C++: arc_word_sequencer in front of
// another one, with the same state registers. A Reduction for GoldenUnit. Owned by its GoldenUnit;
// step() is one clock cycle.
#pragma once

#include <stdexcept>
#include <type_traits>

#include "model/types.hpp"
#include "model/unit/arc_unit.hpp"
#include "model/unit/golden_fused.hpp"
#include "model/unit/golden_paired.hpp"
#include "model/unit/golden_unit.hpp"

namespace warpfold {

// Gives the other one a transaction once for each of its words.
template <class Reduction>
class GoldenWords {
 public:
  void reset() { *this = {}; }
  [[nodiscard]] bool busy() const { return valid_ || reduction_.busy(); }
  bool step(const UnitInputs& inputs, UnitOutputs& outputs) {
    const bool taken = reduction_.step(inputs, outputs) && valid_;
    if (taken) {
      next_.place.last = next_.place.word == last_word_;
      reduction_.load(next_, inputs, outputs);
      ++next_.place.word;
      valid_ = !next_.place.last;
    }
    return !valid_;
  }
  void load(const Reduce& transaction, const UnitInputs& inputs, UnitOutputs&) {
    valid_ = true;
    next_ = transaction;
    next_.place.word = 0;
    last_word_ = (inputs.req_words - 1) % kMaxWords;
  }

 private:
  // The transaction with the number of the word that is next, and that of its last one.
  bool valid_ = false;
  Reduce next_;
  std::uint32_t last_word_ = 0;

  Reduction reduction_;
};

// The Reduction of a kind.
template <UnitKind kKind>
struct ReductionOf {
  using OneLane = GoldenSerial<kKind.adds>;
  using Lanes = std::conditional_t<kKind.datapath == Datapath::kPaired, GoldenPaired, GoldenFused>;
  using OneWord = std::conditional_t<kKind.datapath == Datapath::kSerial, OneLane, Lanes>;
  using type = std::conditional_t<kKind.max_words == 1, OneWord, GoldenWords<OneWord>>;
};
// The golden unit of a kind that is known at compile time; its constructor takes the kind.
template <UnitKind kKind>
using GoldenUnitOf = GoldenUnit<typename ReductionOf<kKind>::type>;

// What make(std::type_identity<GoldenUnit of the kind>) returns.
template <class Make>
auto with_golden_unit(const UnitKind& kind, const Make& make) {
  const auto of = [&]<class OneWord>(std::type_identity<OneWord>) {
    return kind.max_words == 1 ? make(std::type_identity<GoldenUnit<OneWord>>())
                               : make(std::type_identity<GoldenUnit<GoldenWords<OneWord>>>());
  };
  switch (kind.datapath) {
    case Datapath::kSerial:
      return kind.adds == WordType::kHalves
                 ? of(std::type_identity<GoldenSerial<WordType::kHalves>>())
                 : of(std::type_identity<GoldenSerial<WordType::kFp32>>());
    case Datapath::kPaired:
      return of(std::type_identity<GoldenPaired>());
    case Datapath::kFused:
      return of(std::type_identity<GoldenFused>());
  }
  throw std::invalid_argument("no unit of this kind");
}

}  // namespace warpfold

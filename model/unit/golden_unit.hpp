// SPDX-License-Identifier: Apache-2.0
// The golden unit: what arc_subcore does, cycle by cycle, in plain C++ with the same state
// registers: coalescer, scheduler and output select here, the reduction unit as a template
// argument. Owned by one SM sub-core through ArcUnit; tick() is one clock cycle, called while the
// unit is busy or a request is valid.
#pragma once

#include <array>
#include <string_view>

#include "model/types.hpp"
#include "model/unit/arc_scheduler.hpp"
#include "model/unit/arc_unit.hpp"
#include "model/unit/congestion.hpp"
#include "model/unit/fp32.hpp"
#include "model/unit/unit_declaration.hpp"

namespace warpfold {

// Ports of a kind, whose scheduler watches the memory path or not: if so, it may change what it
// does until it has seen no room for long.
template <class Reduction>
constexpr ArcUnit::Ports ports_with(bool watches_path) {
  ArcUnit::Ports ports = Reduction::kPorts;
  ports.cycles_to_rest += watches_path ? Congestion::kStall : 0;
  return ports;
}

// A Reduction has
//   static constexpr ArcUnit::Ports kPorts;
//   static constexpr std::string_view kScheduler;  the rule that the RTL of its kind has
//   static constexpr bool kByRequest;  what leaves follows from the request alone
//   void reset();
//   bool busy() const;
//   bool step(const UnitInputs&, UnitOutputs&);  settles its read and result ports and takes the
//                                                edge; true if it can take a transaction with it
//   void load(Address, LaneMask, Tag, const UnitInputs&, UnitOutputs&);
//                                                the transaction that comes with the same edge; may
//                                                still ask for a read
template <class Reduction>
class GoldenUnit final : public ArcUnit {
 public:
  // The RTL's scheduler.
  GoldenUnit() : GoldenUnit(scheduler_rules().find(Reduction::kScheduler)) {}
  explicit GoldenUnit(const SchedulerRule& scheduler)
      : passes_on_(scheduler.passes_on),
        reduces_(scheduler.reduces),
        watches_path_(scheduler.watches_path && !Reduction::kByRequest) {}
  void reset() override {
    done_ = 0;
    lone_ = 0;
    group_ = 0;
    congestion_ = {};
    reduction_.reset();
  }
  UnitOutputs tick(const UnitInputs& inputs) override;
  // The outputs that tick() would return, without its edge: for an environment whose inputs change
  // within a cycle.
  [[nodiscard]] UnitOutputs settle(const UnitInputs& inputs) const {
    return GoldenUnit(*this).tick(inputs);
  }
  [[nodiscard]] Ports ports() const override { return ports_with<Reduction>(watches_path_); }
  [[nodiscard]] bool busy() const override { return done_ != 0 || lone_ != 0 || reduction_.busy(); }

 private:
  // The edge of a cycle with a request, of which a transaction was reduced or not.
  void watch(const UnitInputs& inputs, bool reduced) {
    if (watches_path_) {
      congestion_.step(inputs.lsu_room, reduced);
    }
  }

  // Coalescer: lanes of the held request that have been sent, and those gathered because they are
  // alone on their addresses.
  LaneMask done_ = 0;
  LaneMask lone_ = 0;
  LaneMask group_ = 0;  // lanes of the leader's address once they are known, else 0
  Reduction reduction_;
  bool (*passes_on_)(const SchedulerOffer& offer);
  bool (*reduces_)(const SchedulerOffer& offer);
  bool watches_path_;
  Congestion congestion_;
};

// Serial, of the words that the kind adds: one lane a cycle, the chain of additions in lane order.
template <UnitKind kKind>
class GoldenChain {
 public:
  // Rests at once.
  static constexpr ArcUnit::Ports kPorts = unit_declaration(kKind).ports;
  static constexpr std::string_view kScheduler = "greedy";
  static constexpr bool kByRequest = false;

  void reset() { *this = {}; }
  [[nodiscard]] bool busy() const { return mask_ != 0 || add_valid_; }
  bool step(const UnitInputs& inputs, UnitOutputs& outputs);
  void load(Address address, LaneMask mask, Tag tag, const UnitInputs& inputs,
            UnitOutputs& outputs);

 private:
  // Reads the lowest lane left, at once.
  void fetch(const UnitInputs& inputs, UnitOutputs& outputs);

  static constexpr WordType kWord = unit_declaration(kKind).promise.adds;
  // The transaction and its lanes that are still to be read.
  LaneMask mask_ = 0;
  Address addr_ = 0;
  Tag tag_ = 0;

  bool add_valid_ = false;  // the value of a granted read is now on rf_data
  Fp32Bits acc_ = 0;        // sum of the lanes before it
};
using GoldenSerial = GoldenChain<UnitKind::kSerial>;
using GoldenHalves = GoldenChain<UnitKind::kHalves>;

// Pipelined: four transactions take turns, each one lane in four cycles; the same chain of
// additions. A sum is complete here as soon as its last lane is known; the adder's stages show only
// in when the transaction leaves.
class GoldenPipelined {
 public:
  // Rests when it has tried all its four places and would have read from one that it loaded; its
  // transactions go round.
  static constexpr ArcUnit::Ports kPorts = unit_declaration(UnitKind::kPipelined).ports;
  static constexpr std::string_view kScheduler = "greedy";
  static constexpr bool kByRequest = false;

  void reset() {
    places_ = {};
    result_valid_ = false;
  }
  [[nodiscard]] bool busy() const {
    return result_valid_ || places_[kRead].valid || places_[kAdd].valid || places_[kAlign].valid ||
           places_[kLast].valid;
  }
  bool step(const UnitInputs& inputs, UnitOutputs& outputs);
  void load(Address address, LaneMask mask, Tag tag, const UnitInputs&, UnitOutputs&) {
    places_[kRead] = {.valid = true, .mask = mask, .addr = address, .tag = tag};
  }

 private:
  struct Place {
    bool valid = false;
    bool read = false;  // place kAdd: a lane was read, whose value is now on rf_data
    LaneMask mask = 0;  // lanes of the transaction that are still to be read
    Address addr = 0;
    Tag tag = 0;
    Fp32Bits sum = kFp32MinusZero;
  };
  // In the order in which a transaction passes them, round and round.
  enum : std::size_t { kRead, kAdd, kAlign, kLast, kPlaces };

  std::array<Place, kPlaces> places_;
  bool result_valid_ = false;
  Place result_;
};

}  // namespace warpfold

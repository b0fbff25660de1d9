// SPDX-License-Identifier: Apache-2.0
// The golden unit: what arc_subcore does, cycle by cycle, in plain C++ with the same state
// registers: scheduler and output select here, the coalescer in golden_coalescer.hpp, the reduction
// unit as a template argument. Owned by one SM sub-core through ArcUnit; tick() is one clock cycle,
// called while the unit is busy or a request is valid.
#pragma once

#include "model/types.hpp"
#include "model/unit/arc_scheduler.hpp"
#include "model/unit/arc_unit.hpp"
#include "model/unit/congestion.hpp"
#include "model/unit/fp32.hpp"
#include "model/unit/golden_coalescer.hpp"
#include "model/unit/unit_declaration.hpp"

namespace warpfold {

// Ports of a kind, whose scheduler watches the memory path or not: if so, it may change what it
// does until it has seen no room for long.
constexpr ArcUnit::Ports ports_with(const UnitKind& kind, bool watches_path) {
  ArcUnit::Ports ports = unit_ports(kind);
  ports.cycles_to_rest += watches_path ? Congestion::kStall : 0;
  ports.cycles_to_rest += kind.coalescer == Coalescer::kStaged ? StagedCoalescer::kLongest : 0;
  return ports;
}

// A Reduction has
//   void reset();
//   bool busy() const;
//   bool step(const UnitInputs&, UnitOutputs&);  settles its read and result ports and takes the
//                                                edge; true if it can take a transaction with it
//   void load(const Reduce&, const UnitInputs&, UnitOutputs&);
//                                                the transaction that comes with the same edge; may
//                                                still ask for a read
struct Reduce {
  Address address = 0;
  LaneMask mask = 0;
  Tag tag = 0;
  PacketWord place = {};  // of one word of a packet
};

template <class Reduction>
class GoldenUnit final : public ArcUnit {
 public:
  // With the RTL's scheduler.
  explicit GoldenUnit(const UnitKind& kind)
      : GoldenUnit(kind, scheduler_rules().find(unit_scheduler(kind))) {}
  // What leaves a unit of several words follows from the request alone.
  GoldenUnit(const UnitKind& kind, const SchedulerRule& scheduler)
      : by_request_(kind.max_words > 1),
        passes_on_(scheduler.passes_on),
        reduces_(scheduler.reduces),
        watches_path_(scheduler.watches_path && !by_request_),
        is_staged_(kind.coalescer == Coalescer::kStaged),
        ports_(ports_with(kind, watches_path_)) {}
  void reset() override {
    direct_ = {};
    staged_ = {};
    congestion_ = {};
    reduction_.reset();
  }
  UnitOutputs tick(const UnitInputs& inputs) override;
  // The outputs that tick() would return, without its edge: for an environment whose inputs change
  // within a cycle.
  [[nodiscard]] UnitOutputs settle(const UnitInputs& inputs) const {
    return GoldenUnit(*this).tick(inputs);
  }
  [[nodiscard]] Ports ports() const override { return ports_; }
  [[nodiscard]] bool busy() const override {
    return direct_.busy() || staged_.busy() || reduction_.busy();
  }

 private:
  // The edge of a cycle with a request, of which a transaction was reduced or not.
  void watch(const UnitInputs& inputs, bool reduced) {
    if (watches_path_) {
      congestion_.step(inputs.lsu_room, reduced);
    }
  }

  // A cycle with a request, behind the reduction unit's part of it.
  template <class Coalescer>
  void pass_on(Coalescer& coalescer, const UnitInputs& inputs, bool reduce_ready,
               UnitOutputs& outputs);

  // One of the two is in use.
  DirectCoalescer direct_;
  StagedCoalescer staged_;
  Reduction reduction_;
  bool by_request_;
  bool (*passes_on_)(const SchedulerOffer& offer);
  bool (*reduces_)(const SchedulerOffer& offer);
  bool watches_path_;
  bool is_staged_;
  Congestion congestion_;
  Ports ports_;
};

// Serial, of words of a type: one lane a cycle, the chain of additions in lane order.
template <WordType kWord>
class GoldenSerial {
 public:
  void reset() { *this = {}; }
  [[nodiscard]] bool busy() const { return mask_ != 0 || add_valid_; }
  bool step(const UnitInputs& inputs, UnitOutputs& outputs);
  void load(const Reduce& transaction, const UnitInputs& inputs, UnitOutputs& outputs);

 private:
  // Reads the lowest lane left, at once.
  void fetch(const UnitInputs& inputs, UnitOutputs& outputs);

  // The transaction and its lanes that are still to be read.
  Reduce here_;
  LaneMask mask_ = 0;

  bool add_valid_ = false;  // the value of a granted read is now on rf_data
  Fp32Bits acc_ = 0;        // sum of the lanes before it
};

}  // namespace warpfold

// SPDX-License-Identifier: Apache-2.0
// Two bodies of arc_subcore on the same inputs, and every output of one against that of the other
// in every delta cycle in which one changes, and whenever they have settled. The bench stands in
// for the sub-core: it requests, grants reads and takes transactions at random, changes its mind
// within a cycle, and resets in the middle. It drives the clock itself; owned by the sc_main that
// elaborates it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <systemc>

#include "model/systemc/arc_subcore.hpp"
#include "model/unit/lockstep.hpp"

namespace warpfold::systemc {

struct BenchOptions {
  std::uint64_t seed = 1;
  std::uint64_t cycles = 1;  // with requests; then it drains
  // In this cycle and the next ones the second body sees a memory queue that is as often wrong as
  // right: the outputs must differ soon.
  std::optional<std::uint64_t> mislead_from;
  // From this cycle on, the tag of a request that is held changes: the RTL's assertions must tell.
  std::optional<std::uint64_t> break_promise_from;
};

struct BenchCounts {
  std::uint64_t cycles = 0;
  std::uint64_t comparisons = 0;  // of all outputs
  std::uint64_t requests = 0;     // accepted
  std::uint64_t plain_lanes = 0;
  std::uint64_t sums = 0;
  std::uint64_t resets = 0;  // of a unit that held work
};

class Bench final : public sc_core::sc_module {
 public:
  Bench(const sc_core::sc_module_name& name, const UnitKind& kind, const BenchOptions& options);

  // After the simulation: empty, or what was wrong in one line, "cycle 12: lsu_data_o: ...".
  [[nodiscard]] const std::string& message() const { return message_; }
  [[nodiscard]] const BenchCounts& counts() const { return counts_; }

 private:
  template <class T>
  using Signal = sc_core::sc_signal<T>;
  using Unit = arc_subcore;
  // A request on its way through the unit; the low bits of its tag are its slot. At most four are:
  // held, in the word sequencer, and two in the reduction unit.
  static constexpr std::size_t kSlots = 8;
  struct Slot {
    AtomredRequest request;
    // Lanes that have neither been read nor left as they are, of each word.
    std::array<LaneMask, kMaxWords> left{};
  };

  static bool is_in_use(const Slot& slot) {
    return std::any_of(slot.left.begin(), slot.left.end(),
                       [](LaneMask lanes) { return lanes != 0; });
  }

  struct Outputs {
    Signal<bool> req_ready, lsu_valid, lsu_reduced, lsu_last, rf_valid, busy;
    Signal<Unit::Mask> lsu_mask, rf_mask;
    Signal<Unit::AddressWord> lsu_addr;
    Signal<Unit::Word> lsu_data;
    Signal<Unit::TagWord> lsu_tag, rf_tag;
    Signal<Unit::WordNumber> lsu_word, rf_word;
  };

  void bind(arc_subcore& unit, Outputs& outputs, Signal<bool>& lsu_room);
  void run();
  void grant();  // rf_ready_i answers rf_valid_o within the cycle
  void watch();  // the outputs change in the same delta cycles
  // A cycle from after its rising edge to after the next one. False when a difference was found.
  bool cycle(bool may_request);
  bool drain();
  bool reset_unit();
  bool settled(const char* when);
  void draw_inputs(bool may_request);
  void draw_request();
  void draw_noise();
  bool take_outputs();
  bool take_lanes(Slot& slot, std::uint32_t word, LaneMask lanes);
  Slot& slot_of(const Signal<Unit::TagWord>& tag) { return slots_[tag.read().to_uint() % kSlots]; }
  [[nodiscard]] bool has_come(const std::optional<std::uint64_t>& cycle) const {
    return cycle.has_value() && counts_.cycles >= *cycle;
  }
  bool fail(const std::string& what);

  UnitKind kind_;
  BenchOptions options_;
  SplitMix64 random_;
  BackPressure lsu_, rf_;
  arc_subcore rtl_, golden_;

  Signal<bool> clk_, rst_n_, req_valid_, lsu_room_, lsu_room_golden_, may_grant_, rf_ready_;
  Signal<Unit::Mask> req_mask_;
  Signal<AddressBits> req_addr_;
  Signal<Unit::TagWord> req_tag_;
  Signal<Unit::WordNumber> req_words_;
  Signal<ReadBits> rf_data_;
  Signal<BinBits> rf_bin_;
  Outputs of_rtl_, of_golden_;

  std::array<Slot, kSlots> slots_;
  bool held_ = false;
  ReadBits answer_;  // of the last granted read
  BinBits answer_bins_;
  std::uint64_t tags_ = 0;
  BenchCounts counts_;
  std::string message_;
};

}  // namespace warpfold::systemc

// SPDX-License-Identifier: Apache-2.0
// A sub-core's side of its ARC unit: the request register in front of it, the operands that it may
// still read, and the way of its sums into the memory queue. Owned by the sub-core, in whose cycles
// it is called.
//
// A unit whose sum, or the request in front of it, waits for the LSU path comes to rest once it has
// loaded and read what it can (ArcUnit::Rest): it is not clocked then until the memory queue has
// room or a request comes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "model/gpu/cta/cta.hpp"
#include "model/gpu/sm/mem_op.hpp"
#include "model/gpu/sm/port_probe.hpp"
#include "model/gpu/sm/red_wait.hpp"
#include "model/gpu/sm/sm_context.hpp"
#include "model/gpu/traffic/line_sums.hpp"
#include "model/kernel/channel.hpp"
#include "model/kernel/recorder.hpp"
#include "model/unit/arc_unit.hpp"

namespace warpfold {

// What an ARC unit does in a cycle.
enum class UnitWork : std::uint8_t { kReads, kWaits, kSends, kHolds };

class ArcPort {
 public:
  struct Stats {
    std::uint64_t read_cycles = 0;     // in which the unit read the register file
    std::uint64_t blocked_cycles = 0;  // in which its sum waited for the LSU path
  };

  // What it has of the sub-core. The references outlive it.
  struct Around {
    const SmContext& context;
    Block& subcore;
    Fifo<MemOp>& memory_queue;
    RedsOut& reds;
  };
  // `unit` may be null: the sub-core has none.
  ArcPort(const Around& around, std::unique_ptr<ArcUnit> unit);

  [[nodiscard]] bool has_unit() const { return unit_ != nullptr; }
  // Whether an atomred may be put in front of it.
  [[nodiscard]] bool takes_request() const { return !request_.req_valid; }
  // Whose atomred it is.
  struct Asker {
    CtaContext& cta;
    std::uint32_t warp;
    std::uint32_t slot;  // in the sub-core
  };
  // Puts an atomred, a step of that warp, there. `cycle` is this one.
  void request(const Asker& asker, const Step& step, Cycle cycle);
  // The unit's part of the cycle. True if the request in front of it has left.
  bool tick(Cycle cycle);
  // It holds something, or a request stands in front of it.
  [[nodiscard]] bool held() const { return request_.req_valid || works_; }
  [[nodiscard]] const Stats& stats() const { return stats_; }

  void record(SliceRecorder* slices) { slices_ = slices; }
  // Has its ports looked at, until the kernel has ended.
  void probe(const PortProbe& probe);
  void end_probe() { probe_ = nullptr; }

 private:
  // Operand of an atomred on its way through the unit.
  struct Operand {
    EventRef event;
    EventValues values;
    std::uint16_t parameter = 0;  // of its first word
    std::uint8_t words = 1;
    bool uniform = false;  // all lanes have one address
    // Lanes of each word that are still to be read or sent, and the words that have some.
    std::array<LaneMask, kMaxWords> lanes_left{};
    std::uint32_t words_left = 0;

    void take(std::uint32_t word, LaneMask lanes);
  };
  // An atomred of a warp that waits for it, with the lanes that have not left, as REDs or in sums.
  // Of one tag there may be several: its sums may leave when another has it.
  struct Unsent {
    std::uint32_t slot = 0;
    LaneMask lanes = 0;
    std::array<Address, kLanes> addresses;
  };

  [[nodiscard]] bool has_room() const;
  void clock(Cycle cycle);
  void send(const UnitOutputs& out);
  void read(const UnitOutputs& out);
  void send_sum(const UnitOutputs& out, const Operand& operand);
  void answer(const Operand& operand, std::uint32_t word, LaneMask lanes);
  void fetch(const Operand& operand, std::uint32_t word);
  void come_to_rest(Cycle cycle, const UnitOutputs& out);
  void end_rest(Cycle cycle);
  void release_operands();
  void count_red(Tag tag, LaneMask lanes, MemOp& op);
  void count_sum(Tag tag, Address address, MemOp& op);
  void sent(std::uint32_t slot, MemOp& op, bool last);
  void show_resting(Cycle cycle, bool resting);
  void record_work(Cycle cycle, const UnitOutputs& out);

  const SmContext& context_;
  Block& subcore_;
  Fifo<MemOp>& memory_queue_;
  RedsOut& reds_;
  const std::unique_ptr<ArcUnit> unit_;
  ArcUnit::Ports ports_;

  UnitInputs request_;
  bool works_ = false;  // it may hold something after its last cycle, as its ports said then
  // Cycles that it has waited without loading or reading, with or without a sum at its port as
  // sum_waits_ says; the first one not clocked.
  std::uint32_t still_ = 0;
  bool sum_waits_ = false;
  Cycle resting_since_ = kNever;
  std::vector<Operand> operands_;           // by tag
  std::vector<std::deque<Unsent>> unsent_;  // by tag; empty where no warp waits
  // Whose values lie in values_, where the unit sees the exponents of a whole operand; which
  // word's.
  const Operand* answered_ = nullptr;
  std::uint32_t answered_word_ = 0;
  LineSums packet_{};  // sums of a struct that have come so far
  std::array<Fp32Bits, kLanes> values_{};
  Stats stats_;

  SliceRecorder* slices_ = nullptr;
  const PortProbe* probe_ = nullptr;
  UnitOutputs shown_;  // when it was clocked last, if there is a probe
};

inline bool ArcPort::tick(Cycle cycle) {
  const bool rests = resting_since_ != kNever && !has_room();
  if (probe_ != nullptr) [[unlikely]] {
    show_resting(cycle, rests);
  }
  if (rests) {
    memory_queue_.want_room();
    return false;
  }
  if (!held()) {
    return false;
  }
  if (resting_since_ != kNever) {
    end_rest(cycle);
  }
  const bool request_was_held = request_.req_valid;
  clock(cycle);
  return request_was_held && !request_.req_valid;
}

// Anything that waits in front of the load-store unit is a stall to the greedy scheduler.
inline bool ArcPort::has_room() const {
  return memory_queue_.can_push_below(context_.config.arc.queue_depth);
}

}  // namespace warpfold

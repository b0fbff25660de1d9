// SPDX-License-Identifier: Apache-2.0
// One SM sub-core: resident warps, the warp scheduler that issues one warp instruction a cycle,
// and, under arc-hw, the ARC unit. Owned by its SM. A warp waits for its own dependent work, a
// barrier, the results of its shuffles, room in the memory queue, or the ARC unit's request
// register; plain REDs do not block it.
//
// Warps that wait for the memory queue take turns. Where lsu.sleep_cycles is given, those with REDs
// and loads that find the way to the L2 full do as on an H200 (docs/model.md, docs/notebook.md):
//
//   asleep   is a warp that finds the queue full, and the injection port behind it no less than a
//            quarter full, until a RED or load of its own CTA was the last of its SM that got in in
//            its turn, or none did through two ticks, or the port is less than a quarter full, at
//            which it looks every kLook cycles. Ticks come every sleep_cycles, to an SM of each of
//            tick_groups at a time of its own
//   ahead    of all others goes one that has waited through two ticks, those of the oldest CTA
//            first, with kAhead REDs or loads
//   in turn  of those that are awake go the ones of the oldest CTA, whatever they want there, and
//            of these no more than kInTurn at a time whose REDs come one after the other
//
// Between two cycles in which something else can happen, the set of warps that issue is fixed, so
// the round-robin turns of many cycles are taken at once (a batch) with the same outcome as one by
// one.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model/kernel/channel.hpp"
#include "model/kernel/clock.hpp"
#include "model/machine/config.hpp"
#include "model/base/divider.hpp"
#include "model/kernel/recorder.hpp"
#include "model/gpu/traffic/traffic.hpp"
#include "model/policy/program.hpp"
#include "model/unit/arc_unit.hpp"

namespace warpfold {

class SmControl;
class LsuPipe;
class Outlet;

// Where a sub-core's cycles go. A cycle in which nothing issues is put down to the first cause that
// holds for any resident warp, in this order.
enum class CycleCause : std::uint8_t {
  kIssued,
  kMemoryQueue,  // the memory queue is full: what profilers call LSU or LG throttle
  kArcUnit,      // an atomred waits for the ARC unit
  kShuffle,      // results of shuffles and of shared-memory accesses
  kDependency,   // own earlier instructions
  kBarrier,
  kIdle,  // no warp resident
  kCount
};
inline constexpr std::size_t kCycleCauses = static_cast<std::size_t>(CycleCause::kCount);
const char* cycle_cause_name(CycleCause cause);

// Instructions of one sub-core.
struct SubcoreStats {
  std::array<std::uint64_t, kCycleCauses> cycles{};
  // Warp-cycles by what the warp was doing; kIssued holds the cycles a warp issued, kIdle those in
  // which it was ready and another warp was chosen.
  std::array<std::uint64_t, kCycleCauses> warp_cycles{};
  std::uint64_t issued = 0;
  std::uint64_t reds = 0;
  std::uint64_t atomreds = 0;
  std::uint64_t shuffles = 0;
  std::uint64_t events = 0;
  std::uint64_t unit_read_cycles = 0;     // cycles in which the ARC unit read the register file
  std::uint64_t unit_blocked_cycles = 0;  // cycles in which its sum waited for the LSU path
};

// All warps of a CTA have arrived at a barrier; the SM has taken the last arrival at that time.
struct BarrierRelease {
  const CtaContext* cta = nullptr;
  Ticks arrived = 0;
};

struct WarpLaunch {
  CtaContext* cta = nullptr;
  std::uint32_t warp = 0;
};

// Whose turn it is in an SM: that of the CTA whose RED or load was the last that got into a memory
// queue in its turn. Of several in one cycle the oldest.
class QueueTurn {
 public:
  explicit QueueTurn(const Domain& domain) : domain_(domain) {}
  void taken_by(const CtaContext& cta) {
    settle();
    next_ = std::min(next_, cta.sequence);
    next_in_ = domain_.now();
  }
  static constexpr std::uint64_t kNoCta = ~std::uint64_t{0};
  // Its sequence, and when that was, as of the start of the cycle.
  [[nodiscard]] std::uint64_t holder() {
    settle();
    return holder_;
  }
  [[nodiscard]] Cycle taken_in() {
    settle();
    return taken_in_;
  }

 private:
  void settle() {
    if (next_ != kNoCta && next_in_ != domain_.now()) {
      holder_ = next_;
      taken_in_ = next_in_;
      next_ = kNoCta;
    }
  }

  const Domain& domain_;
  std::uint64_t holder_ = kNoCta;
  Cycle taken_in_ = 0;
  std::uint64_t next_ = kNoCta;  // who has taken it in that cycle
  Cycle next_in_ = 0;
};

class Subcore : public Block {
 public:
  // Everything a sub-core shares with its surroundings. The references outlive it.
  struct Context {
    const GpuConfig& config;
    const PolicyTiming& timing;
    const AddressMap& addresses;
    bool has_values;
    bool clock_all;      // SimOptions::clock_all
    UnitKind unit_kind;  // SimOptions::unit_kind
    bool buffered;       // REDs go to an atomic buffer
    Cycle tick_offset;   // of its SM: its ticks come so much sooner
    Tally& tally;
  };

  Subcore(const sc_core::sc_module_name& name, Domain& domain, const Context& context,
          SmControl& control, QueueTurn& queue_turn, LsuPipe& pipe, LsuPipe& match_pipe,
          std::unique_ptr<ArcUnit> unit);

  Fifo<MemOp> memory_queue;
  Mailbox<WarpLaunch> launches;
  Mailbox<BarrierRelease> barrier_releases;

  // Ordinary loads are told to the cache that they share with sums.
  void tell_loads_to(Mailbox<std::uint32_t>& loads) { loads_ = &loads; }
  // The way to the L2, by which warps fall asleep.
  void watch(const Outlet& way_out) { way_out_ = &way_out; }
  // The load-store unit is through with what the warp in that slot waits for of it, in this cycle:
  // the result is there when that one comes, until which the warp waits for nothing but its
  // latency.
  void shuffle_answered(std::uint32_t slot, Cycle due);
  // What the warp in that slot has waited for of the L2 is there in that cycle, which is to come.
  void load_answered(std::uint32_t slot, Cycle due);
  // Whether it may have to know in the next cycle how full that is, where warps may sleep.
  [[nodiscard]] bool looks_at_way_out() const {
    // It adds up to two entries to the memory queue in a cycle.
    return asleep_ != 0 || !memory_queue.can_push(3);
  }
  // Notes in the CTAs of its warps how long these have something to issue, up to so many cycles.
  void estimate_ends(std::uint64_t cycles) const;
  // Brings the statistics up to `end`, the first cycle that no longer counts.
  void finish(Cycle end);
  [[nodiscard]] const SubcoreStats& stats() const { return stats_; }
  // Instructions issued in the cycles before that one, which has not begun.
  [[nodiscard]] std::uint64_t issued_before(Cycle cycle) const;
  // What its warps wait for, or nothing.
  [[nodiscard]] std::string waits() const;
  // Whether a warp goes on at a time that is known.
  [[nodiscard]] bool waits_for_time() const { return due_at_ != kNever; }
  [[nodiscard]] bool empty() const { return resident_ == 0 && !unit_held(); }
  [[nodiscard]] bool has_unit() const { return unit_ != nullptr; }
  // What it does, by CycleCause, and what its ARC unit does, if it has one.
  void record(SliceRecorder* slices, SliceRecorder* of_unit) {
    slices_of_ = slices;
    unit_slices_ = of_unit;
  }
  // Has the ports of its ARC unit looked at, until the kernel has ended.
  void probe(const PortProbe& probe);
  void end_probe() { probe_ = nullptr; }

 private:
  using SlotMask = std::uint32_t;
  struct Warp {
    CtaContext* cta = nullptr;
    std::uint32_t warp = 0;
    std::uint64_t age = 0;
    Cycle access_began = 0;        // that the first access of those that end its step is issued
    std::uint32_t loads_left = 0;  // of those that end its step
    std::uint32_t loads_sent = 0;  // to the L2
    Cycle got_in = 0;              // that its last RED or load got into the queue
    Step step;
    WarpProgram program;
  };
  // Operand of an atomred on its way through the ARC unit.
  struct InFlight {
    EventRef event;
    EventValues values;
    std::uint16_t parameter = 0;
    bool uniform = false;  // all lanes have one address
    LaneMask lanes_left = 0;
  };

  void tick() override;
  void show_resting_unit(Cycle cycle, bool asleep);
  void record_unit(Cycle cycle, const UnitOutputs& out);
  void close_batch(Cycle cycle);
  void account(Cycle cycle);
  void account_results(Cycle cycle);
  void take_results(Cycle cycle);
  void take_mail(Cycle cycle);
  void begin_due_steps(Cycle cycle);
  void tick_unit(Cycle cycle);
  void issue(Cycle cycle);
  [[nodiscard]] bool plans_next(Cycle next) const;
  bool plan(SlotMask ready, Cycle cycle);
  void issue_now(std::uint32_t slot, Cycle cycle);
  void begin_step(std::uint32_t slot, Cycle cycle);
  void finish_run(std::uint32_t slot, Cycle last_issue);
  void wait_until(std::uint32_t slot, Cycle cycle);
  void want_access(std::uint32_t slot, Cycle cycle);
  void push_atomic(const Warp& warp, std::uint32_t slot);
  void push_load(Warp& warp, std::uint32_t slot);
  void request_unit(const Warp& warp);
  void answer(const InFlight& operand, LaneMask lanes);
  void release_operands();
  void account_sleep(Cycle cycle);
  [[nodiscard]] bool unit_has_room() const;
  [[nodiscard]] bool unit_held() const { return request_.req_valid || unit_works_; }
  [[nodiscard]] SlotMask ready_slots() const;
  void want_atomic(std::uint32_t slot, Cycle cycle);
  void want_turn(std::uint32_t slot, Cycle cycle);
  void after_atomic(std::uint32_t slot, Cycle cycle);
  void red_leaves(std::uint32_t slot, Cycle cycle);
  [[nodiscard]] SlotMask awake_slots() const;
  // The number of the last tick up to that cycle.
  [[nodiscard]] Cycle tick_of(Cycle cycle) const {
    return sleep_cycles_.quotient(cycle + context_.tick_offset);
  }
  [[nodiscard]] Cycle next_tick(Cycle cycle) const {
    return (tick_of(cycle) + 1) * sleep_cycles_.divisor() - context_.tick_offset;
  }

  const Context context_;
  const Divider sleep_cycles_;
  SmControl& control_;
  QueueTurn& queue_turn_;
  LsuPipe& pipe_;
  LsuPipe& match_pipe_;
  std::unique_ptr<ArcUnit> unit_;
  Mailbox<std::uint32_t>* loads_ = nullptr;

  std::vector<Warp> warps_;
  SlotMask all_slots_;
  // What most ticks look at lies together, from here to slots_: there are too many sub-cores for
  // all of them to stay in a processor's cache.
  // Each resident warp is in exactly one of these.
  SlotMask run_ = 0;         // has issue slots left of a run
  SlotMask want_queue_ = 0;  // next instruction goes to the memory queue
  SlotMask want_red_ = 0;    // of those, with a RED or a load, where warps may sleep
  SlotMask asleep_ = 0;      // of those again
  SlotMask in_turn_ = 0;     // got in with a RED or load and, if in want_red_, wants the next
  SlotMask want_unit_ = 0;   // next instruction is an atomred
  SlotMask want_issue_ = 0;  // next instruction needs no more than an issue slot (barrier)
  SlotMask wait_ = 0;        // until its ready_at
  SlotMask shuffle_ = 0;     // for shuffles or shared-memory accesses
  SlotMask results_ = 0;     // of those, whose results are on their way
  SlotMask barrier_ = 0;
  std::uint32_t resident_ = 0;
  SlotMask before_access_ = 0;  // of those in run_ and wait_: an access ends the step

  // The batch: from batch_begin_ to batch_end_ the warps in batch_slots_ take turns, batch_first_
  // first. Empty when batch_slots_ is 0.
  SlotMask batch_slots_ = 0;
  std::uint32_t batch_first_ = 0;
  Cycle batch_begin_ = 0, batch_end_ = 0;
  std::uint32_t next_slot_ = 0;  // round-robin: where the search for a ready warp begins
  static constexpr std::uint32_t kNoSlot = ~std::uint32_t{0};
  std::uint32_t greedy_slot_ = kNoSlot;

  static constexpr std::uint32_t kAhead = 2;
  static constexpr int kInTurn = 3;
  static constexpr Cycle kLook = 128;  // sleepers look at the way out in multiples of these cycles
  const Outlet* way_out_ = nullptr;

  // The first cycle in which issue() has to decide again though nothing arrives.
  Cycle decide_at_ = kNever;
  Cycle due_at_ = kNever;  // the first ready_at of those in wait_ and results_

  // What holds for every cycle from accounted_ on until the next decision.
  struct Standing {
    CycleCause cause = CycleCause::kIdle;
    SlotMask ready = 0, queue = 0, unit = 0, shuffle = 0, wait = 0, barrier = 0;
    bool for_room = false;  // in the memory queue, which has none, somebody waits
  } standing_;
  Cycle accounted_ = 0;
  SubcoreStats stats_;
  struct Slot {
    Cycle ready_at = 0;  // of those in wait_ and results_; in run_ the step ends no sooner
    std::uint32_t slots_left = 0;  // of those in run_: issue slots of the step
    std::uint32_t accesses = 0;    // of those in before_access_: the last slots, but for one more
  };
  std::array<Slot, kMaxSubcoreWarps> slots_{};
  std::array<Cycle, kMaxSubcoreWarps> answered_in_{};  // by slot, of those in results_
  // By slot, of whom the memory queue takes when.
  struct Turn {
    std::uint64_t cta = 0;    // its sequence
    Cycle red_tick = 0;       // the last tick before the warp came to wait with a RED or a load
    std::uint32_t ahead = 0;  // REDs and loads with which it goes before others
  };
  std::array<Turn, kMaxSubcoreWarps> turns_{};

  // ARC unit: the request register in front of it and the operands it may still read.
  // A unit whose sum, or the request in front of it, waits for the LSU path comes to rest once it
  // has loaded and read what it can: it is not clocked then until the memory queue has room or a
  // request comes. unit_settled_ counts the cycles that it has waited without loading or reading,
  // with or without a sum at its port as sum_waits_ says; asleep_since_ is the first one not
  // clocked.
  UnitInputs request_;
  // unit_works_: it may hold something after its last cycle, as its ports said then.
  bool unit_works_ = false;
  std::uint32_t unit_settled_ = 0;
  bool sum_waits_ = false;
  Cycle asleep_since_ = kNever;
  std::vector<InFlight> in_flight_;
  // Fused: whose exponents are on the ports, and the values of its lanes.
  const InFlight* answered_ = nullptr;
  std::array<Fp32Bits, kLanes> values_{};

  SliceRecorder* slices_of_ = nullptr;
  SliceRecorder* unit_slices_ = nullptr;
  const PortProbe* probe_ = nullptr;
  UnitOutputs shown_;  // of the unit, when it was clocked last, if there is a probe
};

}  // namespace warpfold

// SPDX-License-Identifier: Apache-2.0
// One SM sub-core: resident warps, the warp scheduler that issues one warp instruction a cycle,
// and, under a policy that has one, the ARC unit. Owned by its SM. A warp waits for its own
// dependent work, a barrier, the results of its shuffles, room in the memory queue (queue_admission
// .hpp says who gets it), or the ARC unit's request register; plain REDs do not block it, unless
// the machine has them do so (red_wait.hpp).
//
// Between two cycles in which something else can happen, the set of warps that issue is fixed, so
// the round-robin turns of many cycles are taken at once (a batch) with the same outcome as one by
// one.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model/gpu/sm/arc_port.hpp"
#include "model/gpu/sm/cycle_ledger.hpp"
#include "model/gpu/sm/lsu_pipe.hpp"
#include "model/gpu/sm/mem_op.hpp"
#include "model/gpu/sm/queue_admission.hpp"
#include "model/gpu/sm/red_wait.hpp"
#include "model/gpu/sm/sm_context.hpp"
#include "model/gpu/sm/sm_control.hpp"
#include "model/kernel/channel.hpp"
#include "model/kernel/clock.hpp"
#include "model/policy/program.hpp"

namespace warpfold {

// Instructions of one sub-core.
struct SubcoreStats {
  std::uint64_t issued = 0;
  std::uint64_t reds = 0;
  std::uint64_t atomreds = 0;
  std::uint64_t shuffles = 0;
  std::uint64_t shuffles_of_zeros = 0;  // of these
  std::uint64_t events = 0;
  std::uint64_t loads = 0;  // and stores, of which the trace says what they touch
  std::uint64_t stores = 0;
};

struct WarpLaunch {
  CtaContext* cta = nullptr;
  std::uint32_t warp = 0;
};

class Subcore : public Block, public AccessAnswers {
 public:
  // What the sub-cores of an SM share. The references outlive them.
  struct Shared {
    SmControl& control;
    LsuPipe& pipe;
    LsuPipe& match_pipe;
    Mailbox<std::uint32_t>* loads;  // told of ordinary loads: a cache that they share with sums
  };

  Subcore(std::string name, Domain& domain, const SmContext& context, const Shared& shared,
          std::unique_ptr<QueueAdmission> admission, std::unique_ptr<ArcUnit> unit);

  Fifo<MemOp> memory_queue;
  Mailbox<WarpLaunch> launches;
  Mailbox<BarrierRelease> barrier_releases;

  void access_answered(std::uint32_t slot, Cycle due) override;
  void red_split(std::uint32_t slot, std::uint32_t transactions) override {
    reds_out_.add(slot, transactions - 1);
  }
  void red_answered(std::uint32_t slot, Cycle due) override;
  void load_parts(std::uint32_t slot, std::uint16_t site, std::uint32_t parts) override;
  void load_part(std::uint32_t slot, std::uint16_t site, Cycle due) override;
  // What the warp in that slot has waited for of the L2 is there in that cycle, which is to come.
  void load_answered(std::uint32_t slot, Cycle due);
  // Whether it may have to know in the next cycle how full the way to the L2 is.
  [[nodiscard]] bool looks_at_way_out() const {
    // It adds up to two entries to the memory queue in a cycle.
    return chooses_ && admission_->looks_at_way_out(memory_queue.can_push(3));
  }
  // Notes in the CTAs of its warps how long these have something to issue, up to so many cycles.
  void estimate_ends(std::uint64_t cycles) const;
  // Brings the statistics up to `end`, the first cycle that no longer counts.
  void finish(Cycle end);

  [[nodiscard]] const SubcoreStats& stats() const { return stats_; }
  [[nodiscard]] const CycleLedger& ledger() const { return ledger_; }
  [[nodiscard]] const ArcPort& arc_port() const { return arc_; }
  // Instructions issued in the cycles before that one, which has not begun.
  [[nodiscard]] std::uint64_t issued_before(Cycle cycle) const;
  // What its warps wait for, or nothing.
  [[nodiscard]] std::string waits() const;
  // Whether a warp goes on at a time that is known.
  [[nodiscard]] bool waits_for_time() const { return due_at_ != kNever; }
  [[nodiscard]] bool empty() const { return resident_ == 0 && !arc_.held(); }
  // What it does, by CycleCause, and what its ARC unit does, if it has one.
  void record(SliceRecorder* slices, SliceRecorder* of_unit) {
    ledger_.record(slices);
    arc_.record(of_unit);
  }
  // Has the ports of its ARC unit looked at, until the kernel has ended.
  void probe(const PortProbe& probe) { arc_.probe(probe); }
  void end_probe() { arc_.end_probe(); }

 private:
  using SlotMask = std::uint32_t;
  struct Warp {
    CtaContext* cta = nullptr;
    std::uint32_t warp = 0;
    std::uint64_t age = 0;
    Cycle access_began = 0;        // that the first access of those that end its step is issued
    std::uint32_t loads_left = 0;  // of those that end its step
    std::uint32_t loads_sent = 0;  // to the L2
    Step step;
    WarpProgram program;
    // By memory instruction: what of its loads is on its way, and when the rest is there.
    struct LoadOut {
      std::uint16_t site = 0;
      std::uint32_t parts = 0;
      Cycle ready = 0;
    };
    std::vector<LoadOut> loads;
  };

  // subcore.cpp: what warps come to.
  void tick() override;
  void account_results(Cycle cycle);
  void take_results(Cycle cycle);
  void take_mail(Cycle cycle);
  void launch(const WarpLaunch& launch, Cycle cycle);
  void begin_due_steps(Cycle cycle);
  void begin_step(std::uint32_t slot, Cycle cycle);
  void begin_run(std::uint32_t slot, Cycle cycle);
  [[nodiscard]] const trace::Record& record_of(const Warp& warp) const {
    return warp.cta->trace.warps[warp.warp].records[warp.step.record];
  }
  [[nodiscard]] static Cycle loads_ready(const Warp& warp, std::uint32_t site);
  [[nodiscard]] bool wait_for_loads(std::uint32_t slot, Cycle cycle);
  void issue_memory(std::uint32_t slot, Cycle cycle);
  void end_warp(std::uint32_t slot);
  void finish_run(std::uint32_t slot, Cycle last_issue);
  void wait_until(std::uint32_t slot, Cycle cycle);
  void want_access(std::uint32_t slot, Cycle cycle);
  void want_atomic(std::uint32_t slot, Cycle cycle);
  void want_turn(std::uint32_t slot, Cycle cycle);
  void after_atomic(std::uint32_t slot, Cycle cycle);
  void go_on(std::uint32_t slot, Cycle cycle);

  // subcore_issue.cpp: what issues.
  void issue(Cycle cycle);
  [[nodiscard]] SlotMask ready_slots() const;
  [[nodiscard]] bool plans_next(Cycle next) const;
  bool plan(SlotMask ready, Cycle cycle);
  void stand(SlotMask ready, Cycle cycle);
  std::uint32_t choose_greedy(SlotMask ready);
  void begin_batch(SlotMask sharers, std::uint32_t first, Cycle cycle);
  void close_batch(Cycle cycle);
  void issue_now(std::uint32_t slot, Cycle cycle);
  void issue_atomic(std::uint32_t slot, Cycle cycle);
  void issue_access(std::uint32_t slot, Cycle cycle);
  void enter_queue(std::uint32_t slot, Cycle cycle);
  void push_atomic(const Warp& warp, std::uint32_t slot);
  void push_sum(MemOp& op, const Warp& warp);
  void push_load(Warp& warp, std::uint32_t slot);

  const SmContext& context_;
  const Shared shared_;
  const std::unique_ptr<QueueAdmission> admission_;
  const bool chooses_;   // admission_ does, among those that want room
  const bool has_unit_;  // arc_ has

  std::vector<Warp> warps_;
  SlotMask all_slots_;
  // What most ticks look at lies together, from here to slots_: there are too many sub-cores for
  // all of them to stay in a processor's cache.
  // Each resident warp is in exactly one of these.
  SlotMask run_ = 0;         // has issue slots left of a run
  SlotMask want_queue_ = 0;  // next instruction goes to the memory queue
  SlotMask want_unit_ = 0;   // next instruction is an atomred
  SlotMask want_issue_ = 0;  // next instruction needs no more than an issue slot (barrier)
  SlotMask wait_ = 0;        // until its ready_at
  SlotMask shuffle_ = 0;     // for shuffles or shared-memory accesses
  SlotMask results_ = 0;     // of those, whose results are on their way
  SlotMask barrier_ = 0;
  std::uint32_t resident_ = 0;
  SlotMask before_access_ = 0;  // of those in run_ and wait_: an access ends the step
  SlotMask for_reds_ = 0;       // of those in wait_: for REDs of their own
  SlotMask for_loads_ = 0;  // of those in wait_: for loads of which the trace says what they touch

  // The batch: from batch_begin_ to batch_end_ the warps in batch_slots_ take turns, batch_first_
  // first. Empty when batch_slots_ is 0.
  SlotMask batch_slots_ = 0;
  std::uint32_t batch_first_ = 0;
  Cycle batch_begin_ = 0, batch_end_ = 0;
  std::uint32_t next_slot_ = 0;  // round-robin: where the search for a ready warp begins
  static constexpr std::uint32_t kNoSlot = ~std::uint32_t{0};
  std::uint32_t greedy_slot_ = kNoSlot;

  // The first cycle in which issue() has to decide again though nothing arrives.
  Cycle decide_at_ = kNever;
  Cycle due_at_ = kNever;  // the first ready_at of those in wait_ and results_

  CycleLedger ledger_;
  SubcoreStats stats_;
  struct Slot {
    Cycle ready_at = 0;  // of those in wait_ and results_; in run_ the step ends no sooner
    std::uint32_t slots_left = 0;  // of those in run_: issue slots of the step
    std::uint32_t accesses = 0;    // of those in before_access_: the last slots, but for one more
  };
  std::array<Slot, kMaxSubcoreWarps> slots_{};
  std::array<Cycle, kMaxSubcoreWarps> answered_in_{};  // by slot, of those in results_
  RedsOut reds_out_;
  ArcPort arc_;
};

}  // namespace warpfold

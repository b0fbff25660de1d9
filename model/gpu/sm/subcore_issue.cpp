// SPDX-License-Identifier: Apache-2.0
// What a sub-core issues: its decisions, batches of turns, and what an instruction puts into the
// memory queue.
#include <algorithm>
#include <bit>

#include "model/base/bits.hpp"
#include "model/base/check.hpp"
#include "model/gpu/sm/subcore.hpp"

namespace warpfold {

// Decides what issues in `cycle`, which is this one, and as far ahead as that is known.
void Subcore::issue(Cycle cycle) {
  if (plan(ready_slots(), cycle) && plans_next(cycle + 1)) {
    ledger_.account(cycle + 1);
    plan(ready_slots(), cycle + 1);
  }
}

Subcore::SlotMask Subcore::ready_slots() const {
  SlotMask ready = run_ | want_issue_;
  if (want_queue_ != 0 && memory_queue.can_push()) {
    ready |= chooses_ ? admission_->admitted(want_queue_) : want_queue_;
  }
  if (want_unit_ != 0 && arc_.takes_request()) {
    ready |= want_unit_;
  }
  return ready;
}

// After an instruction in the cycle before: whether all that can come in the next one, unless
// something arrives, is a batch or nothing.
bool Subcore::plans_next(Cycle next) const {
  if (has_unit_ || due_at_ <= next ||
      context_.config.sm.issue_order != IssueOrder::kLooseRoundRobin) {
    return false;
  }
  // With room now there is room then.
  if (want_queue_ != 0 &&
      (!memory_queue.can_push() || (chooses_ && admission_->depends_on_time()))) {
    return false;
  }
  const SlotMask ready = ready_slots();
  return ready == 0 || (run_ >> next_from(ready, next_slot_) & 1U) != 0;
}

// Notes down what holds from `cycle` on.
void Subcore::stand(SlotMask ready, Cycle cycle) {
  CycleLedger::Standing standing{.cause = CycleCause::kIssued,
                                 .ready = ready,
                                 .queue = (want_queue_ & ~ready) | for_reds_,
                                 .unit = want_unit_ & ~ready,
                                 .shuffle = shuffle_,
                                 .wait = wait_ & ~for_reds_,
                                 .barrier = barrier_};
  const bool has_room = memory_queue.can_push();
  if ((want_queue_ & ~ready) != 0 && !has_room) {
    standing.for_room = true;
    memory_queue.want_room();
  }
  decide_at_ = chooses_ ? admission_->decided(has_room, cycle) : kNever;
  if (ready == 0) {
    standing.cause = standing.queue != 0  ? CycleCause::kMemoryQueue
                     : standing.unit != 0 ? CycleCause::kArcUnit
                     : shuffle_ != 0      ? CycleCause::kShuffle
                     : standing.wait != 0 ? CycleCause::kDependency
                     : barrier_ != 0      ? CycleCause::kBarrier
                                          : CycleCause::kIdle;
  }
  ledger_.stand(standing);
}

// Greedy, then oldest: the same warp while it is ready.
std::uint32_t Subcore::choose_greedy(SlotMask ready) {
  std::uint32_t chosen = greedy_slot_;
  if (chosen == kNoSlot || (ready >> chosen & 1U) == 0) {
    std::uint64_t oldest = ~std::uint64_t{0};
    for_each_bit(ready, [&](std::uint32_t slot) {
      if (warps_[slot].age < oldest) {
        oldest = warps_[slot].age;
        chosen = slot;
      }
    });
    greedy_slot_ = chosen;
  }
  return chosen;
}

// What issues from `cycle` on: a batch of turns, or, if that is this cycle, one instruction with an
// effect. True if it is that.
bool Subcore::plan(SlotMask ready, Cycle cycle) {
  batch_slots_ = 0;
  stand(ready, cycle);
  if (ready == 0) {
    return false;
  }
  const bool greedy = context_.config.sm.issue_order == IssueOrder::kGreedyThenOldest;
  const std::uint32_t first = greedy ? choose_greedy(ready) : next_from(ready, next_slot_);
  if ((run_ >> first & 1U) == 0) {
    decide_at_ = cycle + 1;
    issue_now(first, cycle);
    return true;
  }
  begin_batch(greedy ? SlotMask{1} << first : ready, first, cycle);
  return false;
}

// Turns until the first warp with another kind of instruction is due, or a run ends.
void Subcore::begin_batch(SlotMask sharers, std::uint32_t first, Cycle cycle) {
  const auto count = static_cast<std::uint64_t>(std::popcount(sharers));
  std::uint64_t turns = ~std::uint64_t{0};
  std::uint32_t slot = first;
  for (std::uint64_t i = 0; i < count && i < turns; ++i) {
    slot = next_from(sharers, slot);
    if ((run_ >> slot & 1U) == 0) {
      turns = std::min(turns, i);
      break;
    }
    turns = std::min(turns, (slots_[slot].slots_left - 1) * count + i + 1);
    ++slot;
  }
  batch_slots_ = sharers;
  batch_first_ = first;
  batch_begin_ = cycle;
  batch_end_ = cycle + turns - 1;
  decide_at_ = std::min(decide_at_, batch_end_ + 1);
}

// Takes the turns of the batch that lie before `cycle`.
void Subcore::close_batch(Cycle cycle) {
  if (batch_slots_ == 0 || cycle <= batch_begin_) {
    return;
  }
  const Cycle last = std::min<Cycle>(cycle - 1, batch_end_);
  const std::uint64_t turns = last - batch_begin_ + 1;
  const auto sharers = static_cast<std::uint64_t>(std::popcount(batch_slots_));
  std::uint32_t slot = batch_first_;
  std::uint32_t last_slot = slot;
  std::uint32_t finished = 32;
  // So many turns of the warp in `slot`, of which the first is the batch's turn `first`.
  const auto take = [&](std::uint64_t taken, std::uint64_t first) {
    Slot& own = slots_[slot];
    ARC_CHECK(taken <= own.slots_left, "a batch ran past the end of a step");
    if ((before_access_ >> slot & 1U) != 0 && own.slots_left >= own.accesses &&
        own.slots_left < own.accesses + taken) {
      warps_[slot].access_began = batch_begin_ + (own.slots_left - own.accesses) * sharers + first;
    }
    own.slots_left -= static_cast<std::uint32_t>(taken);
    finished = own.slots_left == 0 ? slot : finished;
  };
  if (sharers == 1) {
    take(turns, 0);
  } else {
    // Few batches go round more than once; those that had no turn are as they were.
    const std::uint64_t rounds = turns < sharers ? 0 : turns / sharers;
    const std::uint64_t extra = turns - rounds * sharers;
    for (std::uint64_t i = 0; i < (rounds == 0 ? extra : sharers); ++i) {
      slot = next_from(batch_slots_, slot);
      take(rounds + (i < extra ? 1 : 0), i);
      if (i + 1 == (extra == 0 ? sharers : extra)) {
        last_slot = slot;
      }
      ++slot;
    }
  }
  stats_.issued += turns;
  next_slot_ = last_slot + 1;
  const bool over = last == batch_end_;
  // The statistics of these cycles are taken before the states change.
  ledger_.account(cycle);
  if (finished < 32) {
    ARC_CHECK(over && finished == last_slot, "a step ended inside a batch");
    finish_run(finished, last);
  }
  batch_slots_ = 0;
}

// Issues an instruction that is not part of a run, in this cycle.
void Subcore::issue_now(std::uint32_t slot, Cycle cycle) {
  ++stats_.issued;
  next_slot_ = slot + 1;
  switch (warps_[slot].step.kind) {
    case StepKind::kAtomic:
    case StepKind::kReduced:
      issue_atomic(slot, cycle);
      break;
    case StepKind::kRun:
      issue_access(slot, cycle);
      break;
    case StepKind::kBarrier:
      want_issue_ &= ~(SlotMask{1} << slot);
      barrier_ |= SlotMask{1} << slot;
      shared_.control.barrier_arrived(warps_[slot].cta, cycle);
      break;
    case StepKind::kAccess:
      issue_memory(slot, cycle);
      break;
    case StepKind::kWait:
    case StepKind::kEnd:
      ARC_CHECK(false, "a step that is not issued this way");
  }
}

// A load or a store of which the trace says what it touches; the warp goes on.
void Subcore::issue_memory(std::uint32_t slot, Cycle cycle) {
  const Warp& warp = warps_[slot];
  const std::uint16_t site = record_of(warp).site;
  if (context_.timing.memory[site].kind == trace::AccessKind::kLoad) {
    load_parts(slot, site, 1);
    ++stats_.loads;
  } else {
    ++stats_.stores;
  }
  enter_queue(slot, cycle);
  MemOp& op = memory_queue.push_new();
  op.kind = MemOpKind::kAccess;
  op.warp_slot = static_cast<std::uint8_t>(slot);
  op.event = {.cta = CtaHold::of(*warp.cta), .warp = warp.warp, .record = warp.step.record};
  wait_until(slot, cycle + 1);
}

void Subcore::issue_atomic(std::uint32_t slot, Cycle cycle) {
  Warp& warp = warps_[slot];
  if (reds_out_.answered(warp.step.waits)) {
    reds_out_.add(slot);
    if (warp.step.waits) {
      reds_out_.want_result(slot);
    }
  }
  if (has_unit_ && warp.step.kind == StepKind::kAtomic && !warp.step.passed_on) {
    want_unit_ &= ~(SlotMask{1} << slot);
    arc_.request({.cta = *warp.cta, .warp = warp.warp, .slot = slot}, warp.step, cycle);
    ++stats_.atomreds;
  } else {
    enter_queue(slot, cycle);
    push_atomic(warp, slot);
    ++stats_.reds;
  }
  after_atomic(slot, cycle + 1);
}

// The last of the accesses that end a run, or one of its loads.
void Subcore::issue_access(std::uint32_t slot, Cycle cycle) {
  Warp& warp = warps_[slot];
  const Access& access = *warp.step.access;
  if (access.kind == AccessKind::kGlobal) {
    enter_queue(slot, cycle);
    push_load(warp, slot);
    if (warp.loads_left > 0) {
      want_turn(slot, cycle + 1);
    } else {
      wait_until(slot, kNever);
    }
    return;
  }
  want_queue_ &= ~(SlotMask{1} << slot);
  shuffle_ |= SlotMask{1} << slot;
  MemOp& op = memory_queue.push_new();
  const bool shuffles = access.kind == AccessKind::kShuffle;
  op.kind = shuffles ? MemOpKind::kShuffle : MemOpKind::kShared;
  op.warp_slot = static_cast<std::uint8_t>(slot);
  op.lsu_ticks = access.lsu_ticks;
  op.hand_ticks = access.hand_ticks;
  op.begun = warp.access_began;
  op.latency = access.latency;
  stats_.shuffles += shuffles ? access.slots : 0;
  stats_.shuffles_of_zeros += access.of_zeros ? access.slots : 0;
}

// The warp's RED, or load, goes into the memory queue.
void Subcore::enter_queue(std::uint32_t slot, Cycle cycle) {
  want_queue_ &= ~(SlotMask{1} << slot);
  if (chooses_) {
    admission_->enters(slot, cycle);
  }
}

void Subcore::push_atomic(const Warp& warp, std::uint32_t slot) {
  MemOp& op = memory_queue.push_new();
  const Step& step = warp.step;
  op.kind = step.kind == StepKind::kAtomic ? MemOpKind::kRed : MemOpKind::kReduced;
  op.parameter = step.parameter;
  op.words = step.words;
  op.warp_slot = static_cast<std::uint8_t>(slot);
  op.wide = step.wide;
  op.waits = step.waits;
  op.mask = step.mask;
  op.event = {.cta = CtaHold::of(*warp.cta), .warp = warp.warp, .record = step.record};
  const auto lanes = static_cast<std::uint64_t>(lane_count(op.mask)) * op.words;
  if (op.kind == MemOpKind::kReduced) {
    context_.tally.lanes_software += lanes;
    if (step.uniform) {
      push_sum(op, warp);
    }
  } else {
    context_.tally.lanes_issued += lanes;
    op.passes = step.passed_on;
    if (!context_.buffer.present() || step.passed_on) {
      context_.tally.lanes_as_red += lanes;
    }
    context_.tally.lanes_passed_on += step.passed_on ? lanes : 0;
    if (step.uniform) {
      op.uniform = true;
      op.address = context_.addresses.address(step.primitive, step.parameter);
    }
  }
  op.cta = warp.cta;
  warp.cta->red_issued();
}

// Of lanes of one primitive, summed in software: the sums and their address are all that travels.
void Subcore::push_sum(MemOp& op, const Warp& warp) {
  const EventValues event_values(op.event, context_.addresses);
  LineSums sums{};
  for (std::uint32_t w = 0; w < op.words; ++w) {
    std::array<Fp32Bits, kLanes> values{};
    for_each_bit(op.mask, [&](std::uint32_t lane) {
      values[lane] = event_values.of(op.parameter + w, lane);
    });
    sums[w] = software_sum(values.data(), op.mask, warp.step.order,
                           context_.addresses.type_of(op.parameter + w));
  }
  op.data = op.words > 1 ? context_.sums.put(sums) : sums[0];
  op.address = context_.addresses.address(warp.step.primitive, op.parameter);
  op.event = {};
  context_.tally.software_reduced += op.words;
}

// The next of the loads that end the warp's step; the last goes to the L2.
void Subcore::push_load(Warp& warp, std::uint32_t slot) {
  constexpr std::uint64_t kMix = 0x9e3779b97f4a7c15ULL;
  const Access& access = *warp.step.access;
  MemOp& op = memory_queue.push_new();
  op.kind = --warp.loads_left > 0 ? MemOpKind::kCached : MemOpKind::kLoad;
  op.warp_slot = static_cast<std::uint8_t>(slot);
  op.lsu_ticks = access.lsu_ticks / access.slots;
  if (op.kind == MemOpKind::kLoad) {
    // Anywhere.
    std::uint64_t hash = (warp.age << 12U) + warp.loads_sent++;
    hash = (hash ^ hash >> 31U) * kMix;
    hash = (hash ^ hash >> 29U) * kMix;
    op.address = (hash ^ hash >> 32U) & kAddrMask;
  }
}

}  // namespace warpfold

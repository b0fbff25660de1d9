// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/subcore.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "model/gpu/bits.hpp"
#include "model/gpu/lsu.hpp"
#include "model/gpu/sm.hpp"

namespace warpfold {

namespace {

// Operands that the unit and its request register may have to read at once: the request, and the
// transactions being fetched, of which the pipelined unit has four. A power of two.
constexpr std::size_t kInFlight = 8;

// After so many cycles in which the memory queue is full and neither a lane is read nor a request
// accepted, and a sum waits in all of them or in none, a unit is at rest (rtl/README.md): the
// serial one at once, the pipelined one when it has tried all its four places and would have read
// from one that it loaded, the fused one when what it read last has gone through its stages.
constexpr std::uint32_t settled_cycles(UnitKind kind) {
  switch (kind) {
    case UnitKind::kSerial:
      return 1;
    case UnitKind::kPipelined:
      return 5;
    case UnitKind::kFused:
      return 6;
  }
  return 6;
}

// At rest, a unit is after so many cycles as it was before: the transactions of the pipelined unit
// go round.
constexpr std::uint64_t rest_period(UnitKind kind) {
  return kind == UnitKind::kPipelined ? 4 : 1;
}

}  // namespace

const char* cycle_cause_name(CycleCause cause) {
  switch (cause) {
    case CycleCause::kIssued:
      return "issued";
    case CycleCause::kMemoryQueue:
      return "memory_queue";
    case CycleCause::kArcUnit:
      return "arc_unit";
    case CycleCause::kShuffle:
      return "shuffle";
    case CycleCause::kDependency:
      return "dependency";
    case CycleCause::kBarrier:
      return "barrier";
    case CycleCause::kIdle:
      return "idle";
    case CycleCause::kCount:
      break;
  }
  return "?";
}

Subcore::Subcore(const sc_core::sc_module_name& name, Domain& domain, const Context& context,
                 SmControl& control, QueueTurn& queue_turn, LsuPipe& pipe, LsuPipe& match_pipe,
                 std::unique_ptr<ArcUnit> unit)
    : Block(name, domain),
      memory_queue(context.config.lsu.queue_depth),
      context_(context),
      sleep_cycles_(std::max(context.config.lsu.sleep_cycles, 1U)),
      control_(control),
      queue_turn_(queue_turn),
      pipe_(pipe),
      match_pipe_(match_pipe),
      unit_(std::move(unit)),
      warps_(context.config.sm.max_warps / context.config.sm.subcores),
      all_slots_(static_cast<SlotMask>((std::uint64_t{1} << warps_.size()) - 1)),
      in_flight_(kInFlight) {
  launches.bind(*this);
  barrier_releases.bind(*this);
}

void Subcore::tick() {
  const Cycle cycle = now();
  bool request_left = false;
  if (probe_ != nullptr) {
    show_resting_unit(cycle, asleep_since_ != kNever && !unit_has_room());
  }
  if (asleep_since_ != kNever && !unit_has_room()) {
    memory_queue.want_room();
  } else if (unit_held()) {
    account_sleep(cycle);
    const bool request_was_held = request_.req_valid;
    tick_unit(cycle);
    request_left = request_was_held && !request_.req_valid;
  }
  // The last decision stands unless something that it rests on has changed. Something nearly always
  // has, but what is hard to foresee: one branch for all.
  const bool disturbed = (unsigned{cycle >= std::min(decide_at_, due_at_)} | unsigned{has_mail()} |
                          unsigned{request_left && want_unit_ != 0}) != 0;
  if (!disturbed && (!standing_.for_room || !memory_queue.can_push())) {
    // The room that woke the sub-core may have gone to the unit.
    if (standing_.for_room) {
      memory_queue.want_room();
    }
    return;
  }
  if (results_ != 0) {
    account_results(cycle);
  }
  close_batch(cycle);
  account(cycle);
  if (results_ != 0) {
    take_results(cycle);
  }
  if (has_mail()) {
    take_mail(cycle);
  }
  begin_due_steps(cycle);
  issue(cycle);
  if (const Cycle next = std::min(decide_at_, due_at_); next != kNever) {
    wake_at(next);
  }
}

std::string Subcore::waits() const {
  if (empty() && memory_queue.empty()) {
    return "";
  }
  return fmt::format(
      "{} has {} warps, of which {} wait for its memory queue ({} instructions), {} for the ARC "
      "unit, {} for shuffles, {} for a time or a load, {} at a barrier",
      name(), std::popcount(resident_), std::popcount(want_queue_), memory_queue.size(),
      std::popcount(want_unit_), std::popcount(shuffle_), std::popcount(wait_),
      std::popcount(barrier_));
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
  account(cycle);
  if (finished < 32) {
    ARC_CHECK(over && finished == last_slot, "a step ended inside a batch");
    finish_run(finished, last);
  }
  batch_slots_ = 0;
}

// Puts the cycles since the last call down to what they were.
void Subcore::account(Cycle cycle) {
  if (cycle <= accounted_) {
    return;
  }
  const std::uint64_t span = cycle - accounted_;
  if (slices_of_ != nullptr) {
    slices_of_->add(at_cycle(accounted_), at_cycle(cycle),
                    static_cast<std::uint32_t>(standing_.cause));
  }
  accounted_ = cycle;
  const auto add_warps = [&](CycleCause cause, SlotMask mask) {
    stats_.warp_cycles[static_cast<std::size_t>(cause)] +=
        span * static_cast<std::uint64_t>(std::popcount(mask));
  };
  stats_.cycles[static_cast<std::size_t>(standing_.cause)] += span;
  if (standing_.cause == CycleCause::kIssued) {
    stats_.warp_cycles[static_cast<std::size_t>(CycleCause::kIssued)] += span;
    stats_.warp_cycles[static_cast<std::size_t>(CycleCause::kIdle)] +=
        span * static_cast<std::uint64_t>(std::popcount(standing_.ready) - 1);
  }
  add_warps(CycleCause::kMemoryQueue, standing_.queue);
  add_warps(CycleCause::kArcUnit, standing_.unit);
  add_warps(CycleCause::kShuffle, standing_.shuffle);
  add_warps(CycleCause::kDependency, standing_.wait);
  add_warps(CycleCause::kBarrier, standing_.barrier);
}

void Subcore::shuffle_answered(std::uint32_t slot, Cycle due) {
  results_ |= SlotMask{1} << slot;
  answered_in_[slot] = now();
  slots_[slot].ready_at = due;
  due_at_ = std::min(due_at_, due);
  wake_at(due);
}

// Shuffles whose results have been on their way since before `cycle`: since the load-store unit was
// through with them the warps have waited for their latency, as any warp does for its own
// instructions. It is through with one in a cycle.
void Subcore::account_results(Cycle cycle) {
  for (SlotMask rest = results_; rest != 0;) {
    auto first = static_cast<std::uint32_t>(std::countr_zero(rest));
    for_each_bit(rest, [&](std::uint32_t slot) {
      first = answered_in_[slot] < answered_in_[first] ? slot : first;
    });
    if (answered_in_[first] + 1 >= cycle) {
      return;
    }
    account(answered_in_[first] + 1);
    const SlotMask bit = SlotMask{1} << first;
    rest &= ~bit;
    standing_.shuffle &= ~bit;
    standing_.wait |= bit;
    if (standing_.cause == CycleCause::kShuffle && standing_.shuffle == 0) {
      standing_.cause = CycleCause::kDependency;
    }
  }
}

// Warps with results on their way wait for these as for those of their own instructions.
void Subcore::take_results(Cycle cycle) {
  SlotMask taken = 0;
  for_each_bit(results_,
               [&](std::uint32_t slot) { taken |= SlotMask{answered_in_[slot] < cycle} << slot; });
  results_ &= ~taken;
  shuffle_ &= ~taken;
  wait_ |= taken;
}

void Subcore::take_mail(Cycle cycle) {
  launches.take([&](const WarpLaunch& launch) {
    ARC_CHECK(resident_ != all_slots_, "more warps than slots in a sub-core");
    const auto slot = static_cast<std::uint32_t>(std::countr_zero(~resident_));
    Warp& warp = warps_[slot];
    warp.cta = launch.cta;
    warp.warp = launch.warp;
    turns_[slot] = {.cta = launch.cta->sequence};
    warp.loads_sent = 0;
    warp.got_in = 0;
    warp.age = launch.cta->sequence * 64 + launch.warp;
    warp.step = Step{};
    warp.program.start(context_.timing, launch.cta->trace.warps[launch.warp]);
    resident_ |= SlotMask{1} << slot;
    wait_until(slot, cycle + context_.config.latency.cta_launch);
  });
  barrier_releases.take([&](const BarrierRelease& release) {
    // The latency holds the taking of one arrival, in the cycle before this one.
    const Ticks one = at_cycle(cycle - 1) + to_ticks(context_.config.latency.barrier_warp);
    const Cycle ready = cycle + context_.config.latency.barrier +
                        cycle_after(release.arrived - std::min(release.arrived, one));
    for_each_bit(barrier_, [&](std::uint32_t slot) {
      if (warps_[slot].cta == release.cta) {
        barrier_ &= ~(SlotMask{1} << slot);
        wait_until(slot, ready);
      }
    });
  });
  mail_taken();
}

// Warps whose time has come go on.
void Subcore::begin_due_steps(Cycle cycle) {
  if (due_at_ > cycle) {
    return;
  }
  // Which of them it is, is hard to foresee: no branches on that.
  SlotMask due = 0;
  Cycle next = kNever;
  for_each_bit(wait_, [&](std::uint32_t slot) {
    const Cycle ready_at = slots_[slot].ready_at;
    const bool is_due = ready_at <= cycle;
    due |= SlotMask{is_due} << slot;
    next = std::min(next, is_due ? kNever : ready_at);
  });
  for_each_bit(results_, [&](std::uint32_t slot) { next = std::min(next, slots_[slot].ready_at); });
  wait_ &= ~due;
  due_at_ = next;
  for_each_bit(due, [&](std::uint32_t slot) {
    if ((before_access_ >> slot & 1U) != 0) {
      want_access(slot, cycle);
    } else {
      begin_step(slot, cycle);
    }
  });
}

// The warp does nothing before that cycle; then its next step begins.
void Subcore::wait_until(std::uint32_t slot, Cycle cycle) {
  slots_[slot].ready_at = cycle;
  wait_ |= SlotMask{1} << slot;
  due_at_ = std::min(due_at_, cycle);
}

// Fetches the warp's next step, which may issue from `cycle` on.
void Subcore::begin_step(std::uint32_t slot, Cycle cycle) {
  Warp& warp = warps_[slot];
  const SlotMask bit = SlotMask{1} << slot;
  warp.program.next(warp.step);
  switch (warp.step.kind) {
    case StepKind::kRun: {
      // Its shared-memory accesses and loads have left the load-store unit by then.
      const Cycle accesses_done = cycle_after(
          std::max(pipe_.charge(warp.step.lsu_ticks), match_pipe_.charge(warp.step.match_ticks)));
      Cycle done = std::max(cycle + warp.step.min_cycles, accesses_done);
      std::uint64_t slots = warp.step.slots;
      if (loads_ != nullptr && warp.step.loads > 0) {
        loads_->post(warp.step.loads);
      }
      // All but the last of its accesses are issued with the run; the last one carries the lot. Of
      // loads each comes by itself.
      std::uint32_t accesses = 0;
      if (const Access* access = warp.step.access; access != nullptr) {
        const bool loads = access->kind == AccessKind::kGlobal;
        accesses = loads ? 0 : access->slots - 1;
        warp.loads_left = loads ? access->slots : 0;
        before_access_ |= bit;
      } else if (slots == 0) {
        done = std::max(cycle + 1, done);
      }
      slots += accesses;
      done += accesses;
      ARC_CHECK(slots <= ~std::uint32_t{0}, "a run of more issue slots than can be counted");
      slots_[slot] = {
          .ready_at = done, .slots_left = static_cast<std::uint32_t>(slots), .accesses = accesses};
      if (slots > 0) {
        run_ |= bit;
      } else if (done > cycle) {
        wait_until(slot, done);
      } else {
        want_access(slot, cycle);
      }
      break;
    }
    case StepKind::kAtomic:
    case StepKind::kReduced:
      want_atomic(slot, cycle);
      break;
    case StepKind::kBarrier:
      want_issue_ |= bit;
      break;
    case StepKind::kEnd:
      resident_ &= ~bit;
      if (greedy_slot_ == slot) {
        greedy_slot_ = kNoSlot;
      }
      stats_.events += warp.program.events();
      control_.warp_finished(warp.cta);
      warp.cta = nullptr;
      break;
  }
}

// The last issue slot of a run was in that cycle.
void Subcore::finish_run(std::uint32_t slot, Cycle last_issue) {
  const SlotMask bit = SlotMask{1} << slot;
  run_ &= ~bit;
  if ((before_access_ & bit) != 0 && slots_[slot].ready_at <= last_issue + 1) {
    want_access(slot, last_issue + 1);
  } else {
    wait_until(slot, std::max(last_issue + 1, slots_[slot].ready_at));
  }
}

// A run is over in that cycle, but for the last of the accesses that end it.
void Subcore::want_access(std::uint32_t slot, Cycle cycle) {
  const SlotMask bit = SlotMask{1} << slot;
  before_access_ &= ~bit;
  if (warps_[slot].loads_left > 0) {
    want_turn(slot, cycle);
    return;
  }
  want_queue_ |= bit;
  const Slot& own = slots_[slot];
  Cycle& began = warps_[slot].access_began;
  began = own.accesses == 0 ? cycle : std::max(began, own.ready_at - own.accesses);
}

Subcore::SlotMask Subcore::ready_slots() const {
  SlotMask ready = run_ | want_issue_;
  if (want_queue_ != 0 && memory_queue.can_push()) {
    ready |= context_.config.lsu.sleep_cycles == 0 ? want_queue_ : awake_slots();
  }
  if (!request_.req_valid) {
    ready |= want_unit_;
  }
  return ready;
}

void Subcore::want_atomic(std::uint32_t slot, Cycle cycle) {
  const SlotMask bit = SlotMask{1} << slot;
  if (unit_ && warps_[slot].step.kind == StepKind::kAtomic) {
    want_unit_ |= bit;
    return;
  }
  want_turn(slot, cycle);
}

// Wants room in the memory queue from that cycle on, for a RED or a load.
void Subcore::want_turn(std::uint32_t slot, Cycle cycle) {
  const SlotMask bit = SlotMask{1} << slot;
  want_queue_ |= bit;
  if (context_.config.lsu.sleep_cycles > 0) {
    Warp& warp = warps_[slot];
    want_red_ |= bit;
    turns_[slot].red_tick = tick_of(cycle);
    in_turn_ &= cycle > warp.got_in + 1 ? ~bit : ~SlotMask{0};
  }
}

// An atomic has been issued; what comes next may issue from that cycle on.
void Subcore::after_atomic(std::uint32_t slot, Cycle cycle) {
  Warp& warp = warps_[slot];
  if (warp.program.next_parameter(warp.step)) {
    want_atomic(slot, cycle);
  } else {
    wait_until(slot, cycle);
  }
}

// The warp's RED, or load, goes into the memory queue.
void Subcore::red_leaves(std::uint32_t slot, Cycle cycle) {
  const SlotMask bit = SlotMask{1} << slot;
  want_queue_ &= ~bit;
  if ((want_red_ & bit) == 0) {
    return;
  }
  want_red_ &= ~bit;
  asleep_ &= ~bit;
  Warp& warp = warps_[slot];
  in_turn_ &= want_red_ | bit;
  if (std::popcount(in_turn_ | bit) <= kInTurn) {
    in_turn_ |= bit;
  }
  warp.got_in = cycle;
  Turn& turn = turns_[slot];
  if (turn.ahead == 0 && tick_of(cycle) >= turn.red_tick + 2) {
    turn.ahead = kAhead;
  }
  if (turn.ahead > 0) {
    --turn.ahead;
  } else {
    queue_turn_.taken_by(*warp.cta);
  }
}

// Of the warps that want room in the memory queue, those that take it if there is any.
Subcore::SlotMask Subcore::awake_slots() const {
  if (asleep_ == 0 && std::has_single_bit(want_queue_)) {
    return want_queue_;
  }
  const SlotMask others = want_queue_ & ~want_red_;
  const Cycle tick = tick_of(now());
  SlotMask first = 0;
  std::uint64_t oldest = ~std::uint64_t{0};
  for_each_bit(want_red_, [&](std::uint32_t slot) {
    const Turn& turn = turns_[slot];
    if (turn.cta <= oldest && (turn.ahead > 0 || tick >= turn.red_tick + 2)) {
      first = (turn.cta < oldest ? 0 : first) | SlotMask{1} << slot;
      oldest = turn.cta;
    }
  });
  if (first != 0) {
    return others | first;
  }
  SlotMask awake = want_queue_ & ~asleep_;
  if (asleep_ != 0) {
    const bool all = tick >= tick_of(queue_turn_.taken_in()) + 2 ||
                     (now() % kLook == 0 && !way_out_->quarter_full());
    for_each_bit(asleep_, [&](std::uint32_t slot) {
      const bool woken = all || turns_[slot].cta == queue_turn_.holder();
      awake |= woken ? SlotMask{1} << slot : 0;
    });
  }
  SlotMask of_oldest = 0;
  oldest = ~std::uint64_t{0};
  for_each_bit(awake, [&](std::uint32_t slot) {
    const std::uint64_t cta = turns_[slot].cta;
    if (cta <= oldest) {
      of_oldest = (cta < oldest ? 0 : of_oldest) | SlotMask{1} << slot;
      oldest = cta;
    }
  });
  const SlotMask in_turn = of_oldest & want_red_ & in_turn_;
  return std::popcount(in_turn) == kInTurn ? in_turn : of_oldest;
}

void Subcore::load_answered(std::uint32_t slot, Cycle due) {
  ARC_CHECK((wait_ >> slot & 1U) != 0 && slots_[slot].ready_at == kNever,
            "an answer to a load that nobody waits for");
  slots_[slot].ready_at = due;
  due_at_ = std::min(due_at_, due);
  wake_at(due);
}

// Decides what issues in `cycle`, which is this one, and as far ahead as that is known.
void Subcore::issue(Cycle cycle) {
  if (plan(ready_slots(), cycle) && plans_next(cycle + 1)) {
    account(cycle + 1);
    plan(ready_slots(), cycle + 1);
  }
}

// After an instruction in the cycle before: whether all that can come in the next one, unless
// something arrives, is a batch or nothing.
bool Subcore::plans_next(Cycle next) const {
  if (unit_ || due_at_ <= next || context_.config.sm.issue_order != IssueOrder::kLooseRoundRobin) {
    return false;
  }
  // With room now there is room then; who sleeps depends on the time.
  if (want_queue_ != 0 && (!memory_queue.can_push() || want_red_ != 0)) {
    return false;
  }
  const SlotMask ready = ready_slots();
  return ready == 0 || (run_ >> next_from(ready, next_slot_) & 1U) != 0;
}

// What issues from `cycle` on: a batch of turns, or, if that is this cycle, one instruction with an
// effect. True if it is that.
bool Subcore::plan(SlotMask ready, Cycle cycle) {
  batch_slots_ = 0;
  standing_ = {.cause = CycleCause::kIssued,
               .ready = ready,
               .queue = want_queue_ & ~ready,
               .unit = want_unit_ & ~ready,
               .shuffle = shuffle_,
               .wait = wait_,
               .barrier = barrier_};
  decide_at_ = kNever;
  if (standing_.queue != 0 && !memory_queue.can_push()) {
    standing_.for_room = true;
    memory_queue.want_room();
  }
  if (want_red_ != 0 && memory_queue.can_push()) {
    // Who sleeps, or goes before others, changes with the time.
    decide_at_ = std::min((cycle / kLook + 1) * kLook, next_tick(cycle));
  } else if (want_red_ != 0 && way_out_->quarter_full()) {
    asleep_ |= want_red_;
  }
  if (ready == 0) {
    standing_.cause = standing_.queue != 0  ? CycleCause::kMemoryQueue
                      : standing_.unit != 0 ? CycleCause::kArcUnit
                      : shuffle_ != 0       ? CycleCause::kShuffle
                      : wait_ != 0          ? CycleCause::kDependency
                      : barrier_ != 0       ? CycleCause::kBarrier
                                            : CycleCause::kIdle;
    return false;
  }

  SlotMask sharers = ready;
  std::uint32_t first;
  if (context_.config.sm.issue_order == IssueOrder::kGreedyThenOldest) {
    first = greedy_slot_;
    if (first == kNoSlot || (ready >> first & 1U) == 0) {
      std::uint64_t oldest = ~std::uint64_t{0};
      for_each_bit(ready, [&](std::uint32_t slot) {
        if (warps_[slot].age < oldest) {
          oldest = warps_[slot].age;
          first = slot;
        }
      });
      greedy_slot_ = first;
    }
    sharers = SlotMask{1} << first;
  } else {
    first = next_from(ready, next_slot_);
  }

  if ((run_ >> first & 1U) == 0) {
    decide_at_ = cycle + 1;
    issue_now(first, cycle);
    return true;
  }
  // Turns until the first warp with another kind of instruction is due, or a run ends.
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
  return false;
}

// Issues an instruction that is not part of a run, in this cycle.
void Subcore::issue_now(std::uint32_t slot, Cycle cycle) {
  Warp& warp = warps_[slot];
  const SlotMask bit = SlotMask{1} << slot;
  ++stats_.issued;
  next_slot_ = slot + 1;
  switch (warp.step.kind) {
    case StepKind::kAtomic:
      if (unit_) {
        want_unit_ &= ~bit;
        request_unit(warp);
        ++stats_.atomreds;
      } else {
        red_leaves(slot, cycle);
        push_atomic(warp, slot);
        ++stats_.reds;
      }
      after_atomic(slot, cycle + 1);
      break;
    case StepKind::kReduced:
      red_leaves(slot, cycle);
      push_atomic(warp, slot);
      ++stats_.reds;
      after_atomic(slot, cycle + 1);
      break;
    case StepKind::kRun: {
      const Access& access = *warp.step.access;
      if (access.kind == AccessKind::kGlobal) {
        red_leaves(slot, cycle);
        push_load(warp, slot);
        if (warp.loads_left > 0) {
          want_turn(slot, cycle + 1);
        } else {
          wait_until(slot, kNever);
        }
        break;
      }
      want_queue_ &= ~bit;
      shuffle_ |= bit;
      MemOp& op = memory_queue.push_new();
      const bool shuffles = access.kind == AccessKind::kShuffle;
      op.kind = shuffles ? MemOpKind::kShuffle : MemOpKind::kShared;
      op.warp_slot = static_cast<std::uint8_t>(slot);
      op.lsu_ticks = access.lsu_ticks;
      op.hand_ticks = access.hand_ticks;
      op.begun = warp.access_began;
      op.latency = access.latency;
      stats_.shuffles += shuffles ? access.slots : 0;
      break;
    }
    case StepKind::kBarrier:
      want_issue_ &= ~bit;
      barrier_ |= bit;
      control_.barrier_arrived(warp.cta, cycle);
      break;
    case StepKind::kEnd:
      ARC_CHECK(false, "a step that is not issued this way");
  }
}

void Subcore::push_atomic(const Warp& warp, std::uint32_t slot) {
  MemOp& op = memory_queue.push_new();
  op.kind = warp.step.kind == StepKind::kAtomic ? MemOpKind::kRed : MemOpKind::kReduced;
  op.parameter = warp.step.parameter;
  op.warp_slot = static_cast<std::uint8_t>(slot);
  op.mask = warp.step.mask;
  op.event = {warp.cta, warp.warp, warp.step.record};
  const auto lanes = static_cast<std::uint64_t>(lane_count(op.mask));
  if (op.kind == MemOpKind::kReduced && !warp.step.uniform) {
    warp.cta->hold();
    context_.tally.lanes_software += lanes;
  } else if (op.kind == MemOpKind::kReduced) {
    const EventValues event_values(op.event, context_.has_values);
    std::array<Fp32Bits, kLanes> values{};
    for_each_bit(op.mask,
                 [&](std::uint32_t lane) { values[lane] = event_values.of(op.parameter, lane); });
    op.data = software_sum(values.data(), op.mask, warp.step.order);
    op.address = context_.addresses.address(warp.step.primitive, op.parameter);
    op.event = {};  // the sum and its address are all that travels
    context_.tally.lanes_software += lanes;
    ++context_.tally.software_reduced;
  } else {
    context_.tally.lanes_issued += lanes;
    if (!context_.buffered) {
      context_.tally.lanes_as_red += lanes;
    }
    warp.cta->hold();
    if (warp.step.uniform) {
      op.uniform = true;
      op.address = context_.addresses.address(warp.step.primitive, op.parameter);
    }
  }
  op.cta = warp.cta;
  ++warp.cta->reds_out;
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

// Puts the warp's atomred into the request register of the ARC unit.
void Subcore::request_unit(const Warp& warp) {
  const Step& step = warp.step;
  // A tag is free again once all lanes of its operand have been read or sent: a sum on its way out
  // needs no operand.
  Tag tag = 0;
  while (in_flight_[tag].lanes_left != 0) {
    ++tag;
    ARC_CHECK(tag < kInFlight, "the ARC unit holds more operands than it has places for");
  }
  InFlight& operand = in_flight_[tag];
  if (operand.event.cta != nullptr) {
    control_.release(operand.event.cta);
  }
  operand.event = {warp.cta, warp.warp, step.record};
  operand.values = EventValues(operand.event, context_.has_values);
  operand.parameter = step.parameter;
  operand.uniform = step.uniform;
  operand.lanes_left = step.mask;
  if (answered_ == &operand) {
    answered_ = nullptr;
  }
  account_sleep(now() + 1);
  unit_settled_ = 0;
  request_.req_valid = true;
  request_.req_mask = step.mask;
  request_.req_tag = tag;
  if (step.uniform) {
    request_.req_addr.fill(context_.addresses.address(step.primitive, step.parameter));
  } else {
    const trace::WarpTrace& trace = operand.event.warp_trace();
    const trace::Record& event = operand.event.event();
    for_each_bit(step.mask, [&](std::uint32_t lane) {
      request_.req_addr[lane] =
          context_.addresses.address(lane_primitive(trace, event, lane), step.parameter);
    });
  }
  context_.tally.lanes_issued += static_cast<std::uint64_t>(lane_count(step.mask));
  warp.cta->hold();
}

// Anything that waits in front of the load-store unit is a stall to the greedy scheduler.
bool Subcore::unit_has_room() const {
  return memory_queue.can_push_below(context_.config.arc.queue_depth);
}

// One clock of the ARC unit with what stands at its ports.
void Subcore::tick_unit(Cycle cycle) {
  request_.lsu_room = unit_has_room();
  request_.rf_ready = true;
  const UnitOutputs out = unit_->tick(request_);
  if ((unit_slices_ != nullptr) | (probe_ != nullptr)) {
    record_unit(cycle, out);
  }
  if (out.lsu_valid && request_.lsu_room) {
    MemOp& op = memory_queue.push_new();
    op.mask = out.lsu_mask;
    op.address = out.lsu_addr;
    if (out.lsu_reduced) {
      op.kind = MemOpKind::kReduced;
      op.parameter = in_flight_[out.lsu_tag].parameter;
      op.data = out.lsu_data;
      ++context_.tally.unit_reduced;
    } else {
      op.kind = MemOpKind::kRed;
      InFlight& left = in_flight_[out.lsu_tag];
      op.parameter = left.parameter;
      op.event = left.event;
      op.event.cta->hold();
      // Lanes of several addresses have them in their registers, beside the values.
      op.uniform = left.uniform;
      ARC_CHECK((left.lanes_left & out.lsu_mask) == out.lsu_mask,
                "the ARC unit sent a lane twice or one that was not asked for");
      left.lanes_left &= ~out.lsu_mask;
      context_.tally.lanes_as_red += static_cast<std::uint64_t>(lane_count(out.lsu_mask));
    }
  } else if (out.lsu_valid) {
    ++stats_.unit_blocked_cycles;
  }
  if (out.rf_valid) {
    InFlight& operand = in_flight_[out.rf_tag];
    ARC_CHECK(out.rf_mask != 0 && (operand.lanes_left & out.rf_mask) == out.rf_mask,
              "the ARC unit read a lane twice or one that was not asked for");
    operand.lanes_left &= ~out.rf_mask;
    answer(operand, out.rf_mask);
    context_.tally.lanes_to_unit += static_cast<std::uint64_t>(lane_count(out.rf_mask));
    ++stats_.unit_read_cycles;
  }
  // A request of which the last lanes leave as a RED leaves nothing behind.
  const bool passed_on = out.req_ready && out.lsu_valid && !out.lsu_reduced;
  unit_works_ = out.busy || (request_.req_valid && !passed_on);
  if (request_.req_valid && out.req_ready) {
    request_.req_valid = false;
  }
  const bool still = !request_.lsu_room && !out.req_ready && !out.rf_valid;
  unit_settled_ = !still ? 0 : out.lsu_valid == sum_waits_ ? unit_settled_ + 1 : 1;
  sum_waits_ = out.lsu_valid;
  // Lanes of several addresses may be gathered meanwhile, one a cycle.
  const bool gathers = request_.req_valid && !in_flight_[request_.req_tag].uniform;
  const std::uint32_t settled = settled_cycles(context_.unit_kind) + (gathers ? kLanes : 0);
  if (unit_settled_ >= settled && unit_held() && !context_.clock_all) {
    asleep_since_ = cycle + 1;
    memory_queue.want_room();
  } else if (unit_held()) {
    wake_at(cycle + 1);
  } else {
    release_operands();
  }
}

void Subcore::probe(const PortProbe& probe) {
  probe_ = &probe;
  wake_next();
}

// A probe sees all cycles. In those in which the unit is not clocked its ports are what they were,
// if it is asleep, or idle.
void Subcore::show_resting_unit(Cycle cycle, bool asleep) {
  if (const CycleRange& window = probe_->window; cycle + 1 < window.end) {
    // Not all at once: a run is not to last until the window begins.
    constexpr Cycle kMost = 128;
    wake_at(std::clamp(window.begin, cycle + 1, cycle + kMost));
  }
  if (!asleep && unit_held()) {
    return;  // it is clocked
  }
  request_.lsu_room = unit_has_room();
  request_.rf_ready = true;
  shown_ = asleep ? shown_ : UnitOutputs{};
  if (probe_->window.contains(cycle)) {
    probe_->show(cycle, request_, shown_);
  }
}

// What the unit, which has been clocked, shows and does in this cycle.
void Subcore::record_unit(Cycle cycle, const UnitOutputs& out) {
  if (unit_slices_ != nullptr) {
    const UnitWork work = out.rf_valid        ? UnitWork::kReads
                          : !out.lsu_valid    ? UnitWork::kHolds
                          : request_.lsu_room ? UnitWork::kSends
                                              : UnitWork::kWaits;
    unit_slices_->add(at_cycle(cycle), at_cycle(cycle + 1), static_cast<std::uint32_t>(work));
  }
  if (probe_ != nullptr) {
    shown_ = out;
    if (probe_->window.contains(cycle)) {
      probe_->show(cycle, request_, out);
    }
  }
}

// Puts what the register file delivers onto the unit's ports. Values of lanes that are not read
// matter to no kind, but for the exponents of the whole operand, which the fused one sees: all its
// values are fetched with the first read, and stay at hand until another operand is read.
void Subcore::answer(const InFlight& operand, LaneMask lanes) {
  const auto value_of = [&](std::uint32_t lane) {
    return operand.values.of(operand.parameter, lane);
  };
  if (context_.unit_kind != UnitKind::kFused) {
    for_each_bit(lanes, [&](std::uint32_t lane) { request_.rf_data[0] = value_of(lane); });
    return;
  }
  if (answered_ != &operand) {
    answered_ = &operand;
    for_each_bit(operand.event.event().mask, [&](std::uint32_t lane) {
      values_[lane] = value_of(lane);
      request_.rf_bins[lane] = exponent_bin(values_[lane]);
    });
  }
  for_each_bit(lanes, [&](std::uint32_t lane) { request_.rf_data[lane % kBanks] = values_[lane]; });
}

// Puts the cycles that a blocked unit slept through down to what they were, and wakes it as it
// would be had it been clocked.
void Subcore::account_sleep(Cycle cycle) {
  if (asleep_since_ != kNever) {
    const std::uint64_t slept = cycle - asleep_since_;
    if (unit_slices_ != nullptr) {
      unit_slices_->add(
          at_cycle(asleep_since_), at_cycle(cycle),
          static_cast<std::uint32_t>(sum_waits_ ? UnitWork::kWaits : UnitWork::kHolds));
    }
    request_.lsu_room = false;
    for (auto left = slept % rest_period(context_.unit_kind); left > 0; --left) {
      unit_->tick(request_);
    }
    stats_.unit_blocked_cycles += sum_waits_ ? slept : 0;
    asleep_since_ = kNever;
    unit_settled_ = 0;
  }
}

// An idle unit reads nothing more: lets go of the CTAs whose operands it might have read.
void Subcore::release_operands() {
  for (InFlight& operand : in_flight_) {
    ARC_CHECK(operand.lanes_left == 0, "the ARC unit went idle with lanes unread");
    if (operand.event.cta != nullptr) {
      control_.release(operand.event.cta);
      operand.event.cta = nullptr;
    }
  }
}

std::uint64_t Subcore::issued_before(Cycle cycle) const {
  const bool in_batch = batch_slots_ != 0 && cycle > batch_begin_;
  return stats_.issued + (in_batch ? std::min(cycle, batch_end_ + 1) - batch_begin_ : 0);
}

void Subcore::estimate_ends(std::uint64_t cycles) const {
  for_each_bit(resident_, [&](std::uint32_t slot) {
    const Warp& warp = warps_[slot];
    if (warp.cta->no_end_before < now() + cycles) {
      warp.cta->no_end_before =
          std::max(warp.cta->no_end_before, now() + warp.program.slots_left(cycles));
    }
  });
}

void Subcore::finish(Cycle end) {
  close_batch(end);
  account(end);
}

}  // namespace warpfold

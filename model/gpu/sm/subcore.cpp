// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/sm/subcore.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "model/base/bits.hpp"
#include "model/base/check.hpp"

namespace warpfold {

namespace {

// In place of a memory instruction.
constexpr std::uint32_t kAllSites = ~std::uint32_t{0};

}  // namespace

Subcore::Subcore(std::string name, Domain& domain, const SmContext& context, const Shared& shared,
                 std::unique_ptr<QueueAdmission> admission, std::unique_ptr<ArcUnit> unit)
    : Block(std::move(name), domain),
      memory_queue(context.config.lsu.queue_depth),
      context_(context),
      shared_(shared),
      admission_(std::move(admission)),
      chooses_(!admission_->admits_all()),
      has_unit_(unit != nullptr),
      warps_(context.config.sm.max_warps / context.config.sm.subcores),
      all_slots_(static_cast<SlotMask>((std::uint64_t{1} << warps_.size()) - 1)),
      reds_out_(context.config),
      arc_({.context = context, .subcore = *this, .memory_queue = memory_queue, .reds = reds_out_},
           std::move(unit)) {
  launches.bind(*this);
  barrier_releases.bind(*this);
}

void Subcore::tick() {
  const Cycle cycle = now();
  const bool request_left = has_unit_ && arc_.tick(cycle);
  // The last decision stands unless something that it rests on has changed. Something nearly always
  // has, but what is hard to foresee: one branch for all.
  const bool disturbed = (unsigned{cycle >= std::min(decide_at_, due_at_)} | unsigned{has_mail()} |
                          unsigned{request_left && want_unit_ != 0}) != 0;
  const bool for_room = ledger_.standing().for_room;
  if (!disturbed && (!for_room || !memory_queue.can_push())) {
    // The room that woke the sub-core may have gone to the unit.
    if (for_room) {
      memory_queue.want_room();
    }
    return;
  }
  if (results_ != 0) {
    account_results(cycle);
  }
  close_batch(cycle);
  ledger_.account(cycle);
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
      "unit, {} for shuffles, {} for a time, a load or their REDs, {} at a barrier",
      name(), std::popcount(resident_), std::popcount(want_queue_), memory_queue.size(),
      std::popcount(want_unit_), std::popcount(shuffle_), std::popcount(wait_),
      std::popcount(barrier_));
}

void Subcore::access_answered(std::uint32_t slot, Cycle due) {
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
    ledger_.account(answered_in_[first] + 1);
    rest &= ~(SlotMask{1} << first);
    ledger_.answered(first);
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

void Subcore::launch(const WarpLaunch& launch, Cycle cycle) {
  ARC_CHECK(resident_ != all_slots_, "more warps than slots in a sub-core");
  const auto slot = static_cast<std::uint32_t>(std::countr_zero(~resident_));
  Warp& warp = warps_[slot];
  warp.cta = launch.cta;
  warp.warp = launch.warp;
  warp.loads_sent = 0;
  warp.age = launch.cta->sequence * 64 + launch.warp;
  warp.loads.clear();
  warp.step = Step{};
  warp.program.start(context_.timing, launch.cta->trace.warps[launch.warp]);
  if (chooses_) {
    admission_->launched(slot, *launch.cta);
  }
  resident_ |= SlotMask{1} << slot;
  wait_until(slot, cycle + context_.config.latency.cta_launch);
}

void Subcore::take_mail(Cycle cycle) {
  launches.take([&](const WarpLaunch& one) { launch(one, cycle); });
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
    } else if ((for_reds_ >> slot & 1U) != 0) {
      go_on(slot, cycle);
    } else if ((for_loads_ >> slot & 1U) != 0) {
      for_loads_ &= ~(SlotMask{1} << slot);
      if (warps_[slot].step.kind == StepKind::kEnd) {
        end_warp(slot);
      } else {
        begin_step(slot, cycle);
      }
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
  do {
    warp.program.next(warp.step);
  } while (warp.step.kind == StepKind::kWait && !wait_for_loads(slot, cycle));
  switch (warp.step.kind) {
    case StepKind::kRun:
      begin_run(slot, cycle);
      break;
    case StepKind::kAtomic:
    case StepKind::kReduced:
      want_atomic(slot, cycle);
      break;
    case StepKind::kBarrier:
      want_issue_ |= bit;
      break;
    case StepKind::kAccess:
      want_turn(slot, cycle);
      break;
    case StepKind::kWait:
      break;
    case StepKind::kEnd:
      if (warp.loads.empty() || !wait_for_loads(slot, cycle)) {
        end_warp(slot);
      }
      break;
  }
}

void Subcore::begin_run(std::uint32_t slot, Cycle cycle) {
  Warp& warp = warps_[slot];
  const SlotMask bit = SlotMask{1} << slot;
  // Its shared-memory accesses and loads have left the load-store unit by then.
  const Cycle accesses_done = cycle_after(std::max(
      shared_.pipe.charge(warp.step.lsu_ticks), shared_.match_pipe.charge(warp.step.match_ticks)));
  Cycle done = std::max(cycle + warp.step.min_cycles, accesses_done);
  std::uint64_t slots = warp.step.slots;
  if (shared_.loads != nullptr && warp.step.loads > 0) {
    shared_.loads->post(warp.step.loads);
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
}

void Subcore::end_warp(std::uint32_t slot) {
  Warp& warp = warps_[slot];
  resident_ &= ~(SlotMask{1} << slot);
  if (greedy_slot_ == slot) {
    greedy_slot_ = kNoSlot;
  }
  stats_.events += warp.program.events();
  shared_.control.warp_finished(warp.cta);
  warp.cta = nullptr;
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

void Subcore::want_atomic(std::uint32_t slot, Cycle cycle) {
  const SlotMask bit = SlotMask{1} << slot;
  const Step& step = warps_[slot].step;
  if (has_unit_ && step.kind == StepKind::kAtomic && !step.passed_on) {
    want_unit_ |= bit;
    return;
  }
  want_turn(slot, cycle);
}

// Wants room in the memory queue from that cycle on, for a RED or a load.
void Subcore::want_turn(std::uint32_t slot, Cycle cycle) {
  want_queue_ |= SlotMask{1} << slot;
  if (chooses_) {
    admission_->wants(slot, cycle);
  }
}

// An atomic has been issued; what comes next may issue from that cycle on, or when it has been
// answered.
void Subcore::after_atomic(std::uint32_t slot, Cycle cycle) {
  if (reds_out_.answered(warps_[slot].step.waits) && reds_out_.waits(slot)) {
    for_reds_ |= SlotMask{1} << slot;
    wait_until(slot, kNever);
    return;
  }
  Warp& warp = warps_[slot];
  if (warp.program.next_parameter(warp.step)) {
    want_atomic(slot, cycle);
  } else {
    wait_until(slot, cycle);
  }
}

// Its REDs have been answered.
void Subcore::go_on(std::uint32_t slot, Cycle cycle) {
  for_reds_ &= ~(SlotMask{1} << slot);
  Warp& warp = warps_[slot];
  if (warp.program.next_parameter(warp.step)) {
    want_atomic(slot, cycle);
  } else {
    begin_step(slot, cycle);
  }
}

void Subcore::red_answered(std::uint32_t slot, Cycle due) {
  reds_out_.end(slot);
  if ((for_reds_ >> slot & 1U) != 0 && !reds_out_.waits(slot)) {
    slots_[slot].ready_at = due;
    due_at_ = std::min(due_at_, due);
    wake_at(due);
  }
}

// When all is there that the warp has loaded by that memory instruction, or by any; kNever where
// that is not known yet.
Cycle Subcore::loads_ready(const Warp& warp, std::uint32_t site) {
  Cycle ready = 0;
  for (const Warp::LoadOut& load : warp.loads) {
    if (site == kAllSites || load.site == site) {
      ready = std::max(ready, load.parts > 0 ? kNever : load.ready);
    }
  }
  return ready;
}

// False where the warp need not wait. At its end it waits for all.
bool Subcore::wait_for_loads(std::uint32_t slot, Cycle cycle) {
  const Warp& warp = warps_[slot];
  const Cycle ready =
      loads_ready(warp, warp.step.kind == StepKind::kWait ? record_of(warp).site : kAllSites);
  if (ready <= cycle) {
    return false;
  }
  for_loads_ |= SlotMask{1} << slot;
  wait_until(slot, ready);
  return true;
}

void Subcore::load_parts(std::uint32_t slot, std::uint16_t site, std::uint32_t parts) {
  std::vector<Warp::LoadOut>& loads = warps_[slot].loads;
  const auto found = std::find_if(loads.begin(), loads.end(),
                                  [site](const Warp::LoadOut& load) { return load.site == site; });
  if (found == loads.end()) {
    loads.push_back({.site = site, .parts = parts});
  } else {
    found->parts += parts;
  }
}

void Subcore::load_part(std::uint32_t slot, std::uint16_t site, Cycle due) {
  Warp& warp = warps_[slot];
  const auto load = std::find_if(warp.loads.begin(), warp.loads.end(),
                                 [site](const Warp::LoadOut& one) { return one.site == site; });
  ARC_CHECK(load != warp.loads.end() && load->parts > 0, "an answer to a load that is not out");
  --load->parts;
  load->ready = std::max(load->ready, due);
  if ((for_loads_ >> slot & 1U) == 0 || slots_[slot].ready_at != kNever) {
    return;  // waits for no load, or for one of which it is known when it comes
  }
  const Cycle ready =
      loads_ready(warp, warp.step.kind == StepKind::kWait ? record_of(warp).site : kAllSites);
  if (ready != kNever) {
    slots_[slot].ready_at = ready;
    due_at_ = std::min(due_at_, ready);
    wake_at(ready);
  }
}

void Subcore::load_answered(std::uint32_t slot, Cycle due) {
  ARC_CHECK((wait_ >> slot & 1U) != 0 && slots_[slot].ready_at == kNever,
            "an answer to a load that nobody waits for");
  slots_[slot].ready_at = due;
  due_at_ = std::min(due_at_, due);
  wake_at(due);
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
  ledger_.account(end);
}

}  // namespace warpfold

// SPDX-License-Identifier: Apache-2.0
#include "model/policy/program.hpp"

#include <algorithm>

#include "model/policy/event_steps.hpp"
#include "model/policy/rule.hpp"

namespace warpfold {

namespace {

// Work without events is issued in runs of at most so much, so that what it takes of the load-store
// unit is spread over its time.
constexpr Ticks kRunTicks = 32 * kTicksPerCycle;
constexpr std::uint64_t kRunSlots = 1024;
constexpr std::uint64_t kPassesAtOnce = 16;  // of those that are more than a run

// Work of a segment, or of a share of one, into a run.
template <typename Work>
void gather(Step& run, const Work& work, std::uint32_t times) {
  run.slots += work.slots * times;
  run.min_cycles += work.min_cycles * times;
  run.lsu_ticks += work.lsu_ticks * times;
  run.match_ticks += work.match_ticks * times;
  run.loads += work.loads * times;
}

// Whether a run takes any time.
bool has_work(const Step& run) {
  return run.slots != 0 || run.min_cycles != 0 || run.lsu_ticks != 0;
}

}  // namespace

void WarpProgram::start(const PolicyTiming& timing, const trace::WarpTrace& warp) {
  timing_ = &timing;
  warp_ = &warp;
  records_ = warp.records.data();
  record_ = 0;
  record_count_ = static_cast<std::uint32_t>(warp.records.size());
  passes_ = 0;
  events_ = 0;
  items_.clear();
  times_ = 0;
  share_ = 0;
}

void WarpProgram::next_entry(Step& step) {
  step = Step{};
  step.kind = StepKind::kRun;
  for (;;) {
    if (!items_.empty()) {
      if (take(items_.front(), step)) {
        return;
      }
    } else if (!expand_record(step)) {
      if (!has_work(step)) {
        step.kind = StepKind::kEnd;
      }
      return;
    }
  }
}

std::uint64_t WarpProgram::slots_left(std::uint64_t enough) const {
  std::uint64_t slots = 0;
  for (std::uint32_t i = record_; i < record_count_ && slots < enough; ++i) {
    const trace::Record& record = records_[i];
    if (record.kind == trace::RecordKind::kWork) {
      const std::uint32_t passes = record.count - (i == record_ ? passes_ : 0);
      slots += timing_->path(record.path).slots * passes;
    } else if (record.kind == trace::RecordKind::kEvent) {
      // At least one lane adds to each parameter.
      const PolicyTiming::OfSite& site = timing_->site(record.site);
      slots += site.pass(static_cast<std::uint32_t>(lane_count(record.mask))).taken.slots +
               (site.end_parameter - site.first_parameter);
    }
  }
  return slots;
}

// False after the last record.
bool WarpProgram::expand_record(const Step& run) {
  if (record_ == record_count_) {
    return false;
  }
  items_.clear();
  const trace::Record& record = records_[record_];
  switch (record.kind) {
    case trace::RecordKind::kWork:
      expand_work(record, run);
      return true;
    case trace::RecordKind::kBarrier:
      items_.push({.kind = ProgramItem::Kind::kBarrier});
      break;
    case trace::RecordKind::kEvent:
      expand_event(record);
      break;
    case trace::RecordKind::kAccess:
      items_.push({.kind = ProgramItem::Kind::kAccess});
      break;
    case trace::RecordKind::kWait:
      items_.push({.kind = ProgramItem::Kind::kWait});
      break;
  }
  ++record_;
  return true;
}

// Gathers passes of a work record until the run is full.
void WarpProgram::expand_work(const trace::Record& record, const Step& run) {
  const Segment& segment = timing_->path(record.path);
  std::uint64_t room = record.count - passes_;
  if (segment.waits > 0) {
    room = std::min(room, kPassesAtOnce);
  }
  if (segment.lsu_ticks > 0) {
    room = std::min(room, (kRunTicks - std::min(run.lsu_ticks, kRunTicks)) / segment.lsu_ticks);
  }
  if (segment.slots > 0) {
    room = std::min(room, (kRunSlots - std::min(run.slots, kRunSlots)) / segment.slots);
  }
  if (room == 0 && run.slots == 0 && run.lsu_ticks == 0) {
    room = 1;  // a pass that fills more than a run
  }
  const auto passes = static_cast<std::uint32_t>(room);
  items_.push({.kind = ProgramItem::Kind::kSegment, .times = passes, .segment = &segment});
  passes_ += passes;
  if (passes_ < record.count) {
    items_.push({.kind = ProgramItem::Kind::kFlush});
  } else {
    passes_ = 0;
    ++record_;
  }
}

bool WarpProgram::take(const ProgramItem& item, Step& step) {
  switch (item.kind) {
    case ProgramItem::Kind::kSegment:
      if (!item.segment->shares.empty()) {
        return take_share(item, step);
      }
      gather(step, *item.segment, item.times);
      items_.pop();
      return false;
    case ProgramItem::Kind::kGroups: {
      const std::uint64_t further = item.segment->matches * (item.times - 1);
      step.min_cycles += further * timing_->match_group;
      step.match_ticks += further * timing_->match_group_ticks;
      items_.pop();
      return false;
    }
    case ProgramItem::Kind::kFlush:
      items_.pop();
      return has_work(step);
    case ProgramItem::Kind::kAtomics:
      if (has_work(step)) {
        return true;
      }
      items_.pop();
      take_atomics(item, step);
      return true;
    case ProgramItem::Kind::kBarrier:
      if (has_work(step)) {
        return true;
      }
      items_.pop();
      step = Step{};
      step.kind = StepKind::kBarrier;
      step.slots = 1;
      return true;
    case ProgramItem::Kind::kAccess:
    case ProgramItem::Kind::kWait: {
      if (has_work(step)) {
        return true;
      }
      const bool access = item.kind == ProgramItem::Kind::kAccess;
      items_.pop();
      step = Step{};
      step.kind = access ? StepKind::kAccess : StepKind::kWait;
      step.slots = access ? 1 : 0;
      step.record = record_ - 1;
      return true;
    }
  }
  return false;
}

void WarpProgram::take_atomics(const ProgramItem& item, Step& step) {
  const trace::Record& event = records_[record_ - 1];
  const PolicyTiming::OfSite& site = timing_->site(event.site);
  step = Step{};
  step.kind = item.atomics;
  step.order = item.order;
  step.slots = 1;
  step.mask = item.mask;
  step.record = record_ - 1;
  step.primitive = event.primitive;
  step.uniform = event.lane_primitives == trace::Record::kUniform;
  step.passed_on = site.passed_on;
  step.wide = site.wide;
  step.waits = site.waits;
  step.parameter = site.first_parameter;
  step.end_parameter = site.end_parameter;
  step.words = site.words;
}

bool WarpProgram::take_share(const ProgramItem& item, Step& step) {
  const Share& share = item.segment->shares[share_];
  gather(step, share, 1);
  if (++share_ == item.segment->shares.size()) {
    share_ = 0;
    if (++times_ == item.times) {
      times_ = 0;
      items_.pop();
    }
  }
  if (share.access.slots > 0) {
    step.access = &share.access;
    return true;
  }
  return has_work(step);
}

void WarpProgram::expand_event(const trace::Record& event) {
  const PolicyTiming::OfSite& site = timing_->site(event.site);
  const PolicyTiming::Pass& pass = site.pass(static_cast<std::uint32_t>(lane_count(event.mask)));
  items_.push({.kind = ProgramItem::Kind::kSegment, .segment = &pass.taken});
  ++events_;
  EventSteps steps(pass, event.mask, items_);
  site.rule->expand(WarpEvent(*warp_, event), timing_->policy.threshold, steps);
  steps.finish();
}

}  // namespace warpfold

// SPDX-License-Identifier: Apache-2.0
#include "model/policy/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <initializer_list>
#include <stdexcept>
#include <vector>

#include "model/policy/group_sizes.hpp"

namespace warpfold {

namespace {

// Work without events is issued in runs of at most so much, so that what it takes of the load-store
// unit is spread over its time.
constexpr Ticks kRunTicks = 32 * kTicksPerCycle;
constexpr std::uint64_t kRunSlots = 1024;
constexpr std::uint64_t kPassesAtOnce = 16;  // of those that are more than a run

// What a pass of so many lanes waits for words that each reads on to, on average: that of the L2
// unless all lanes stay in the sector that they read last.
std::uint64_t next_word_latency(const GpuConfig::Latency& latency, std::uint32_t lanes) {
  constexpr double kStay = 7.0 / 8;  // words of 4 bytes, sectors of 32
  const double in_l1 = std::pow(kStay, lanes);
  return static_cast<std::uint64_t>(
      std::llround(in_l1 * latency.l1_load + (1 - in_l1) * latency.global_load));
}

std::uint64_t latency_of(trace::ResultClass kind, const GpuConfig::Latency& latency,
                         std::uint32_t lanes) {
  switch (kind) {
    case trace::ResultClass::kSfu:
      return latency.sfu;
    case trace::ResultClass::kShared:
      return latency.shared;
    case trace::ResultClass::kGlobalLoad:
      return latency.global_load;
    case trace::ResultClass::kShuffle:
      return latency.shuffle;
    case trace::ResultClass::kShuffleIndex:
      return latency.shuffle_index;
    case trace::ResultClass::kMatch:
      return latency.match;
    case trace::ResultClass::kRedux:
      return latency.redux;
    case trace::ResultClass::kSpecial:
      return latency.special;
    case trace::ResultClass::kUniform:
      return latency.uniform;
    case trace::ResultClass::kConstant:
      return latency.constant;
    case trace::ResultClass::kNextWord:
      return next_word_latency(latency, lanes);
    case trace::ResultClass::kCount:
      break;
  }
  return 0;
}

bool is_shuffle(trace::ResultClass kind) {
  return kind == trace::ResultClass::kShuffle || kind == trace::ResultClass::kShuffleIndex;
}
bool is_shared(trace::ResultClass kind) {
  return kind == trace::ResultClass::kShared;
}
bool is_global(trace::ResultClass kind) {
  return kind == trace::ResultClass::kGlobalLoad;
}

// How much later than by its stall counts alone a lone warp is through: each wait puts off all that
// comes behind it, requests of later waits included.
std::uint64_t waiting(const std::vector<trace::ResultWait>& waits,
                      const GpuConfig::Latency& latency, std::uint32_t lanes) {
  std::vector<std::uint64_t> delays;  // behind each wait
  std::uint64_t delay = 0;
  for (const trace::ResultWait& wait : waits) {
    // The request was put off by the waits ahead of it.
    std::uint64_t then = 0;
    for (std::size_t i = 0; i < delays.size() && waits[i].wanted <= wait.asked; ++i) {
      then = delays[i];
    }
    const std::uint64_t there = wait.asked + then + latency_of(wait.kind, latency, lanes);
    delay = std::max(delay, there - std::min<std::uint64_t>(there, wait.wanted));
    delays.push_back(delay);
  }
  return delay;
}

// How often results of a kind are waited for one after the other: the next is asked for when the
// one before is there.
std::uint32_t in_turn(const std::vector<trace::ResultWait>& waits,
                      bool (*counts)(trace::ResultClass)) {
  std::uint32_t turns = 0;
  std::uint32_t last = 0;
  for (const trace::ResultWait& wait : waits) {
    if (counts(wait.kind) && (turns == 0 || wait.asked >= last)) {
      ++turns;
      last = wait.wanted;
    }
  }
  return turns;
}

// How often a warp waits for the shuffles of a segment at least and at most.
struct Rounds {
  std::uint32_t least = 0;
  std::uint32_t most = 0;
};
constexpr Rounds kAsWaits{.least = 0, .most = 32};
constexpr Rounds kSerialTurn{.least = 1, .most = 32};
constexpr Rounds kButterfly{.least = 5, .most = 5};

// Of what it waits for, a segment has one kind apart: shuffles, else global loads, else accesses of
// shared memory. Of its loads one trip to the L2 is apart: which of them find their sectors in the
// L1 a trace does not say, and all but one may, such as words that all threads read
// (docs/fidelity.md).
PolicyTiming::Segment to_segment(const trace::InstructionCost& cost, const GpuConfig& gpu,
                                 const Rounds& rounds, std::uint32_t lanes, bool loads_apart) {
  const std::uint32_t shuffles = cost.shuffle + cost.shuffle_index;
  const std::uint32_t matches = cost.match + cost.redux;
  const double shuffle_cycles = shuffles * gpu.lsu.shuffle + matches * gpu.lsu.match;
  const double shared_cycles =
      cost.shared * gpu.lsu.shared_access + cost.shared_wide * gpu.lsu.shared_wide;
  const std::uint32_t shared_turns = in_turn(cost.waits, is_shared);
  PolicyTiming::Segment segment;
  double access = 0;
  double hand = 0;
  const double load_cycles = cost.global_load * gpu.lsu.global_load;
  double beside = 0;
  const std::uint32_t shuffle_turns =
      std::clamp(in_turn(cost.waits, is_shuffle), rounds.least, rounds.most);
  if (shuffles > 0 && shuffle_turns > 0) {
    segment.accesses = shuffles;
    segment.waits = shuffle_turns;
    segment.latency = cost.shuffle_index > 0 ? gpu.latency.shuffle_index : gpu.latency.shuffle;
    access = shuffle_cycles;
    hand = cost.shuffle * gpu.lsu.hand_shuffle + cost.shuffle_index * gpu.lsu.hand_shuffle_index +
           matches * gpu.lsu.hand_match;
    beside += shared_cycles + load_cycles;
  } else if (loads_apart && cost.global_load > 0 && in_turn(cost.waits, is_global) > 0) {
    segment.kind = AccessKind::kGlobal;
    segment.accesses = cost.global_load;
    segment.waits = 1;
    segment.latency = gpu.latency.global_load;
    access = load_cycles;
    beside += shuffle_cycles + shared_cycles;
  } else {
    beside += shuffle_cycles + load_cycles;
    if (shared_turns > 0 && cost.shared + cost.shared_wide > 0) {
      segment.kind = AccessKind::kShared;
      segment.accesses = cost.shared + cost.shared_wide;
      segment.waits = std::min(shared_turns, segment.accesses);
      segment.latency = gpu.latency.shared;
      access = shared_cycles;
    } else {
      beside += shared_cycles;
    }
  }
  segment.access_ticks = to_ticks(access);
  segment.hand_ticks = to_ticks(hand);
  segment.lsu_ticks = to_ticks(beside);
  segment.match_ticks = to_ticks(matches * gpu.lsu.match_unit);
  segment.matches = cost.match;
  segment.loads = cost.global_load;
  const double pipes = std::max(cost.integer * gpu.pipe.integer, cost.sfu * gpu.pipe.sfu);
  segment.slots = std::max<std::uint64_t>(cost.issue_slots() - segment.accesses,
                                          static_cast<std::uint64_t>(std::llround(pipes)));
  // What the accesses take of a lone warp's time comes with them; loads are on their way before the
  // load-store unit is through with them.
  const double handed = segment.kind == AccessKind::kGlobal
                            ? segment.accesses
                            : std::max(hand, segment.accesses + access);
  const auto apart =
      static_cast<std::uint64_t>(std::llround(segment.waits * segment.latency + handed));
  segment.min_cycles = cost.stall_cycles + std::uint64_t{cost.branches} * gpu.latency.branch +
                       waiting(cost.waits, gpu.latency, lanes);
  segment.min_cycles -= std::min(segment.min_cycles, apart);
  for (std::uint32_t index = 0; index < segment.waits; ++index) {
    const auto share = [index, waits = segment.waits](auto whole) {
      return whole * (index + 1) / waits - whole * index / waits;
    };
    PolicyTiming::Share own;
    own.slots = share(segment.slots);
    own.min_cycles = share(segment.min_cycles);
    own.lsu_ticks = share(segment.lsu_ticks);
    own.match_ticks = share(segment.match_ticks);
    own.loads = share(segment.loads);
    own.access.kind = segment.kind;
    own.access.slots = share(segment.accesses);
    own.access.lsu_ticks = share(segment.access_ticks);
    own.access.hand_ticks = share(segment.hand_ticks);
    own.access.latency = segment.latency;
    segment.shares.push_back(own);
  }
  return segment;
}

bool reads_on(const trace::InstructionCost& cost) {
  return std::any_of(cost.waits.begin(), cost.waits.end(), [](const trace::ResultWait& wait) {
    return wait.kind == trace::ResultClass::kNextWord;
  });
}

// Whether a pass takes longer with some numbers of lanes than with others.
bool lanes_matter(const trace::VariantCost& variant) {
  return std::any_of(variant.paths.begin(), variant.paths.end(), reads_on) ||
         std::any_of(variant.reduce.begin(), variant.reduce.end(),
                     [](const auto& part) { return reads_on(part.second); });
}

}  // namespace

bool PolicyTiming::has_code(const trace::Header& header, const GpuConfig& gpu, Policy policy) {
  const auto arch = header.costs.find(gpu.sass_arch);
  return arch == header.costs.end() || arch->second.contains(policy.variant());
}

PolicyTiming::PolicyTiming(const trace::Header& header, const GpuConfig& gpu, Policy which)
    : policy(which),
      parameters(static_cast<std::uint32_t>(header.parameters.size())),
      match_group(gpu.latency.match_group),
      match_group_ticks(to_ticks(gpu.lsu.match_unit)) {
  const auto arch = header.costs.find(gpu.sass_arch);
  if (arch == header.costs.end()) {
    throw std::invalid_argument(
        fmt::format("the trace has no instruction costs for {} ({})", gpu.sass_arch, gpu.name));
  }
  const auto variant = arch->second.find(which.variant());
  if (variant == arch->second.end()) {
    throw std::invalid_argument(
        fmt::format("the trace has no {} code of variant {}, which {} needs", gpu.sass_arch,
                    which.variant(), which.name()));
  }
  // An atomic buffer holds up no load: they go by where its REDs come from (docs/fidelity.md).
  const bool loads_apart = !which.has_buffer();
  // A pass without an event has no lanes that read on.
  for (const trace::InstructionCost& cost : variant->second.paths) {
    paths_.push_back(to_segment(cost, gpu, kAsWaits, kLanes, loads_apart));
  }
  const auto taken = static_cast<std::size_t>(
      std::find(header.paths.begin(), header.paths.end(), header.taken_path) -
      header.paths.begin());
  const bool each = lanes_matter(variant->second) || (arch->second.contains("baseline") &&
                                                      lanes_matter(arch->second.at("baseline")));
  for (std::uint32_t lanes = each ? 1 : kLanes; lanes <= kLanes; ++lanes) {
    Pass pass;
    pass.taken = to_segment(variant->second.paths[taken], gpu, kAsWaits, lanes, loads_apart);
    const auto reduce = [&](const char* name, const Rounds& rounds) {
      const auto found = variant->second.reduce.find(name);
      if (found == variant->second.reduce.end()) {
        throw std::invalid_argument(
            fmt::format("the trace's {} code of variant {} lacks its '{}' part", gpu.sass_arch,
                        which.variant(), name));
      }
      return to_segment(found->second, gpu, rounds, lanes, loads_apart);
    };
    // Of code that looks first, in a part of so many: what that has waited for is there.
    const auto plain_behind = [&](std::initializer_list<const char*> names) {
      const auto plain = variant->second.reduce.find("plain");
      const bool waited = std::any_of(names.begin(), names.end(), [&](const char* name) {
        const auto found = variant->second.reduce.find(name);
        return found != variant->second.reduce.end() && reads_on(found->second);
      });
      if (plain == variant->second.reduce.end() || !waited) {
        return reduce("plain", kAsWaits);
      }
      trace::InstructionCost cost = plain->second;
      std::erase_if(cost.waits, [](const trace::ResultWait& wait) {
        return wait.kind == trace::ResultClass::kNextWord;
      });
      return to_segment(cost, gpu, kAsWaits, lanes, loads_apart);
    };
    const auto baseline_plain = [&] {
      const auto baseline = arch->second.find("baseline");
      return baseline == arch->second.end() || !baseline->second.reduce.contains("plain")
                 ? Segment{}
                 : to_segment(baseline->second.reduce.at("plain"), gpu, kAsWaits, lanes,
                              loads_apart);
    };
    switch (which.kind) {
      case PolicyKind::kBaseline:
      case PolicyKind::kArcHw:
      case PolicyKind::kLab:
      case PolicyKind::kLabIdeal:
      case PolicyKind::kPhi:
        pass.plain = reduce("plain", kAsWaits);
        break;
      case PolicyKind::kSwS:
        pass.check = reduce("check", kAsWaits);
        pass.plain = plain_behind({"check"});
        pass.setup = reduce("setup", kAsWaits);
        pass.per_lane = reduce("per_lane", kSerialTurn);
        pass.leader = reduce("leader", kAsWaits);
        break;
      case PolicyKind::kCccl:
        pass.plain_apart = baseline_plain();
        pass.butterfly = reduce("butterfly", kButterfly);
        pass.leader = reduce("leader", kAsWaits);
        break;
      case PolicyKind::kSwB:
        pass.check = reduce("check", kAsWaits);
        pass.agree = reduce("agree", kAsWaits);
        pass.plain = plain_behind({"check"});
        pass.plain_apart = plain_behind({"check", "agree"});
        pass.butterfly = reduce("butterfly", kButterfly);
        pass.leader = reduce("leader", kAsWaits);
        break;
      case PolicyKind::kSkip:
        // No code for lanes that differ in their primitive: they add as the baseline does.
        pass.plain_apart = baseline_plain();
        pass.check = reduce("check", kAsWaits);
        pass.butterfly = reduce("butterfly", kButterfly);
        pass.leader = reduce("leader", kAsWaits);
        break;
    }
    passes_.push_back(std::move(pass));
  }
}

void WarpProgram::start(const PolicyTiming& timing, const trace::WarpTrace& warp) {
  timing_ = &timing;
  warp_ = &warp;
  records_ = warp.records.data();
  record_ = 0;
  record_count_ = static_cast<std::uint32_t>(warp.records.size());
  passes_ = 0;
  events_ = 0;
  item_ = 0;
  item_count_ = 0;
  times_ = 0;
  share_ = 0;
}

namespace {

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

void WarpProgram::push(const Item& item) {
  if (item.times > 0) {
    if (item_count_ == items_.size()) {
      throw std::logic_error("a record makes more items than a warp's program has room for");
    }
    items_[item_count_++] = item;
  }
}

void WarpProgram::next_entry(Step& step) {
  step = Step{};
  step.kind = StepKind::kRun;
  for (;;) {
    if (item_ < item_count_) {
      if (take(items_[item_], step)) {
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
      slots += timing_->pass(static_cast<std::uint32_t>(lane_count(record.mask))).taken.slots +
               timing_->parameters;
    }
  }
  return slots;
}

// False after the last record.
bool WarpProgram::expand_record(const Step& run) {
  if (record_ == record_count_) {
    return false;
  }
  item_ = 0;
  item_count_ = 0;
  const trace::Record& record = records_[record_];
  switch (record.kind) {
    case trace::RecordKind::kWork:
      expand_work(record, run);
      return true;
    case trace::RecordKind::kBarrier:
      push({.kind = Item::Kind::kBarrier});
      break;
    case trace::RecordKind::kEvent:
      expand_event(record);
      break;
  }
  ++record_;
  return true;
}

// Gathers passes of a work record until the run is full.
void WarpProgram::expand_work(const trace::Record& record, const Step& run) {
  const PolicyTiming::Segment& segment = timing_->path(record.path);
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
  add(segment, passes);
  passes_ += passes;
  if (passes_ < record.count) {
    push({.kind = Item::Kind::kFlush});
  } else {
    passes_ = 0;
    ++record_;
  }
}

bool WarpProgram::take(const Item& item, Step& step) {
  switch (item.kind) {
    case Item::Kind::kSegment:
      if (!item.segment->shares.empty()) {
        return take_share(item, step);
      }
      gather(step, *item.segment, item.times);
      ++item_;
      return false;
    case Item::Kind::kGroups: {
      const std::uint64_t further = item.segment->matches * (item.times - 1);
      step.min_cycles += further * timing_->match_group;
      step.match_ticks += further * timing_->match_group_ticks;
      ++item_;
      return false;
    }
    case Item::Kind::kFlush:
      ++item_;
      return has_work(step);
    case Item::Kind::kAtomics: {
      if (has_work(step)) {
        return true;
      }
      ++item_;
      const trace::Record& event = records_[record_ - 1];
      step = Step{};
      step.kind = item.atomics;
      step.order = item.order;
      step.slots = 1;
      step.mask = item.mask;
      step.record = record_ - 1;
      step.primitive = event.primitive;
      step.uniform = event.lane_primitives == trace::Record::kUniform;
      return true;
    }
    case Item::Kind::kBarrier:
      if (has_work(step)) {
        return true;
      }
      ++item_;
      step = Step{};
      step.kind = StepKind::kBarrier;
      step.slots = 1;
      return true;
  }
  return false;
}

bool WarpProgram::take_share(const Item& item, Step& step) {
  const PolicyTiming::Share& share = item.segment->shares[share_];
  gather(step, share, 1);
  if (++share_ == item.segment->shares.size()) {
    share_ = 0;
    if (++times_ == item.times) {
      times_ = 0;
      ++item_;
    }
  }
  if (share.access.slots > 0) {
    step.access = &share.access;
    return true;
  }
  return has_work(step);
}

void WarpProgram::expand_event(const trace::Record& event) {
  const auto lanes = static_cast<std::uint32_t>(lane_count(event.mask));
  const Policy& policy = timing_->policy;
  const PolicyTiming::Pass& t = timing_->pass(lanes);
  add(t.taken);
  ++events_;

  const LaneGroups groups = lane_groups(*warp_, event);

  switch (policy.kind) {
    case PolicyKind::kBaseline:
    case PolicyKind::kArcHw:
    case PolicyKind::kLab:
    case PolicyKind::kLabIdeal:
    case PolicyKind::kPhi:
      add(t.plain);
      add_atomics(StepKind::kAtomic, event.mask, SumOrder::kSerial);
      break;

    case PolicyKind::kSwS: {
      add(t.check);
      push({.kind = Item::Kind::kGroups,
            .times = static_cast<std::uint32_t>(groups.count),
            .segment = &t.check});
      // Groups at or above the threshold run the serial loop together; the rest add directly. A
      // group's leader holds its own value already and takes one turn for each other lane.
      LaneMask direct = 0;
      std::uint32_t turns = 0;
      for (std::size_t g = 0; g < groups.count; ++g) {
        const auto size = static_cast<std::uint32_t>(lane_count(groups.lanes[g]));
        if (size >= policy.threshold) {
          turns = std::max(turns, size - 1);
        } else {
          direct |= groups.lanes[g];
        }
      }
      if (direct != event.mask) {
        add(t.setup);
        add(t.per_lane, turns);
        add(t.leader);
        add_atomics(StepKind::kReduced, event.mask & ~direct, SumOrder::kSerial);
      }
      if (direct != 0) {
        add(t.plain);
        add_atomics(StepKind::kAtomic, direct, SumOrder::kSerial);
      }
      break;
    }

    case PolicyKind::kSwB:
    case PolicyKind::kSkip:
    case PolicyKind::kCccl: {
      add(t.check);
      // sw-b looks whether lanes agree only where there are enough of them.
      const bool enough = policy.kind != PolicyKind::kSwB || lanes >= policy.threshold;
      if (enough) {
        add(t.agree);
      }
      if (!enough || groups.count != 1) {
        add(enough ? t.plain_apart : t.plain);
        add_atomics(StepKind::kAtomic, event.mask, SumOrder::kSerial);
        break;
      }
      add(t.butterfly);
      add(t.leader);
      add_atomics(StepKind::kReduced, event.mask,
                  policy.kind == PolicyKind::kCccl ? SumOrder::kNeighbours : SumOrder::kButterfly);
      break;
    }
  }
}

Fp32Bits software_sum(const std::uint32_t* lane_values, LaneMask mask, SumOrder order) {
  if (order == SumOrder::kSerial) {
    float sum = 0;
    bool first = true;
    for (LaneMask rest = mask; rest != 0; rest &= rest - 1) {
      const float value = std::bit_cast<float>(lane_values[std::countr_zero(rest)]);
      sum = first ? value : sum + value;
      first = false;
    }
    return std::bit_cast<Fp32Bits>(sum);
  }
  std::array<float, kLanes> lane{};
  for (LaneMask rest = mask; rest != 0; rest &= rest - 1) {
    const auto i = static_cast<std::size_t>(std::countr_zero(rest));
    lane[i] = std::bit_cast<float>(lane_values[i]);
  }
  if (order == SumOrder::kNeighbours) {
    for (std::size_t offset = 1; offset < kLanes; offset *= 2) {
      for (std::size_t i = 0; i < kLanes; i += 2 * offset) {
        lane[i] += lane[i + offset];
      }
    }
    return std::bit_cast<Fp32Bits>(lane[0]);
  }
  for (std::size_t offset = kLanes / 2; offset > 0; offset /= 2) {
    for (std::size_t i = 0; i < offset; ++i) {
      lane[i] += lane[i + offset];
    }
  }
  return std::bit_cast<Fp32Bits>(lane[0]);
}

}  // namespace warpfold

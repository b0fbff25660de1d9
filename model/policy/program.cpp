// SPDX-License-Identifier: Apache-2.0
#include "model/policy/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <stdexcept>

namespace warpfold {

namespace {

constexpr std::uint32_t kButterflyRounds = 5;

// Work without events is issued in runs of at most so much, so that what it takes of the load-store
// unit is spread over its time.
constexpr Ticks kRunTicks = 32 * kTicksPerCycle;
constexpr std::uint64_t kRunSlots = 1024;

PolicyTiming::Segment to_segment(const trace::InstructionCost& cost, const GpuConfig& gpu,
                                 bool shuffles_apart) {
  PolicyTiming::Segment segment;
  segment.slots = cost.issue_slots() - (shuffles_apart ? cost.shuffle : 0);
  segment.shuffles = shuffles_apart ? cost.shuffle : 0;
  segment.loads = cost.global_load;
  segment.min_cycles = std::uint64_t{cost.stall_cycles} +
                       std::uint64_t{cost.wait_sfu} * gpu.latency.sfu +
                       std::uint64_t{cost.wait_shared} * gpu.latency.shared +
                       std::uint64_t{cost.wait_global} * gpu.latency.global_load;
  double occupancy = cost.shared * gpu.lsu.shared_access + cost.global_load * gpu.lsu.global_load;
  if (!shuffles_apart) {
    segment.min_cycles += std::uint64_t{cost.wait_shuffle} * gpu.latency.shuffle;
    occupancy += cost.shuffle * gpu.lsu.shuffle;
  }
  segment.lsu_ticks = to_ticks(occupancy);
  return segment;
}

}  // namespace

bool PolicyTiming::has_code(const trace::Header& header, const GpuConfig& gpu, Policy policy) {
  const auto arch = header.costs.find(gpu.sass_arch);
  return arch == header.costs.end() || arch->second.contains(policy.variant());
}

PolicyTiming::PolicyTiming(const trace::Header& header, const GpuConfig& gpu, Policy which)
    : policy(which),
      parameters(static_cast<std::uint32_t>(header.parameters.size())),
      shuffle_ticks(to_ticks(gpu.lsu.shuffle)) {
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
  for (const trace::InstructionCost& cost : variant->second.paths) {
    paths_.push_back(to_segment(cost, gpu, false));
  }
  const auto taken = std::find(header.paths.begin(), header.paths.end(), header.taken_path);
  taken_ = static_cast<std::size_t>(taken - header.paths.begin());
  const auto reduce = [&](const char* name, bool shuffles_apart) {
    const auto found = variant->second.reduce.find(name);
    if (found == variant->second.reduce.end()) {
      throw std::invalid_argument(
          fmt::format("the trace's {} code of variant {} lacks its '{}' part", gpu.sass_arch,
                      which.variant(), name));
    }
    return to_segment(found->second, gpu, shuffles_apart);
  };
  const auto baseline_plain = [&] {
    const auto baseline = arch->second.find("baseline");
    return baseline == arch->second.end() || !baseline->second.reduce.contains("plain")
               ? Segment{}
               : to_segment(baseline->second.reduce.at("plain"), gpu, false);
  };
  switch (which.kind) {
    case PolicyKind::kBaseline:
    case PolicyKind::kArcHw:
    case PolicyKind::kLab:
    case PolicyKind::kLabIdeal:
    case PolicyKind::kPhi:
      plain = reduce("plain", false);
      break;
    case PolicyKind::kSwS:
      check = reduce("check", false);
      plain = reduce("plain", false);
      setup = reduce("setup", false);
      per_lane = reduce("per_lane", true);
      leader = reduce("leader", false);
      break;
    case PolicyKind::kCccl:
      plain = baseline_plain();
      butterfly = reduce("butterfly", true);
      leader = reduce("leader", false);
      break;
    case PolicyKind::kSwB:
    case PolicyKind::kSkip:
      // skip has no code for lanes that differ in their primitive: they add as the baseline does.
      plain = which.kind == PolicyKind::kSwB ? reduce("plain", false) : baseline_plain();
      check = reduce("check", false);
      butterfly = reduce("butterfly", true);
      leader = reduce("leader", false);
      break;
  }
}

void WarpProgram::start(const PolicyTiming& timing, const trace::WarpTrace& warp) {
  timing_ = &timing;
  warp_ = &warp;
  record_ = 0;
  passes_ = 0;
  events_ = 0;
  steps_.clear();
  position_ = 0;
  run_ = Step{};
  run_.kind = StepKind::kRun;
}

void WarpProgram::add_run(const PolicyTiming::Segment& segment, std::uint64_t times) {
  run_.slots += segment.slots * times;
  run_.min_cycles += segment.min_cycles * times;
  run_.lsu_ticks += segment.lsu_ticks * times;
  run_.loads += static_cast<std::uint32_t>(segment.loads * times);
}

// Gathers passes of a work record until the run is full; true when the record is done.
bool WarpProgram::add_work(const trace::Record& record) {
  const PolicyTiming::Segment& segment = timing_->path(record.path);
  std::uint64_t room = record.count - passes_;
  if (segment.lsu_ticks > 0) {
    room = std::min(room, (kRunTicks - std::min(run_.lsu_ticks, kRunTicks)) / segment.lsu_ticks);
  }
  if (segment.slots > 0) {
    room = std::min(room, (kRunSlots - std::min(run_.slots, kRunSlots)) / segment.slots);
  }
  if (room == 0 && run_.slots == 0 && run_.lsu_ticks == 0) {
    room = 1;  // a pass that fills more than a run
  }
  add_run(segment, room);
  passes_ += room;
  if (passes_ < record.count) {
    flush_run();
    return false;
  }
  passes_ = 0;
  return true;
}

void WarpProgram::flush_run() {
  if (run_.slots > 0 || run_.min_cycles > 0 || run_.lsu_ticks > 0) {
    steps_.push_back(run_);
    run_.slots = 0;
    run_.min_cycles = 0;
    run_.lsu_ticks = 0;
    run_.loads = 0;
  }
}

// One entry for all parameters: next() hands it out once for each.
void WarpProgram::add_atomics(StepKind kind, LaneMask mask, SumOrder order, std::uint32_t record) {
  Step step;
  step.kind = kind;
  step.order = order;
  step.slots = 1;
  step.mask = mask;
  step.record = record;
  steps_.push_back(step);
}

void WarpProgram::add_shuffles(std::uint32_t count) {
  if (count == 0) {
    return;
  }
  Step step;
  step.kind = StepKind::kShuffle;
  step.slots = count;
  step.lsu_ticks = count * timing_->shuffle_ticks;
  steps_.push_back(step);
}

void WarpProgram::expand_event(std::uint32_t record) {
  const trace::Record& event = warp_->records[record];
  const PolicyTiming& t = *timing_;
  add_run(t.taken());
  ++events_;

  // Lanes by primitive. One group is the rule; order is that of each group's lowest lane.
  std::array<LaneMask, kLanes> groups{};
  std::size_t group_count = 0;
  if (event.lane_primitives == trace::Record::kUniform) {
    groups[group_count++] = event.mask;
  } else {
    const std::uint32_t* primitive = &warp_->lane_primitives[event.lane_primitives];
    for (LaneMask rest = event.mask; rest != 0;) {
      const std::uint32_t lead = primitive[std::countr_zero(rest)];
      LaneMask group = 0;
      for (LaneMask m = rest; m != 0; m &= m - 1) {
        const int lane = std::countr_zero(m);
        if (primitive[lane] == lead) {
          group |= LaneMask{1} << lane;
        }
      }
      groups[group_count++] = group;
      rest &= ~group;
    }
  }

  const auto lanes = static_cast<std::uint32_t>(lane_count(event.mask));
  switch (t.policy.kind) {
    case PolicyKind::kBaseline:
    case PolicyKind::kArcHw:
    case PolicyKind::kLab:
    case PolicyKind::kLabIdeal:
    case PolicyKind::kPhi:
      add_run(t.plain);
      flush_run();
      add_atomics(StepKind::kAtomic, event.mask, SumOrder::kSerial, record);
      break;

    case PolicyKind::kSwS: {
      add_run(t.check);
      // Groups at or above the threshold run the serial loop together; the rest add directly. A
      // group's leader holds its own value already and takes one turn for each other lane.
      LaneMask direct = 0;
      std::uint32_t turns = 0;
      for (std::size_t g = 0; g < group_count; ++g) {
        const auto size = static_cast<std::uint32_t>(lane_count(groups[g]));
        if (size >= t.policy.threshold) {
          turns = std::max(turns, size - 1);
        } else {
          direct |= groups[g];
        }
      }
      if (direct != event.mask) {
        add_run(t.setup);
        for (std::uint32_t i = 0; i < turns; ++i) {
          add_run(t.per_lane);
          flush_run();
          add_shuffles(t.per_lane.shuffles);
        }
        add_run(t.leader);
        flush_run();
        for (std::size_t g = 0; g < group_count; ++g) {
          if ((groups[g] & direct) == 0) {
            add_atomics(StepKind::kReduced, groups[g], SumOrder::kSerial, record);
          }
        }
      }
      if (direct != 0) {
        add_run(t.plain);
        flush_run();
        add_atomics(StepKind::kAtomic, direct, SumOrder::kSerial, record);
      }
      break;
    }

    case PolicyKind::kSwB:
    case PolicyKind::kSkip:
    case PolicyKind::kCccl: {
      add_run(t.check);
      const bool reduce =
          group_count == 1 && (t.policy.kind != PolicyKind::kSwB || lanes >= t.policy.threshold);
      if (!reduce) {
        add_run(t.plain);
        flush_run();
        add_atomics(StepKind::kAtomic, event.mask, SumOrder::kSerial, record);
        break;
      }
      // A round's additions need its shuffles; the five rounds carry equal shares of the code.
      for (std::uint32_t round = 0; round < kButterflyRounds; ++round) {
        const auto share = [round](auto whole) {
          return whole * (round + 1) / kButterflyRounds - whole * round / kButterflyRounds;
        };
        PolicyTiming::Segment part;
        part.slots = share(t.butterfly.slots);
        part.min_cycles = share(t.butterfly.min_cycles);
        part.lsu_ticks = share(t.butterfly.lsu_ticks);
        add_run(part);
        flush_run();
        add_shuffles(share(t.butterfly.shuffles));
      }
      add_run(t.leader);
      flush_run();
      add_atomics(StepKind::kReduced, event.mask,
                  t.policy.kind == PolicyKind::kCccl ? SumOrder::kNeighbours : SumOrder::kButterfly,
                  record);
      break;
    }
  }
}

Step WarpProgram::next() {
  if (position_ == steps_.size()) {
    steps_.clear();
    position_ = 0;
    while (steps_.empty() && record_ < warp_->records.size()) {
      const trace::Record& record = warp_->records[record_];
      switch (record.kind) {
        case trace::RecordKind::kWork:
          if (!add_work(record)) {
            continue;
          }
          break;
        case trace::RecordKind::kBarrier: {
          flush_run();
          Step step;
          step.kind = StepKind::kBarrier;
          step.slots = 1;
          steps_.push_back(step);
          break;
        }
        case trace::RecordKind::kEvent:
          expand_event(record_);
          break;
      }
      ++record_;
    }
    if (steps_.empty()) {
      flush_run();
    }
    if (steps_.empty()) {
      return Step{};
    }
  }
  Step& step = steps_[position_];
  const Step next = step;
  const bool atomic = step.kind == StepKind::kAtomic || step.kind == StepKind::kReduced;
  if (!atomic || ++step.parameter == timing_->parameters) {
    ++position_;
  }
  return next;
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

// SPDX-License-Identifier: Apache-2.0
#include "traces/record/host/launch_tracker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "traces/record/protocol.hpp"

namespace warpfold::record {

namespace {

// From so many different ways on, each ends at the next marker: there are no more of these than the
// code has pairs of markers.
constexpr std::size_t kManyWays = 4096;

}  // namespace

std::uint64_t LaunchShape::recorded_ctas() const {
  return (ctas + every - 1 - every / 2) / every;
}

std::optional<std::uint64_t> LaunchShape::place(std::uint64_t cta) const {
  if (cta >= ctas || cta % every != every / 2) {
    return std::nullopt;
  }
  return cta / every;
}

std::uint64_t LaunchShape::cta(std::uint64_t place) const {
  return place * every + every / 2;
}

LaunchTracker::LaunchTracker(const KernelCode& code, const LaunchShape& shape)
    : code_(code), shape_(shape), warps_(shape.recorded_ctas() * shape.warps_per_cta) {}

void LaunchTracker::add(std::span<const std::uint32_t> words) {
  while (!words.empty()) {
    if (words.size() < kHeadWords) {
      throw trace::TraceError("a record of the launch is cut off");
    }
    const std::uint32_t lanes = words[3];
    const std::uint32_t length =
        record_words(words[0], static_cast<std::uint32_t>(std::popcount(lanes)));
    const std::uint32_t warp = words[0] >> kWarpShift & kWarpBits;
    const auto at = static_cast<InstructionNumber>(words[1] - 1);
    const std::optional<std::uint64_t> place = shape_.place(std::uint64_t{words[2]} - 1);
    // A row has one address, and no operands.
    const bool row = static_cast<Marker>(words[0] & kMarkerBits) == Marker::kBulk &&
                     (words[0] & kAddresses) != 0;
    if (length > words.size() || lanes == 0 || !place || warp >= shape_.warps_per_cta || at < 0 ||
        static_cast<std::size_t>(at) >= code_.instructions.size() ||
        (row && (words[0] & (kUniform | kOperands)) != kUniform)) {
      throw trace::TraceError("a record of the launch makes no sense");
    }
    ++records_;
    follow(warps_[*place * shape_.warps_per_cta + warp],
           {.first = words[0],
            .lanes = lanes,
            .at = at,
            .payload = words.subspan(kHeadWords, length - kHeadWords)});
    words = words.subspan(length);
  }
}

void LaunchTracker::follow(Warp& warp, const Event& event) {
  const auto marker = static_cast<Marker>(event.first & kMarkerBits);
  if (marker == Marker::kEnter) {
    warp.live |= event.lanes;
    warp.groups.push_back({.lanes = event.lanes, .way = ways_.start(kEntry)});
    return;
  }
  Group& group = group_of(warp, event);
  step(warp, group, event);
  if (marker == Marker::kBarrier) {
    close_run(warp, group);
    end_way(warp, group);
    wait_at_barrier(warp, event);
  } else if (marker == Marker::kExit) {
    close_run(warp, group);
    end_way(warp, group);
    warp.live &= ~event.lanes;
    warp.groups.erase(warp.groups.begin() + (&group - warp.groups.data()));
    warp.recent = 0;
  }
}

// The group of just the event's lanes: others part from it, or join it.
LaunchTracker::Group& LaunchTracker::group_of(Warp& warp, const Event& event) {
  const std::uint32_t lanes = event.lanes;
  if (warp.groups.size() == 1 && warp.groups.front().lanes == lanes) {
    warp.recent = 0;
    return warp.groups.front();
  }
  std::size_t lead = warp.groups.size();
  for (std::size_t i = 0; i < warp.groups.size(); ++i) {
    if ((warp.groups[i].lanes & lanes) != 0 && (lead == warp.groups.size() || i == warp.recent)) {
      lead = i;
    }
  }
  if (lead == warp.groups.size()) {
    throw trace::TraceError("lanes of a warp do something before they begin");
  }
  if (warp.groups[lead].lanes != lanes) {
    close_run(warp, warp.groups[lead]);
  }
  const bool left_out = code_.instructions[static_cast<std::size_t>(event.at)].predicated;
  const InstructionNumber from = left_out ? event.at : warp.groups[lead].last;
  Group apart{.lanes = warp.groups[lead].lanes & ~lanes,
              .way = ways_.start(from),
              .last = from,
              .parted = !left_out};
  for (std::size_t i = 0; i < warp.groups.size(); ++i) {
    Group& other = warp.groups[i];
    if (i == lead || (other.lanes & lanes) == 0) {
      continue;
    }
    close_run(warp, other);
    other.lanes &= ~lanes;
    if (other.lanes == 0) {
      end_way(warp, other);
    }
  }
  warp.groups[lead].lanes = lanes;
  Group found = std::move(warp.groups[lead]);
  warp.groups[lead].lanes = 0;
  std::erase_if(warp.groups, [](const Group& group) { return group.lanes == 0; });
  if (apart.lanes != 0) {
    warp.groups.push_back(std::move(apart));
  }
  warp.recent = warp.groups.size();
  warp.groups.push_back(std::move(found));
  return warp.groups.back();
}

// The group comes to a marker.
void LaunchTracker::step(Warp& warp, Group& group, const Event& event) {
  const bool back = group.last != kEntry && event.at <= group.last;
  auto& run = group.run.instructions;
  if (!run.empty() && (back || block(event.at) != block(run.back()))) {
    close_run(warp, group);
  }
  if ((event.first & kAddresses) != 0) {
    const auto& atomic = code_.instructions[static_cast<std::size_t>(event.at)].atomic;
    const bool joins = !atomic || atomic->joins();
    if (!joins) {
      close_run(warp, group);
    }
    log_deferred(warp, group);
    group.way = ways_.extend(group.way, event.at);
    group.last = event.at;
    add_to_run(group, event);
    if (!joins) {
      close_run(warp, group);
    }
    return;
  }
  group.way = ways_.extend(group.way, event.at);
  group.last = event.at;
  if (lines_of(event.first) > 0) {
    access(warp, group, event);
    return;
  }
  if (const auto& atomic = code_.instructions[static_cast<std::size_t>(event.at)].atomic; atomic) {
    ++other_atomics_[event.at];
  }
  if (!run.empty()) {
    group.behind.push_back(event.at);
  } else if (back || ways_gone_.size() >= kManyWays) {
    end_way(warp, group);
  }
}

// A load or store that comes with its lines: `way` leads to it.
void LaunchTracker::access(Warp& warp, Group& group, const Event& event) {
  const std::uint32_t count = lines_of(event.first);
  const LogRecord record{.kind = LogRecord::Kind::kAccess,
                         .lines = static_cast<std::uint8_t>(count),
                         .index = static_cast<std::uint32_t>(event.at),
                         .count = event.lanes,
                         .addresses = lines_.size()};
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t word = event.payload[2 * i] | std::uint64_t{event.payload[2 * i + 1]}
                                                          << 32U;
    lines_.push_back(word & ~kAddressTag);
  }
  if (group.run.instructions.empty()) {
    end_way(warp, group);
    warp.log.push_back(record);
    return;
  }
  if (group.deferred.empty()) {
    group.way = ways_.start(group.run.instructions.back());
    for (const InstructionNumber at : group.behind) {
      group.way = ways_.extend(group.way, at);
    }
    group.way = ways_.extend(group.way, event.at);
  }
  group.deferred.push_back({.kind = LogRecord::Kind::kWay, .index = group.way, .count = 1});
  group.deferred.push_back(record);
  group.behind.clear();
  group.way = ways_.start(event.at);
}

// What lies behind the addition at hand, once it is in the log or another joins it.
void LaunchTracker::log_deferred(Warp& warp, Group& group) {
  if (group.deferred.empty()) {
    return;
  }
  if (!group.run.instructions.empty()) {
    log_way(warp, group.run_way, group.parted);
    group.parted = false;
  }
  for (const LogRecord& record : group.deferred) {
    if (record.kind == LogRecord::Kind::kWay) {
      log_way(warp, record.index, false);
    } else {
      warp.log.push_back(record);
    }
  }
  group.deferred.clear();
}

void LaunchTracker::add_to_run(Group& group, const Event& event) {
  group.run.instructions.push_back(event.at);
  group.run_uniform.push_back((event.first & kUniform) != 0);
  group.run_way = group.way;
  group.behind.clear();
  const auto lanes = static_cast<std::size_t>(std::popcount(event.lanes));
  const std::size_t count = group.run_uniform.back() ? 1 : lanes;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t word = event.payload[2 * i] | std::uint64_t{event.payload[2 * i + 1]}
                                                          << 32U;
    group.run_addresses.push_back(word & ~kAddressTag);
  }
  if (static_cast<Marker>(event.first & kMarkerBits) == Marker::kBulk) {
    group.run.row = event.payload[2];
  }
  const std::size_t operands = operand_words(event.first) * lanes;
  group.lacks_operands = group.lacks_operands || operands == 0;
  for (std::size_t i = count; i < count + operands; ++i) {
    group.run_operands.push_back(event.payload[2 * i]);
  }
}

// The additions at hand become an event, behind the way that led to them.
void LaunchTracker::close_run(Warp& warp, Group& group) {
  if (group.run.instructions.empty()) {
    return;
  }
  log_way(warp, group.run_way, group.parted);
  group.parted = false;
  const auto [found, is_new] =
      run_index_.try_emplace(group.run, static_cast<std::uint32_t>(runs_.size()));
  if (is_new) {
    runs_.push_back(group.run);
  }
  const bool uniform =
      std::all_of(group.run_uniform.begin(), group.run_uniform.end(), [](bool one) { return one; });
  warp.log.push_back({.kind = LogRecord::Kind::kEvent,
                      .uniform = uniform,
                      .index = found->second,
                      .count = group.lanes,
                      .addresses = addresses_.size()});
  ++events_;
  if (!group.lacks_operands) {
    operand_places_.emplace_back(addresses_.size(), operands_.size());
    operands_.insert(operands_.end(), group.run_operands.begin(), group.run_operands.end());
  }
  const auto lanes = static_cast<std::size_t>(std::popcount(group.lanes));
  std::size_t next = 0;
  for (const bool one : group.run_uniform) {
    for (std::size_t lane = 0; lane < (uniform ? 1 : lanes); ++lane) {
      addresses_.push_back(group.run_addresses[one ? next : next + lane]);
    }
    next += one ? 1 : lanes;
  }
  if (group.deferred.empty()) {
    group.way = ways_.start(group.run.instructions.back());
    for (const InstructionNumber at : group.behind) {
      group.way = ways_.extend(group.way, at);
    }
  }
  group.run = {};
  log_deferred(warp, group);
  group.run_addresses.clear();
  group.run_uniform.clear();
  group.run_operands.clear();
  group.lacks_operands = false;
  group.behind.clear();
}

std::span<const std::uint32_t> LaunchTracker::operands(const LogRecord& event) const {
  const auto found = std::lower_bound(operand_places_.begin(), operand_places_.end(),
                                      std::pair<std::uint64_t, std::uint64_t>{event.addresses, 0});
  return std::span(operands_).subspan(found->second);
}

void LaunchTracker::end_way(Warp& warp, Group& group) {
  log_way(warp, group.way, group.parted);
  group.parted = false;
  group.way = ways_.start(group.last);
}

void LaunchTracker::log_way(Warp& warp, WayIndex way, bool parted) {
  if (ways_.steps(way) == 0) {
    return;
  }
  if (parted) {
    parted_ways_.insert(way);
  }
  if (!warp.log.empty() && warp.log.back().kind == LogRecord::Kind::kWay &&
      warp.log.back().index == way && warp.log.back().count < 0xffffffffU) {
    ++warp.log.back().count;
    return;
  }
  ways_gone_.insert(way);
  warp.log.push_back({.kind = LogRecord::Kind::kWay, .index = way, .count = 1});
}

// A warp waits once, when all its lanes have come.
void LaunchTracker::wait_at_barrier(Warp& warp, const Event& event) {
  if ((event.first & kWholeBarrier) == 0) {
    ++partial_barriers_;
    return;
  }
  warp.at_barrier |= event.lanes;
  if ((warp.live & ~warp.at_barrier) == 0) {
    warp.at_barrier = 0;
    warp.log.push_back({.kind = LogRecord::Kind::kBarrier});
  }
}

void LaunchTracker::finish() {
  for (Warp& warp : warps_) {
    if (warp.live != 0) {
      throw trace::TraceError("a warp of the launch did not come to its end");
    }
  }
}

}  // namespace warpfold::record

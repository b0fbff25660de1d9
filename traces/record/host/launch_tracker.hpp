// SPDX-License-Identifier: Apache-2.0
// Follows the warps of a launch by the records of its ring, and keeps what each of them did: ways
// gone, barriers, additions.
//
// A warp may part: lanes that come to different markers are followed apart, as groups, until one
// marker has them together again. What the lanes of a group go is counted once, with the group that
// went last. Lanes that leave a marker with a predicate out have come to it all the same; others
// have parted somewhere behind the marker before, and what they went together is counted with both.
// A way ends where a warp adds, waits at a barrier or goes back in the code, so that a pass of a
// loop is one way, whatever comes around it.
//
// REDs of one basic block by the same lanes are one event: a run of one mask, whatever loads stand
// between them. An atomic whose result is used is an event by itself, as is a reduction of a row.
//
// A load or store whose lines are recorded ends the way, too, and has a record of its own. What
// lies behind a run that is not closed yet waits with it, for further REDs may join.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "traces/record/host/kernel_code.hpp"
#include "traces/record/host/ways.hpp"

namespace warpfold::record {

struct LaunchShape {
  std::uint64_t ctas = 0;  // of the launch
  std::uint32_t warps_per_cta = 0;
  std::uint32_t every = 1;  // one CTA of each `every` is recorded, the middle one

  [[nodiscard]] std::uint64_t recorded_ctas() const;
  // Where a recorded CTA stands among them; none if it is not.
  [[nodiscard]] std::optional<std::uint64_t> place(std::uint64_t cta) const;
  // The linear index of the CTA at that place.
  [[nodiscard]] std::uint64_t cta(std::uint64_t place) const;
};

// Atomics that are one event: the numbers of their instructions, in the order of issue. Of a
// reduction of a row its length in units of 16 bytes.
struct Run {
  std::vector<InstructionNumber> instructions;
  std::uint32_t row = 0;
  friend auto operator<=>(const Run&, const Run&) = default;
};

struct LogRecord {
  enum class Kind : std::uint8_t { kWay, kBarrier, kEvent, kAccess };
  Kind kind = Kind::kWay;
  bool uniform = false;         // kEvent: each instruction adds to one address
  std::uint8_t lines = 0;       // kAccess: how many it touches
  std::uint32_t index = 0;      // kWay: the way; kEvent: the run; kAccess: the instruction
  std::uint32_t count = 0;      // kWay: passes; kEvent, kAccess: active lanes
  std::uint64_t addresses = 0;  // kEvent: where its addresses begin, by instruction, then by lane
                                // kAccess: where its lines begin
};

class LaunchTracker {
 public:
  // Both must outlive it.
  LaunchTracker(const KernelCode& code, const LaunchShape& shape);

  // Words of the ring: whole records. Throws trace::TraceError if they make no sense.
  void add(std::span<const std::uint32_t> words);
  // After the last record.
  void finish();

  [[nodiscard]] const std::vector<LogRecord>& warp(std::uint64_t place, std::uint32_t warp) const {
    return warps_[place * shape_.warps_per_cta + warp].log;
  }
  [[nodiscard]] std::span<const std::uint64_t> addresses() const { return addresses_; }
  // Of an access: line << kLineSectors | its sectors.
  [[nodiscard]] std::span<const std::uint64_t> lines(const LogRecord& access) const {
    return std::span(lines_).subspan(access.addresses, access.lines);
  }
  // Whether there are events and all of them came with their operands. Then those of an event, from
  // its first on, by instruction, then by lane.
  [[nodiscard]] bool has_operands() const {
    return !operand_places_.empty() && operand_places_.size() == events_;
  }
  [[nodiscard]] std::span<const std::uint32_t> operands(const LogRecord& event) const;
  [[nodiscard]] const std::vector<Run>& runs() const { return runs_; }
  [[nodiscard]] const WayTree& ways() const { return ways_; }
  // Of the ways, those that warps have gone to their end, in increasing order.
  [[nodiscard]] const std::set<WayIndex>& ways_gone() const { return ways_gone_; }
  // Whether lanes went it by themselves that had parted nobody knows where.
  [[nodiscard]] bool parted(WayIndex way) const { return parted_ways_.contains(way); }
  // Atomics that came without addresses: instruction -> warp instructions.
  [[nodiscard]] const std::map<InstructionNumber, std::uint64_t>& other_atomics() const {
    return other_atomics_;
  }
  [[nodiscard]] std::uint64_t partial_barriers() const { return partial_barriers_; }
  [[nodiscard]] std::uint64_t records() const { return records_; }

 private:
  // Lanes that are at one place of the kernel.
  struct Group {
    std::uint32_t lanes = 0;
    WayIndex way = 0;
    InstructionNumber last = kEntry;  // marker
    bool parted = false;              // the way begins ahead of where its lanes parted from others
    // Additions of the run at hand, none if there is none; the way to the last of them, and the
    // markers behind it.
    Run run = {};
    std::vector<std::uint64_t> run_addresses = {};
    std::vector<bool> run_uniform = {};  // by addition
    std::vector<std::uint32_t> run_operands = {};
    bool lacks_operands = false;  // some addition of the run came without
    WayIndex run_way = 0;
    std::vector<InstructionNumber> behind = {};
    // Ways and accesses behind the run that is not closed; then `way` begins at the last of them.
    std::vector<LogRecord> deferred = {};
  };
  struct Warp {
    std::vector<LogRecord> log;
    std::vector<Group> groups;
    std::uint32_t live = 0;
    std::uint32_t at_barrier = 0;  // lanes that have come to the barrier at hand
    std::size_t recent = 0;        // the group that came to the last marker
  };
  struct Event {
    std::uint32_t first, lanes;
    InstructionNumber at;
    std::span<const std::uint32_t> payload;
  };

  void follow(Warp& warp, const Event& event);
  Group& group_of(Warp& warp, const Event& event);
  void step(Warp& warp, Group& group, const Event& event);
  void add_to_run(Group& group, const Event& event);
  void close_run(Warp& warp, Group& group);
  void access(Warp& warp, Group& group, const Event& event);
  void log_deferred(Warp& warp, Group& group);
  void end_way(Warp& warp, Group& group);
  void log_way(Warp& warp, WayIndex way, bool parted);
  void wait_at_barrier(Warp& warp, const Event& event);
  [[nodiscard]] std::uint32_t block(InstructionNumber at) const {
    return code_.instructions[static_cast<std::size_t>(at)].block;
  }

  const KernelCode& code_;
  const LaunchShape shape_;
  std::vector<Warp> warps_;
  WayTree ways_;
  std::set<WayIndex> ways_gone_, parted_ways_;
  std::vector<std::uint64_t> addresses_, lines_;
  std::vector<std::uint32_t> operands_;
  // For events with operands: LogRecord::addresses, which increases, and where they begin.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> operand_places_;
  std::uint64_t events_ = 0;
  std::vector<Run> runs_;
  std::map<Run, std::uint32_t> run_index_;
  std::map<InstructionNumber, std::uint64_t> other_atomics_;
  std::uint64_t partial_barriers_ = 0;
  std::uint64_t records_ = 0;
};

}  // namespace warpfold::record

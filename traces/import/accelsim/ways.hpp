// SPDX-License-Identifier: Apache-2.0
// Work between events: ways through the code, each a path of the trace with the cost of all of its
// instructions. A trace of instructions has no stall counts, so the costs are estimates: a result
// of arithmetic is there some cycles later, a result of a load, a shuffle and the like is waited
// for where its register is first read.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "traces/format/trace.hpp"
#include "traces/import/accelsim/instruction.hpp"

namespace warpfold::accelsim {

// An instruction of a way, whether it is an event's, and what it waits for that was asked for in
// the way before.
class WayStep {
 public:
  WayStep(InstructionId id, bool is_event, std::optional<trace::ResultClass> early)
      : bits_(id | (is_event ? kEvent : 0) |
              (early ? (static_cast<std::uint32_t>(*early) + 1) << kShift : 0)) {}
  [[nodiscard]] InstructionId id() const { return bits_ & (kEvent - 1); }
  [[nodiscard]] bool is_event() const { return (bits_ & kEvent) != 0; }
  [[nodiscard]] std::optional<trace::ResultClass> early() const {
    const std::uint32_t kind = bits_ >> kShift;
    return kind == 0 ? std::nullopt : std::optional(static_cast<trace::ResultClass>(kind - 1));
  }
  friend bool operator==(WayStep, WayStep) = default;

 private:
  static constexpr std::uint32_t kEvent = 1U << 23U;
  static constexpr std::uint32_t kShift = 24;
  static_assert(Code::kMostInstructions <= kEvent);
  std::uint32_t bits_;
};

using Way = std::vector<WayStep>;

// Passes along a path.
struct PathPasses {
  std::uint16_t path = 0;
  std::uint32_t count = 0;
};

class Ways {
 public:
  explicit Ways(const Code& code) : code_(code) {}

  // One pass along the way. Where a trace's header has no room for another path, it becomes passes
  // along paths of one instruction each, by class.
  std::span<const PathPasses> pass(const Way& way);

  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] const std::vector<trace::InstructionCost>& costs() const { return costs_; }
  // Whether some passes are along paths of one instruction.
  [[nodiscard]] bool ran_out() const { return full_; }

 private:
  struct Hash {
    std::size_t operator()(const Way& way) const;
  };
  // Path of the way: kNone where it takes nothing, kMany where it has none of its own.
  std::uint16_t add_way(const Way& way);
  std::uint16_t add_path(std::string name, trace::InstructionCost cost);
  void pass_by_class(const Way& way);

  const Code& code_;
  std::unordered_map<Way, std::uint16_t, Hash> known_;
  std::map<std::string, std::uint16_t> classes_;
  std::vector<std::string> names_;
  std::vector<trace::InstructionCost> costs_;
  std::size_t header_bytes_ = 0;  // that the paths take in a header, about
  bool full_ = false;
  std::vector<PathPasses> result_;
};

// Follows the registers of a warp from way to way.
class EarlyResults {
 public:
  // What the next instruction of the way waits for that the way before asked for. `asks`: it may
  // ask for something itself, which is not told apart.
  [[nodiscard]] std::optional<trace::ResultClass> next(const Instruction& instruction,
                                                       bool asks = true);
  void next_way() { ++way_; }
  void next_warp() { *this = {}; }

 private:
  struct Pending {
    std::uint64_t way = 0;  // that asked for it, 0 for none
    trace::ResultClass kind = trace::ResultClass::kSfu;
  };
  std::array<Pending, kRegisters> registers_ = {};
  std::uint64_t way_ = 1;
};

// What a pass along the way takes.
[[nodiscard]] trace::InstructionCost cost_of(const Way& way, const Code& code);

}  // namespace warpfold::accelsim

// SPDX-License-Identifier: Apache-2.0
// An event as a rule sees it, and what the rule makes of it. Both live for one call of
// PolicyRule::expand().
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/base/check.hpp"
#include "model/policy/lane_groups.hpp"
#include "model/policy/program_items.hpp"
#include "model/policy/software_sum.hpp"
#include "model/policy/timing.hpp"
#include "model/types.hpp"
#include "traces/format/trace.hpp"

namespace warpfold {

// One reduce call of a warp.
class WarpEvent {
 public:
  WarpEvent(const trace::WarpTrace& warp, const trace::Record& record)
      : warp_(warp), record_(record) {}

  // The active lanes, of which there is at least one.
  [[nodiscard]] LaneMask mask() const { return record_.mask; }
  [[nodiscard]] std::uint32_t lanes() const {
    return static_cast<std::uint32_t>(lane_count(record_.mask));
  }
  // Those that share a primitive. Found out by each call.
  [[nodiscard]] LaneGroups groups() const { return lane_groups(warp_, record_); }

 private:
  const trace::WarpTrace& warp_;
  const trace::Record& record_;
};

// Steps in program order. All calls together must add every active lane exactly once. `part` is an
// index into what the rule's parts() returns. There is room for some ten calls. Whatever does not
// keep to that throws CheckError.
class EventSteps {
 public:
  EventSteps(const PolicyTiming::Pass& pass, LaneMask lanes, ProgramItems& items)
      : pass_(pass), items_(items), left_(lanes) {}

  // The instructions of a part, so many times over.
  void run(std::size_t part, std::uint32_t times = 1) {
    items_.push({.kind = ProgramItem::Kind::kSegment, .times = times, .segment = &segment(part)});
  }
  // What the MATCHes of a part take longer because lanes hold so many values.
  void match_values(std::size_t part, std::size_t values) {
    items_.push({.kind = ProgramItem::Kind::kGroups,
                 .times = static_cast<std::uint32_t>(values),
                 .segment = &segment(part)});
  }
  // A RED (an atomred under a policy with a unit) of each parameter, each lane with its own value.
  void add_lanes(LaneMask lanes) {
    take(lanes);
    items_.push({.kind = ProgramItem::Kind::kAtomics, .mask = lanes});
  }
  // A RED of each parameter with one sum for each primitive, which software has formed.
  void add_sums(LaneMask lanes, SumOrder order) {
    take(lanes);
    items_.push({.kind = ProgramItem::Kind::kAtomics,
                 .atomics = StepKind::kReduced,
                 .order = order,
                 .mask = lanes});
  }

  // Lanes that are not added, under AdditionPath::kNowhere.
  void leave_out(LaneMask lanes) { take(lanes); }

  // Called when the rule is done.
  void finish() const { ARC_CHECK(left_ == 0, "a rule leaves out lanes of an event"); }

 private:
  void take(LaneMask lanes) {
    ARC_CHECK(lanes != 0 && (lanes & ~left_) == 0,
              "a rule adds no lanes, or others than are left of an event");
    left_ &= ~lanes;
  }
  [[nodiscard]] const Segment& segment(std::size_t part) const {
    ARC_CHECK(part < pass_.parts.size(), "a rule runs a part that it has not asked for");
    return pass_.parts[part];
  }

  const PolicyTiming::Pass& pass_;
  ProgramItems& items_;
  LaneMask left_;  // lanes that are still to be added
};

}  // namespace warpfold

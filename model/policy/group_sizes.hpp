// SPDX-License-Identifier: Apache-2.0
// Lanes of an event that share a primitive, and which balancing thresholds they tell apart.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "model/policy/policy.hpp"
#include "model/types.hpp"
#include "traces/format/trace.hpp"

namespace warpfold {

// The active lanes of an event by primitive, in the order of each group's lowest lane.
struct LaneGroups {
  std::array<LaneMask, kLanes> lanes{};
  std::size_t count = 0;
};
LaneGroups lane_groups(const trace::WarpTrace& warp, const trace::Record& event);

// Sizes of all events of a launch, and of the groups in them. Software with a balancing threshold
// compares it with nothing else, so two thresholds with no size between them are one and the same
// run: over warps whose lanes are all active, every threshold is.
class GroupSizes {
 public:
  void add(const trace::WarpTrace& warp);
  // The policy with the lowest threshold that decides every event added as `policy` does; `policy`
  // itself if it has none.
  [[nodiscard]] Policy lowest_alike(Policy policy) const;

 private:
  // Bit n: of n lanes.
  std::uint64_t events_ = 0;  // some event's active lanes, for sw-b
  std::uint64_t groups_ = 0;  // some event's group, for sw-s
};

}  // namespace warpfold

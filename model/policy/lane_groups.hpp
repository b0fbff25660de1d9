// SPDX-License-Identifier: Apache-2.0
// Lanes of an event that share a primitive.
#pragma once

#include <array>
#include <cstddef>

#include "model/types.hpp"
#include "traces/format/trace.hpp"

namespace warpfold {

// The active lanes of an event by primitive, in the order of each group's lowest lane.
struct LaneGroups {
  std::array<LaneMask, kLanes> lanes{};
  std::size_t count = 0;
};
LaneGroups lane_groups(const trace::WarpTrace& warp, const trace::Record& event);

}  // namespace warpfold

// SPDX-License-Identifier: Apache-2.0
#include "model/policy/lane_groups.hpp"

#include <bit>
#include <cstdint>

namespace warpfold {

LaneGroups lane_groups(const trace::WarpTrace& warp, const trace::Record& event) {
  LaneGroups groups;
  if (event.lane_primitives == trace::Record::kUniform) {
    groups.lanes[groups.count++] = event.mask;
    return groups;
  }
  const std::uint32_t* primitive = &warp.lane_primitives[event.lane_primitives];
  for (LaneMask rest = event.mask; rest != 0;) {
    const std::uint32_t lead = primitive[std::countr_zero(rest)];
    LaneMask group = 0;
    for (LaneMask m = rest; m != 0; m &= m - 1) {
      const int lane = std::countr_zero(m);
      if (primitive[lane] == lead) {
        group |= LaneMask{1} << lane;
      }
    }
    groups.lanes[groups.count++] = group;
    rest &= ~group;
  }
  return groups;
}

}  // namespace warpfold

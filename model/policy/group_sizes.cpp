// SPDX-License-Identifier: Apache-2.0
#include "model/policy/group_sizes.hpp"

#include <bit>
#include <cstddef>

#include "model/policy/lane_groups.hpp"
#include "model/policy/rule.hpp"

namespace warpfold {

std::uint32_t LaneCounts::lowest_alike(std::uint32_t threshold) const {
  const std::uint64_t below = bits_ & ((std::uint64_t{1} << threshold) - 1);
  return static_cast<std::uint32_t>(std::bit_width(below));
}

void GroupSizes::add(const trace::WarpTrace& warp) {
  for (const trace::Record& record : warp.records) {
    if (record.kind != trace::RecordKind::kEvent) {
      continue;
    }
    const LaneGroups groups = lane_groups(warp, record);
    for (std::size_t g = 0; g < groups.count; ++g) {
      groups_.add(lane_count(groups.lanes[g]));
    }
    events_.add(lane_count(record.mask));
  }
}

Policy GroupSizes::lowest_alike(Policy policy) const {
  policy.threshold = policy.rule->lowest_alike(*this, policy.threshold);
  return policy;
}

}  // namespace warpfold

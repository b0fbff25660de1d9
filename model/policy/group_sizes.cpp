// SPDX-License-Identifier: Apache-2.0
#include "model/policy/group_sizes.hpp"

#include <bit>

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

void GroupSizes::add(const trace::WarpTrace& warp) {
  for (const trace::Record& record : warp.records) {
    if (record.kind != trace::RecordKind::kEvent) {
      continue;
    }
    const LaneGroups groups = lane_groups(warp, record);
    std::uint64_t sizes = 0;
    for (std::size_t g = 0; g < groups.count; ++g) {
      sizes |= std::uint64_t{1} << lane_count(groups.lanes[g]);
    }
    groups_ |= sizes;
    events_ |= std::uint64_t{1} << lane_count(record.mask);
  }
}

Policy GroupSizes::lowest_alike(Policy policy) const {
  if (policy.kind != PolicyKind::kSwB && policy.kind != PolicyKind::kSwS) {
    return policy;
  }
  const std::uint64_t sizes = policy.kind == PolicyKind::kSwB ? events_ : groups_;
  const std::uint64_t below = sizes & ((std::uint64_t{1} << policy.threshold) - 1);
  policy.threshold = static_cast<std::uint32_t>(std::bit_width(below));
  return policy;
}

}  // namespace warpfold

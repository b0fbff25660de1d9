// SPDX-License-Identifier: Apache-2.0
// Which balancing thresholds a launch tells apart.
#pragma once

#include <cstdint>

#include "model/policy/policy.hpp"
#include "traces/format/trace.hpp"

namespace warpfold {

// Numbers of lanes that occur, 0 to 32.
class LaneCounts {
 public:
  void add(int lanes) { bits_ |= std::uint64_t{1} << lanes; }
  // The lowest threshold that parts them as `threshold` does.
  [[nodiscard]] std::uint32_t lowest_alike(std::uint32_t threshold) const;

 private:
  std::uint64_t bits_ = 0;  // bit n: of n lanes
};

// Sizes of all events of a launch, and of the groups of one primitive in them. Software with a
// balancing threshold compares it with nothing else, so two thresholds with no size between them
// are one and the same run: over warps whose lanes are all active, every threshold is.
class GroupSizes {
 public:
  void add(const trace::WarpTrace& warp);
  [[nodiscard]] const LaneCounts& events() const { return events_; }
  [[nodiscard]] const LaneCounts& groups() const { return groups_; }
  // The policy with the lowest threshold that decides every event added as `policy` does; `policy`
  // itself if it has none.
  [[nodiscard]] Policy lowest_alike(Policy policy) const;

 private:
  LaneCounts events_, groups_;
};

}  // namespace warpfold

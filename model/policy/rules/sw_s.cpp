// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "model/policy/rules/rule_file.hpp"

namespace warpfold::rules {

class SwS final : public PolicyRule {
 public:
  SwS()
      : PolicyRule({.name = "sw-s",
                    .source = "ARC 5.5.1",
                    .description = "ARC-SW serialized: lanes of one address are summed one after "
                                   "the other in software where at least X of them are active, "
                                   "else baseline.",
                    .variant = "sw-s",
                    .has_threshold = true}) {}

  [[nodiscard]] std::vector<CodePart> parts() const override {
    return {{.name = "check"},
            {.name = "plain", .behind = {"check"}},
            {.name = "setup"},
            {.name = "per_lane", .shuffles = kSerialTurn},
            {.name = "leader"}};
  }

  // Groups at or above the threshold run the serial loop together; the rest add directly. A group's
  // leader holds its own value already and takes one turn for each other lane.
  void expand(const WarpEvent& event, std::uint32_t threshold, EventSteps& steps) const override {
    const LaneGroups groups = event.groups();
    steps.run(kCheck);
    steps.match_values(kCheck, groups.count);
    LaneMask direct = 0;
    std::uint32_t turns = 0;
    for (std::size_t g = 0; g < groups.count; ++g) {
      const auto size = static_cast<std::uint32_t>(lane_count(groups.lanes[g]));
      if (size >= threshold) {
        turns = std::max(turns, size - 1);
      } else {
        direct |= groups.lanes[g];
      }
    }
    if (direct != event.mask()) {
      steps.run(kSetup);
      steps.run(kPerLane, turns);
      steps.run(kLeader);
      steps.add_sums(event.mask() & ~direct, SumOrder::kSerial);
    }
    if (direct != 0) {
      steps.run(kPlain);
      steps.add_lanes(direct);
    }
  }

  [[nodiscard]] std::uint32_t lowest_alike(const GroupSizes& sizes,
                                           std::uint32_t threshold) const override {
    return sizes.groups().lowest_alike(threshold);
  }

 private:
  enum Part : std::size_t { kCheck, kPlain, kSetup, kPerLane, kLeader };
};

template const PolicyRule& rule_of<SwS>();

}  // namespace warpfold::rules

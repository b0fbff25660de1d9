// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "model/policy/rules/rule_file.hpp"

namespace warpfold::rules {

class SharedSlot final : public PolicyRule {
 public:
  SharedSlot()
      : PolicyRule({.name = "shared-slot",
                    .source = "nvdiffrast",
                    .description = "Lanes of one address add in shared memory, in a slot of the "
                                   "lowest of them, which adds the sums.",
                    .variant = "shared-slot",
                    .compared = false}) {}

  [[nodiscard]] std::vector<CodePart> parts() const override {
    return {{.name = "check"},
            {.name = "plain"},
            {.name = "setup"},
            {.name = "turn"},
            {.name = "leader"}};
  }

  // All groups take the loops together. In each turn one lane of each group adds; the leader's
  // values are there before. The mask of a group is matched ahead of the loops and behind them.
  void expand(const WarpEvent& event, std::uint32_t /*threshold*/,
              EventSteps& steps) const override {
    const LaneGroups groups = event.groups();
    steps.run(kCheck);
    steps.match_values(kCheck, groups.count);
    LaneMask lone = 0;
    std::uint32_t turns = 0;
    std::size_t slots = 0;
    for (std::size_t g = 0; g < groups.count; ++g) {
      const auto size = static_cast<std::uint32_t>(lane_count(groups.lanes[g]));
      if (size == 1) {
        lone |= groups.lanes[g];
      } else {
        turns = std::max(turns, size - 1);
        ++slots;
      }
    }
    if (slots > 0) {
      steps.run(kSetup);
      steps.match_values(kSetup, slots);
      steps.run(kTurn, turns);
      steps.run(kLeader);
      steps.match_values(kLeader, slots);
      steps.add_sums(event.mask() & ~lone, SumOrder::kSerial);
    }
    if (lone != 0) {
      steps.run(kPlain);
      steps.add_lanes(lone);
    }
  }

  // A word for each parameter, lane and warp of the largest block that the code is for.
  [[nodiscard]] std::uint32_t shared_bytes(const trace::Header& header) const override {
    constexpr std::uint32_t kMostWarps = 8;
    std::uint32_t words = 0;
    for (const trace::Site& site : header.sites) {
      words += kMostWarps * kLanes * static_cast<std::uint32_t>(site.parameters.size());
    }
    return 4 * words;
  }

 private:
  enum Part : std::size_t { kCheck, kPlain, kSetup, kTurn, kLeader };
};

template const PolicyRule& rule_of<SharedSlot>();

}  // namespace warpfold::rules

// SPDX-License-Identifier: Apache-2.0
// A butterfly over the warp wherever its lanes share a primitive, for the policies whose code does
// that.
#pragma once

#include "model/policy/rules/rule_file.hpp"

namespace warpfold::rules {

class SkipRule : public PolicyRule {
 public:
  using PolicyRule::PolicyRule;

  // There is no code for lanes that differ in their primitive: they add as the baseline does.
  [[nodiscard]] std::vector<CodePart> parts() const final {
    return {{.name = "check"},
            {.name = "plain", .of_baseline = true},
            {.name = "butterfly", .shuffles = kButterflyRounds},
            {.name = "leader"}};
  }

  void expand(const WarpEvent& event, std::uint32_t /*threshold*/, EventSteps& steps) const final {
    steps.run(kCheck);
    if (event.groups().count != 1) {
      steps.run(kPlainApart);
      steps.add_lanes(event.mask());
      return;
    }
    steps.run(kButterfly);
    steps.run(kLeader);
    steps.add_sums(event.mask(), SumOrder::kButterfly);
  }

 private:
  enum Part : std::size_t { kCheck, kPlainApart, kButterfly, kLeader };
};

}  // namespace warpfold::rules

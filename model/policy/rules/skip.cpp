// SPDX-License-Identifier: Apache-2.0
#include "model/policy/rules/rule_file.hpp"

namespace warpfold::rules {

class Skip final : public PolicyRule {
 public:
  Skip()
      : PolicyRule({.name = "skip",
                    .source = "Atomic Aggregation, fig. 8",
                    .description = "Atomic Aggregation: butterfly reduction always; warps without "
                                   "an active lane skip it.",
                    .variant = "skip"}) {}

  // There is no code for lanes that differ in their primitive: they add as the baseline does.
  [[nodiscard]] std::vector<CodePart> parts() const override {
    return {{.name = "check"},
            {.name = "plain", .of_baseline = true},
            {.name = "butterfly", .shuffles = kButterflyRounds},
            {.name = "leader"}};
  }

  void expand(const WarpEvent& event, std::uint32_t /*threshold*/,
              EventSteps& steps) const override {
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

template const PolicyRule& rule_of<Skip>();

}  // namespace warpfold::rules

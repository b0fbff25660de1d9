// SPDX-License-Identifier: Apache-2.0
#include "model/policy/rules/rule_file.hpp"

namespace warpfold::rules {

class SwB final : public PolicyRule {
 public:
  SwB()
      : PolicyRule({.name = "sw-b",
                    .source = "ARC 5.5.2",
                    .description = "ARC-SW butterfly: shuffles sum the warp where all lanes share "
                                   "the primitive and at least X are active, else baseline.",
                    .variant = "sw-b",
                    .has_threshold = true}) {}

  [[nodiscard]] std::vector<CodePart> parts() const override {
    return {{.name = "check"},
            {.name = "agree"},
            {.name = "plain", .behind = {"check"}},
            {.name = "plain", .behind = {"check", "agree"}},
            {.name = "butterfly", .shuffles = kButterflyRounds},
            {.name = "leader"}};
  }

  // Looks whether lanes agree only where there are enough of them.
  void expand(const WarpEvent& event, std::uint32_t threshold, EventSteps& steps) const override {
    steps.run(kCheck);
    const bool enough = event.lanes() >= threshold;
    if (enough) {
      steps.run(kAgree);
    }
    if (!enough || event.groups().count != 1) {
      steps.run(enough ? kPlainApart : kPlain);
      steps.add_lanes(event.mask());
      return;
    }
    steps.run(kButterfly);
    steps.run(kLeader);
    steps.add_sums(event.mask(), SumOrder::kButterfly);
  }

  [[nodiscard]] std::uint32_t lowest_alike(const GroupSizes& sizes,
                                           std::uint32_t threshold) const override {
    return sizes.events().lowest_alike(threshold);
  }

 private:
  enum Part : std::size_t { kCheck, kAgree, kPlain, kPlainApart, kButterfly, kLeader };
};

template const PolicyRule& rule_of<SwB>();

}  // namespace warpfold::rules

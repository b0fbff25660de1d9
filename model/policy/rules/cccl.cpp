// SPDX-License-Identifier: Apache-2.0
#include "model/policy/rules/rule_file.hpp"

namespace warpfold::rules {

class Cccl final : public PolicyRule {
 public:
  Cccl()
      : PolicyRule({.name = "cccl",
                    .source = "ARC 7.2",
                    .description = "NVIDIA's CCCL: cub::WarpReduce with all lanes made active, in "
                                   "every pass of every warp.",
                    .variant = "cccl",
                    .every_pass = true}) {}

  // There is no code for lanes that differ in their primitive: they add as the baseline does.
  [[nodiscard]] std::vector<CodePart> parts() const override {
    return {{.name = "plain", .of_baseline = true},
            {.name = "butterfly", .shuffles = kButterflyRounds},
            {.name = "leader"}};
  }

  void expand(const WarpEvent& event, std::uint32_t /*threshold*/,
              EventSteps& steps) const override {
    if (event.groups().count != 1) {
      steps.run(kPlainApart);
      steps.add_lanes(event.mask());
      return;
    }
    steps.run(kButterfly);
    steps.run(kLeader);
    steps.add_sums(event.mask(), SumOrder::kNeighbours);
  }

 private:
  enum Part : std::size_t { kPlainApart, kButterfly, kLeader };
};

template const PolicyRule& rule_of<Cccl>();

}  // namespace warpfold::rules

// SPDX-License-Identifier: Apache-2.0
#include "model/policy/rule.hpp"
#include "model/policy/rules/rule_file.hpp"

namespace warpfold::rules {

class None final : public PolicyRule {
 public:
  None()
      : PolicyRule({.name = "none",
                    .source = "variant none of a capture",
                    .description =
                        "No additions and none of their code: what the rest of the kernel takes, a "
                        "floor for all others.",
                    .path = AdditionPath::kNowhere,
                    .compared = false}) {}

  [[nodiscard]] std::vector<CodePart> parts() const override { return {}; }
  void expand(const WarpEvent& event, std::uint32_t /*threshold*/,
              EventSteps& steps) const override {
    steps.leave_out(event.mask());
  }
};

template const PolicyRule& rule_of<None>();

}  // namespace warpfold::rules

// SPDX-License-Identifier: Apache-2.0
// Software that adds every lane by itself: the baseline, and all policies in hardware.
#pragma once

#include "model/policy/rule.hpp"

namespace warpfold {

class PlainRule : public PolicyRule {
 public:
  using PolicyRule::PolicyRule;

  [[nodiscard]] std::vector<CodePart> parts() const override;
  void expand(const WarpEvent& event, std::uint32_t threshold, EventSteps& steps) const override;
};

}  // namespace warpfold

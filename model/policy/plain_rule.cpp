// SPDX-License-Identifier: Apache-2.0
#include "model/policy/plain_rule.hpp"

namespace warpfold {

std::vector<CodePart> PlainRule::parts() const {
  return {{.name = "plain"}};
}

void PlainRule::expand(const WarpEvent& event, std::uint32_t /*threshold*/,
                       EventSteps& steps) const {
  steps.run(0);
  steps.add_lanes(event.mask());
}

}  // namespace warpfold

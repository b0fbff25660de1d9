// SPDX-License-Identifier: Apache-2.0
#include "model/policy/plain_rule.hpp"
#include "model/policy/rules/rule_file.hpp"

namespace warpfold::rules {

class ArcHw final : public PlainRule {
 public:
  ArcHw()
      : PlainRule({.name = "arc-hw",
                   .source = "ARC 5.1",
                   .description =
                       "ARC-HW: atomred through the ARC scheduler to the reduction unit of the "
                       "sub-core where the memory path is stalled, else plain REDs.",
                   .path = AdditionPath::kUnit}) {}
};

template const PolicyRule& rule_of<ArcHw>();

}  // namespace warpfold::rules

// SPDX-License-Identifier: Apache-2.0
#include "model/policy/plain_rule.hpp"
#include "model/policy/rules/rule_file.hpp"

namespace warpfold::rules {

class ArcMergeL2 final : public PlainRule {
 public:
  ArcMergeL2()
      : PlainRule(
            {.name = "arc-merge-l2",
             .source = "rtl/README.md",
             .description = "As arc-hw; sums and REDs to one sector merge at the port of the L2.",
             .path = AdditionPath::kUnit,
             .compared = false,
             .merge = MergePlace::kL2Port}) {}
};

template const PolicyRule& rule_of<ArcMergeL2>();

}  // namespace warpfold::rules

// SPDX-License-Identifier: Apache-2.0
#include "model/policy/plain_rule.hpp"
#include "model/policy/rules/rule_file.hpp"

namespace warpfold::rules {

class ArcMerge final : public PlainRule {
 public:
  ArcMerge()
      : PlainRule(
            {.name = "arc-merge",
             .source = "rtl/README.md",
             .description = "As arc-hw; sums and REDs to one sector merge in a buffer of the SM.",
             .path = AdditionPath::kUnit,
             .compared = false,
             .merge = MergePlace::kSm}) {}
};

template const PolicyRule& rule_of<ArcMerge>();

}  // namespace warpfold::rules

// SPDX-License-Identifier: Apache-2.0
#include "model/policy/rules/skip_rule.hpp"

namespace warpfold::rules {

class Skip final : public SkipRule {
 public:
  Skip()
      : SkipRule({.name = "skip",
                  .source = "Atomic Aggregation, fig. 8",
                  .description = "Atomic Aggregation: butterfly reduction always; warps without "
                                 "an active lane skip it.",
                  .variant = "skip"}) {}
};

template const PolicyRule& rule_of<Skip>();

}  // namespace warpfold::rules

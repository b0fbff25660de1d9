// SPDX-License-Identifier: Apache-2.0
#include "model/policy/rules/skip_rule.hpp"

namespace warpfold::rules {

class SkipVector final : public SkipRule {
 public:
  SkipVector()
      : SkipRule({.name = "skip-vector",
                  .source = "Atomic Aggregation, fig. 8",
                  .description = "The same as skip, and the sums of a struct leave by vector REDs "
                                 "of up to four floats.",
                  .variant = "skip-vector",
                  .compared = false,
                  .words = 4}) {}
};

template const PolicyRule& rule_of<SkipVector>();

}  // namespace warpfold::rules

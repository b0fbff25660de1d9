// SPDX-License-Identifier: Apache-2.0
#include "model/policy/plain_rule.hpp"
#include "model/policy/rules/rule_file.hpp"

namespace warpfold::rules {

class Baseline final : public PlainRule {
 public:
  Baseline()
      : PlainRule(
            {.name = "baseline",
             .source = "all papers",
             .description =
                 "Every active lane's addition goes to the ROP units at the L2 as a plain RED."}) {}
};

template const PolicyRule& rule_of<Baseline>();

}  // namespace warpfold::rules

// SPDX-License-Identifier: Apache-2.0
#include "model/policy/plain_rule.hpp"
#include "model/policy/rules/rule_file.hpp"

namespace warpfold::rules {

class Vector final : public PlainRule {
 public:
  Vector()
      : PlainRule({.name = "vector",
                   .source = "PTX, red.v4.f32",
                   .description = "Every active lane adds to a struct by vector REDs of up to four "
                                  "floats, as sm_90 has them; elsewhere by plain REDs.",
                   .variant = "vector",
                   .compared = false,
                   .words = 4}) {}
};

template const PolicyRule& rule_of<Vector>();

}  // namespace warpfold::rules

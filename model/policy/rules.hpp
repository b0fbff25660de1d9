// SPDX-License-Identifier: Apache-2.0
// The list of all policies.
#pragma once

#include <span>

namespace warpfold {
class PolicyRule;
}  // namespace warpfold

namespace warpfold::rules {

// The only object of a rule's class. Defined for the rule's own file (rules/rule_file.hpp).
template <typename Rule>
const PolicyRule& rule_of();

using RuleGetter = const PolicyRule& (*)();
// In the order in which they are listed and compared; the first is the baseline.
std::span<const RuleGetter> all();

}  // namespace warpfold::rules

// SPDX-License-Identifier: Apache-2.0
// For the files of this folder alone, each of which ends with
//   template const PolicyRule& rule_of<MyRule>();
// for each rule that it defines: that makes the object which the line in rules.cpp names.
#pragma once

#include "model/policy/rule.hpp"
#include "model/policy/rules.hpp"

namespace warpfold::rules {

template <typename Rule>
const PolicyRule& rule_of() {
  static const Rule rule;
  return rule;
}

}  // namespace warpfold::rules

// SPDX-License-Identifier: Apache-2.0
// A rule of the golden unit: where its scheduler sends a transaction (ARC 5.1). The machine file
// names one, rules.scheduler; `warpfold rules` lists them. Each is one file in scheduler/ and one
// line in model/rules.cmake. The RTL has the greedy one.
#pragma once

#include <string_view>

#include "model/base/rule_list.hpp"
#include "model/types.hpp"

namespace warpfold {

// What stands in front of the scheduler in a cycle in which the memory queue has room and no sum
// goes there.
struct SchedulerOffer {
  LaneMask lanes = 0;         // of the transaction, which have one address
  bool reduce_ready = false;  // the reduction unit takes a transaction in this cycle
  bool scattered = false;     // lanes of several addresses, which cannot be summed
};

struct SchedulerRule {
  std::string_view name;
  std::string_view source;
  std::string_view description;
  // Whether the lanes go on as plain REDs. Else they go to the reduction unit, or wait for it.
  // Lanes that cannot be summed must go on.
  bool (*passes_on)(const SchedulerOffer& offer);
};

const RuleList<SchedulerRule>& scheduler_rules();

}  // namespace warpfold

// SPDX-License-Identifier: Apache-2.0
// A rule of the golden unit: where its scheduler sends a transaction (ARC 5.1). The machine file
// names one, rules.scheduler; `warpfold rules` lists them. Each is one file in scheduler/ and one
// line in model/rules.cmake. The RTL has greedy and reduce-groups, and the vector unit the latter
// alone; unit_scheduler() is what a kind has by default.
#pragma once

#include <string_view>

#include "model/base/rule_list.hpp"
#include "model/types.hpp"

namespace warpfold {

// What stands in front of the scheduler in a cycle.
struct SchedulerOffer {
  LaneMask lanes = 0;         // of the transaction, which have one address
  bool reduce_ready = false;  // the reduction unit takes a transaction in this cycle
  bool scattered = false;     // all lanes left may go on as one RED: two have no other's address
  bool all_lone = false;      // each lane left has been found alone on its address
  bool congested = false;     // the memory path, if the rule watches it (congestion.hpp)
  // What goes which way must follow from the request alone: the vector unit promises it.
  bool by_request = false;
};

struct SchedulerRule {
  std::string_view name;
  std::string_view source;
  std::string_view description;
  // Whether the lanes go on as plain REDs: asked when the memory queue has room and no sum goes
  // there. Else they go to the reduction unit, or wait for it. Lanes that cannot be summed, those
  // that are left and lone, must go on.
  bool (*passes_on)(const SchedulerOffer& offer);
  // Whether a transaction that does not go on may go to the reduction unit; without it, any may.
  // One that may not waits for the memory queue.
  bool (*reduces)(const SchedulerOffer& offer) = nullptr;
  bool watches_path = false;  // it looks at `congested`
};

const RuleList<SchedulerRule>& scheduler_rules();

}  // namespace warpfold

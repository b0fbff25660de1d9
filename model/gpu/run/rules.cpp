// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/run/rules.hpp"

#include <string>

#include "model/gpu/memory/service_order.hpp"
#include "model/gpu/noc/slice_map.hpp"
#include "model/gpu/sm/packet_shape.hpp"
#include "model/gpu/sm/queue_admission.hpp"
#include "model/gpu/sm/red_wait.hpp"
#include "model/unit/arc_scheduler.hpp"

namespace warpfold {

namespace {

// Calls visit(list, name) for each kind, with what that machine names, or nothing.
template <typename Visitor>
void visit_rules(const GpuConfig& config, Visitor&& visit) {
  visit(admission_rules(), config.rules.admission);
  visit(scheduler_rules(), config.rules.scheduler);
  visit(l2_order_rules(), config.rules.l2_order);
  visit(slice_map_rules(), config.rules.slice_map);
  visit(red_wait_rules(), config.rules.red_wait);
  visit(packets_rules(), config.rules.packets);
}

}  // namespace

std::vector<RuleInfo> rule_infos() {
  std::vector<RuleInfo> infos;
  visit_rules(GpuConfig{}, [&infos](const auto& list, const RuleName& /*named*/) {
    for (const auto* rule : list.all()) {
      infos.push_back({.kind = list.kind(),
                       .name = rule->name,
                       .source = rule->source,
                       .description = rule->description});
    }
  });
  return infos;
}

void check_rules(const GpuConfig& config) {
  visit_rules(config, [](const auto& list, const RuleName& named) {
    if (!named.name.empty()) {
      static_cast<void>(list.find(named.name));
    }
  });
}

}  // namespace warpfold

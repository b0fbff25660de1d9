// SPDX-License-Identifier: Apache-2.0
// Makes the units: the golden one of any kind, and the RTL of those that rtl/units.json names, as
// Verilator compiled it for each of them with each scheduler.
#include <algorithm>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "model/unit/golden_words.hpp"
#include "model/unit/rtl_units.hpp"
#include "model/unit/unit_declaration.hpp"
#include "model/unit/verilated_unit.hpp"

namespace warpfold {

namespace {

// Which of the rows of the list it is, and its class.
struct RtlRow {
  std::string_view unit;
  std::string_view scheduler;
  std::unique_ptr<ArcUnit> (*make)(const ArcUnit::Ports& ports);
};

template <class Model>
std::unique_ptr<ArcUnit> make_rtl(const ArcUnit::Ports& ports) {
  return std::make_unique<RtlUnit<Model>>(ports);
}

#define WARPFOLD_RTL_ROW(unit, scheduler, model) RtlRow{unit, scheduler, make_rtl<model>},
constexpr RtlRow kRtl[] = {WARPFOLD_RTL_UNITS(WARPFOLD_RTL_ROW)};
#undef WARPFOLD_RTL_ROW

void refuse_rtl(const UnitKind& kind, std::string_view scheduler) {
  const std::string name(unit_kind_name(kind));
  if (std::ranges::find(unit_kinds(), kind) == unit_kinds().end()) {
    throw std::invalid_argument("no RTL of unit kind " + name + " is built in, of " +
                                unit_kind_list(", ", " and ") +
                                " alone (rtl/units.json); --unit golden has it");
  }
  std::string has;
  for (const std::string_view one : unit_schedulers(kind)) {
    has += (has.empty() ? "" : " and ") + std::string(one);
  }
  throw std::invalid_argument("rules.scheduler '" + std::string(scheduler) + "': the RTL of kind " +
                              name + " has " + has + "; --unit golden has the others");
}

}  // namespace

std::unique_ptr<ArcUnit> make_unit(UnitModel model, const UnitKind& kind,
                                   std::string_view scheduler) {
  const SchedulerRule& rule =
      scheduler_rules().find(scheduler.empty() ? unit_scheduler(kind) : scheduler);
  if (model == UnitModel::kGolden) {
    return with_golden_unit(kind,
                            [&]<class Unit>(std::type_identity<Unit>) -> std::unique_ptr<ArcUnit> {
                              return std::make_unique<Unit>(kind, rule);
                            });
  }
  const std::string_view name = unit_kind_name(kind);
  const auto row = std::ranges::find_if(
      kRtl, [&](const RtlRow& one) { return one.unit == name && one.scheduler == rule.name; });
  if (row == std::ranges::end(kRtl)) {
    refuse_rtl(kind, rule.name);
  }
  return row->make(ports_with(kind, rule.watches_path && kind.max_words == 1));
}

}  // namespace warpfold

// SPDX-License-Identifier: Apache-2.0
// Makes the units: the golden one, and the RTL as Verilator compiled it for each kind and
// scheduler.
#include <algorithm>
#include <array>
#include <span>
#include <stdexcept>
#include <string>

#include "Varc_subcore_fused.h"
#include "Varc_subcore_fused_groups.h"
#include "Varc_subcore_halves.h"
#include "Varc_subcore_halves_groups.h"
#include "Varc_subcore_paired.h"
#include "Varc_subcore_paired_groups.h"
#include "Varc_subcore_pipelined.h"
#include "Varc_subcore_pipelined_groups.h"
#include "Varc_subcore_serial.h"
#include "Varc_subcore_serial_groups.h"
#include "Varc_subcore_vector.h"
#include "model/unit/golden_fused.hpp"
#include "model/unit/golden_paired.hpp"
#include "model/unit/golden_unit.hpp"
#include "model/unit/golden_vector.hpp"
#include "model/unit/unit_declaration.hpp"
#include "model/unit/verilated_unit.hpp"

namespace warpfold {

namespace {

constexpr std::array<std::string_view, 2> kSchedulers = {"greedy", "reduce-groups"};

// What the RTL of a kind may have; first what it has by default.
std::span<const std::string_view> rtl_schedulers(UnitKind kind) {
  return kind == UnitKind::kVector ? std::span(kSchedulers).subspan(1) : std::span(kSchedulers);
}

// `Greedy`, `Groups`: the Verilated classes with these schedulers.
template <class Reduction, class Greedy, class Groups>
std::unique_ptr<ArcUnit> make(UnitModel model, const SchedulerRule& scheduler) {
  if (model == UnitModel::kGolden) {
    return std::make_unique<GoldenUnit<Reduction>>(scheduler);
  }
  if (scheduler.name == "reduce-groups") {
    constexpr bool kWatches = !Reduction::kByRequest;
    return std::make_unique<RtlUnit<Groups>>(ports_with<Reduction>(kWatches));
  }
  return std::make_unique<RtlUnit<Greedy>>(Reduction::kPorts);
}

void refuse_rtl_scheduler(UnitKind kind, std::string_view scheduler) {
  std::string has;
  for (const std::string_view name : rtl_schedulers(kind)) {
    has += (has.empty() ? "" : " and ") + std::string(name);
  }
  throw std::invalid_argument("rules.scheduler '" + std::string(scheduler) + "': the RTL of kind " +
                              std::string(unit_kind_name(kind)) + " has " + has +
                              "; --unit golden has the others");
}

}  // namespace

std::string_view unit_scheduler(UnitKind kind) {
  return rtl_schedulers(kind).front();
}

std::unique_ptr<ArcUnit> make_unit(UnitModel model, UnitKind kind, std::string_view scheduler) {
  const SchedulerRule& rule =
      scheduler_rules().find(scheduler.empty() ? unit_scheduler(kind) : scheduler);
  if (model == UnitModel::kRtl && std::ranges::count(rtl_schedulers(kind), rule.name) == 0) {
    refuse_rtl_scheduler(kind, scheduler);
  }
  switch (kind) {
    case UnitKind::kSerial:
      return make<GoldenSerial, Varc_subcore_serial, Varc_subcore_serial_groups>(model, rule);
    case UnitKind::kPipelined:
      return make<GoldenPipelined, Varc_subcore_pipelined, Varc_subcore_pipelined_groups>(model,
                                                                                          rule);
    case UnitKind::kFused:
      return make<GoldenFused, Varc_subcore_fused, Varc_subcore_fused_groups>(model, rule);
    case UnitKind::kVector:
      return make<GoldenVector, Varc_subcore_vector, Varc_subcore_vector>(model, rule);
    case UnitKind::kHalves:
      return make<GoldenHalves, Varc_subcore_halves, Varc_subcore_halves_groups>(model, rule);
    case UnitKind::kPaired:
      return make<GoldenPaired, Varc_subcore_paired, Varc_subcore_paired_groups>(model, rule);
  }
  throw std::invalid_argument("no unit of this kind");
}

}  // namespace warpfold

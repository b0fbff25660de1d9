// SPDX-License-Identifier: Apache-2.0
// Makes the units: the golden one, and the RTL as Verilator compiled it for each kind.
#include <stdexcept>
#include <string>

#include "Varc_subcore_fused.h"
#include "Varc_subcore_pipelined.h"
#include "Varc_subcore_serial.h"
#include "Varc_subcore_vector.h"
#include "model/unit/golden_fused.hpp"
#include "model/unit/golden_unit.hpp"
#include "model/unit/golden_vector.hpp"
#include "model/unit/unit_declaration.hpp"
#include "model/unit/verilated_unit.hpp"

namespace warpfold {

namespace {

template <class Reduction, class Model>
std::unique_ptr<ArcUnit> make(UnitModel model, const SchedulerRule& scheduler) {
  if (model == UnitModel::kGolden) {
    return std::make_unique<GoldenUnit<Reduction>>(scheduler);
  }
  return std::make_unique<RtlUnit<Model>>(Reduction::kPorts);
}

}  // namespace

std::string_view unit_scheduler(UnitKind kind) {
  return kind == UnitKind::kVector ? GoldenVector::kScheduler : GoldenFused::kScheduler;
}

std::unique_ptr<ArcUnit> make_unit(UnitModel model, UnitKind kind, std::string_view scheduler) {
  const std::string_view of_rtl = unit_scheduler(kind);
  const SchedulerRule& rule = scheduler_rules().find(scheduler.empty() ? of_rtl : scheduler);
  if (model == UnitModel::kRtl && rule.name != of_rtl) {
    throw std::invalid_argument("rules.scheduler '" + std::string(scheduler) +
                                "': the RTL of kind " + std::string(unit_kind_name(kind)) +
                                " has " + std::string(of_rtl) + "; --unit golden has the others");
  }
  switch (kind) {
    case UnitKind::kSerial:
      return make<GoldenSerial, Varc_subcore_serial>(model, rule);
    case UnitKind::kPipelined:
      return make<GoldenPipelined, Varc_subcore_pipelined>(model, rule);
    case UnitKind::kFused:
      return make<GoldenFused, Varc_subcore_fused>(model, rule);
    case UnitKind::kVector:
      return make<GoldenVector, Varc_subcore_vector>(model, rule);
  }
  throw std::invalid_argument("no unit of this kind");
}

}  // namespace warpfold

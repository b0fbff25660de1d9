// SPDX-License-Identifier: Apache-2.0
// What all units share, without any: names, and what a register file answers.
#include <bit>
#include <stdexcept>
#include <string>

#include "model/unit/arc_unit.hpp"
#include "model/unit/unit_declaration.hpp"

namespace warpfold {

UnitModel parse_unit_model(std::string_view name) {
  for (const UnitModel model : {UnitModel::kGolden, UnitModel::kRtl}) {
    if (name == unit_model_name(model)) {
      return model;
    }
  }
  throw std::invalid_argument("unknown unit '" + std::string(name) + "': golden or rtl");
}

std::string_view unit_model_name(UnitModel model) {
  return model == UnitModel::kGolden ? "golden" : "rtl";
}

UnitKind parse_unit_kind(std::string_view name) {
  for (const UnitKind kind : kUnitKinds) {
    if (name == unit_kind_name(kind)) {
      return kind;
    }
  }
  std::string names;
  for (std::size_t i = 0; i < kUnitDeclarations.size(); ++i) {
    const bool last = i + 1 == kUnitDeclarations.size();
    names += (i == 0 ? "" : last ? " or " : ", ") + std::string(kUnitDeclarations[i].name);
  }
  throw std::invalid_argument("unknown unit kind '" + std::string(name) + "': " + names);
}

std::string_view unit_kind_name(UnitKind kind) {
  return unit_declaration(kind).name;
}

void answer_read(UnitInputs& inputs, const ArcUnit::Ports& ports, LaneMask lanes,
                 const std::array<Fp32Bits, kLanes>& operand) {
  for (; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(lanes));
    inputs.rf_data[lane % ports.read_lanes] = operand[lane];
  }
  if (ports.sees_exponents) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      inputs.rf_bins[lane] = exponent_bin(operand[lane]);
    }
  }
}

void answer_read(UnitInputs& inputs, UnitKind kind, LaneMask lanes,
                 const std::array<Fp32Bits, kLanes>& operand) {
  answer_read(inputs, unit_declaration(kind).ports, lanes, operand);
}

}  // namespace warpfold

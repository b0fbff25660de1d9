// SPDX-License-Identifier: Apache-2.0
// Every unit that there is as RTL, a kind with a scheduler, for tests that take them all.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "model/unit/arc_unit.hpp"

namespace warpfold {

struct UnitOfRtl {
  UnitKind kind = UnitKind::kSerial;
  std::string_view scheduler;  // empty: that of the kind

  [[nodiscard]] std::unique_ptr<ArcUnit> make(UnitModel model) const {
    return make_unit(model, kind, scheduler);
  }
};

inline constexpr UnitOfRtl kUnitsOfRtl[] = {
    {UnitKind::kSerial, {}},
    {UnitKind::kPipelined, {}},
    {UnitKind::kFused, {}},
    {UnitKind::kVector, {}},
    {UnitKind::kHalves, {}},
    {UnitKind::kPaired, {}},
    {UnitKind::kSerial, "reduce-groups"},
    {UnitKind::kPipelined, "reduce-groups"},
    {UnitKind::kFused, "reduce-groups"},
    {UnitKind::kHalves, "reduce-groups"},
    {UnitKind::kPaired, "reduce-groups"},
};

inline std::string unit_test_name(const testing::TestParamInfo<UnitOfRtl>& parameter) {
  return std::string(unit_kind_name(parameter.param.kind)) +
         (parameter.param.scheduler.empty() ? "" : "_groups");
}

}  // namespace warpfold

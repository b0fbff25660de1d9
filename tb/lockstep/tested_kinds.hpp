// SPDX-License-Identifier: Apache-2.0
// The kinds of the unit that exist both as golden unit and as RTL, for tests that run on each.
#pragma once

#include <array>
#include <string>

#include "model/unit/arc_unit.hpp"

namespace warpfold {

inline constexpr std::array kTestedKinds = {UnitKind::kSerial, UnitKind::kPipelined};

// For the names of tests.
inline std::string test_name(UnitKind kind) {
  return std::string(unit_kind_name(kind));
}

}  // namespace warpfold

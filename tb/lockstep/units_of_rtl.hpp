// SPDX-License-Identifier: Apache-2.0
// Every unit that there is as RTL, a kind with a scheduler, for tests that take them all.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/unit/arc_unit.hpp"

namespace warpfold {

struct UnitOfRtl {
  UnitKind kind = UnitKind::kSerial;
  std::string_view scheduler;

  [[nodiscard]] std::unique_ptr<ArcUnit> make(UnitModel model) const {
    return make_unit(model, kind, scheduler);
  }
};

inline std::vector<UnitOfRtl> units_of_rtl() {
  std::vector<UnitOfRtl> units;
  for (const UnitKind& kind : unit_kinds()) {
    for (const std::string_view scheduler : unit_schedulers(kind)) {
      units.push_back({kind, scheduler});
    }
  }
  return units;
}

// A kind, and a kind with its scheduler, in the name of a test.
inline std::string kind_test_name(const UnitKind& kind) {
  std::string name(unit_kind_name(kind));
  std::ranges::replace(name, '-', '_');
  return name;
}
inline std::string unit_test_name(const testing::TestParamInfo<UnitOfRtl>& parameter) {
  return kind_test_name(parameter.param.kind) +
         (parameter.param.scheduler == "greedy" ? "" : "_groups");
}

}  // namespace warpfold

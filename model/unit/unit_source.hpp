// SPDX-License-Identifier: Apache-2.0
// Where the units of a run come from, which is decided here alone: golden units or RTL of a kind,
// or units of somebody else, each at the SM's clock or slower. A plain value; the library outlives
// it and the units made.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "model/unit/arc_unit.hpp"
#include "model/unit/unit_declaration.hpp"
#include "model/unit/unit_library.hpp"

namespace warpfold {

struct UnitSource {
  UnitModel model = UnitModel::kRtl;
  UnitKind kind = UnitKind::kSerial;
  const UnitLibrary* library = nullptr;  // instead of these two
  std::uint32_t divider = 1;             // cycles of the SM in one of the unit, from 1 on

  [[nodiscard]] UnitDeclaration declaration() const {
    return library != nullptr ? library->declaration() : unit_declaration(kind);
  }
  // As results name them: "golden", "rtl" or "library"; "paired", "serial/3".
  [[nodiscard]] std::string_view model_name() const {
    return library != nullptr ? "library" : unit_model_name(model);
  }
  [[nodiscard]] std::string name() const;
  // In reset state. `scheduler`: as of make_unit(); a library has its own.
  [[nodiscard]] std::unique_ptr<ArcUnit> make(std::string_view scheduler = {}) const;
};

}  // namespace warpfold

// SPDX-License-Identifier: Apache-2.0
#include "model/unit/unit_source.hpp"

#include <utility>

#include "model/unit/slow_unit.hpp"

namespace warpfold {

std::string UnitSource::name() const {
  return std::string(declaration().name) + (divider == 1 ? "" : "/" + std::to_string(divider));
}

std::unique_ptr<ArcUnit> UnitSource::make(std::string_view scheduler) const {
  std::unique_ptr<ArcUnit> unit =
      library != nullptr ? library->make() : make_unit(model, kind, scheduler);
  return divider == 1 ? std::move(unit) : std::make_unique<SlowUnit>(std::move(unit), divider);
}

}  // namespace warpfold

// SPDX-License-Identifier: Apache-2.0
// The golden serial unit as a unit of somebody else.
#include "model/unit/golden_words.hpp"
#include "model/unit/unit_library.hpp"

WARPFOLD_UNIT_LIBRARY(
    warpfold::unit_declaration(warpfold::UnitKind::kSerial),
    new warpfold::GoldenUnitOf<warpfold::UnitKind::kSerial>(warpfold::UnitKind::kSerial))

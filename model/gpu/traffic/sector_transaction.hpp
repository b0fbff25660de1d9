// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/gpu/traffic/line_sums.hpp"
#include "model/gpu/traffic/tally.hpp"
#include "model/gpu/traffic/transaction.hpp"

namespace warpfold {

// A transaction that adds what a buffer sends of a sector, which lies in `pool` meanwhile; the
// tally counts it. Its flits are for who sends it to say.
Transaction sector_transaction(LineSumsPool& pool, Tally& tally, const SumsOfSector& sector);

}  // namespace warpfold

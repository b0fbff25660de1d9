// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/traffic/sector_transaction.hpp"

#include <algorithm>
#include <bit>

namespace warpfold {

Transaction sector_transaction(LineSumsPool& pool, Tally& tally, const SumsOfSector& sector) {
  const auto first = sector.address % kLineBytes / sizeof(Fp32Bits);
  Transaction transaction;
  transaction.partial = true;
  transaction.whole = std::popcount(sector.words) == kSectorWords;
  transaction.sectors = sector_bit(sector.address);
  transaction.turns = 1;
  transaction.packets = 1;
  transaction.mask = sector.words << first;
  transaction.address = sector.address;
  LineSums line{};
  std::copy(sector.sums.begin(), sector.sums.end(), line.begin() + first);
  transaction.data = pool.put(line);
  tally.buffer_reduced += static_cast<std::uint64_t>(std::popcount(sector.words));
  return transaction;
}

}  // namespace warpfold

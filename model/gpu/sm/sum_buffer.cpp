// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/sm/sum_buffer.hpp"

#include <algorithm>
#include <bit>

#include "model/gpu/sm/packet_shape.hpp"

namespace warpfold {

Transaction sector_transaction(const SmContext& context, Address sector, std::uint32_t words,
                               const SectorSums& sums) {
  const auto first = sector % kLineBytes / sizeof(Fp32Bits);
  Transaction transaction;
  transaction.partial = true;
  transaction.whole = std::popcount(words) == kSectorWords;
  transaction.sectors = sector_bit(sector);
  transaction.turns = 1;
  transaction.packets = 1;
  transaction.mask = words << first;
  const bool lone = std::has_single_bit(words);
  transaction.lone_words = lone ? 1 : 0;
  transaction.flits = static_cast<std::uint16_t>(packets_of(context.config).flits(1, true, lone));
  transaction.address = sector;
  LineSums line{};
  std::copy(sums.begin(), sums.end(), line.begin() + first);
  transaction.data = context.sums.put(line);
  context.tally.buffer_reduced += static_cast<std::uint64_t>(std::popcount(words));
  return transaction;
}

}  // namespace warpfold

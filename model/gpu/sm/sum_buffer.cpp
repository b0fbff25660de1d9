// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/sm/sum_buffer.hpp"

#include <bit>

#include "model/gpu/sm/packet_shape.hpp"
#include "model/gpu/traffic/sector_transaction.hpp"

namespace warpfold {

Transaction sector_packet(const SmContext& context, const SumsOfSector& sector) {
  Transaction transaction = sector_transaction(context.sums, context.tally, sector);
  const bool lone = std::has_single_bit(sector.words);
  transaction.lone_words = lone ? 1 : 0;
  transaction.flits = static_cast<std::uint16_t>(packets_of(context.config).flits(1, true, lone));
  return transaction;
}

}  // namespace warpfold

// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/memory/rop_adder.hpp"

#include <bit>
#include <cstdint>

#include "model/unit/fp32.hpp"

namespace warpfold {

void RopAdder::add(Transaction& transaction) {
  if (transaction.reduced) {
    Fp32Bits& cell = cell_of(transaction);
    cell = word_add(type_of(transaction), cell, transaction.data);
    ++context_.tally.sums_added;
    return;
  }
  if (transaction.partial) {
    add_partial(transaction);
    return;
  }
  add_lanes(transaction);
  transaction.event = {};
}

void RopAdder::add_lanes(const Transaction& transaction) {
  const std::uint32_t p = transaction.parameter;
  const WordType type = type_of(transaction);
  const EventValues values(transaction.event, context_.addresses);
  if (transaction.uniform) {
    Fp32Bits& cell = cell_of(transaction);
    Fp32Bits sum = cell;
    for (LaneMask rest = transaction.mask; rest != 0; rest &= rest - 1) {
      sum = word_add(type, sum, values.of(p, static_cast<std::uint32_t>(std::countr_zero(rest))));
    }
    cell = sum;
  } else {
    for (LaneMask rest = transaction.mask; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
      Fp32Bits& cell = cell_of(transaction, lane);
      cell = word_add(type, cell, values.of(p, lane));
    }
  }
  context_.tally.lanes_added += static_cast<std::uint64_t>(lane_count(transaction.mask));
}

// Sums of a line, in the order of their addresses. Those of a buffer may be of any parameter.
void RopAdder::add_partial(const Transaction& transaction) {
  const AddressMap& addresses = context_.addresses;
  const LineSums sums = context_.sums.take(transaction.data);
  const Address line = transaction.address / kLineBytes * kLineBytes;
  for (std::uint32_t rest = transaction.mask; rest != 0; rest &= rest - 1) {
    const auto word = static_cast<std::uint32_t>(std::countr_zero(rest));
    const Address address = line + word * sizeof(Fp32Bits);
    const WordType type =
        addresses.any_halves()
            ? addresses.type_of(addresses.parameter_at(address, transaction.parameter))
            : WordType::kFp32;
    Fp32Bits& cell = context_.memory[addresses.element_at(address, transaction.parameter)];
    cell = word_add(type, cell, sums[word]);
  }
  std::uint64_t& counter = transaction.own ? context_.tally.lanes_added : context_.tally.sums_added;
  counter += static_cast<std::uint64_t>(lane_count(transaction.mask));
}

void RopAdder::prefetch(const Transaction& transaction) const {
  if (transaction.partial) {
    return;
  }
  if (transaction.reduced || transaction.uniform) {
    __builtin_prefetch(&cell_of(transaction));
    return;
  }
  for (LaneMask rest = transaction.mask; rest != 0; rest &= rest - 1) {
    __builtin_prefetch(&cell_of(transaction, static_cast<std::uint32_t>(std::countr_zero(rest))));
  }
}

}  // namespace warpfold

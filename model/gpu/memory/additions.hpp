// SPDX-License-Identifier: Apache-2.0
// Additions to bytes, and those of a transaction one by one. Pure functions.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>

#include "model/gpu/cta/gradient_memory.hpp"
#include "model/gpu/memory/outside.hpp"
#include "model/gpu/memory/rop_adder.hpp"
#include "model/unit/fp32.hpp"

namespace warpfold {

// To the word at the front, as it lies in memory: the lowest byte first.
inline void add_to(std::span<std::uint8_t> bytes, const Addition& addition) {
  Fp32Bits word = 0;
  for (std::size_t i = 0; i < sizeof word; ++i) {
    word |= Fp32Bits{bytes[i]} << 8 * i;
  }
  word = word_add(addition.type, word, addition.value);
  for (std::size_t i = 0; i < sizeof word; ++i) {
    bytes[i] = static_cast<std::uint8_t>(word >> 8 * i);
  }
}

// Calls visit(Addition) for each that a transaction does, in the order of RopAdder. Takes nothing
// from the transaction.
template <typename Visitor>
void for_each_addition(const Transaction& transaction, const RopAdder::Context& context,
                       Visitor&& visit) {
  const AddressMap& addresses = context.addresses;
  const std::uint32_t p = transaction.parameter;
  const auto set_bits = [](std::uint32_t bits, auto&& each) {
    for (; bits != 0; bits &= bits - 1) {
      each(static_cast<std::uint32_t>(std::countr_zero(bits)));
    }
  };
  if (transaction.reduced) {
    visit(Addition{
        .address = transaction.address, .type = addresses.type_of(p), .value = transaction.data});
  } else if (transaction.partial) {
    const LineSums sums = context.sums.look(transaction.data);
    const Address line = transaction.address / kLineBytes * kLineBytes;
    set_bits(transaction.mask, [&](std::uint32_t word) {
      const Address address = line + word * sizeof(Fp32Bits);
      visit(Addition{.address = address,
                     .type = addresses.any_halves()
                                 ? addresses.type_of(addresses.parameter_at(address, p))
                                 : WordType::kFp32,
                     .value = sums[word]});
    });
  } else {
    const EventRef& event = transaction.event;
    const EventValues values(event, addresses);
    set_bits(transaction.mask, [&](std::uint32_t lane) {
      const Address address =
          transaction.uniform
              ? transaction.address
              : addresses.address(lane_primitive(event.warp_trace(), event.event(), lane), p);
      visit(
          Addition{.address = address, .type = addresses.type_of(p), .value = values.of(p, lane)});
    });
  }
}

}  // namespace warpfold

// SPDX-License-Identifier: Apache-2.0
// The additions themselves, of one port of the L2: what a transaction adds to memory, in which
// order. Owned by the port, which says when; no clock.
#pragma once

#include <span>

#include "model/gpu/cta/gradient_memory.hpp"
#include "model/gpu/traffic/line_sums.hpp"
#include "model/gpu/traffic/tally.hpp"
#include "model/gpu/traffic/transaction.hpp"
#include "model/types.hpp"

namespace warpfold {

class RopAdder {
 public:
  // Plain data; all references outlive the adder.
  struct Context {
    const AddressMap& addresses;
    std::span<Fp32Bits> memory;  // by element
    LineSumsPool& sums;
    Tally& tally;  // of the port's partition
  };
  explicit RopAdder(const Context& context) : context_(context) {}

  // Adds all that the transaction does, lanes in order, and lets its CTA go.
  void add(Transaction& transaction);
  // Has the host's cache fetch what that will add to.
  void prefetch(const Transaction& transaction) const;

 private:
  void add_lanes(const Transaction& transaction);
  void add_partial(const Transaction& transaction);
  [[nodiscard]] WordType type_of(const Transaction& transaction) const {
    return context_.addresses.type_of(transaction.parameter);
  }
  // What it adds to: at its address, or with that lane.
  [[nodiscard]] Fp32Bits& cell_of(const Transaction& transaction) const {
    return context_
        .memory[context_.addresses.element_at(transaction.address, transaction.parameter)];
  }
  [[nodiscard]] Fp32Bits& cell_of(const Transaction& transaction, std::uint32_t lane) const {
    const EventRef& ref = transaction.event;
    return context_.memory[context_.addresses.element(
        lane_primitive(ref.warp_trace(), ref.event(), lane), transaction.parameter)];
  }

  const Context context_;
};

}  // namespace warpfold

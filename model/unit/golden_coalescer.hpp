// SPDX-License-Identifier: Apache-2.0
// The coalescers in plain C++, with the state registers of the RTL modules arc_addr_match and
// arc_addr_match_staged. Owned by a GoldenUnit; in each cycle with a request offer() says what they
// offer, and step() takes the edge, unless the request was accepted: then the unit resets them.
#pragma once

#include <cstdint>

#include "model/types.hpp"
#include "model/unit/arc_unit.hpp"

namespace warpfold {

struct CoalescerOffer {
  LaneMask left = 0;        // lanes of the request that have not been sent
  bool offered = false;     // a transaction is: these lanes, which have one address
  LaneMask lanes = 0;       // of the transaction
  Address address = 0;      // theirs
  bool all_may_go = false;  // all lanes left may go as one RED
  bool all_lone = false;    // they are all gathered
};

// arc_addr_match: a group a cycle, offered or gathered in the cycle in which it is found.
class DirectCoalescer {
 public:
  [[nodiscard]] bool busy() const { return done_ != 0 || lone_ != 0; }
  CoalescerOffer offer(const UnitInputs& inputs);
  // `sent`: the transaction's lanes, or none.
  void step(const UnitInputs& inputs, LaneMask sent);

 private:
  // Lanes of the held request that have been sent, and those gathered because their sums do not
  // pay.
  LaneMask done_ = 0;
  LaneMask lone_ = 0;
  LaneMask group_ = 0;   // lanes of the leader's address once they are known, else 0
  bool pays_ = false;    // summing them does
  bool gather_ = false;  // in this cycle, if nothing is sent
};

// arc_addr_match_staged: find, match, words, split, count.
class StagedCoalescer {
 public:
  // Cycles that it goes on by itself, at most: three for each sector of one lane, and the stages.
  static constexpr std::uint32_t kLongest = 3 * kLanes + 5;

  [[nodiscard]] bool busy() const { return lead_valid_ || found_ != 0; }
  [[nodiscard]] CoalescerOffer offer(const UnitInputs& inputs) const;
  void step(const UnitInputs& inputs, LaneMask sent);

 private:
  // Find.
  LaneMask found_ = 0;
  bool lead_valid_ = false;
  Address lead_ = 0;  // the address without the word within the sector
  // Match.
  bool here_valid_ = false;
  LaneMask here_ = 0;
  // Words.
  Address place_ = 0;
  bool last_ = false;
  std::uint32_t rest_ = 0;
  std::uint32_t used_ = 0;
  // Split.
  bool group_valid_ = false;
  LaneMask group_ = 0;
  std::uint32_t word_ = 0;  // one-hot
  bool ended_ = false;
  // Count.
  bool txn_valid_ = false;
  bool lone_ = false;
  bool two_lone_ = false;
  LaneMask sent_ = 0;
};

}  // namespace warpfold

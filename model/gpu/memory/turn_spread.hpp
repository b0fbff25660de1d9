// SPDX-License-Identifier: Apache-2.0
// How many rounds the turns of a transaction take, where turns do not come evenly: some more or
// fewer than there are, drawn for kAlike transactions of an SM at a time. Part of the model of
// rounds; no clock.
#pragma once

#include <cstdint>
#include <vector>

#include "model/gpu/memory/round_time.hpp"

namespace warpfold {

class TurnSpread {
 public:
  // Transactions of an SM that are early or late alike: over 150 turns of an SM at one address
  // their number has 1.3 times the variance of as many independent ones (share/order), and each
  // alone 0.16.
  static constexpr std::uint32_t kAlike = 8;

  // `deviation`: of the time between an SM's turns, over its mean.
  TurnSpread(double deviation, std::uint32_t sms);
  // Rounds that so many turns take, of the SM's next transaction.
  [[nodiscard]] Rounds draw(std::uint32_t sm, std::uint32_t turns);

 private:
  const Rounds most_;                 // by which one turn is early or late
  std::vector<std::uint32_t> begun_;  // by SM, transactions
};

}  // namespace warpfold

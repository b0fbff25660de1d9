// SPDX-License-Identifier: Apache-2.0
// Whether the memory path of a golden unit is congested: the register of arc_congestion. Owned by
// its GoldenUnit, which tells it of every cycle in which a request is there.
#pragma once

#include <cstdint>

namespace warpfold {

class Congestion {
 public:
  // Cycles without room in a row with which it begins; groups taken with which it ends.
  static constexpr std::uint32_t kStall = 1U << 6;
  static constexpr std::uint32_t kGroups = (1U << 13) - kStall;

  [[nodiscard]] bool congested() const { return count_ >= kStall; }
  // The clock edge of a cycle with a request; `taken`: the reduction unit took a transaction of it.
  void step(bool room, bool taken) {
    if (congested()) {
      count_ = (count_ + (taken ? 1U : 0U)) % (kStall + kGroups);
    } else {
      count_ = room ? 0 : count_ + 1;
    }
  }

 private:
  std::uint32_t count_ = 0;  // cycles, from kStall on groups
};

}  // namespace warpfold

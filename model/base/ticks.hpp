// SPDX-License-Identifier: Apache-2.0
// Occupancies such as 1.25 or 3.47 cycles are kept in whole 1/256 cycles, so that sums are exact
// and the same on every machine.
#pragma once

#include <cmath>
#include <cstdint>

#include "model/types.hpp"

namespace warpfold {

using Ticks = std::uint64_t;
inline constexpr Ticks kTicksPerCycle = 256;

inline Ticks to_ticks(double cycles) {
  return static_cast<Ticks>(std::llround(cycles * static_cast<double>(kTicksPerCycle)));
}
inline constexpr Ticks at_cycle(Cycle cycle) {
  return cycle * kTicksPerCycle;
}
// The cycle in which that instant lies.
inline constexpr Cycle cycle_of(Ticks ticks) {
  return ticks / kTicksPerCycle;
}
// The first cycle that begins at or after that instant.
inline constexpr Cycle cycle_after(Ticks ticks) {
  return (ticks + kTicksPerCycle - 1) / kTicksPerCycle;
}

// Of a unit that has been given so much work and does the last of it without a pause until
// free_at, what it had done by the beginning of that cycle.
inline constexpr Ticks done_before(Cycle cycle, Ticks work, Ticks free_at) {
  return free_at > at_cycle(cycle) ? work - (free_at - at_cycle(cycle)) : work;
}

}  // namespace warpfold

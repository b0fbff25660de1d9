// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/memory/slice_busy.hpp"

namespace warpfold {

Ticks SliceBusy::busiest(Portion own, Portion even, Rounds rounds) const {
  Part sum;
  Part most;
  for (const Part& slice : slices_) {
    sum.intake += slice.intake;
    sum.additions += slice.additions;
    most.intake = std::max(most.intake, slice.intake);
    most.additions = std::max(most.additions, slice.additions);
  }
  const Ticks busy = std::max(even * sum.intake + own * most.intake,
                              even * sum.additions + own * most.additions) >>
                     kShareBits;
  if (even == 0) {  // in a whole GPU
    return busy;
  }
  // Rounds of a part of a GPU are rounded down, to 2^-16 cycles.
  const Ticks rounding = ((rounds >> kRoundBits) + 1) * kTicksPerCycle >> kFineBits;
  return busy - std::min(busy, rounding + 1);
}

}  // namespace warpfold

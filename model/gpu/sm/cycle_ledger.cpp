// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/sm/cycle_ledger.hpp"

#include <bit>

#include "model/base/ticks.hpp"

namespace warpfold {

const char* cycle_cause_name(CycleCause cause) {
  switch (cause) {
    case CycleCause::kIssued:
      return "issued";
    case CycleCause::kMemoryQueue:
      return "memory_queue";
    case CycleCause::kArcUnit:
      return "arc_unit";
    case CycleCause::kShuffle:
      return "shuffle";
    case CycleCause::kDependency:
      return "dependency";
    case CycleCause::kBarrier:
      return "barrier";
    case CycleCause::kIdle:
      return "idle";
    case CycleCause::kCount:
      break;
  }
  return "?";
}

void CycleLedger::account(Cycle cycle) {
  if (cycle <= accounted_) {
    return;
  }
  const std::uint64_t span = cycle - accounted_;
  if (slices_ != nullptr) [[unlikely]] {
    slices_->add(at_cycle(accounted_), at_cycle(cycle),
                 static_cast<std::uint32_t>(standing_.cause));
  }
  accounted_ = cycle;
  const auto add_warps = [&](CycleCause cause, SlotMask mask) {
    warp_cycles_[static_cast<std::size_t>(cause)] +=
        span * static_cast<std::uint64_t>(std::popcount(mask));
  };
  cycles_[static_cast<std::size_t>(standing_.cause)] += span;
  if (standing_.cause == CycleCause::kIssued) {
    warp_cycles_[static_cast<std::size_t>(CycleCause::kIssued)] += span;
    warp_cycles_[static_cast<std::size_t>(CycleCause::kIdle)] +=
        span * static_cast<std::uint64_t>(std::popcount(standing_.ready) - 1);
  }
  add_warps(CycleCause::kMemoryQueue, standing_.queue);
  add_warps(CycleCause::kArcUnit, standing_.unit);
  add_warps(CycleCause::kShuffle, standing_.shuffle);
  add_warps(CycleCause::kDependency, standing_.wait);
  add_warps(CycleCause::kBarrier, standing_.barrier);
}

void CycleLedger::answered(std::uint32_t slot) {
  const SlotMask bit = SlotMask{1} << slot;
  standing_.shuffle &= ~bit;
  standing_.wait |= bit;
  if (standing_.cause == CycleCause::kShuffle && standing_.shuffle == 0) {
    standing_.cause = CycleCause::kDependency;
  }
}

}  // namespace warpfold

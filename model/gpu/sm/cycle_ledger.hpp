// SPDX-License-Identifier: Apache-2.0
// Where a sub-core's cycles go, and those of its warps. Owned by the sub-core, which says what
// holds until its next decision.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "model/kernel/recorder.hpp"
#include "model/types.hpp"

namespace warpfold {

// Where a sub-core's cycles go. A cycle in which nothing issues is put down to the first cause that
// holds for any resident warp, in this order.
enum class CycleCause : std::uint8_t {
  kIssued,
  kMemoryQueue,  // is full (profilers: LSU or LG throttle), or REDs are out that a warp waits for
  kArcUnit,      // an atomred waits for the ARC unit
  kShuffle,      // results of shuffles and of shared-memory accesses
  kDependency,   // own earlier instructions
  kBarrier,
  kIdle,  // no warp resident
  kCount
};
inline constexpr std::size_t kCycleCauses = static_cast<std::size_t>(CycleCause::kCount);
const char* cycle_cause_name(CycleCause cause);

using CauseCycles = std::array<std::uint64_t, kCycleCauses>;

class CycleLedger {
 public:
  using SlotMask = std::uint32_t;

  // What holds for every cycle from the last decision on until the next.
  struct Standing {
    CycleCause cause = CycleCause::kIdle;
    SlotMask ready = 0, queue = 0, unit = 0, shuffle = 0, wait = 0, barrier = 0;
    bool for_room = false;  // in the memory queue, which has none, somebody waits
  };

  // Puts the cycles before that one down to what they were.
  void account(Cycle cycle);
  void stand(const Standing& standing) { standing_ = standing; }
  [[nodiscard]] const Standing& standing() const { return standing_; }
  // From now on that warp waits for a latency, no longer for the load-store unit.
  void answered(std::uint32_t slot);

  [[nodiscard]] const CauseCycles& cycles() const { return cycles_; }
  // Warp-cycles by what the warp was doing; kIssued holds the cycles a warp issued, kIdle those in
  // which it was ready and another warp was chosen.
  [[nodiscard]] const CauseCycles& warp_cycles() const { return warp_cycles_; }
  void record(SliceRecorder* slices) { slices_ = slices; }

 private:
  Standing standing_;
  Cycle accounted_ = 0;
  CauseCycles cycles_{};
  CauseCycles warp_cycles_{};
  SliceRecorder* slices_ = nullptr;
};

}  // namespace warpfold

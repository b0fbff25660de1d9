// SPDX-License-Identifier: Apache-2.0
// What a record of a warp comes to, made into steps one by one as they are asked for: a warp's
// steps together would be too many to keep. Belongs to a warp's program.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "model/base/check.hpp"
#include "model/policy/segment.hpp"
#include "model/policy/software_sum.hpp"
#include "model/policy/step.hpp"
#include "model/types.hpp"

namespace warpfold {

struct ProgramItem {
  enum class Kind : std::uint8_t {
    kSegment,  // `segment`, `times` over
    kGroups,   // what its MATCHes take longer with `times` values
    kFlush,    // what has been gathered is a step
    kAtomics,  // the same, then additions of all parameters
    kBarrier,  // the same, then a barrier
    kAccess,   // the same, then a memory instruction
    kWait,     // the same, then a wait for one
  };
  Kind kind = Kind::kSegment;
  StepKind atomics = StepKind::kAtomic;
  SumOrder order = SumOrder::kSerial;
  LaneMask mask = 0;
  std::uint32_t times = 1;
  const Segment* segment = nullptr;
};

// First in, first out, without allocations; cleared before the next record.
class ProgramItems {
 public:
  static constexpr std::size_t kRoom = 12;

  void clear() { next_ = count_ = 0; }
  [[nodiscard]] bool empty() const { return next_ == count_; }
  [[nodiscard]] const ProgramItem& front() const { return items_[next_]; }
  void pop() { ++next_; }
  void push(const ProgramItem& item) {
    if (item.times > 0) {
      ARC_CHECK(count_ < kRoom, "a record makes more items than a warp's program has room for");
      items_[count_++] = item;
    }
  }

 private:
  std::uint32_t next_ = 0, count_ = 0;
  std::array<ProgramItem, kRoom> items_;
};

}  // namespace warpfold

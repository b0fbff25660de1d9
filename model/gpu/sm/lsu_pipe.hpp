// SPDX-License-Identifier: Apache-2.0
// The pipe of an SM's load-store unit, and its unit for MATCH and REDUX. Owned by the SM.
#pragma once

#include <algorithm>
#include <cstdint>

#include "model/base/check.hpp"
#include "model/base/ticks.hpp"
#include "model/kernel/clock.hpp"
#include "model/kernel/recorder.hpp"

namespace warpfold {

// What the pipe does, by the numbers of a timeline's slices.
enum class LsuWork : std::uint8_t { kRed, kReduced, kShuffle, kShared, kLoad, kOfRuns };

// Until when the pipe is taken. The LSU starts instructions on it; sub-cores charge it with the
// shared-memory accesses and loads of their runs, whose order against REDs does not matter here.
class LsuPipe {
 public:
  explicit LsuPipe(const Domain& domain) : domain_(domain) {}

  // LSU's side: an instruction may start in this cycle.
  [[nodiscard]] bool free() { return free_at() < at_cycle(domain_.now() + 1); }
  // As of the start of the cycle.
  [[nodiscard]] Ticks free_at() {
    settle();
    return free_at_;
  }
  // Starts an instruction; returns when it leaves the pipe.
  Ticks start(Ticks occupancy) {
    ARC_CHECK(free() && started_until_ == 0, "the pipe is taken");
    started_until_ = std::max(free_at_, at_cycle(domain_.now())) + occupancy;
    busy_ += occupancy;
    return started_until_;
  }
  // When that which has been started in this cycle leaves.
  [[nodiscard]] Ticks started_until() {
    settle();
    return started_until_;
  }
  // Sub-cores' side: that much occupancy after what is there already. Returns when it will be over,
  // what others charge in the same cycle left aside.
  Ticks charge(Ticks occupancy) {
    if (occupancy == 0) {
      return 0;
    }
    settle();
    charged_ += occupancy;
    busy_ += occupancy;
    return std::max(free_at_, at_cycle(domain_.now())) + occupancy;
  }

  [[nodiscard]] Ticks busy() const { return busy_; }
  [[nodiscard]] Ticks busy_until() const { return free_after_asked(); }
  // Of that, what lies before a cycle that has not begun.
  [[nodiscard]] Ticks busy_before(Cycle cycle) const {
    return done_before(cycle, busy_, free_after_asked());
  }
  // What sub-cores charge; of what the LSU starts it knows more itself.
  void record(SliceRecorder* slices) { slices_ = slices; }
  // After the run.
  void record_rest() const {
    if (charged_ != 0) {
      record_charged();
    }
  }

 private:
  void record_charged() const {
    const Ticks until = free_after_asked();
    slices_->add(until - charged_, until, static_cast<std::uint32_t>(LsuWork::kOfRuns));
  }
  [[nodiscard]] Ticks free_after_asked() const {
    const Ticks free_at = std::max(free_at_, started_until_);
    return charged_ == 0 ? free_at : std::max(free_at, at_cycle(asked_in_)) + charged_;
  }
  // What was asked for in a cycle that is over has been done.
  void settle() {
    if (asked_in_ != domain_.now()) {
      if (slices_ != nullptr && charged_ != 0) [[unlikely]] {
        record_charged();
      }
      free_at_ = free_after_asked();
      started_until_ = 0;
      charged_ = 0;
      asked_in_ = domain_.now();
    }
  }

  const Domain& domain_;
  Ticks free_at_ = 0;
  // In the cycle in which it was last asked for anything.
  Cycle asked_in_ = 0;
  Ticks started_until_ = 0;
  Ticks charged_ = 0;
  Ticks busy_ = 0;
  SliceRecorder* slices_ = nullptr;
};

}  // namespace warpfold

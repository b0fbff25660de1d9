// SPDX-License-Identifier: Apache-2.0
// What a process shows of units of somebody else that run in it, for another one that watches it:
// whether it is inside of their code, and how far they are. It lies in memory that both share.
#pragma once

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace warpfold {

struct UnitPulse {
  // Of one unit, which one thread at a time calls.
  struct Beat {
    std::atomic<std::uint64_t> begun{0};   // calls of its code
    std::atomic<std::uint64_t> ended{0};   // of these, those that have come back
    std::atomic<std::uint64_t> cycles{0};  // that it has done
    std::atomic<std::uint64_t> forked{
        0};                         // 1 more than the cycles when its code forked the process
    std::atomic<pid_t> process{0};  // that it runs in
    [[nodiscard]] bool is_inside() const { return begun != ended; }
  };
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free &&
                std::atomic<pid_t>::is_always_lock_free);

  // Of a unit that is made now. Units of a large GPU may share them.
  Beat& next_beat() {
    Beat& beat = beats[1 + next.fetch_add(1) % (kBeats - 1)];
    beat.process = ::getpid();
    return beat;
  }

  static constexpr std::size_t kBeats = 4096;
  std::atomic<std::uint64_t> next{0};
  std::array<Beat, kBeats> beats;  // the first is of what loads a library
};

// For the time of a call. `beat` may be null.
class InsideUnit {
 public:
  explicit InsideUnit(UnitPulse::Beat* beat) : beat_(beat) { count(&UnitPulse::Beat::begun); }
  ~InsideUnit() { count(&UnitPulse::Beat::ended); }
  InsideUnit(const InsideUnit&) = delete;
  InsideUnit& operator=(const InsideUnit&) = delete;

 private:
  // No other thread writes to it.
  void count(std::atomic<std::uint64_t> UnitPulse::Beat::*counter) {
    if (beat_ != nullptr) {
      std::atomic<std::uint64_t>& value = beat_->*counter;
      value.store(value.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
  }
  UnitPulse::Beat* beat_;
};

}  // namespace warpfold

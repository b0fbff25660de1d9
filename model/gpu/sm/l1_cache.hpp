// SPDX-License-Identifier: Apache-2.0
// The L1 of an SM as loads see it: which sectors are in, which are on their way, and who waits for
// them. Its state at a cycle depends on when sectors come, not on when that is known. Owned by the
// load-store unit; no clock.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "model/gpu/sm/sector_tags.hpp"
#include "model/gpu/traffic/line_sums.hpp"
#include "model/kernel/clock.hpp"
#include "model/types.hpp"

namespace warpfold {

class L1Cache {
 public:
  // Who waits: a load of a warp.
  struct Asker {
    std::uint32_t source = 0;  // sub-core
    std::uint32_t slot = 0;    // of the warp
    std::uint16_t site = 0;    // memory instruction
  };
  struct Stats {
    std::uint64_t accesses = 0;  // sectors that loads have asked for
    std::uint64_t hits = 0;      // of those, in the L1
    std::uint64_t merged = 0;    // of those, on their way already
    std::uint64_t asked = 0;     // sectors that the L2 was asked for
    std::uint64_t filled = 0;    // that it has sent
    std::uint64_t stored = 0;    // sectors that have been written through
    bool alone = false;          // the L2 is told of none of these
  };

  // `most_misses`: lines, whole or in part, that may be on their way at a time.
  // `alone`: whoever has it answers what it misses.
  L1Cache(std::uint64_t bytes, std::uint32_t ways, std::uint32_t most_misses, bool alone = false)
      : tags_(bytes, ways), most_misses_(most_misses), stats_{.alone = alone} {}

  // Whether a load of these sectors of a line may be looked up in that cycle.
  [[nodiscard]] bool has_room(std::uint64_t line, std::uint32_t sectors, Cycle now);
  // The first cycle in which there may be more room; kNever where that is not known yet.
  [[nodiscard]] Cycle more_room() const { return answered_.empty() ? kNever : answered_.front(); }

  struct Answer {
    std::uint32_t missing = 0;  // sectors that the L2 is to be asked for
    std::uint32_t waits = 0;    // how many times the asker will be told
    Cycle due = 0;  // when the last of those is there of which that is known; 0: none is
  };
  // `keeps`: they are looked for in the L1, and stay there.
  Answer load(std::uint64_t line, std::uint32_t sectors, bool keeps, const Asker& asker, Cycle now);
  // Sectors that are written go through; what is in stays, with what has been written.
  void store(std::uint32_t sectors);

  // The L2 has sent these, which it was asked for at once; they are there in that cycle, no sooner
  // than those before. Calls tell(asker) for each that waits.
  template <typename Tell>
  void fill(std::uint64_t line, std::uint32_t sectors, Cycle due, Tell tell) {
    answered_.push_back(due);
    for (std::uint32_t s = 0; s < kLineSectors; ++s) {
      if ((sectors >> s & 1U) != 0) {
        Pending& pending = arrive(line * kLineSectors + s, due);
        for (const Asker& asker : pending.askers) {
          tell(asker);
        }
        pending.askers.clear();
      }
    }
  }

  // Sectors of which it is not known when they come.
  [[nodiscard]] std::size_t unknown() const { return unknown_; }
  [[nodiscard]] const Stats& stats() const { return stats_; }

 private:
  struct Pending {
    Cycle due = kNever;
    std::vector<Asker> askers;
  };
  struct Coming {
    Cycle due;
    std::uint64_t sector;
  };
  void settle(Cycle now);
  Pending& arrive(std::uint64_t sector, Cycle due);

  SectorTags tags_;
  const std::size_t most_misses_;
  std::unordered_map<std::uint64_t, Pending> pending_;  // by sector
  std::deque<Coming> coming_;                           // of those, with a known time
  std::size_t requests_ = 0;    // lines that the L2 was asked for, and that are not there
  std::deque<Cycle> answered_;  // of those, with a known time
  std::size_t unknown_ = 0;
  Stats stats_;
};

}  // namespace warpfold

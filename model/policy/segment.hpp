// SPDX-License-Identifier: Apache-2.0
// What a stretch of a warp's instructions takes on one machine: plain data, shared by all warps of
// a run.
#pragma once

#include <cstdint>
#include <vector>

#include "model/base/ticks.hpp"

namespace warpfold {

// What a warp waits for of the load-store unit.
enum class AccessKind : std::uint8_t { kShuffle, kShared, kGlobal };

// Instructions of the load-store unit whose results the warp waits for.
struct Access {
  AccessKind kind = AccessKind::kShuffle;
  bool of_zeros = false;      // shuffles in which no lane has anything to add
  std::uint32_t slots = 0;    // of them; none at all if 0
  std::uint32_t latency = 0;  // of the last one's result
  Ticks lsu_ticks = 0;        // occupancy of the load-store unit
  Ticks hand_ticks = 0;       // what the sub-core takes to hand them over
};

// One of the equal shares of a segment, from one wait to the next: work, then accesses whose
// results what follows needs.
struct Share {
  std::uint64_t slots = 0;
  std::uint64_t min_cycles = 0;
  Ticks lsu_ticks = 0;
  Ticks match_ticks = 0;
  std::uint32_t loads = 0;
  Access access;
};

struct Segment {
  std::uint64_t slots = 0;
  std::uint64_t min_cycles = 0;
  Ticks lsu_ticks = 0;
  Ticks match_ticks = 0;
  std::uint32_t matches = 0;  // MATCH, which take longer with several values
  std::uint32_t loads = 0;
  // Instructions whose results come from the load-store unit, apart from the rest: `waits` times
  // the warp waits for what it has asked for by then.
  AccessKind kind = AccessKind::kShuffle;
  std::uint32_t accesses = 0;
  Ticks access_ticks = 0;  // occupancy of the load-store unit, of all
  Ticks hand_ticks = 0;    // what the sub-core takes to hand them over, all
  std::uint32_t latency = 0;
  std::uint32_t waits = 0;
  std::vector<Share> shares;  // one for each wait
};

}  // namespace warpfold

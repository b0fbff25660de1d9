// SPDX-License-Identifier: Apache-2.0
// What a buffer counts that sums additions: an atomic or merge buffer. Plain values.
#pragma once

#include <cstdint>

#include "model/base/ticks.hpp"

namespace warpfold {

struct BufferStats {
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t evicted = 0;         // sectors sent before the end
  std::uint64_t flushed = 0;         // sectors sent at the end
  std::uint64_t blocked_cycles = 0;  // a look-up waited for room for what must leave
  Ticks adder_busy = 0;
};

}  // namespace warpfold

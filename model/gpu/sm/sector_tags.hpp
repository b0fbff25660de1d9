// SPDX-License-Identifier: Apache-2.0
// Set-associative tags of a cache whose lines are filled sector by sector, with least-recently-used
// replacement. Owned by the cache; no clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/gpu/traffic/line_sums.hpp"
#include "model/types.hpp"

namespace warpfold {

class SectorTags {
 public:
  // Of no bytes, it keeps nothing.
  SectorTags(std::uint64_t bytes, std::uint32_t ways);

  // Which of these sectors of a line are in; all of them are then. `line`: address / kLineBytes.
  std::uint32_t bring_in(std::uint64_t line, std::uint32_t sectors);

 private:
  struct Way {
    std::uint64_t line = ~std::uint64_t{0};
    std::uint32_t sectors = 0;
  };
  const std::size_t ways_;
  const std::size_t sets_;
  std::vector<Way> store_;  // set by set, the most recently used first
};

}  // namespace warpfold

// SPDX-License-Identifier: Apache-2.0
// What lies behind a port of the L2, as the port sees it: it reads lines that were missed and takes
// back those that they drive out. Who builds the port gives it one of its own. Called in the port's
// cycles, by its partition.
#pragma once

#include <cstdint>

#include "model/gpu/memory/outside.hpp"
#include "model/types.hpp"

namespace warpfold {

class MemoryBehind {
 public:
  MemoryBehind() = default;
  MemoryBehind(const MemoryBehind&) = delete;
  MemoryBehind& operator=(const MemoryBehind&) = delete;
  virtual ~MemoryBehind() = default;

  // Each with the address of the line's first byte; both see calls in the order of time. A miss
  // that drives a line out writes that back first, in the same cycle.
  virtual void write_back(Address line, Cycle now) = 0;
  // The cycle in which the line is there, which is to come; or kNever: the port is told later, by
  // L2Port::filled().
  virtual Cycle read(Address line, Cycle now) = 0;
  // The same of so many sectors of a line.
  virtual Cycle read_sectors(Address line, std::uint32_t /*count*/, Cycle now) {
    return read(line, now);
  }
  // Whether it holds what lines hold, and so wants to know what is added to them.
  [[nodiscard]] virtual bool has_data() const { return false; }
  virtual void add(const Addition& /*addition*/) {}
};

}  // namespace warpfold

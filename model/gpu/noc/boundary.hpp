// SPDX-License-Identifier: Apache-2.0
// Where SMs and the L2 meet: the crossbar between an SM's injection port and a port of the L2. Each
// side knows the other by one of these alone. An SM asks with one transaction at a time; the L2
// lets it in, or not yet, so a full port of the L2 holds up the SMs whose head is for it.
#pragma once

#include <cstdint>

#include "model/gpu/traffic/transaction.hpp"
#include "model/kernel/clock.hpp"

namespace warpfold {

// The SM's side of an injection port, as the L2 sees it.
class Injector {
 public:
  virtual ~Injector() = default;
  // What it has asked with. Stays there until it has been let in; the L2 takes its event with it.
  [[nodiscard]] virtual Transaction& head() = 0;
  // It is let in, as this cycle ends. In the injector's partition.
  virtual void grant() = 0;
  // The additions of one of its transactions that are to be answered (rules.red_wait) are done, in
  // this cycle. `warp`: asker_of() of that transaction. In the injector's partition.
  virtual void added(std::uint64_t /*warp*/) {}
  // What a load of that warp has asked an L2 that lies outside for is there in that cycle, which is
  // to come. A load of the GPU's own L2 takes as long as the machine says, from its grant on.
  virtual void loaded(std::uint64_t /*warp*/, Cycle /*due*/) {}
  // Sectors of a line have left the L2 in this cycle, in answer to a load of the SM. In the
  // injector's partition.
  virtual void sent(std::uint64_t /*line*/, std::uint32_t /*sectors*/) {}
  [[nodiscard]] virtual Partition& partition() const = 0;
};

// The L2's side of one of its ports, as an SM sees it.
class Entrance {
 public:
  virtual ~Entrance() = default;
  // From the SM's partition: the head of that SM waits for this port. One request per SM at a time.
  virtual void request(Partition& from, std::uint32_t sm) = 0;
};

}  // namespace warpfold

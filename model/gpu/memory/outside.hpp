// SPDX-License-Identifier: Apache-2.0
// What a platform around the GPU may bring in place of the GPU's own: the memory behind each port
// of the L2, or the L2 itself. The GPU then has one partition, and so one host thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model/gpu/memory/l2_port.hpp"
#include "model/gpu/memory/memory_behind.hpp"
#include "model/gpu/memory/rop_adder.hpp"
#include "model/gpu/noc/boundary.hpp"

namespace warpfold {

// A port of an L2 that lies outside: passes requests on, grants what has been let in, and adds what
// has been done.
class OutsidePort : public Entrance {
 public:
  [[nodiscard]] virtual const L2Stats& stats() const = 0;
  [[nodiscard]] virtual bool empty() const = 0;
};

struct Outside {
  // SMs are never behind the time of the simulation, which then says where they are.
  bool in_step = false;
  // Each may be empty: the GPU's own. Called once for each port of the L2.
  std::function<std::unique_ptr<MemoryBehind>(std::uint32_t port)> memory;
  std::function<std::unique_ptr<OutsidePort>(std::uint32_t port, const RopAdder::Context& additions,
                                             const std::vector<Injector*>& injectors)>
      l2;
};

}  // namespace warpfold

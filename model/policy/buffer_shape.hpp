// SPDX-License-Identifier: Apache-2.0
// What a policy makes of an SM's atomic buffer (model/gpu/sm/atomic_buffer.hpp).
#pragma once

#include <cstdint>

#include "model/base/ticks.hpp"
#include "model/machine/config.hpp"

namespace warpfold {

// `bytes` 0: the policy has no buffer.
struct BufferShape {
  std::uint64_t bytes = 0;
  std::uint32_t ways = 0;  // 0: one set of all lines
  std::uint32_t line_bytes = 0;
  std::uint32_t queue_depth = 0;
  std::uint32_t victims = 0;  // sectors; 0: no limit
  // Accesses of the SRAM take their turn on the SM's pipe: one to look up and read, one to write,
  // one for each sector that must go. 0 where the SRAM is the buffer's own.
  Ticks access = 0;
  Ticks add = 0;
  // Each lane is an access of its own, with a look-up and an addition.
  bool by_lane = false;
  // REDs go to the buffer beside the load-store pipe and do not occupy it.
  bool beside_pipe = false;
  std::uint32_t load_lines = 0;  // that an ordinary load brings in

  [[nodiscard]] bool present() const { return bytes != 0; }
};

// One on the SM's pipe with the machine's queues and adder, still without an SRAM.
inline BufferShape buffer_on_pipe(const GpuConfig& gpu) {
  BufferShape shape;
  shape.queue_depth = gpu.buffer.queue_depth;
  shape.victims = gpu.buffer.victims;
  shape.access = to_ticks(gpu.l1.access_cycles);
  shape.add = to_ticks(gpu.buffer.add_cycles);
  return shape;
}

}  // namespace warpfold

// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/sm/atomic_buffer_shape.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace warpfold {

BufferShape buffer_shape(PolicyKind policy, const GpuConfig& config, std::uint64_t shared_bytes) {
  BufferShape shape;
  shape.queue_depth = config.buffer.queue_depth;
  shape.victims = config.buffer.victims;
  shape.access = to_ticks(config.l1.access_cycles);
  shape.add = to_ticks(config.buffer.add_cycles);
  switch (policy) {
    case PolicyKind::kLab:
      shape.bytes = config.lab.bytes;
      shape.ways = config.lab.ways;
      shape.line_bytes = config.lab.entry_bytes;
      break;
    case PolicyKind::kLabIdeal:
      // As much as the L1 and shared memory together, beside them; nothing to look up or wait for.
      shape.bytes = config.l1.bytes;
      shape.line_bytes = config.lab.entry_bytes;
      shape.victims = 0;
      shape.access = 0;
      shape.beside_pipe = true;
      break;
    case PolicyKind::kPhi: {
      const std::uint64_t set = std::uint64_t{config.l1.ways} * config.l1.line_bytes;
      if (shared_bytes + set > config.l1.bytes) {
        throw std::invalid_argument(
            fmt::format("phi: {} bytes of shared memory leave no L1 cache of the {} bytes of an SM",
                        shared_bytes, config.l1.bytes));
      }
      shape.bytes = (config.l1.bytes - shared_bytes) / set * set;
      shape.ways = config.l1.ways;
      shape.line_bytes = config.l1.line_bytes;
      shape.by_lane = true;
      shape.load_lines = config.l1.load_lines;
      break;
    }
    default:
      return {};
  }
  return shape;
}

}  // namespace warpfold

// SPDX-License-Identifier: Apache-2.0
// The memory behind a port of the L2 where nobody brings another: a part of the DRAM's bandwidth,
// as many as there are ports, and its latency. Owned by the GPU.
#pragma once

#include "model/base/ticks.hpp"
#include "model/gpu/memory/memory_behind.hpp"
#include "model/machine/config.hpp"

namespace warpfold {

class DramChannel final : public MemoryBehind {
 public:
  explicit DramChannel(const GpuConfig& config);
  void write_back(Address line, Cycle now) override;
  Cycle read(Address line, Cycle now) override;
  Cycle read_sectors(Address line, std::uint32_t count, Cycle now) override;

 private:
  const Cycle latency_;
  const Ticks line_ticks_;    // that the transfer of a line takes
  const Ticks sector_ticks_;  // of a sector that a load reads
  const Ticks least_ticks_;   // of the sectors of a line, however few
  Ticks free_at_ = 0;         // when all transfers are done
};

}  // namespace warpfold

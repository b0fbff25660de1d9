// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/memory/dram_channel.hpp"

#include <algorithm>

#include "model/gpu/traffic/line_sums.hpp"

namespace warpfold {

DramChannel::DramChannel(const GpuConfig& config)
    : latency_(config.l2.dram_latency),
      line_ticks_(to_ticks(config.l2.line_bytes * static_cast<double>(config.l2.ports()) /
                           config.l2.dram_bytes_per_cycle)),
      sector_ticks_(to_ticks(kSectorBytes * static_cast<double>(config.l2.ports()) /
                             (config.l2.dram_bytes_per_cycle * config.l2.dram_share))),
      least_ticks_(to_ticks(config.l2.dram_burst * static_cast<double>(config.l2.ports()) /
                            (config.l2.dram_bytes_per_cycle * config.l2.dram_share))) {}

void DramChannel::write_back(Address /*line*/, Cycle now) {
  free_at_ = std::max(free_at_, at_cycle(now)) + line_ticks_;
}

Cycle DramChannel::read_sectors(Address /*line*/, std::uint32_t count, Cycle now) {
  free_at_ = std::max(free_at_, at_cycle(now)) + std::max(least_ticks_, count * sector_ticks_);
  return cycle_after(free_at_) + latency_;
}

Cycle DramChannel::read(Address /*line*/, Cycle now) {
  free_at_ = std::max(free_at_, at_cycle(now)) + line_ticks_;
  return cycle_after(free_at_) + latency_;
}

}  // namespace warpfold

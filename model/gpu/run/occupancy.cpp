// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/run/occupancy.hpp"

#include <algorithm>

#include "model/types.hpp"

namespace warpfold {

std::uint32_t shared_per_cta(const trace::Header& header) {
  // With 1 KiB of the system's own (CUDA C++ Programming Guide, compute capabilities 8.x and 9.0).
  constexpr std::uint32_t kSystemShared = 1024;
  return header.shared_bytes_per_cta + kSystemShared;
}

std::uint32_t ctas_per_sm(const GpuConfig& config, const trace::Header& header,
                          std::uint32_t registers_per_thread) {
  // Registers are given out to warps in blocks of 256 (the same source).
  constexpr std::uint32_t kRegisterBlock = 256;
  const std::uint32_t warps = header.warps_per_cta();
  std::uint32_t fit = std::min(config.sm.max_ctas, config.sm.max_warps / warps);
  const std::uint32_t warp_registers =
      (registers_per_thread * kLanes + kRegisterBlock - 1) / kRegisterBlock * kRegisterBlock;
  if (warp_registers > 0) {
    fit = std::min(fit, config.sm.registers / (warp_registers * warps));
  }
  fit = std::min(fit, config.sm.shared_bytes / shared_per_cta(header));
  return fit;
}

}  // namespace warpfold

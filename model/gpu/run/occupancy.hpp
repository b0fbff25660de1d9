// SPDX-License-Identifier: Apache-2.0
// How many CTAs of a launch fit an SM. Pure functions.
#pragma once

#include <cstdint>

#include "model/machine/config.hpp"
#include "traces/format/header.hpp"

namespace warpfold {

// Bytes of the SM's SRAM that a CTA takes as shared memory.
std::uint32_t shared_per_cta(const trace::Header& header);

// CTAs of the trace that fit an SM together: warp slots, registers, shared memory and the CTA
// limit. Zero when one does not fit.
std::uint32_t ctas_per_sm(const GpuConfig& config, const trace::Header& header,
                          std::uint32_t registers_per_thread);

}  // namespace warpfold

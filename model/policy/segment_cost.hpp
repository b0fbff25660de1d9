// SPDX-License-Identifier: Apache-2.0
// From instructions as a trace counts them to what they take on one machine.
#pragma once

#include <cstdint>

#include "model/machine/config.hpp"
#include "model/policy/code_part.hpp"
#include "model/policy/segment.hpp"
#include "traces/format/trace.hpp"

namespace warpfold {

struct SegmentSetting {
  const GpuConfig& gpu;
  bool loads_apart = true;  // whether one trip of its loads to the L2 may be apart from the rest
};

// `lanes`: active ones, of which there is at least one.
Segment segment_of(const trace::InstructionCost& cost, const SegmentSetting& setting,
                   std::uint32_t lanes, const ShuffleRounds& rounds);

// Whether lanes that read on are waited for: with some numbers of lanes that takes longer than with
// others.
bool reads_on(const trace::InstructionCost& cost);

}  // namespace warpfold

// SPDX-License-Identifier: Apache-2.0
// What a launch of a trace comes to on a machine under a policy, before any block is built.
#pragma once

#include <cstdint>
#include <memory>

#include "model/gpu/run/simulate.hpp"
#include "model/policy/buffer_shape.hpp"
#include "model/policy/rule.hpp"
#include "model/policy/timing.hpp"
#include "traces/format/reader.hpp"

namespace warpfold {

struct Launch {
  const trace::Reader& trace;
  trace::Header header;  // the trace's, with arrays where the policy has them
  std::unique_ptr<PolicyTiming> timing;
  BufferShape buffer;
  MergePlace merge = MergePlace::kNowhere;
  std::uint32_t merge_rows = 0;     // of a merge buffer, where there is one
  std::uint32_t resident_ctas = 0;  // that fit an SM
  std::uint64_t l1_bytes = 0;       // that its shared memory leaves of the L1
  bool dense = false;               // most elements of the arrays are added to
};

// Throws SimulationError where this machine or policy cannot run the trace.
Launch prepare_launch(const SimOptions& options, const trace::Reader& trace,
                      const ReferenceSums& reference);

}  // namespace warpfold

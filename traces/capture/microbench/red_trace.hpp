// SPDX-License-Identifier: Apache-2.0
// Traces of the cases of the group `red`, so that the model runs what the GPU ran.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "traces/capture/microbench/red_cases.hpp"
#include "traces/format/trace.hpp"

namespace warpfold::microbench {

// Of any case: names, registers, no sites.
trace::Header microbench_header(const std::string& scene, const std::string& kernel);
// Of path 1: a look whether all CTAs have come.
trace::InstructionCost look_cost();
// How often a CTA of a launch of all SMs looks before it begins.
void add_looks(std::uint64_t cta, trace::WarpTrace& warp);

// The launch of a case: one CTA for each SM, two where an SM has more than 32 warps. A case of one
// SM is a launch for a GPU of one SM.
trace::Header red_trace_header(const RedCase& one, int sms);

// Writes the trace. Throws trace::TraceError, also for a case that leaves sub-cores idle: where the
// warps of a CTA come to lie is not in a trace.
void write_red_trace(const RedCase& one, int sms, const std::filesystem::path& path);

}  // namespace warpfold::microbench

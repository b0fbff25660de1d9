// SPDX-License-Identifier: Apache-2.0
// Traces of the cases of the group `vector`, so that the model runs what the GPU ran.
#pragma once

#include <filesystem>

#include "traces/capture/microbench/vector_cases.hpp"
#include "traces/format/trace.hpp"

namespace warpfold::microbench {

// Whether a trace can hold it: additions of FP32.
[[nodiscard]] bool has_trace(const VectorCase& one);
// The policy whose REDs are those of the case.
[[nodiscard]] const char* policy_of(const VectorCase& one);

// The launch of a case: one CTA for each SM, or for a GPU of one SM. A site for each array.
trace::Header vector_trace_header(const VectorCase& one, int sms);

// Writes the trace. Throws trace::TraceError, also for a case that no trace can hold.
void write_vector_trace(const VectorCase& one, int sms, const std::filesystem::path& path);

}  // namespace warpfold::microbench

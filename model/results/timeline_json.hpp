// SPDX-License-Identifier: Apache-2.0
// Timelines as a file that Perfetto (ui.perfetto.dev) and chrome://tracing open, and from which
// scripts read the same numbers under the key "warpfold". Pure functions.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "model/outcome/run_result.hpp"

namespace warpfold {

// {"traceEvents": [...], "displayTimeUnit": "ns", "otherData": {...}, "warpfold": {"schema":
// "warpfold.timeline/2", "runs": [...]}}: an event, and a run, a line each. 1 us of its time axis
// is one SM clock cycle.
std::string timelines_to_json(const std::vector<RunResult>& runs, bool partial = false);

}  // namespace warpfold

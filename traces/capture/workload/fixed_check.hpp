// SPDX-License-Identifier: Apache-2.0
// What the variant `fixed` promises: the same bits from every launch.
#pragma once

#include "traces/capture/common/verdict.hpp"
#include "traces/capture/workload/workload.hpp"

namespace warpfold::capture::workload {

// Launches several times, once with a single CTA on each SM at a time, and compares words; compares
// what the last pass made of them with the host's; looks whether saturation is counted, and only
// where it has to be. Prints how many floats of two launches of the baseline differ. For workloads
// with `fixed`.
void check_fixed(const Workload& workload, Verdict& verdict);

}  // namespace warpfold::capture::workload

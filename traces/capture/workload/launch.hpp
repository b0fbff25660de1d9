// SPDX-License-Identifier: Apache-2.0
// Launches of a workload's kernels. All throw CudaError where a call of CUDA fails.
#pragma once

#include "traces/capture/workload/variant.hpp"
#include "traces/capture/workload/workload.hpp"

namespace warpfold::capture::workload {

// `second`: behind the launch's arguments, the kernel's second parameter.
void launch_kernel(const Workload::Launch& launch, const void* kernel, void* second);
void launch_policy(const Workload& workload, const Policy& policy);
// Zeros in all arrays of gradients.
void clear(const Workload& workload);

}  // namespace warpfold::capture::workload

// SPDX-License-Identifier: Apache-2.0
#include "traces/capture/workload/launch.hpp"

#include <cuda_runtime_api.h>

#include "traces/capture/common/device_buffer.hpp"

namespace warpfold::capture::workload {

void launch_kernel(const Workload::Launch& launch, const void* kernel, void* second) {
  void* params[] = {const_cast<void*>(launch.arguments), second};
  capture::check(
      cudaLaunchKernel(kernel, dim3(launch.grid[0], launch.grid[1], launch.grid[2]),
                       dim3(launch.block[0], launch.block[1], launch.block[2]), params, 0, nullptr),
      "launch of the kernel");
}

void launch_policy(const Workload& workload, const Policy& policy) {
  int threshold = policy.threshold;
  launch_kernel(workload.launch(), workload.kernels().of(policy.variant), &threshold);
}

void clear(const Workload& workload) {
  for (const Array& array : workload.arrays()) {
    capture::check(cudaMemsetAsync(array.data, 0, array.floats * sizeof(float)), "cudaMemset");
  }
}

}  // namespace warpfold::capture::workload

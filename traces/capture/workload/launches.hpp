// SPDX-License-Identifier: Apache-2.0
// Launches of a workload's kernels, and what they leave in its arrays. All throw CudaError when a
// CUDA call fails.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "traces/capture/workload/workload.hpp"

namespace warpfold::capture::workload {

[[nodiscard]] std::uint64_t product(const std::uint32_t (&extent)[3]);
[[nodiscard]] std::uint32_t warps_per_cta(const Workload::Launch& launch);

// The kernels that this GPU can run; says on stderr which are left out.
[[nodiscard]] Kernels usable_kernels(const Workload& workload);

// `second`: the kernel's second parameter. `dynamic_bytes`: of shared memory that it leaves unused.
void launch_kernel(const Workload::Launch& launch, const void* kernel, void* second,
                   std::size_t dynamic_bytes = 0);
// With the last pass of sums in fixed point.
void launch_policy(const Workload& workload, const Policy& policy, std::size_t dynamic_bytes = 0);
// What the policy adds to.
void clear(const Workload& workload, const Policy& policy);
// To be called once the workload is loaded: the scales of its sums in fixed point, if it has any.
void find_scales(const Workload& workload);
// The arrays after a launch, one behind the other.
[[nodiscard]] std::vector<float> run(const Workload& workload, const Policy& policy);
[[nodiscard]] std::vector<float> read_arrays(const Workload& workload);
[[nodiscard]] bool has_halves(const Workload& workload);

// Where each parameter of primitive 0 lies in read_arrays(), and the step to the next primitive.
struct Place {
  std::size_t first = 0;
  std::size_t stride = 0;
};
[[nodiscard]] std::vector<Place> places(const Workload& workload);

}  // namespace warpfold::capture::workload

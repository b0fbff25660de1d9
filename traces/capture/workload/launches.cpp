// SPDX-License-Identifier: Apache-2.0
#include "traces/capture/workload/launches.hpp"

#include <algorithm>
#include <cstdio>
#include <iterator>

#include "traces/capture/common/device_buffer.hpp"
#include "traces/capture/common/gpu_info.hpp"
#include "traces/capture/common/half.hpp"
#include "traces/capture/common/input.hpp"
#include "traces/capture/workload/fixed_sums.cuh"

namespace warpfold::capture::workload {
namespace {

template <class Value>
std::vector<Value> read(const Array& array) {
  std::vector<Value> values(array.values());
  capture::check(
      cudaMemcpy(values.data(), array.data, array.floats * sizeof(float), cudaMemcpyDeviceToHost),
      "copy to the host");
  return values;
}

}  // namespace

std::uint64_t product(const std::uint32_t (&extent)[3]) {
  return std::uint64_t{extent[0]} * extent[1] * extent[2];
}

std::uint32_t warps_per_cta(const Workload::Launch& launch) {
  return static_cast<std::uint32_t>(product(launch.block)) / trace::kWarpLanes;
}

void launch_kernel(const Workload::Launch& launch, const void* kernel, void* second,
                   std::size_t dynamic_bytes) {
  void* params[] = {const_cast<void*>(launch.arguments), second};
  capture::check(cudaLaunchKernel(kernel, dim3(launch.grid[0], launch.grid[1], launch.grid[2]),
                                  dim3(launch.block[0], launch.block[1], launch.block[2]), params,
                                  dynamic_bytes, nullptr),
                 "launch of the kernel");
}

void launch_policy(const Workload& workload, const Policy& policy, std::size_t dynamic_bytes) {
  int threshold = policy.threshold;
  launch_kernel(workload.launch(), workload.kernels().of(policy.variant), &threshold,
                dynamic_bytes);
  if (policy.variant == Variant::kFixed) {
    workload.fixed()->finish();
  }
}

void find_scales(const Workload& workload) {
  if (workload.fixed() != nullptr) {
    int threshold = 0;
    launch_kernel(workload.launch(), workload.kernels().greatest, &threshold);
    workload.fixed()->find_scales();
  }
}

void clear(const Workload& workload, const Policy& policy) {
  if (policy.variant == Variant::kFixed) {
    workload.fixed()->clear();  // the last pass writes the floats
    return;
  }
  for (const Array& array : workload.arrays()) {
    capture::check(cudaMemsetAsync(array.data, 0, array.floats * sizeof(float)), "cudaMemset");
  }
}

std::vector<float> read_arrays(const Workload& workload) {
  std::vector<float> values;
  for (const Array& array : workload.arrays()) {
    if (array.halves) {
      const auto halves = read<std::uint16_t>(array);
      std::transform(halves.begin(), halves.end(), std::back_inserter(values), from_half);
    } else {
      const auto floats = read<float>(array);
      values.insert(values.end(), floats.begin(), floats.end());
    }
  }
  return values;
}

std::vector<float> run(const Workload& workload, const Policy& policy) {
  clear(workload, policy);
  launch_policy(workload, policy);
  capture::check(cudaDeviceSynchronize(), policy.name().c_str());
  return read_arrays(workload);
}

Kernels usable_kernels(const Workload& workload) {
  Kernels kernels = workload.kernels();
  const void*& bulk = kernels.variants[static_cast<std::size_t>(Variant::kBulk)];
  if (bulk != nullptr && gpu_info().compute_capability < kBulkSince) {
    std::fprintf(stderr,
                 "warpfold_capture_workloads: bulk needs compute capability %d.%d: left out\n",
                 kBulkSince / 10, kBulkSince % 10);
    bulk = nullptr;
  }
  return kernels;
}

bool has_halves(const Workload& workload) {
  const auto arrays = workload.arrays();
  return std::any_of(arrays.begin(), arrays.end(), [](const Array& array) { return array.halves; });
}

std::vector<Place> places(const Workload& workload) {
  const auto arrays = workload.arrays();
  std::vector<Place> result;
  for (const trace::Parameter& parameter : workload.parameters()) {
    std::size_t at = 0;
    bool found = false;
    for (const Array& array : arrays) {
      const auto begin = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(array.data));
      const std::uint64_t last =
          parameter.base + (workload.primitive_count() - 1) * parameter.stride_bytes;
      if (parameter.base >= begin && last < begin + array.floats * sizeof(float)) {
        result.push_back({at + (parameter.base - begin) / array.value_bytes(),
                          parameter.stride_bytes / array.value_bytes()});
        found = true;
      }
      at += array.values();
    }
    if (!found) {
      throw InputError("parameter " + parameter.name + " lies in none of the arrays");
    }
  }
  return result;
}

}  // namespace warpfold::capture::workload

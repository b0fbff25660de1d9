// SPDX-License-Identifier: Apache-2.0
#include "traces/capture/workload/fixed_check.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <type_traits>

#include "traces/capture/common/device_buffer.hpp"
#include "traces/capture/workload/fixed_scale.hpp"
#include "traces/capture/workload/fixed_sums.cuh"
#include "traces/capture/workload/launches.hpp"

namespace warpfold::capture::workload {
namespace {

using Words = std::vector<unsigned long long>;
constexpr Policy kFixedPolicy{Variant::kFixed, 0};

Words run_fixed(const Workload& workload, std::size_t dynamic_bytes = 0) {
  clear(workload, kFixedPolicy);
  launch_policy(workload, kFixedPolicy, dynamic_bytes);
  capture::check(cudaDeviceSynchronize(), "fixed");
  return workload.fixed()->words();
}

template <class Value>
double differing(const std::vector<Value>& a, const std::vector<Value>& b) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    using Bits = std::conditional_t<sizeof(Value) == 4, std::uint32_t, std::uint64_t>;
    count += std::bit_cast<Bits>(a[i]) != std::bit_cast<Bits>(b[i]) ? 1U : 0U;
  }
  return static_cast<double>(count);
}

// Shared memory that a CTA of the kernel can have beside its own: then an SM holds no second one.
std::size_t rest_of_shared_memory(const void* kernel) {
  int device = 0;
  int most = 0;
  cudaFuncAttributes attributes{};
  capture::check(cudaGetDevice(&device), "cudaGetDevice");
  capture::check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
                 "cudaDeviceGetAttribute");
  capture::check(cudaFuncGetAttributes(&attributes, kernel), "cudaFuncGetAttributes");
  const std::size_t rest = static_cast<std::size_t>(most) - attributes.sharedSizeBytes;
  capture::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                      static_cast<int>(rest)),
                 "cudaFuncSetAttribute");
  return rest;
}

// FNV-1a of the words: to be compared between two runs of the program.
std::uint64_t digest(const Words& words) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const unsigned long long word : words) {
    for (unsigned shift = 0; shift < 64; shift += 8) {
      hash = (hash ^ (word >> shift & 0xffU)) * 0x100000001b3U;
    }
  }
  return hash;
}

void check_saturation(const Workload& workload, Verdict& verdict) {
  FixedSums& fixed = *workload.fixed();
  verdict.expect("fixed, additions that saturated", static_cast<double>(fixed.saturated()), 0);
  constexpr int kTooShort = kHeadroomBits + 1;
  fixed.raise_scales(kTooShort);
  (void)run_fixed(workload);
  verdict.expect("fixed, saturation missed where steps are too short",
                 fixed.saturated() == 0 ? 1.0 : 0.0, 0);
  fixed.raise_scales(-kTooShort);
}

}  // namespace

void check_fixed(const Workload& workload, Verdict& verdict) {
  constexpr int kLaunches = 4;
  const Words words = run_fixed(workload);
  verdict.expect("fixed, floats of the last pass that are not the host's",
                 differing(read_arrays(workload), workload.fixed()->to_floats(words)), 0);
  double most = 0;
  for (int i = 1; i < kLaunches; ++i) {
    most = std::max(most, differing(words, run_fixed(workload)));
  }
  verdict.expect("fixed, words that differ between launches", most, 0);
  const std::size_t rest = rest_of_shared_memory(workload.kernels().of(Variant::kFixed));
  verdict.expect("fixed, words that differ with one CTA on an SM",
                 differing(words, run_fixed(workload, rest)), 0);
  check_saturation(workload, verdict);
  const Policy baseline{Variant::kBaseline, 0};
  std::printf(
      "  words of the sums: digest %016llx; baseline: %.0f of %zu floats differ in a second "
      "launch\n",
      static_cast<unsigned long long>(digest(words)),
      differing(run(workload, baseline), run(workload, baseline)), words.size());
}

}  // namespace warpfold::capture::workload

// SPDX-License-Identifier: Apache-2.0
// Throughput of atomicAdd(float) in shared memory on one SM, a loop of loads and compare-and-swaps.
#include "traces/capture/microbench/benches.hpp"
#include "traces/capture/microbench/probe.cuh"
#include "traces/capture/microbench/vector_cases.hpp"

namespace warpfold::microbench {
namespace {

__global__ void shared_add(Probe probe, const __grid_constant__ SharedPattern pattern,
                           int iterations, float* sink) {
  __shared__ float words[kSharedWords];
  for (unsigned i = threadIdx.x; i < kSharedWords; i += blockDim.x) {
    words[i] = 0.0F;
  }
  const int warp = enter(probe);
  if (warp < 0) {
    return;
  }
  float* const word =
      words + static_cast<unsigned>(warp) * pattern.warp_words + pattern.lane[lane_id()];
  Stopwatch watch;
  watch.start();
  if ((pattern.active >> lane_id() & 1U) != 0) {
#pragma unroll 1
    for (int i = 0; i < iterations; ++i) {
#pragma unroll
      for (int k = 0; k < kSharedAdds; ++k) {
        atomicAdd(word, 1.0F);
      }
    }
  }
  watch.stop(probe, warp, false);
  if (*word < 0.0F) {
    *sink = *word;
  }
}

}  // namespace

void bench_shared_add(Harness& harness) {
  const DeviceBuffer<float> sink(1);
  for (const SharedCase& one : shared_cases()) {
    const Placement placement = harness.place(one.warps, false);
    const auto samples = harness.run(placement, [&](const Probe& probe, int grid, int block) {
      shared_add<<<grid, block>>>(probe, one.pattern, one.iterations, sink.data());
    });
    Json parameters = one.parameters;
    parameters["iterations"] = one.iterations;
    harness.report().add(window_result(
        "shared_add", one.name, std::move(parameters), "SM cycles/atomicAdd of an SM", placement,
        samples, static_cast<double>(one.iterations) * kSharedAdds * one.warps));
  }
}

}  // namespace warpfold::microbench

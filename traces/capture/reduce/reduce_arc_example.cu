// SPDX-License-Identifier: Apache-2.0
// Number and weight of the items in each bin, by ARC-SW. Exit code 0: the sums are right.
//   nvcc -std=c++17 -arch=native traces/capture/reduce/reduce_arc_example.cu
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "reduce_arc.cuh"
#include "reduce_arc_tuner.hpp"

constexpr int kItems = 1 << 18, kBins = 64, kBlock = 256, kBytes = 2 * kBins * sizeof(float);

// Where the library finds parameter i of a bin: 0 is the number, 1 the weight.
struct Bins {
  float* data;
  __device__ float* operator()(int bin, int i) const { return data + 2 * bin + i; }
};

// Policy set at compile time. SwS is called by the threads that have something to add.
__global__ void scatter_serialized(Bins bins, int threshold) {
  const int item = int(blockIdx.x * kBlock + threadIdx.x);
  if (item % 5 != 0) {
    const float val[] = {1.0F, float(item % 7)};
    warpfold::reduce_arc<warpfold::SwS>(item / 48 % kBins, bins, val, threshold);
  }
}

// SwB is called by all threads. Those with nothing to add pass zeros.
__global__ void scatter_butterfly(Bins bins, int threshold) {
  const int item = int(blockIdx.x * kBlock + threadIdx.x);
  const bool active = item % 5 != 0;
  const float val[] = {active ? 1.0F : 0.0F, active ? float(item % 7) : 0.0F};
  warpfold::reduce_arc<warpfold::SwB>(item / 48 % kBins, bins, val, threshold, active);
}

// Policy chosen at run time: all threads call, whichever it is.
__global__ void scatter(Bins bins, warpfold::ReducePolicy policy, int threshold) {
  const int item = int(blockIdx.x * kBlock + threadIdx.x);
  const bool active = item % 5 != 0;
  const float val[] = {active ? 1.0F : 0.0F, active ? float(item % 7) : 0.0F};
  warpfold::reduce_arc(policy, item / 48 % kBins, bins, val, threshold, active);
}

int main(int argc, char** argv) {  // [policy: 0 baseline, 1 sw-s, 2 sw-b]
  const auto policy = static_cast<warpfold::ReducePolicy>(argc > 1 ? std::atoi(argv[1]) : 2);
  std::vector<float> expected(2 * kBins), sums(2 * kBins);  // whole numbers: exact
  for (int item = 0; item < kItems; ++item) {
    expected[2 * (item / 48 % kBins)] += item % 5 != 0 ? 1.0F : 0.0F;
    expected[2 * (item / 48 % kBins) + 1] += item % 5 != 0 ? float(item % 7) : 0.0F;
  }
  Bins bins{};
  cudaEvent_t begin, end;
  if (cudaMalloc(&bins.data, kBytes) || cudaEventCreate(&begin) || cudaEventCreate(&end)) {
    return 2;  // no GPU
  }
  const auto clear = [&] { cudaMemset(bins.data, 0, kBytes); };
  const auto right = [&] {
    cudaMemcpy(sums.data(), bins.data, kBytes, cudaMemcpyDeviceToHost);
    return cudaGetLastError() == cudaSuccess && sums == expected;
  };
  clear();
  scatter_serialized<<<kItems / kBlock, kBlock>>>(bins, 8);
  bool good = right();
  clear();
  scatter_butterfly<<<kItems / kBlock, kBlock>>>(bins, 8);
  good = right() && good;

  const auto launch = [&](int x) { scatter<<<kItems / kBlock, kBlock>>>(bins, policy, x); };
  const auto milliseconds = [&](const auto& work) {
    float ms = 0;
    cudaEventRecord(begin);
    work();
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    cudaEventElapsedTime(&ms, begin, end);
    good = right() && good;
    return ms;
  };
  // In its first iteration, and again after 2,000, the tuner tries every threshold.
  warpfold::ReduceArcTuner<int> tuner(warpfold::balancing_thresholds(), 2000);
  for (int iteration = 0; iteration < 3; ++iteration) {
    tuner.run(clear, launch, milliseconds);
    good = right() && good;
  }
  std::printf("best threshold %d, %.4f ms\n", tuner.best(), tuner.best_time());
  return good ? 0 : 1;
}

// SPDX-License-Identifier: Apache-2.0
// How a slice of the L2 is shared by the SMs that add to it: operations that each gets through in
// the same time.
#include <algorithm>
#include <numeric>
#include <string>

#include "traces/capture/microbench/benches.hpp"
#include "traces/capture/microbench/kernels_red.cuh"

namespace warpfold::microbench {
namespace {

constexpr std::uint64_t kNanoseconds = 2'000'000;
constexpr int kWarps = 32;  // of an SM
constexpr int kRedsBetweenLooks = 16;

// Lane 0 of each warp adds to one word after the other, of `words` in a row, from word
// warp * `apart` on, until the time is over.
__global__ void red_share(Probe probe, float* base, std::uint32_t words, std::uint32_t apart,
                          float value, unsigned long long* operations) {
  const int warp = enter(probe);
  if (warp < 0) {
    return;
  }
  Stopwatch watch;
  watch.start();
  if (lane_id() == 0) {
    const std::uint64_t end = global_time() + kNanoseconds;
    std::uint32_t word = static_cast<std::uint32_t>(warp) * apart % words;
    unsigned long long done = 0;
    while (global_time() < end) {
#pragma unroll
      for (int i = 0; i < kRedsBetweenLooks; ++i) {
        red_add(base + word, value);
        word = word + 1 < words ? word + 1 : 0;
      }
      done += kRedsBetweenLooks;
    }
    atomicAdd(operations + sm_id(), done);
  }
  watch.stop(probe, warp, false);
}

struct ShareCase {
  const char* name;
  std::uint32_t words;
  std::uint32_t apart;
};
// 42 words lie in one slice; a dynibar warp adds to as many.
constexpr ShareCase kCases[] = {{"share/address", 1, 0},
                                {"share/words_in_step", 42, 0},
                                {"share/words_apart", 42, 5},
                                {"share/all_slices", 1U << 20U, 4099}};

}  // namespace

void bench_share(Harness& harness) {
  DeviceBuffer<float> words(1U << 20U);
  words.clear_async();
  const auto sms = static_cast<std::size_t>(harness.device().sms);
  DeviceBuffer<unsigned long long> operations(sms);
  const Placement placement = harness.place(kWarps, true);
  for (const ShareCase& one : kCases) {
    std::vector<double> most;
    std::vector<double> nanoseconds;
    std::vector<double> by_sm;
    double mhz = 0;
    for (int i = 0; i < harness.repetitions(); ++i) {
      const auto samples = harness.run(placement, 1, [&](const Probe& probe, int grid, int block) {
        operations.clear_async();
        red_share<<<grid, block>>>(probe, words.data(), one.words, one.apart, 1.0F,
                                   operations.data());
      });
      mhz = samples.front().mhz;
      const auto counts = operations.to_host();
      by_sm.assign(counts.begin(), counts.end());
      const double all = std::accumulate(by_sm.begin(), by_sm.end(), 0.0);
      most.push_back(*std::max_element(by_sm.begin(), by_sm.end()) / summarize(by_sm).median);
      nanoseconds.push_back(static_cast<double>(kNanoseconds) / all);
      for (double& count : by_sm) {
        count *= static_cast<double>(sms) / all;
      }
    }
    Result result;
    result.group = "share";
    result.name = one.name;
    result.parameters = {{"words", one.words}, {"warps_apart", one.apart}, {"warps", kWarps}};
    result.unit = "REDs of the SM that issues most over those of the median SM";
    result.value = summarize(most);
    result.grid = placement.grid;
    result.block = placement.block;
    result.mhz = mhz;
    result.extra = {{"sms", sms},
                    {"nanoseconds_each", summarize(nanoseconds).median},
                    {"over_mean_by_sm", by_sm}};
    harness.report().add(result);
  }
}

}  // namespace warpfold::microbench

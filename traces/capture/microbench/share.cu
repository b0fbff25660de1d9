// SPDX-License-Identifier: Apache-2.0
// How a slice of the L2 is shared by the SMs that add to it: operations that each gets through in
// the same time, and whether warps that begin in step stay so.
#include <algorithm>
#include <array>
#include <numeric>
#include <string>

#include "traces/capture/microbench/benches.hpp"
#include "traces/capture/microbench/kernels_red.cuh"

namespace warpfold::microbench {
namespace {

constexpr int kRedsBetweenLooks = 6;

struct ShareCase {
  const char* name;
  std::uint32_t words;
  std::uint32_t apart;
  std::uint32_t lanes;
  int warps;  // of an SM
  std::uint64_t nanoseconds;
};
// 42 words lie in one slice; a dynibar warp adds to as many, with all its lanes.
constexpr ShareCase kCases[] = {{"share/address", 1, 0, 1, 32, 2'000'000},
                                {"share/words_in_step", 42, 0, 1, 32, 2'000'000},
                                {"share/words_apart", 42, 5, 1, 32, 2'000'000},
                                {"share/all_slices", 1U << 20U, 4099, 1, 32, 2'000'000},
                                {"share/words_in_step/lanes=32/warps=1", 42, 0, 32, 1, 8'000'000},
                                {"share/words_in_step/lanes=32/warps=4", 42, 0, 32, 4, 8'000'000},
                                {"share/words_in_step/lanes=32/warps=32", 42, 0, 32, 32, 8'000'000},
                                {"share/words_apart/lanes=32/warps=32", 42, 5, 32, 32, 8'000'000}};

// The first lanes of each warp add to one word after the other, of those in a row, from word
// warp * apart on, until the time is over. REDs of an SM are counted by quarters of the time;
// in the first the queues fill.
constexpr std::size_t kQuarters = 4;
__global__ void red_share(Probe probe, float* base, ShareCase one, float value,
                          unsigned long long* operations, int sms) {
  const int warp = enter(probe);
  if (warp < 0) {
    return;
  }
  Stopwatch watch;
  watch.start();
  const std::uint64_t begin = global_time();
  std::uint32_t word = static_cast<std::uint32_t>(warp) * one.apart % one.words;
  unsigned long long done = 0;
  for (std::size_t quarter = 0; quarter < kQuarters;) {
    const std::uint64_t now = __shfl_sync(~0U, global_time() - begin, 0);
    if (now * kQuarters >= one.nanoseconds * (quarter + 1)) {
      if (lane_id() == 0) {
        atomicAdd(operations + quarter * static_cast<std::size_t>(sms) + sm_id(), done);
      }
      done = 0;
      ++quarter;
      continue;
    }
#pragma unroll
    for (int i = 0; i < kRedsBetweenLooks; ++i) {
      if (lane_id() < one.lanes) {
        red_add(base + word, value);
      }
      word = word + 1 < one.words ? word + 1 : 0;
    }
    done += kRedsBetweenLooks;
  }
  watch.stop(probe, warp, false);
}

}  // namespace

void bench_share(Harness& harness) {
  DeviceBuffer<float> words(1U << 20U);
  words.clear_async();
  const auto sms = static_cast<std::size_t>(harness.device().sms);
  DeviceBuffer<unsigned long long> operations(kQuarters * sms);
  for (const ShareCase& one : kCases) {
    const Placement placement = harness.place(one.warps, true);
    std::vector<double> most;
    std::vector<double> nanoseconds;
    std::array<std::vector<double>, kQuarters> quarters;
    std::vector<double> by_sm;
    double mhz = 0;
    for (int i = 0; i < harness.repetitions(); ++i) {
      const auto samples = harness.run(placement, 1, [&](const Probe& probe, int grid, int block) {
        operations.clear_async();
        red_share<<<grid, block>>>(probe, words.data(), one, 1.0F, operations.data(),
                                   harness.device().sms);
      });
      mhz = samples.front().mhz;
      const auto counts = operations.to_host();
      by_sm.assign(sms, 0);
      const double time = static_cast<double>(one.nanoseconds) / one.lanes;
      for (std::size_t quarter = 0; quarter < kQuarters; ++quarter) {
        double in_quarter = 0;
        for (std::size_t sm = 0; sm < sms; ++sm) {
          const auto count = static_cast<double>(counts[quarter * sms + sm]);
          by_sm[sm] += count;
          in_quarter += count;
        }
        quarters[quarter].push_back(time / kQuarters / in_quarter);
      }
      const double all = std::accumulate(by_sm.begin(), by_sm.end(), 0.0);
      most.push_back(*std::max_element(by_sm.begin(), by_sm.end()) / summarize(by_sm).median);
      nanoseconds.push_back(time / all);
      for (double& count : by_sm) {
        count *= static_cast<double>(sms) / all;
      }
    }
    Result result;
    result.group = "share";
    result.name = one.name;
    result.parameters = {{"words", one.words},
                         {"warps_apart", one.apart},
                         {"lanes", one.lanes},
                         {"warps", one.warps}};
    result.unit = "REDs of the SM that issues most over those of the median SM";
    result.value = summarize(most);
    result.grid = placement.grid;
    result.block = placement.block;
    result.mhz = mhz;
    result.extra = {{"sms", sms},
                    {"nanoseconds_each", summarize(nanoseconds).median},
                    {"nanoseconds_each_by_quarter",
                     {summarize(quarters[0]).median, summarize(quarters[1]).median,
                      summarize(quarters[2]).median, summarize(quarters[3]).median}},
                    {"over_mean_by_sm", by_sm}};
    harness.report().add(result);
  }
}

}  // namespace warpfold::microbench

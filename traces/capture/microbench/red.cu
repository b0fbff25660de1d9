// SPDX-License-Identifier: Apache-2.0
// RED throughput of one SM and of all, by active lanes and addresses; hot addresses, their distance
// in memory, and which lines share a slice.
#include <algorithm>

#include "traces/capture/microbench/benches.hpp"
#include "traces/capture/microbench/kernels_red.cuh"
#include "traces/capture/microbench/red_cases.hpp"

namespace warpfold::microbench {
namespace {

__global__ void red_throughput(Probe probe, char* base, const __grid_constant__ RedPattern pattern,
                               int iterations) {
  const int warp = enter(probe);
  if (warp < 0) {
    return;
  }
  Stopwatch watch;
  watch.start();
  red_loop(base, pattern, static_cast<std::uint32_t>(warp), iterations, 1.0F);
  watch.stop(probe, warp, true);
}

// Even warps add to one address and odd warps to another, one lane each.
__global__ void red_pair(Probe probe, char* even, char* odd, int iterations) {
  const int warp = enter(probe);
  if (warp < 0) {
    return;
  }
  Stopwatch watch;
  watch.start();
  if (lane_id() == 0) {
    char* const address = (warp & 1) != 0 ? odd : even;
#pragma unroll 1
    for (int i = 0; i < iterations; ++i) {
#pragma unroll
      for (int k = 0; k < 8; ++k) {
        red_add(address, 1.0F);
      }
    }
  }
  watch.stop(probe, warp, true);
}

class RedBench {
 public:
  explicit RedBench(Harness& harness) : harness_(harness), buffer_(kRedBytes) {
    buffer_.clear_async();
  }

  void cases() {
    for (const RedCase& one : red_cases(harness_.device().sms, harness_.device().max_warps)) {
      harness_.attempt(one.name, [&] { run(one); });
    }
  }

  // Which addresses share a ROP with the first: there two hot addresses take twice as long.
  void slices() {
    constexpr int kIterations = 6;
    const Placement placement = harness_.place(8, true);
    const double adds = 4.0 * harness_.device().sms * kIterations * 8;  // to each address
    const auto cycles = [&](std::uint64_t a, std::uint64_t b, int repetitions) {
      const auto samples =
          harness_.run(placement, repetitions, [&](const Probe& probe, int grid, int block) {
            red_pair<<<grid, block>>>(probe, buffer_.data() + a, buffer_.data() + b, kIterations);
          });
      return summarize_member(samples, &Sample::drained_window, adds);
    };
    Result result;
    result.group = "slices";
    result.unit = "SM cycles/addition to each of two addresses";
    result.grid = placement.grid;
    result.block = placement.block;
    const auto pair = [&](std::uint64_t offset) {
      result.name = "slices/pair/offset=" + std::to_string(offset);
      result.parameters = {{"offset_bytes", offset}};
      result.value = cycles(0, offset, harness_.repetitions());
      harness_.report().add(result);
      return result.value.median;
    };
    const double together = pair(0);
    double apart = together;
    for (std::uint64_t offset = 4; offset < 32; offset *= 2) {
      pair(offset);
    }
    // Neighbouring sectors have a ROP in common: it takes longer for two of them than two ROPs for
    // one each, and less long than for two additions to one address.
    double conflict = together;
    for (std::uint64_t offset = 32; offset <= 2048; offset += 32) {
      const double each = pair(offset);
      conflict = offset == 32 ? each : conflict;
      apart = std::min(apart, each);
    }
    for (std::uint64_t offset = 4096; offset <= kRedBytes / 2; offset *= 2) {
      apart = std::min(apart, pair(offset));
    }
    const double limit = (conflict + apart) / 2;

    // How many of all sectors share the ROP of the first: one in as many as there are ROPs.
    constexpr int kTried = 6000;
    int conflicts = 0;
    std::uint32_t state = 1;
    Json places = Json::array();
    for (int i = 0; i < kTried; ++i) {
      state = state * 1664525U + 1013904223U;
      const std::uint64_t offset = (state >> 6U) % (kRedBytes / 32) * 32;
      if (offset != 0 && cycles(0, offset, 1).median > limit &&
          cycles(0, offset, 3).median > limit) {
        ++conflicts;
        places.push_back(offset);
      }
    }
    result.name = "slices/conflicts";
    result.parameters = {{"tried", kTried}, {"region_bytes", kRedBytes}, {"seed", 1}};
    result.unit = "addresses that share the ROP of address 0, of those tried";
    const double count = conflicts;
    result.value = summarize({&count, 1});
    result.extra = {{"offsets", places}, {"limit", limit}};
    harness_.report().add(result);

    // Neighbouring sectors, sorted into those that share a ROP.
    constexpr std::uint64_t kStep = 32;
    constexpr int kMapped = 192;
    std::vector<int> group(kMapped, -1);
    std::vector<int> first;
    for (int i = 0; i < kMapped; ++i) {
      for (std::size_t g = 0; g < first.size() && group[i] < 0; ++g) {
        if (cycles(static_cast<std::uint64_t>(first[g]) * kStep,
                   static_cast<std::uint64_t>(i) * kStep, 1)
                .median > limit) {
          group[i] = static_cast<int>(g);
        }
      }
      if (group[i] < 0) {
        group[i] = static_cast<int>(first.size());
        first.push_back(i);
      }
    }
    result.name = "slices/map";
    result.parameters = {{"step_bytes", kStep}, {"sectors", kMapped}};
    result.unit = "ROPs that the sectors in a row use";
    const auto groups = static_cast<double>(first.size());
    result.value = summarize({&groups, 1});
    result.extra = {{"rop_of_sector", group}, {"limit", limit}};
    harness_.report().add(result);
  }

 private:
  void run(const RedCase& one) {
    const Placement placement = harness_.place(one.warps, one.whole_gpu, one.subcores);
    const auto samples = harness_.run(placement, one.launches * harness_.repetitions(),
                                      [&](const Probe& probe, int grid, int block) {
                                        red_throughput<<<grid, block>>>(
                                            probe, buffer_.data(), one.pattern, one.iterations);
                                      });
    const double reds = static_cast<double>(one.iterations) * kReds * one.warps;
    Json parameters = one.parameters;
    parameters["iterations"] = one.iterations;
    Result result = window_result("red", one.name, std::move(parameters), "SM cycles/RED of an SM",
                                  placement, samples, reds);
    const double lane_adds = reds * one.lanes * samples.front().sms;
    result.extra["lane_additions_per_cycle"] =
        lane_adds / summarize_member(samples, &Sample::drained_window, 1).median;
    harness_.report().add(result);
  }

  Harness& harness_;
  DeviceBuffer<char> buffer_;
};

}  // namespace

void bench_red(Harness& harness) {
  RedBench(harness).cases();
}

void bench_slices(Harness& harness) {
  RedBench(harness).slices();
}

}  // namespace warpfold::microbench

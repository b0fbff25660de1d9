// SPDX-License-Identifier: Apache-2.0
// Bursts of REDs and of shuffles: in which cycle each issues, and so how many wait in front of the
// load-store unit before the warp is blocked. And what loads and shuffles take that come behind
// REDs.
#include <algorithm>
#include <array>
#include <utility>

#include "traces/capture/microbench/benches.hpp"
#include "traces/capture/microbench/kernels_red.cuh"

namespace warpfold::microbench {
namespace {

constexpr int kBurst = 64;
constexpr int kRounds = 3;  // the last one counts

// The stamps of a burst stay in registers, two for each, so there cannot be many threads.
constexpr int kStampedThreads = 256;

// Where lane l adds: l * lane_bytes into a line of its own for each RED and warp.
struct BurstPattern {
  std::uint32_t active;
  std::uint32_t lane_bytes;
};

template <int kOffset>
__device__ inline void red_at(const char* address, float value) {
  asm volatile("red.global.add.f32 [%0+%2], %1;" ::"l"(address), "f"(value), "n"(kOffset)
               : "memory");
}

// kBurst REDs with a look at the clock in front of each.
template <int... kIndex>
__device__ inline void stamped_burst(const char* address, float value,
                                     std::uint32_t (&times)[kBurst],
                                     std::integer_sequence<int, kIndex...>) {
  ((times[kIndex] = clock_low(), red_at<kIndex * 8192>(address, value)), ...);
}

__global__ void __launch_bounds__(kStampedThreads)
    red_burst_stamped(Probe probe, char* base, BurstPattern pattern, float value,
                      std::uint32_t* stamps) {
  const int warp = enter(probe);
  if (warp < 0) {
    return;
  }
  const bool active = (pattern.active >> lane_id() & 1U) != 0;
  const char* address =
      base + static_cast<std::uint64_t>(warp) * 128 * 4099 + lane_id() * pattern.lane_bytes;
  Stopwatch watch;
  std::uint32_t times[kBurst];
#pragma unroll 1
  for (int round = 0; round < kRounds; ++round) {
    __threadfence();
    // Ended warps count as arrived.
    __syncthreads();
    watch.start();
    if (active) {
      stamped_burst(address, value, times, std::make_integer_sequence<int, kBurst>());
    }
  }
  watch.stop(probe, warp, true);
  if (lane_id() == 0) {
#pragma unroll
    for (int i = 0; i < kBurst; ++i) {
      stamps[warp * kBurst + i] = times[i] - times[0];
    }
  }
}

template <int... kIndex>
__device__ inline void plain_burst(const char* address, float value,
                                   std::integer_sequence<int, kIndex...>) {
  (red_at<kIndex * 8192>(address, value), ...);
}

// kCount REDs between two looks at the clock.
template <int kCount>
__global__ void red_burst(Probe probe, char* base, BurstPattern pattern, float value,
                          std::uint32_t* stamps) {
  const int warp = enter(probe);
  if (warp < 0) {
    return;
  }
  const bool active = (pattern.active >> lane_id() & 1U) != 0;
  const char* address =
      base + static_cast<std::uint64_t>(warp) * 128 * 4099 + lane_id() * pattern.lane_bytes;
  Stopwatch watch;
  std::uint64_t start = 0;
  std::uint64_t end = 0;
#pragma unroll 1
  for (int round = 0; round < kRounds; ++round) {
    __threadfence();
    __syncthreads();
    watch.start();
    if (active) {
      start = clock_now();
      plain_burst(address, value, std::make_integer_sequence<int, kCount>());
      end = clock_now();
    }
  }
  watch.stop(probe, warp, true);
  if (lane_id() == 0) {
    stamps[warp] = static_cast<std::uint32_t>(end - start);
  }
}

constexpr int kFlightWarps = 16;
constexpr int kLooks = 16;
constexpr int kRedsOfLook = 4;

// Warps that all add to one line as fast as they can, with a look at the clock every few REDs.
__global__ void red_flight(Probe probe, char* base, BurstPattern pattern, float value,
                           std::uint64_t* stamps) {
  const int warp = enter(probe);
  if (warp < 0) {
    return;
  }
  const bool active = (pattern.active >> lane_id() & 1U) != 0;
  const char* address = base + lane_id() * pattern.lane_bytes;
  std::uint64_t times[kLooks];
  Stopwatch watch;
  watch.start();
#pragma unroll
  for (int look = 0; look < kLooks; ++look) {
    if (active) {
#pragma unroll
      for (int i = 0; i < kRedsOfLook; ++i) {
        red_add(address, value);
      }
    }
    times[look] = clock_now();
  }
  watch.stop(probe, warp, true);
  if (lane_id() == 0) {
#pragma unroll
    for (int look = 0; look < kLooks; ++look) {
      stamps[warp * kLooks + look] = times[look];
    }
  }
}

// What comes behind REDs: a load of the L2, a shuffle, a load of shared memory.
enum class Behind : std::uint8_t { kLoad, kShuffle, kShared };

// The result is zero, as `zero` is.
__device__ inline std::uint32_t ask(Behind what, const char* address, std::uint32_t shared,
                                    std::uint32_t zero) {
  std::uint32_t result = 0;
  switch (what) {
    case Behind::kLoad:
      asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(result) : "l"(address + zero) : "memory");
      break;
    case Behind::kShuffle:
      asm volatile("shfl.sync.idx.b32 %0, %1, %1, 31, 0xffffffff;" : "=r"(result) : "r"(zero));
      break;
    case Behind::kShared:
      asm volatile("ld.shared.u32 %0, [%1];" : "=r"(result) : "r"(shared + zero) : "memory");
      break;
  }
  return result;
}

constexpr int kAsksBehind = 12;
constexpr std::uint64_t kBehindNanoseconds = 4'000'000;
constexpr std::uint32_t kLoadBytes = 2U << 20U;
constexpr std::uint32_t kStrideApart = 128 * 99;  // of up to 5,000 warps in the buffer

// One warp of each SM asks for one result after the other; each other one adds to one line, those
// of two warps `warp_bytes` apart, until the time is over. Results are asked for when the queues
// have filled, in the second eighth of the time; `cycles` of those that were not within seven
// eighths stay 0.
template <Behind kWhat>
__global__ void behind_reds(Probe probe, const char* data, char* base, BurstPattern pattern,
                            std::uint32_t warp_bytes, int warps, float value,
                            std::uint32_t* cycles) {
  const int warp = enter(probe);
  if (warp < 0) {
    return;
  }
  Stopwatch watch;
  watch.start();
  const std::uint64_t begin = global_time();
  const auto sm = static_cast<std::uint32_t>(warp / warps);
  __shared__ std::uint32_t zeros[32];
  if (warp % warps == 0) {
    zeros[lane_id()] = 0;
    const auto shared = static_cast<std::uint32_t>(__cvta_generic_to_shared(zeros));
    while (global_time() - begin < kBehindNanoseconds / 8) {
    }
    std::uint32_t wait = 0;
    for (int i = 0; i < kAsksBehind; ++i) {
      if (global_time() - begin > kBehindNanoseconds / 8 * 7) {
        break;
      }
      const std::uint32_t line = (static_cast<std::uint32_t>(i) * 7919U + sm * 131U) * 128U;
      const char* address = data + (line & (kLoadBytes - 1));
      const std::uint64_t start = clock_now();
      wait = ask(kWhat, address, shared, wait);
      // All values are zero: the clock waits for this one.
      const std::uint64_t end = clock_after(wait);
      if (lane_id() == 0) {
        cycles[sm * kAsksBehind + static_cast<std::uint32_t>(i)] =
            static_cast<std::uint32_t>(end - start);
      }
    }
  } else {
    const bool active = (pattern.active >> lane_id() & 1U) != 0;
    const char* address =
        base + lane_id() * pattern.lane_bytes + static_cast<std::uint64_t>(warp) * warp_bytes;
    while (__shfl_sync(~0U, global_time() - begin, 0) < kBehindNanoseconds) {
      if (active) {
#pragma unroll
        for (int i = 0; i < kRedsOfLook; ++i) {
          red_add(address, value);
        }
      }
    }
  }
  watch.stop(probe, warp, false);
}

struct NamedBurst {
  const char* name;
  BurstPattern pattern;
};
constexpr NamedBurst kBursts[] = {
    {"one_lane", {1U, 0}},
    {"same_8", {0xffU, 0}},
    {"same_32", {0xffffffffU, 0}},
    {"consecutive_32", {0xffffffffU, 4}},
    {"sectors_32", {0xffffffffU, 32}},
};

// Warps of an SM: how many in each of how many sub-cores.
struct Crew {
  int subcores;
  int warps;
};
constexpr Crew kCrews[] = {{1, 1}, {1, 2}, {1, 4}, {1, 8}, {2, 1}, {4, 1}, {4, 2}, {4, 4}, {4, 8}};

class BurstBench {
 public:
  explicit BurstBench(Harness& harness)
      : harness_(harness), buffer_(kRedBytes), stamps_(64 * kBurst) {
    buffer_.clear_async();
    stamps_.clear_async();
  }

  void stamped(const NamedBurst& burst, const Crew& crew) {
    const Placement placement = place(crew);
    const int warps = crew.subcores * crew.warps;
    std::vector<std::vector<double>> of_index(kBurst);
    std::vector<double> depths;
    for (int i = 0; i < harness_.repetitions(); ++i) {
      const auto times = launch(placement, 1, [&](const Probe& probe, int grid, int block) {
        red_burst_stamped<<<grid, block>>>(probe, buffer_.data(), burst.pattern, 1.0F,
                                           stamps_.data());
      });
      std::vector<double> first;
      for (int k = 0; k < kBurst; ++k) {
        of_index[static_cast<std::size_t>(k)].push_back(times[static_cast<std::size_t>(k)]);
        first.push_back(times[static_cast<std::size_t>(k)]);
      }
      depths.push_back(fit_queue(first).depth);
    }
    std::vector<double> medians;
    for (const auto& values : of_index) {
      medians.push_back(summarize(values).median);
    }
    const QueueFit fit = fit_queue(medians);
    Result result = head(burst, crew, placement, "stamped");
    result.unit = "REDs ahead when the warp is blocked";
    result.value = summarize(depths);
    result.extra = {{"issue_cycle", medians},
                    {"first_gap", fit.first_gap},
                    {"steady_gap", fit.steady_gap},
                    {"depth", fit.depth},
                    {"first_blocked", fit.first_blocked},
                    {"warps", warps}};
    harness_.report().add(result);
  }

  // REDs of an SM that have issued and are not done, at most: how much room there is from its
  // sub-cores to the L2. What is done follows from when the last is.
  void flight(const NamedBurst& burst, bool whole_gpu) {
    const Placement placement = harness_.place(kFlightWarps, whole_gpu);
    const auto sms = static_cast<std::size_t>(whole_gpu ? harness_.device().sms : 1);
    constexpr std::size_t kStamps = static_cast<std::size_t>(kFlightWarps) * kLooks;
    constexpr double kReds = static_cast<double>(kStamps) * kRedsOfLook;
    const DeviceBuffer<std::uint64_t> stamps(sms * kStamps);
    std::vector<double> peaks;
    double each = 0;
    for (int i = 0; i < harness_.repetitions(); ++i) {
      const auto samples = harness_.run(placement, 1, [&](const Probe& probe, int grid, int block) {
        red_flight<<<grid, block>>>(probe, buffer_.data(), burst.pattern, 1.0F, stamps.data());
      });
      each = samples.front().drained_window / kReds;
      auto times = stamps.to_host();
      std::vector<double> of_sm;
      for (std::size_t sm = 0; sm < sms; ++sm) {
        const auto first = times.begin() + static_cast<std::ptrdiff_t>(sm * kStamps);
        const auto last = first + static_cast<std::ptrdiff_t>(kStamps);
        std::sort(first, last);
        double most = 0;
        for (auto at = first; at != last; ++at) {
          const double issued = static_cast<double>(at - first + 1) * kRedsOfLook;
          most = std::max(most, issued - static_cast<double>(*at - *first) / each);
        }
        of_sm.push_back(most);
      }
      peaks.push_back(summarize(of_sm).median);
    }
    Result result;
    result.group = "burst";
    result.name = std::string("burst/flight/") + burst.name + (whole_gpu ? "/gpu" : "/sm");
    result.parameters = {{"pattern", burst.name}, {"warps", kFlightWarps}, {"sms", sms}};
    result.unit = "REDs of the median SM that have issued and are not done";
    result.value = summarize(peaks);
    result.grid = placement.grid;
    result.block = placement.block;
    result.extra = {{"cycles_each", each}, {"reds", kReds}};
    harness_.report().add(result);
  }

  // What a load of the L2, a shuffle or a load of shared memory takes beside the REDs of `warps` -
  // 1 other warps of its SM, all to one line or, `apart`, each warp to one of its own; in all SMs.
  template <Behind kWhat>
  void behind(const NamedBurst& burst, int warps, bool apart, const std::string& name) {
    const Placement placement = harness_.place(warps, true);
    const auto sms = static_cast<std::size_t>(harness_.device().sms);
    const DeviceBuffer<char> data(kLoadBytes);
    data.clear_async();
    const DeviceBuffer<std::uint32_t> cycles(sms * kAsksBehind);
    std::vector<double> medians;
    std::vector<double> all;
    for (int i = 0; i < harness_.repetitions(); ++i) {
      (void)harness_.run(placement, 1, [&](const Probe& probe, int grid, int block) {
        cycles.clear_async();
        behind_reds<kWhat><<<grid, block>>>(probe, data.data(), buffer_.data(), burst.pattern,
                                            apart ? kStrideApart : 0, warps, 1.0F, cycles.data());
      });
      std::vector<double> taken;
      for (const std::uint32_t one : cycles.to_host()) {
        if (one > 0) {
          taken.push_back(one);
        }
      }
      medians.push_back(summarize(taken).median);
      all = std::move(taken);
    }
    std::sort(all.begin(), all.end());
    Result result;
    result.group = "burst";
    result.name = "burst/" + name + "_behind/" + burst.name + (apart ? "/apart" : "/same") +
                  "/warps=" + std::to_string(warps - 1);
    result.parameters = {{"pattern", burst.name}, {"apart", apart}, {"warps", warps - 1}};
    result.unit = "SM cycles until the result is there";
    result.value = summarize(medians);
    result.grid = placement.grid;
    result.block = placement.block;
    result.extra = {{"asked", all.size()},
                    {"tenths", {all[all.size() / 10], all[all.size() * 9 / 10]}}};
    harness_.report().add(result);
  }

  template <int... kCounts>
  void plain(const NamedBurst& burst, const Crew& crew, std::integer_sequence<int, kCounts...>) {
    const Placement placement = place(crew);
    (one_plain<kCounts>(burst, crew, placement), ...);
  }

 private:
  // Sub-cores are dealt the warps of a CTA in turn.
  Placement place(const Crew& crew) const {
    return harness_.place(crew.subcores * crew.warps, false, crew.subcores);
  }

  static Result head(const NamedBurst& burst, const Crew& crew, const Placement& placement,
                     const std::string& kind) {
    Result result;
    result.group = "burst";
    result.name = "burst/" + kind + "/" + burst.name +
                  "/subcores=" + std::to_string(crew.subcores) +
                  "/warps_each=" + std::to_string(crew.warps);
    result.parameters = {
        {"pattern", burst.name}, {"subcores", crew.subcores}, {"warps_of_subcore", crew.warps}};
    result.grid = placement.grid;
    result.block = placement.block;
    return result;
  }

  template <int kCount>
  void one_plain(const NamedBurst& burst, const Crew& crew, const Placement& placement) {
    std::vector<double> cycles;
    for (int i = 0; i < harness_.repetitions(); ++i) {
      const auto times = launch(placement, 1, [&](const Probe& probe, int grid, int block) {
        red_burst<kCount>
            <<<grid, block>>>(probe, buffer_.data(), burst.pattern, 1.0F, stamps_.data());
      });
      cycles.push_back(times.front());
    }
    Result result = head(burst, crew, placement, "plain");
    result.name += "/count=" + std::to_string(kCount);
    result.parameters["count"] = kCount;
    result.unit = "SM cycles until the last RED of warp 0 has issued";
    result.value = summarize(cycles);
    harness_.report().add(result);
  }

  std::vector<std::uint32_t> launch(const Placement& placement, int repetitions,
                                    const Harness::Launch& kernel) {
    (void)harness_.run(placement, repetitions, kernel);
    return stamps_.to_host();
  }

  Harness& harness_;
  DeviceBuffer<char> buffer_;
  DeviceBuffer<std::uint32_t> stamps_;
};

}  // namespace

void bench_burst(Harness& harness) {
  BurstBench bench(harness);
  for (const NamedBurst& burst : kBursts) {
    bench.flight(burst, false);
    bench.flight(burst, true);
    for (const bool apart : {false, true}) {
      for (const int warps : {2, 5, 32}) {
        bench.behind<Behind::kLoad>(burst, warps, apart, "loads");
        bench.behind<Behind::kShuffle>(burst, warps, apart, "shuffles");
        bench.behind<Behind::kShared>(burst, warps, apart, "shared");
      }
    }
    for (const Crew& crew : kCrews) {
      if (crew.warps * 4 * 32 <= kStampedThreads) {
        bench.stamped(burst, crew);
      }
      bench.plain(
          burst, crew,
          std::integer_sequence<int, 1, 2, 3, 4, 6, 8, 10, 12, 14, 16, 20, 24, 32, 48, 64>());
    }
  }
}

}  // namespace warpfold::microbench

// SPDX-License-Identifier: Apache-2.0
// What does no arithmetic: barriers, branches, the order in which warps issue, starts of CTAs and
// of kernels.
#include <algorithm>
#include <chrono>
#include <map>

#include "traces/capture/microbench/benches.hpp"
#include "traces/capture/microbench/kernels_red.cuh"

namespace warpfold::microbench {
namespace {

__global__ void barriers(Probe probe, int iterations) {
  const int warp = enter(probe);
  if (warp < 0) {
    return;
  }
  Stopwatch watch;
  watch.start();
#pragma unroll 1
  for (int i = 0; i < iterations; ++i) {
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      asm volatile("bar.sync 0;" ::: "memory");
    }
  }
  watch.stop(probe, warp, false);
}

// A LOP3, an addition, a comparison and a branch that is taken.
__global__ void loop_branch(Probe probe, int iterations, std::uint32_t a, std::uint32_t* sink) {
  const int warp = enter(probe);
  if (warp < 0) {
    return;
  }
  std::uint32_t x = lane_id();
  Stopwatch watch;
  watch.start();
#pragma unroll 1
  for (int i = 0; i < iterations; ++i) {
    asm volatile("lop3.b32 %0, %0, %1, 0x5bd1e995, 0x96;" : "+r"(x) : "r"(a));
  }
  watch.stop(probe, warp, false);
  if (x == 77) {
    *sink = x;
  }
}

// Two ways of 16 multiplications each: lanes below `lanes` go one way, the others the other.
__global__ void two_ways(Probe probe, int iterations, std::uint32_t lanes, float a, float* sink) {
  const int warp = enter(probe);
  if (warp < 0) {
    return;
  }
  float x = static_cast<float>(lane_id());
  const bool low = lane_id() < lanes;
  Stopwatch watch;
  watch.start();
#pragma unroll 1
  for (int i = 0; i < iterations; ++i) {
    if (low) {
#pragma unroll
      for (int k = 0; k < 16; ++k) {
        asm volatile("mul.rn.f32 %0, %0, %1;" : "+f"(x) : "f"(a));
      }
    } else {
#pragma unroll
      for (int k = 0; k < 16; ++k) {
        asm volatile("add.rn.f32 %0, %0, %1;" : "+f"(x) : "f"(a));
      }
    }
    __syncwarp();
  }
  watch.stop(probe, warp, false);
  if (x == 77.5F) {
    *sink = x;
  }
}

// Lanes below `lanes` come together 16 times a turn, or find those of their value, as divergent
// code does: with the mask of those that are there.
template <bool kMatch>
__global__ void warp_syncs(Probe probe, int iterations, std::uint32_t lanes, std::uint32_t* sink) {
  const int warp = enter(probe);
  if (warp < 0) {
    return;
  }
  std::uint32_t x = 0;
  Stopwatch watch;
  watch.start();
  if (lane_id() < lanes) {
#pragma unroll 1
    for (int i = 0; i < iterations; ++i) {
#pragma unroll
      for (int k = 0; k < 16; ++k) {
        std::uint32_t mask;
        asm volatile("activemask.b32 %0;" : "=r"(mask)::"memory");
        if constexpr (kMatch) {
          asm volatile("match.any.sync.b32 %0, %0, %1;" : "+r"(x) : "r"(mask));
        } else {
          asm volatile("bar.warp.sync %0;" ::"r"(mask) : "memory");
        }
      }
    }
  }
  watch.stop(probe, warp, false);
  if (x == 0x12345678U) {
    *sink = x;
  }
}

constexpr int kParts = 8;
constexpr int kRedsOfPart = 32;
constexpr int kOpsOfPart = 1024;

// Warps of one sub-core that never wait: when does each reach an eighth, a quarter, ... of its
// work? A product and sum can issue every cycle, a logic operation every other.
template <bool kEveryCycle>
__global__ void issue_order(Probe probe, std::uint64_t* marks, std::uint32_t a,
                            std::uint32_t* sink) {
  const int warp = enter(probe);
  if (warp < 0) {
    return;
  }
  std::uint32_t x[8] = {lane_id(), 1, 2, 3, 4, 5, 6, 7};
  Stopwatch watch;
  watch.start();
#pragma unroll 1
  for (int part = 0; part < kParts; ++part) {
#pragma unroll 1
    for (int i = 0; i < kOpsOfPart / 64; ++i) {
#pragma unroll
      for (int k = 0; k < 64; ++k) {
        if constexpr (kEveryCycle) {
          asm volatile(
              "{ .reg .f32 f, g; mov.b32 f, %0; mov.b32 g, %1; fma.rn.f32 f, f, g, g; mov.b32 %0, "
              "f; }"
              : "+r"(x[k % 8])
              : "r"(a));
        } else {
          asm volatile("lop3.b32 %0, %0, %1, 0x5bd1e995, 0x96;" : "+r"(x[k % 4]) : "r"(a));
        }
      }
    }
    const std::uint64_t now = clock_now();
    if (lane_id() == 0) {
      marks[warp * kParts + part] = now;
    }
  }
  watch.stop(probe, warp, false);
  if ((x[0] ^ x[1] ^ x[2] ^ x[3] ^ x[4] ^ x[5] ^ x[6] ^ x[7]) == 0x12345678U) {
    *sink = x[0];
  }
}

// The same of warps that wait for room in the memory queue: of REDs of all lanes to an address of
// the warp's own, which leave it one by one.
__global__ void red_order(Probe probe, std::uint64_t* marks, char* base, int shuffles) {
  const int warp = enter(probe);
  if (warp < 0) {
    return;
  }
  const char* address = base + static_cast<std::uint64_t>(warp) * 128 * 4099;
  std::uint64_t times[kParts];
  float value = 1.0F;
  Stopwatch watch;
  watch.start();
#pragma unroll
  for (int part = 0; part < kParts; ++part) {
    for (int i = 0; i < shuffles; ++i) {
      value = __shfl_xor_sync(~0U, value, 1);
    }
#pragma unroll
    for (int k = 0; k < kRedsOfPart; ++k) {
      red_add(address, value);
    }
    times[part] = clock_now();
  }
  watch.stop(probe, warp, true);
  if (lane_id() == 0) {
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
      marks[warp * kParts + part] = times[part];
    }
  }
}

struct CtaRecord {
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t sm;
  std::uint32_t unused;
};

// CTAs that do nothing for a while: when the next one starts on the SM.
__global__ void cta_life(CtaRecord* records, std::uint32_t cycles) {
  extern __shared__ char shared[];
  __shared__ std::uint64_t start;
  const std::uint64_t begin = clock_now();
  if (threadIdx.x == 0) {
    start = begin;
    shared[0] = 1;
  }
  while (clock_now() - begin < cycles) {
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    records[blockIdx.x] = {start, clock_now(), sm_id(), 0};
  }
}

__global__ void empty() {}

class ControlBench {
 public:
  explicit ControlBench(Harness& harness) : harness_(harness), sink_(64) {}

  void barrier() {
    for (const int warps : {1, 2, 4, 8, 16, 32}) {
      barrier_case(1, warps);
    }
    // CTAs of 256 threads beside each other.
    for (const int ctas : {2, 4, 8}) {
      if (ctas * 8 <= harness_.device().max_warps) {
        barrier_case(ctas, 8);
      }
    }
  }

  void branches() {
    for (const int warps : {1, 2, 4, 8, 16}) {
      for (const int subcores : {1, 4}) {
        if (warps * 4 > harness_.device().max_warps) {
          continue;
        }
        in_subcores("loop", subcores, warps, 2000, Json::object(),
                    [&](const Probe& probe, int grid, int block, int turns) {
                      loop_branch<<<grid, block>>>(probe, turns, 0x8001U, uint_sink());
                    });
        for (const std::uint32_t lanes : {0U, 16U, 32U}) {
          in_subcores("two_ways", subcores, warps, 200, {{"lanes_of_first_way", lanes}},
                      [&](const Probe& probe, int grid, int block, int turns) {
                        two_ways<<<grid, block>>>(probe, turns, lanes, 0.999F, sink_.data());
                      });
        }
        for (const std::uint32_t lanes : {1U, 16U, 31U, 32U}) {
          in_subcores("mask_sync", subcores, warps, 40, {{"lanes", lanes}},
                      [&](const Probe& probe, int grid, int block, int turns) {
                        warp_syncs<false><<<grid, block>>>(probe, turns, lanes, uint_sink());
                      });
          in_subcores("mask_match", subcores, warps, 40, {{"lanes", lanes}},
                      [&](const Probe& probe, int grid, int block, int turns) {
                        warp_syncs<true><<<grid, block>>>(probe, turns, lanes, uint_sink());
                      });
        }
      }
    }
  }

  void order() {
    DeviceBuffer<char> words(kRedBytes);
    words.clear_async();
    for (const int warps : {2, 4, 8}) {
      one_order("issue_order", warps, kOpsOfPart,
                [&](const Probe& probe, auto* marks, int grid, int block) {
                  issue_order<false><<<grid, block>>>(probe, marks, 0x8001U, uint_sink());
                });
      one_order("issue_order/every_cycle", warps, kOpsOfPart,
                [&](const Probe& probe, auto* marks, int grid, int block) {
                  issue_order<true><<<grid, block>>>(probe, marks, 0x3f000001U, uint_sink());
                });
      for (const int shuffles : {0, 1}) {
        one_order(shuffles == 0 ? "red_order" : "red_order/shuffles", warps, kRedsOfPart,
                  [&](const Probe& probe, auto* marks, int grid, int block) {
                    red_order<<<grid, block>>>(probe, marks, words.data(), shuffles);
                  });
      }
    }
  }

  // When each warp of a sub-core has an eighth of its instructions issued, a quarter, ...
  template <class Kernel>
  void one_order(const std::string& kind, int warps, int ops_of_part, const Kernel& kernel) {
    const DeviceBuffer<std::uint64_t> marks(64 * kParts);
    const Placement placement = harness_.place(warps, false, 1);
    const auto samples = harness_.run(placement, [&](const Probe& probe, int grid, int block) {
      kernel(probe, marks.data(), grid, block);
    });
    const auto host = marks.to_host();
    const std::uint64_t zero = *std::min_element(host.begin(), host.begin() + kParts);
    Json table = Json::array();
    for (int w = 0; w < warps; ++w) {
      Json row = Json::array();
      for (int part = 0; part < kParts; ++part) {
        row.push_back(static_cast<std::int64_t>(
                          host[static_cast<std::size_t>(w * kSubcores * kParts + part)]) -
                      static_cast<std::int64_t>(zero));
      }
      table.push_back(row);
    }
    Result result =
        window_result("control", "control/" + kind + "/warps=" + std::to_string(warps),
                      {{"kind", kind}, {"warps_of_subcore", warps}}, "SM cycles/instruction",
                      placement, samples, static_cast<double>(kParts) * ops_of_part * warps);
    result.extra["cycle_of_each_eighth"] = table;
    harness_.report().add(result);
  }

  void ctas() {
    const int waves = 12;
    const int total = harness_.device().sms * waves;
    const DeviceBuffer<CtaRecord> records(static_cast<std::size_t>(total) * 8);
    // All shared memory for one CTA: the next starts when it has ended. Then CTAs of 256 threads
    // beside each other.
    for (const int threads : {32, 256, 1024}) {
      cta_gap(records, total, threads, 1);
    }
    for (const int ctas : {2, 4, 7}) {
      cta_gap(records, total, 256, ctas);
    }
    // Empty kernels: what a launch takes, and a CTA of it.
    Events events;
    for (const int threads : {32, 256, 1024}) {
      for (const int per_sm : {1, 8, 64, 512}) {
        const int grid = harness_.device().sms * per_sm;
        std::vector<double> us;
        for (int i = -1; i < harness_.repetitions(); ++i) {
          const double ms = events.time([&] {
            for (int k = 0; k < 20; ++k) {
              empty<<<grid, threads>>>();
            }
          });
          check_launch("empty");
          if (i >= 0) {
            us.push_back(ms * 1e3 / 20);
          }
        }
        Result result = head("control/launch/threads=" + std::to_string(threads) +
                                 "/ctas_per_sm=" + std::to_string(per_sm),
                             "us/launch, back to back", grid, threads);
        result.parameters = {{"kind", "launch"}, {"threads", threads}, {"ctas_per_sm", per_sm}};
        result.value = summarize(us);
        harness_.report().add(result);
      }
    }
    // One launch between events, as kernels are timed: of nothing, and of a frame's CTAs.
    launch_alone(events, 1, 32);
    for (const int per_sm : {1, 4, 16, 64}) {
      launch_alone(events, per_sm * harness_.device().sms, 256);
    }
    std::vector<double> host;
    for (int i = -3; i < 4 * harness_.repetitions(); ++i) {
      check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
      const auto begin = std::chrono::steady_clock::now();
      empty<<<1, 32>>>();
      check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
      const std::chrono::duration<double, std::micro> took =
          std::chrono::steady_clock::now() - begin;
      if (i >= 0) {
        host.push_back(took.count());
      }
    }
    Result result = head("control/launch_and_wait", "us of the host", 1, 32);
    result.parameters = {{"kind", "launch_and_wait"}};
    result.value = summarize(host);
    harness_.report().add(result);
  }

 private:
  std::uint32_t* uint_sink() const { return reinterpret_cast<std::uint32_t*>(sink_.data()); }

  static Result head(std::string name, std::string unit, int grid, int block) {
    Result result;
    result.group = "control";
    result.name = std::move(name);
    result.unit = std::move(unit);
    result.grid = grid;
    result.block = block;
    return result;
  }

  // `turns` of a loop in each of `warps` warps of each sub-core.
  template <class Launch>
  void in_subcores(const std::string& kind, int subcores, int warps, int turns, Json parameters,
                   const Launch& launch) {
    std::string name = "control/" + kind;
    if (!parameters.empty()) {
      name += "/lanes=" + parameters.front().dump();
    }
    name += "/subcores=" + std::to_string(subcores) + "/warps_each=" + std::to_string(warps);
    parameters["kind"] = kind;
    parameters["subcores"] = subcores;
    parameters["warps_of_subcore"] = warps;
    harness_.attempt(name, [&] {
      const Placement placement = harness_.place(warps * subcores, false, subcores);
      const auto samples = harness_.run(placement, [&](const Probe& probe, int grid, int block) {
        launch(probe, grid, block, turns);
      });
      harness_.report().add(window_result("control", name, parameters,
                                          "SM cycles/turn of a sub-core", placement, samples,
                                          static_cast<double>(turns) * warps));
    });
  }

  void barrier_case(int ctas, int warps) {
    Placement placement;
    placement.ctas = ctas;
    placement.block = warps * 32;
    placement.only_sm = ctas > 1 ? 0 : -1;
    placement.grid = ctas > 1 ? ctas * harness_.device().sms * 2 : 1;
    constexpr int kIterations = 64;
    const std::string name =
        "control/barrier/ctas=" + std::to_string(ctas) + "/warps=" + std::to_string(warps);
    harness_.attempt(name, [&] {
      const auto samples = harness_.run(placement, [&](const Probe& probe, int grid, int block) {
        barriers<<<grid, block>>>(probe, kIterations);
      });
      harness_.report().add(window_result(
          "control", name, {{"kind", "barrier"}, {"ctas_of_sm", ctas}, {"warps_of_cta", warps}},
          "SM cycles/barrier of a CTA", placement, samples, kIterations * 16.0));
    });
  }

  void launch_alone(Events& events, int grid, int threads) {
    std::vector<double> alone;
    for (int i = -3; i < 4 * harness_.repetitions(); ++i) {
      check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
      const double ms = events.time([&] { empty<<<grid, threads>>>(); });
      if (i >= 0) {
        alone.push_back(ms * 1e3);
      }
    }
    Result result = head(
        "control/launch_alone/ctas=" + std::to_string(grid) + "/threads=" + std::to_string(threads),
        "us between events around a launch", grid, threads);
    result.parameters = {{"kind", "launch_alone"}, {"ctas", grid}, {"threads", threads}};
    result.value = summarize(alone);
    harness_.report().add(result);
  }

  // CTAs that fill an SM's shared memory, `ctas` at a time.
  void cta_gap(const DeviceBuffer<CtaRecord>& records, int total, int threads, int ctas) {
    if (ctas * threads > harness_.device().max_warps * 32) {
      return;
    }
    const int each = shared_for_ctas(reinterpret_cast<const void*>(cta_life), ctas);
    std::vector<double> gaps;
    for (int i = 0; i < harness_.repetitions(); ++i) {
      cta_life<<<total, threads, each>>>(records.data(), 3000);
      check_launch("cta_life");
      gaps.push_back(
          median_gap(records, static_cast<std::size_t>(total), static_cast<std::size_t>(ctas)));
    }
    Result result = head("control/cta_gap/threads=" + std::to_string(threads) +
                             (ctas > 1 ? "/ctas=" + std::to_string(ctas) : ""),
                         "SM cycles from a CTA's end to the next one's start", total, threads);
    result.parameters = {{"kind", "cta_gap"}, {"threads", threads}, {"ctas_of_sm", ctas}};
    result.value = summarize(gaps);
    harness_.report().add(result);
  }

  // From the end of a CTA to the start of that which took its place; `together` are on an SM.
  static double median_gap(const DeviceBuffer<CtaRecord>& records, std::size_t count,
                           std::size_t together) {
    auto all = records.to_host();
    all.resize(count);
    std::map<std::uint32_t, std::vector<CtaRecord>> of_sm;
    for (const CtaRecord& r : all) {
      of_sm[r.sm].push_back(r);
    }
    std::vector<double> gaps;
    for (const auto& [sm, list] : of_sm) {
      std::vector<std::uint64_t> starts;
      std::vector<std::uint64_t> ends;
      for (const CtaRecord& r : list) {
        starts.push_back(r.start);
        ends.push_back(r.end);
      }
      std::sort(starts.begin(), starts.end());
      std::sort(ends.begin(), ends.end());
      for (std::size_t i = together; i < list.size(); ++i) {
        gaps.push_back(static_cast<double>(starts[i]) - static_cast<double>(ends[i - together]));
      }
    }
    return summarize(gaps).median;
  }

  Harness& harness_;
  DeviceBuffer<float> sink_;
};

}  // namespace

void bench_control(Harness& harness) {
  ControlBench bench(harness);
  bench.barrier();
  bench.branches();
  bench.order();
  bench.ctas();
}

}  // namespace warpfold::microbench

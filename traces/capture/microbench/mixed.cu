// SPDX-License-Identifier: Apache-2.0
// Which classes of instructions share a pipe. Two of them in turns in each warp, or each in half of
// the warps: on a shared pipe the times add up, on two pipes the longer one counts.
#include <algorithm>

#include "traces/capture/microbench/benches.hpp"
#include "traces/capture/microbench/kernels_memory.cuh"
#include "traces/capture/microbench/kernels_red.cuh"

namespace warpfold::microbench {
namespace {

// Instructions of each class in an iteration.
template <int kReds_, int kShuffles, int kShared, int kMatches, int kFmas, int kReductions = 0>
struct Mix {
  static constexpr int kRed = kReds_;
  static constexpr int kShuffle = kShuffles;
  static constexpr int kLoad = kShared;
  static constexpr int kMatch = kMatches;
  static constexpr int kFma = kFmas;
  static constexpr int kRedux = kReductions;
};

struct Lane {
  char* address;
  std::uint32_t shuffled[4];
  std::uint32_t loaded[4];
  std::uint32_t matched;
  std::uint32_t reduced;
  float sum[4];
};

// The REDs of an iteration, then the other classes in turns. Other warps are elsewhere in theirs.
template <class M, int kMost>
__device__ inline void mix_step(Lane& lane, bool adds, float value) {
  if (M::kRed > 0 && adds) {
#pragma unroll
    for (int k = 0; k < M::kRed; ++k) {
      red_add(lane.address + k * 4096, value);
    }
  }
  __syncwarp();
#pragma unroll
  for (int k = 0; k < kMost; ++k) {
    if (k * M::kShuffle / kMost != (k + 1) * M::kShuffle / kMost) {
      asm volatile("shfl.sync.bfly.b32 %0, %0, 1, 31, 0xffffffff;" : "+r"(lane.shuffled[k % 4]));
    }
    if (k * M::kLoad / kMost != (k + 1) * M::kLoad / kMost) {
      load_shared<4>(lane.loaded[k % 4]);
    }
    if (k * M::kMatch / kMost != (k + 1) * M::kMatch / kMost) {
      asm volatile("match.any.sync.b32 %0, %0, 0xffffffff;" : "+r"(lane.matched));
    }
    if (k * M::kRedux / kMost != (k + 1) * M::kRedux / kMost) {
#if __CUDA_ARCH__ >= 800
      asm volatile("redux.sync.add.s32 %0, %0, 0xffffffff;" : "+r"(lane.reduced));
#endif
    }
    if (k * M::kFma / kMost != (k + 1) * M::kFma / kMost) {
      asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(lane.sum[k % 4]) : "f"(0.999F));
    }
  }
}

template <class M>
inline constexpr int kMost = std::max({1, M::kShuffle, M::kLoad, M::kMatch, M::kFma, M::kRedux});

__device__ inline Lane begin_lane(char* base, SharedTable& table, int warp,
                                  std::uint32_t lane_bytes) {
  Lane lane;
  lane.address = base + static_cast<std::uint64_t>(warp & 1023) * 128 * 37 + lane_id() * lane_bytes;
#pragma unroll
  for (int c = 0; c < 4; ++c) {
    lane.shuffled[c] = lane_id() + static_cast<std::uint32_t>(c);
    lane.loaded[c] = table.address(lane_id() * 4);
    lane.sum[c] = static_cast<float>(c);
  }
  lane.matched = 0;
  lane.reduced = 0;
  return lane;
}

__device__ inline void end_lane(const Lane& lane, std::uint32_t* sink) {
  std::uint32_t sum = lane.matched ^ lane.reduced;
#pragma unroll
  for (int c = 0; c < 4; ++c) {
    sum ^= lane.shuffled[c] ^ lane.loaded[c] ^ __float_as_uint(lane.sum[c]);
  }
  if (sum == 0x12345678U) {
    *sink = sum;
  }
}

template <class M>
__global__ void mixed(Probe probe, char* base, std::uint32_t lanes, std::uint32_t lane_bytes,
                      int iterations, float value, std::uint32_t* sink) {
  __shared__ SharedTable table;
  table.fill();
  const int warp = enter(probe);
  if (warp < 0) {
    return;
  }
  Lane lane = begin_lane(base, table, warp, lane_bytes);
  const bool adds = lane_id() < lanes;
  Stopwatch watch;
  watch.start();
#pragma unroll 1
  for (int i = 0; i < iterations; ++i) {
    mix_step<M, kMost<M>>(lane, adds, value);
  }
  watch.stop(probe, warp, true);
  end_lane(lane, sink);
}

// Half of the warps of each sub-core run M, and are measured; the others add until those have
// ended.
template <class M>
__global__ void beside_reds(Probe probe, char* base, std::uint32_t lanes, std::uint32_t lane_bytes,
                            int iterations, float value, std::uint32_t* sink) {
  __shared__ SharedTable table;
  __shared__ int running;
  table.fill();
  if (threadIdx.x == 0) {
    running = static_cast<int>(blockDim.x / 64U);
  }
  __syncthreads();
  const int warp = enter(probe);
  if (warp < 0) {
    return;
  }
  Lane lane = begin_lane(base, table, warp, lane_bytes);
  Stopwatch watch;
  // The votes tell the compiler that a warp stays together.
  if (__all_sync(0xffffffffU, (threadIdx.x / 128U & 1U) == 0)) {
    watch.start();
#pragma unroll 1
    for (int i = 0; i < iterations; ++i) {
      mix_step<M, kMost<M>>(lane, false, value);
    }
    watch.stop(probe, warp, false);
    if (lane_id() == 0) {
      atomicSub(&running, 1);
    }
  } else {
    watch.start();
    const bool adds = lane_id() < lanes;
    volatile int* left = &running;
    std::uint32_t rounds = 0;
    while (__any_sync(0xffffffffU, *left > 0)) {
      mix_step<Mix<16, 0, 0, 0, 0>, 1>(lane, adds, value);
      ++rounds;
    }
    __syncwarp();
    if (lane_id() == 0) {
      atomicAdd(sink + 1, rounds);
    }
    watch.leave_out(probe, warp);
  }
  end_lane(lane, sink);
}

class MixedBench {
 public:
  explicit MixedBench(Harness& harness) : harness_(harness), buffer_(kRedBytes), sink_(2) {
    buffer_.clear_async();
  }

  template <class M>
  void mix() {
    const std::vector<int> all_lanes = M::kRed > 0 ? std::vector{1, 8, 32} : std::vector{0};
    for (const int lanes : all_lanes) {
      for (const int warps : {4, 16, 32}) {
        const Placement placement = harness_.place(warps, false);
        constexpr int kIterations = 40;
        const auto samples = harness_.run(placement, [&](const Probe& probe, int grid, int block) {
          mixed<M><<<grid, block>>>(probe, buffer_.data(), static_cast<std::uint32_t>(lanes), 0,
                                    kIterations, 1.0F, sink_.data());
        });
        harness_.report().add(
            window_result("mixed",
                          "mixed/" + text<M>() + "/lanes=" + std::to_string(lanes) +
                              "/warps=" + std::to_string(warps),
                          parameters<M>(lanes, warps), "SM cycles/iteration of an SM", placement,
                          samples, static_cast<double>(kIterations) * warps));
      }
    }
  }

  template <class M>
  void beside(int lanes) {
    const int warps = 32;
    const Placement placement = harness_.place(warps, false);
    constexpr int kIterations = 40;
    sink_.clear_async();
    const auto samples = harness_.run(placement, [&](const Probe& probe, int grid, int block) {
      beside_reds<M><<<grid, block>>>(probe, buffer_.data(), static_cast<std::uint32_t>(lanes), 0,
                                      kIterations, 1.0F, sink_.data());
    });
    Json p = parameters<M>(lanes, warps);
    p["beside"] = "16 warps of REDs";
    Result result = window_result(
        "mixed", "mixed/beside_reds/" + text<M>() + "/lanes=" + std::to_string(lanes), p,
        "SM cycles/iteration of an SM", placement, samples, kIterations * warps / 2.0);
    // All launches, the one for warming up too.
    const double rounds = sink_.to_host()[1];
    result.extra["reds_beside"] = rounds * 16 / (harness_.repetitions() + 1);
    harness_.report().add(result);
  }

 private:
  template <class M>
  static std::string text() {
    return "red=" + std::to_string(M::kRed) + "/shfl=" + std::to_string(M::kShuffle) +
           "/lds=" + std::to_string(M::kLoad) + "/match=" + std::to_string(M::kMatch) +
           "/ffma=" + std::to_string(M::kFma) +
           (M::kRedux > 0 ? "/redux=" + std::to_string(M::kRedux) : "");
  }
  template <class M>
  static Json parameters(int lanes, int warps) {
    return {{"red", M::kRed},  {"shfl", M::kShuffle}, {"lds", M::kLoad}, {"match", M::kMatch},
            {"ffma", M::kFma}, {"redux", M::kRedux},  {"lanes", lanes},  {"warps_per_sm", warps}};
  }

  Harness& harness_;
  DeviceBuffer<char> buffer_;
  DeviceBuffer<std::uint32_t> sink_;
};

}  // namespace

void bench_mixed(Harness& harness) {
  MixedBench bench(harness);
  bench.mix<Mix<16, 0, 0, 0, 0>>();
  bench.mix<Mix<0, 16, 0, 0, 0>>();
  bench.mix<Mix<0, 0, 16, 0, 0>>();
  bench.mix<Mix<0, 0, 0, 16, 0>>();
  bench.mix<Mix<0, 0, 0, 0, 64>>();
  bench.mix<Mix<16, 16, 0, 0, 0>>();
  bench.mix<Mix<8, 40, 0, 0, 0>>();
  bench.mix<Mix<16, 0, 16, 0, 0>>();
  bench.mix<Mix<16, 0, 0, 16, 0>>();
  bench.mix<Mix<16, 0, 0, 0, 64>>();
  bench.mix<Mix<0, 16, 16, 0, 0>>();
  bench.mix<Mix<0, 16, 0, 16, 0>>();
  bench.mix<Mix<0, 0, 16, 16, 0>>();
  bench.mix<Mix<0, 16, 0, 0, 64>>();
  bench.mix<Mix<0, 0, 16, 0, 64>>();
  if (harness.device().compute_capability >= 80) {
    bench.mix<Mix<0, 0, 0, 0, 0, 16>>();
    bench.mix<Mix<0, 16, 0, 0, 0, 16>>();
    bench.mix<Mix<0, 0, 16, 0, 0, 16>>();
    bench.mix<Mix<0, 0, 0, 16, 0, 16>>();
    bench.mix<Mix<16, 0, 0, 0, 0, 16>>();
  }
  // As a turn of a serial reduction has them.
  bench.mix<Mix<0, 9, 0, 1, 9>>();
  for (const int lanes : {0, 1, 8, 32}) {
    bench.beside<Mix<0, 64, 0, 0, 0>>(lanes);
    bench.beside<Mix<0, 0, 64, 0, 0>>(lanes);
    bench.beside<Mix<0, 0, 0, 64, 0>>(lanes);
    bench.beside<Mix<0, 0, 0, 0, 256>>(lanes);
  }
}

}  // namespace warpfold::microbench

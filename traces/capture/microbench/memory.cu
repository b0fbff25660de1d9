// SPDX-License-Identifier: Apache-2.0
// Loads: shared memory by width and bank conflicts, global memory that the L1 or the L2 holds, and
// the bandwidth of the L2 and of DRAM.
#include "traces/capture/microbench/benches.hpp"
#include "traces/capture/microbench/kernels_memory.cuh"

namespace warpfold::microbench {
namespace {

template <int kWidth, int kChains>
__global__ void shared_load(Probe probe, int iterations, std::uint32_t stride,
                            std::uint32_t* sink) {
  __shared__ SharedTable table;
  table.fill();
  const int warp = enter(probe);
  if (warp < 0) {
    return;
  }
  std::uint32_t at[kChains];
#pragma unroll
  for (int c = 0; c < kChains; ++c) {
    at[c] = table.address((lane_id() * stride + static_cast<std::uint32_t>(c) * kWidth) &
                          ~(kWidth - 1U));
  }
  Stopwatch watch;
  watch.start();
#pragma unroll 1
  for (int i = 0; i < iterations; ++i) {
#pragma unroll
    for (int k = 0; k < 32 / kChains; ++k) {
#pragma unroll
      for (int c = 0; c < kChains; ++c) {
        load_shared<kWidth>(at[c]);
      }
    }
  }
  watch.stop(probe, warp, false);
  std::uint32_t sum = 0;
#pragma unroll
  for (int c = 0; c < kChains; ++c) {
    sum ^= at[c];
  }
  if (sum == 0xffffffffU) {
    sink[0] = sum;
  }
}

// Each lane reads the float at its offset; what it reads is the offset.
template <bool kL1, int kChains>
__global__ void global_load(Probe probe, const char* table, int iterations,
                            std::uint32_t lane_bytes, std::uint32_t chain_bytes,
                            std::uint32_t warp_bytes, std::uint32_t* sink) {
  const int warp = enter(probe);
  if (warp < 0) {
    return;
  }
  std::uint32_t at[kChains];
#pragma unroll
  for (int c = 0; c < kChains; ++c) {
    at[c] = static_cast<std::uint32_t>(warp) * warp_bytes +
            static_cast<std::uint32_t>(c) * chain_bytes + lane_id() * lane_bytes;
  }
  Stopwatch watch;
  watch.start();
#pragma unroll 1
  for (int i = 0; i < iterations; ++i) {
#pragma unroll
    for (int k = 0; k < 32 / kChains; ++k) {
#pragma unroll
      for (int c = 0; c < kChains; ++c) {
        if constexpr (kL1) {
          asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(at[c]) : "l"(table + at[c]) : "memory");
        } else {
          asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(at[c]) : "l"(table + at[c]) : "memory");
        }
      }
    }
  }
  watch.stop(probe, warp, false);
  std::uint32_t sum = 0;
#pragma unroll
  for (int c = 0; c < kChains; ++c) {
    sum ^= at[c];
  }
  if (sum == 0xffffffffU) {
    sink[0] = sum;
  }
}

__global__ void fill_offsets(std::uint32_t* table, std::uint32_t count) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) {
    table[i] = i * 4;
  }
}

__global__ void stream_measured(Probe probe, const char* base, std::uint64_t bytes, int rounds,
                                std::uint32_t* sink) {
  const int warp = enter(probe);
  if (warp < 0) {
    return;
  }
  Stopwatch watch;
  watch.start();
  for (int i = 0; i < rounds; ++i) {
    stream_loop(base, bytes, static_cast<std::uint64_t>(warp),
                static_cast<std::uint64_t>(gridDim.x) * (blockDim.x / 32U), sink);
  }
  watch.stop(probe, warp, true);
}

class MemoryBench {
 public:
  explicit MemoryBench(Harness& harness) : harness_(harness), sink_(1024), table_(kTableBytes / 4) {
    constexpr std::uint32_t kCount = kTableBytes / 4;
    fill_offsets<<<kCount / 256, 256>>>(table_.data(), kCount);
    check_launch("fill_offsets");
  }

  template <int kWidth>
  void shared() {
    for (const std::uint32_t stride : {0U, 4U, 8U, 16U, 32U, 64U, 128U}) {
      if (stride != 0 && stride < kWidth) {
        continue;
      }
      for (const int warps : {1, 4, 16, 32}) {
        shared_chains<kWidth, 1>(stride, warps);
        shared_chains<kWidth, 4>(stride, warps);
      }
      shared_chains<kWidth, 4>(stride, 8, 1);
    }
  }

  void global() {
    for (const std::uint32_t lane_bytes : {0U, 4U, 8U, 32U, 128U}) {
      for (const int warps : {1, 4, 16, 32}) {
        // Four chains of four lines of all lanes fit the L1 if the warps read the same.
        global_load_case<true>(lane_bytes, warps, false);
        global_load_case<false>(lane_bytes, warps, false);
      }
      global_load_case<false>(lane_bytes, 32, true);
    }
  }

  void streams() {
    stream("l2", 16U << 20U, 24, false);
    stream("l2", 16U << 20U, 24, true);
    stream("dram", 2ULL << 30U, 1, true);
  }

 private:
  static constexpr std::uint32_t kTableBytes = 32U << 20U;

  template <int kWidth, int kChains>
  void shared_chains(std::uint32_t stride, int warps, int subcores = kSubcores) {
    const Placement placement = harness_.place(warps, false, subcores);
    constexpr int kIterations = 40;
    const auto samples = harness_.run(placement, [&](const Probe& probe, int grid, int block) {
      shared_load<kWidth, kChains><<<grid, block>>>(probe, kIterations, stride, sink_.data());
    });
    harness_.report().add(window_result(
        "memory",
        "memory/shared/bytes=" + std::to_string(kWidth) + "/stride=" + std::to_string(stride) +
            "/chains=" + std::to_string(kChains) + "/warps=" + std::to_string(warps) +
            (subcores < kSubcores ? "/subcores=" + std::to_string(subcores) : ""),
        {{"memory", "shared"},
         {"bytes_of_lane", kWidth},
         {"stride_bytes", stride},
         {"chains", kChains},
         {"subcores", subcores},
         {"warps_per_sm", warps}},
        "SM cycles/load of an SM", placement, samples, kIterations * 32.0 * warps));
  }

  template <bool kL1>
  void global_load_case(std::uint32_t lane_bytes, int warps, bool whole_gpu) {
    const Placement placement = harness_.place(warps, whole_gpu);
    constexpr int kIterations = 20;
    constexpr int kChains = 4;
    const std::uint32_t chain_bytes = 32U * std::max(lane_bytes, 4U);
    // L2: each warp has places of its own as far as the table goes.
    const std::uint32_t warp_bytes =
        kL1 ? 0
            : std::min(kChains * chain_bytes,
                       (kTableBytes - kChains * chain_bytes) /
                           static_cast<std::uint32_t>(placement.ctas * placement.block / 32) / 128 *
                           128);
    const auto samples = harness_.run(placement, [&](const Probe& probe, int grid, int block) {
      global_load<kL1, kChains>
          <<<grid, block>>>(probe, reinterpret_cast<const char*>(table_.data()), kIterations,
                            lane_bytes, chain_bytes, warp_bytes, sink_.data());
    });
    harness_.report().add(window_result(
        "memory",
        std::string("memory/") + (kL1 ? "l1" : "l2") + "/lane_bytes=" + std::to_string(lane_bytes) +
            "/warps=" + std::to_string(warps) + (whole_gpu ? "/gpu" : "/sm"),
        {{"memory", kL1 ? "l1" : "l2"},
         {"lane_bytes", lane_bytes},
         {"chains", kChains},
         {"warps_per_sm", warps},
         {"whole_gpu", whole_gpu}},
        "SM cycles/load of an SM", placement, samples, kIterations * 32.0 * warps));
  }

  void stream(const std::string& name, std::uint64_t bytes, int rounds, bool whole_gpu) {
    const DeviceBuffer<char> memory(bytes);
    memory.clear_async();
    Placement placement = harness_.place(32, whole_gpu);
    if (!whole_gpu) {
      rounds = 1;
      bytes /= 4;
    }
    const auto samples = harness_.run(placement, [&](const Probe& probe, int grid, int block) {
      stream_measured<<<grid, block>>>(probe, memory.data(), bytes, rounds, sink_.data());
    });
    Result result = window_result(
        "memory", "memory/stream/" + name + (whole_gpu ? "/gpu" : "/sm"),
        {{"memory", name}, {"bytes", bytes}, {"rounds", rounds}, {"whole_gpu", whole_gpu}},
        "SM cycles/KiB read", placement, samples, static_cast<double>(bytes) * rounds / 1024);
    result.extra["bytes_per_cycle"] = 1024 / result.value.median;
    harness_.report().add(result);
  }

  Harness& harness_;
  DeviceBuffer<std::uint32_t> sink_;
  DeviceBuffer<std::uint32_t> table_;
};

}  // namespace

void bench_memory(Harness& harness) {
  MemoryBench bench(harness);
  bench.shared<4>();
  bench.shared<8>();
  bench.shared<16>();
  bench.global();
  bench.streams();
}

}  // namespace warpfold::microbench

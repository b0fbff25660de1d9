// SPDX-License-Identifier: Apache-2.0
// Loads and stores that miss the L1: what an SM and the whole GPU get of the L2 and of DRAM by
// whole lines and by single sectors, and how many misses an SM may have on their way.
#include "traces/capture/microbench/benches.hpp"
#include "traces/capture/microbench/probe.cuh"

namespace warpfold::microbench {
namespace {

constexpr int kAtATime = 8;
constexpr std::uint32_t kLine = 128, kSector = 32;

__device__ std::uint32_t mixed(std::uint32_t x) {
  x ^= x >> 16U;
  x *= 0x7feb352dU;
  x ^= x >> 15U;
  x *= 0x846ca68bU;
  return x ^ x >> 16U;
}

enum class Places { kRow, kLines, kSectors };

// Where a lane loads or stores: all lanes of a warp in one line, each in a line, or each in a
// sector of the line of its three neighbours. Of a power of two of lines.
template <Places kPlaces>
class Walk {
 public:
  __device__ Walk(int warp, int iteration, std::uint32_t lines) : mask_(lines - 1) {
    const std::uint32_t seed = mixed(static_cast<std::uint32_t>(warp) * 0x9e3779b9U +
                                     static_cast<std::uint32_t>(iteration));
    const std::uint32_t lane = lane_id();
    seed_ = kPlaces == Places::kRow     ? seed
            : kPlaces == Places::kLines ? mixed(seed + lane)
                                        : mixed(seed + lane / 4);
    within_ = kPlaces == Places::kRow ? lane * 4 : lane % 4 * kSector;
  }
  // The k-th of an iteration.
  __device__ std::uint64_t operator[](std::uint32_t k) const {
    return std::uint64_t{(seed_ ^ k * 0x9e3779b9U) & mask_} * kLine + within_;
  }

 private:
  std::uint32_t mask_, seed_, within_;
};

template <Places kPlaces>
__global__ void load_places(Probe probe, const char* base, std::uint32_t lines, int iterations,
                            std::uint32_t* sink) {
  const int warp = enter(probe);
  if (warp < 0) {
    return;
  }
  std::uint32_t sum = 0;
  Stopwatch watch;
  watch.start();
#pragma unroll 1
  for (int i = 0; i < iterations; ++i) {
    std::uint32_t words[kAtATime];
    const Walk<kPlaces> walk(warp, i, lines);
#pragma unroll
    for (int k = 0; k < kAtATime; ++k) {
      asm volatile("ld.global.u32 %0, [%1];" : "=r"(words[k]) : "l"(base + walk[k]) : "memory");
    }
#pragma unroll
    for (int k = 0; k < kAtATime; ++k) {
      sum |= words[k];
    }
  }
  if (sum == 0x12345678U) {
    *sink = sum;
  }
  watch.stop(probe, warp, false);
}

template <Places kPlaces>
__global__ void store_places(Probe probe, char* base, std::uint32_t lines, int iterations) {
  const int warp = enter(probe);
  if (warp < 0) {
    return;
  }
  Stopwatch watch;
  watch.start();
#pragma unroll 1
  for (int i = 0; i < iterations; ++i) {
    const Walk<kPlaces> walk(warp, i, lines);
#pragma unroll
    for (int k = 0; k < kAtATime; ++k) {
      asm volatile("st.global.u32 [%0], %1;" ::"l"(base + walk[k]), "r"(i) : "memory");
    }
  }
  watch.stop(probe, warp, true);
}

class LoadsBench {
 public:
  explicit LoadsBench(Harness& harness) : harness_(harness), sink_(1024), memory_(kDramBytes) {
    memory_.clear_async();
  }

  template <Places kPlaces>
  void all(const char* places) {
    for (const bool whole_gpu : {false, true}) {
      for (const int warps : {8, 32, 64}) {
        one<kPlaces>(places, "l2", kL2Bytes, warps, whole_gpu, false);
        one<kPlaces>(places, "dram", kDramBytes, warps, whole_gpu, false);
      }
      one<kPlaces>(places, "l2", kL2Bytes, 32, whole_gpu, true);
      one<kPlaces>(places, "dram", kDramBytes, 32, whole_gpu, true);
    }
  }

 private:
  static constexpr std::uint64_t kL2Bytes = 16U << 20U;
  static constexpr std::uint64_t kDramBytes = std::uint64_t{4} << 30U;

  template <Places kPlaces>
  void one(const char* places, const char* where, std::uint64_t bytes, int warps, bool whole_gpu,
           bool store) {
    const std::string name = std::string("loads/") + (store ? "store" : "load") + "/" + places +
                             "/" + where + "/warps=" + std::to_string(warps) +
                             (whole_gpu ? "/gpu" : "/sm");
    harness_.attempt(name, [&] {
      const Placement placement = harness_.place(warps, whole_gpu);
      const int iterations = kPlaces == Places::kRow ? 64 : 16;
      const auto lines = static_cast<std::uint32_t>(bytes / kLine);
      const auto samples = harness_.run(placement, [&](const Probe& probe, int grid, int block) {
        if (store) {
          store_places<kPlaces><<<grid, block>>>(probe, memory_.data(), lines, iterations);
        } else {
          load_places<kPlaces>
              <<<grid, block>>>(probe, memory_.data(), lines, iterations, sink_.data());
        }
      });
      harness_.report().add(window_result("loads", name,
                                          {{"access", store ? "store" : "load"},
                                           {"places", places},
                                           {"memory", where},
                                           {"warps_per_sm", warps},
                                           {"whole_gpu", whole_gpu}},
                                          "SM cycles/access of an SM", placement, samples,
                                          static_cast<double>(iterations) * kAtATime * warps));
    });
  }

  Harness& harness_;
  DeviceBuffer<std::uint32_t> sink_;
  DeviceBuffer<char> memory_;
};

}  // namespace

void bench_loads(Harness& harness) {
  LoadsBench bench(harness);
  bench.all<Places::kRow>("row");
  bench.all<Places::kLines>("lines");
  bench.all<Places::kSectors>("sectors");
}

}  // namespace warpfold::microbench

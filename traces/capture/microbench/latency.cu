// SPDX-License-Identifier: Apache-2.0
// Latency of what a warp can wait for: atomics, REDs, fences, loads of the L2 and of DRAM, special
// registers and constants. One warp alone; and the fetch of a batch by all.
#include <numeric>
#include <random>

#include "traces/capture/microbench/benches.hpp"
#include "traces/capture/microbench/kernels_memory.cuh"
#include "traces/capture/microbench/kernels_red.cuh"

namespace warpfold::microbench {
namespace {

enum class Step { kFence, kRedFence, kRedLoad, kAtomic, kLoadL2 };

// Places of the buffer: a line of its own for each step, 4 KiB and a line apart.
constexpr std::uint32_t kStepBytes = 4096 + 128;
constexpr int kSteps = 1024;

// Every step begins when the one before is done: its address depends on the value that came back.
template <Step kStep>
__global__ void latency(Probe probe, char* base, std::uint32_t active, std::uint32_t lane_bytes,
                        int steps, std::uint64_t* cycles) {
  // A fence would wait for stores to global memory.
  __shared__ std::uint64_t taken[kSteps];
  const int warp = enter(probe);
  if (warp < 0) {
    return;
  }
  char* address = base + lane_id() * lane_bytes;
  Stopwatch watch;
  watch.start();
  if ((active >> lane_id() & 1U) != 0) {
#pragma unroll 1
    for (int i = 0; i < steps; ++i) {
      const std::uint64_t begin = clock_now();
      float value = 0;
      if constexpr (kStep == Step::kFence) {
        asm volatile("fence.acq_rel.gpu;" ::: "memory");
      } else if constexpr (kStep == Step::kRedFence) {
        red_add(address, 0.0F);
        asm volatile("fence.acq_rel.gpu;" ::: "memory");
      } else if constexpr (kStep == Step::kRedLoad) {
        red_add(address, 0.0F);
        asm volatile("ld.relaxed.gpu.global.f32 %0, [%1];" : "=f"(value) : "l"(address) : "memory");
      } else if constexpr (kStep == Step::kAtomic) {
        asm volatile("atom.global.add.f32 %0, [%1], %2;"
                     : "=f"(value)
                     : "l"(address), "f"(0.0F)
                     : "memory");
      } else {
        asm volatile("ld.global.cg.f32 %0, [%1];" : "=f"(value) : "l"(address) : "memory");
      }
      // All values are zero: the next address waits for this one, and so does the clock.
      const std::uint32_t wait = __float_as_uint(value);
      const std::uint64_t end = clock_after(wait);
      if (lane_id() == 0) {
        taken[i] = end - begin;
      }
      address += kStepBytes + wait;
    }
  }
  watch.stop(probe, warp, true);
  if (lane_id() == 0) {
#pragma unroll 1
    for (int i = 0; i < steps; ++i) {
      cycles[i] = taken[i];
    }
  }
}

// A chain of loads: each place holds the address of the next.
template <bool kL1>
__global__ void chase(Probe probe, const std::uint64_t* start, int steps, std::uint64_t* sink) {
  const int warp = enter(probe);
  if (warp < 0) {
    return;
  }
  auto at = reinterpret_cast<std::uint64_t>(start);
  Stopwatch watch;
  if constexpr (kL1) {
    // Each launch begins with an empty L1.
#pragma unroll 1
    for (int i = 0; i < steps; ++i) {
      asm volatile("ld.global.ca.u64 %0, [%0];" : "+l"(at)::"memory");
    }
  }
  watch.start();
#pragma unroll 1
  for (int i = 0; i < steps; i += 8) {
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      if constexpr (kL1) {
        asm volatile("ld.global.ca.u64 %0, [%0];" : "+l"(at)::"memory");
      } else {
        asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(at)::"memory");
      }
    }
  }
  watch.stop(probe, warp, false);
  if (at == 1) {
    *sink = at;
  }
}

__global__ void link(char* base, std::uint64_t count, std::uint64_t stride, std::uint64_t factor) {
  const std::uint64_t i = blockIdx.x * static_cast<std::uint64_t>(blockDim.x) + threadIdx.x;
  if (i < count) {
    // The places are visited by i -> i + factor modulo their count, a power of two.
    *reinterpret_cast<std::uint64_t*>(base + i * stride) =
        reinterpret_cast<std::uint64_t>(base + ((i + factor) & (count - 1)) * stride);
  }
}

// Special registers: a vector register gets one, a uniform register gets one, and one is on the way
// to a shared load and a special function, as in front of what a kernel has in shared memory.
enum class Special { kVector, kUniform, kUniformLoadExp };
constexpr int kSpecials = 16;  // of a turn

// Goes by a uniform register; other special registers are read once for all.
__device__ inline std::uint32_t uniform_register() {
  std::uint32_t value;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(value)::"memory");
  return value;
}

template <Special kSpecial>
__global__ void special_chain(Probe probe, int turns, std::uint32_t zero, std::uint32_t* sink) {
  __shared__ SharedTable table;
  table.fill();
  const int warp = enter(probe);
  if (warp < 0) {
    return;
  }
  std::uint32_t x = kSpecial == Special::kUniformLoadExp ? table.address(0) : lane_id();
  Stopwatch watch;
  watch.start();
#pragma unroll 1
  for (int i = 0; i < turns; ++i) {
#pragma unroll
    for (int k = 0; k < kSpecials; ++k) {
      x ^= (kSpecial == Special::kVector ? hardware_warp() : uniform_register()) & zero;
      if constexpr (kSpecial == Special::kUniformLoadExp) {
        load_shared<4>(x);
        // 2^x of what is next to nothing as a float, 1, less its bits.
        float one = 0;
        asm volatile("ex2.approx.ftz.f32 %0, %1;" : "=f"(one) : "f"(__uint_as_float(x & 0xffffU)));
        x += __float_as_uint(one) - 0x3f800000U;
      }
    }
  }
  watch.stop(probe, warp, false);
  if (x == 77) {
    *sink = x;
  }
}

// The same as the compiler makes it where a loop goes by shared memory and may leave a turn early.
__global__ void natural_chain(Probe probe, int turns, std::uint32_t none, std::uint32_t* sink) {
  __shared__ std::uint32_t table[256];
  for (std::uint32_t i = threadIdx.x; i < 256; i += blockDim.x) {
    table[i] = i;
  }
  const int warp = enter(probe);
  if (warp < 0) {
    return;
  }
  std::uint32_t x = lane_id();
  auto f = static_cast<float>(x);
  Stopwatch watch;
  watch.start();
#pragma unroll 1
  for (int i = 0; i < turns; ++i) {
    if (x == none) {
      continue;
    }
    x = table[x];
    f = f * __uint_as_float(x) + 1.0F;
    if (f > 1e30F) {
      continue;
    }
    f = exp2f(f);
    f *= f;
    f += f * f;
    if (f < -1.0F) {
      *sink = x;
    }
  }
  watch.stop(probe, warp, false);
  if (x == 1077) {
    *sink = x + static_cast<std::uint32_t>(f);
  }
}

__constant__ std::uint32_t constants[1024];  // zeros

__global__ void constant_chain(Probe probe, int turns, std::uint32_t begin, std::uint32_t* sink) {
  const int warp = enter(probe);
  if (warp < 0) {
    return;
  }
  std::uint32_t x = begin;
  Stopwatch watch;
  watch.start();
#pragma unroll 1
  for (int i = 0; i < turns; ++i) {
#pragma unroll
    for (int k = 0; k < kSpecials; ++k) {
      x = constants[x];
    }
  }
  watch.stop(probe, warp, false);
  if (x == 77) {
    *sink = x;
  }
}

// What a CTA of 3D Gaussian Splatting fetches for a batch: the number of a Gaussian, and with it
// its mean, its conic and its colour, between barriers.
struct BatchSource {
  const std::uint32_t* ids;
  const float2* mean;
  const float4* conic;
  const float* color;
};
constexpr int kBatchThreads = 256;
constexpr int kBatches = 16;

__global__ void __launch_bounds__(kBatchThreads)
    batch_fetch(Probe probe, BatchSource source, float* sink) {
  const int warp = enter(probe);
  if (warp < 0) {
    return;
  }
  float sum = 0;
  Stopwatch watch;
  watch.start();
#pragma unroll 1
  for (int i = 0; i < kBatches; ++i) {
    __syncthreads();
    const std::uint32_t id =
        source
            .ids[(blockIdx.x * kBatches + static_cast<unsigned>(i)) * kBatchThreads + threadIdx.x];
    const float2 mean = source.mean[id];
    const float4 conic = source.conic[id];
    const float* color = source.color + std::uint64_t{id} * 3;
    sum += mean.x + mean.y + conic.x + conic.y + conic.z + conic.w + color[0] + color[1] + color[2];
    __syncthreads();
  }
  watch.stop(probe, warp, false);
  if (sum == 77.5F) {
    *sink = sum;
  }
}

// A chain of loads by a warp of each SM, begun at places far apart, so that loads seldom meet.
__global__ void chase_apart(Probe probe, const char* memory, std::uint64_t count,
                            std::uint64_t stride, int steps, std::uint64_t* sink) {
  const int warp = enter(probe);
  if (warp < 0) {
    return;
  }
  const std::uint64_t begin = static_cast<std::uint64_t>(warp) * 9973U % count;
  auto at = reinterpret_cast<std::uint64_t>(memory + begin * stride);
  Stopwatch watch;
  watch.start();
#pragma unroll 1
  for (int i = 0; i < steps; i += 8) {
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(at)::"memory");
    }
  }
  watch.stop(probe, warp, false);
  if (at == 77) {
    *sink = at;
  }
}

class LatencyBench {
 public:
  explicit LatencyBench(Harness& harness)
      : harness_(harness),
        buffer_(static_cast<std::size_t>(kSteps) * kStepBytes + (1U << 20U)),
        cycles_(kSteps) {
    buffer_.clear_async();
  }

  template <Step kStep>
  void measure(const std::string& name, int lanes, std::uint32_t lane_bytes) {
    const std::uint32_t active = lanes == 32 ? 0xffffffffU : (1U << lanes) - 1U;
    const Placement placement = harness_.place(1, false);
    const auto samples = harness_.run(placement, [&](const Probe& probe, int grid, int block) {
      latency<kStep>
          <<<grid, block>>>(probe, buffer_.data(), active, lane_bytes, kSteps, cycles_.data());
    });
    // Of the last launch: all lines have been in the L2 for long.
    const auto each = cycles_.to_host();
    std::vector<double> values(each.begin(), each.end());
    Json parameters = {{"step", name}, {"lanes", lanes}, {"lane_bytes", lane_bytes}};
    Result result =
        window_result("latency",
                      "latency/" + name + "/lanes=" + std::to_string(lanes) +
                          "/lane_bytes=" + std::to_string(lane_bytes),
                      std::move(parameters), "SM cycles/step", placement, samples, kSteps);
    const Summary lines = summarize(values);
    result.extra["of_lines"] = {{"median", lines.median},
                                {"min", lines.min},
                                {"max", lines.max},
                                {"quartiles", {lines.quartile_low, lines.quartile_high}}};
    if (lanes == 1 && kStep == Step::kLoadL2) {
      result.extra["of_each_line"] = each;
      result.extra["line_step_bytes"] = kStepBytes;
    }
    harness_.report().add(result);
  }

  void chain(const std::string& name, std::uint64_t bytes, std::uint64_t stride,
             std::uint64_t factor, bool l1, bool cold) {
    const std::uint64_t count = bytes / stride;
    const DeviceBuffer<char> memory(bytes);
    link<<<static_cast<unsigned>((count + 255) / 256), 256>>>(memory.data(), count, stride, factor);
    check_launch("link");
    // Behind it everything else has left the L2.
    const DeviceBuffer<char> flush(cold ? 4 * harness_.device().l2_bytes : 0);
    const DeviceBuffer<std::uint64_t> sink(1);
    const int steps = static_cast<int>(std::min<std::uint64_t>(count, 4096));
    const Placement placement = harness_.place(1, false);
    const auto samples = harness_.run(placement, [&](const Probe& probe, int grid, int block) {
      flush.clear_async();
      const auto* start = reinterpret_cast<const std::uint64_t*>(memory.data());
      if (l1) {
        chase<true><<<grid, block>>>(probe, start, steps, sink.data());
      } else {
        chase<false><<<grid, block>>>(probe, start, steps, sink.data());
      }
    });
    harness_.report().add(window_result(
        "latency", "latency/" + name + "/stride=" + std::to_string(stride * factor),
        {{"step", name}, {"bytes", bytes}, {"stride_bytes", stride * factor}, {"cold", cold}},
        "SM cycles/step", placement, samples, steps));
  }

  // How far the L2 is depends on where the SM lies.
  void chain_of_every_sm() {
    constexpr std::uint64_t kBytes = 16U << 20U;
    constexpr std::uint64_t kStride = 4096;
    constexpr std::uint64_t kCount = kBytes / kStride;
    const DeviceBuffer<char> memory(kBytes);
    link<<<static_cast<unsigned>((kCount + 255) / 256), 256>>>(memory.data(), kCount, kStride,
                                                               std::uint64_t{1});
    check_launch("link");
    const DeviceBuffer<std::uint64_t> sink(1);
    const int steps = static_cast<int>(kCount);
    const Placement placement = harness_.place(1, true);
    const auto samples = harness_.run(placement, [&](const Probe& probe, int grid, int block) {
      chase_apart<<<grid, block>>>(probe, memory.data(), kCount, kStride, steps, sink.data());
    });
    harness_.report().add(
        window_result("latency", "latency/load_l2_chain/every_sm",
                      {{"step", "load_l2_chain"}, {"bytes", kBytes}, {"stride_bytes", kStride}},
                      "SM cycles/step of the SM that takes longest", placement, samples, steps));
  }

  template <class Launch>
  void special(const std::string& name, int steps, const Launch& launch) {
    constexpr int kTurns = 200;
    const DeviceBuffer<std::uint32_t> sink(1);
    const Placement placement = harness_.place(1, false);
    const auto samples = harness_.run(placement, [&](const Probe& probe, int grid, int block) {
      launch(probe, grid, block, kTurns, sink.data());
    });
    harness_.report().add(window_result("latency", "latency/" + name, {{"step", name}},
                                        "SM cycles/step", placement, samples,
                                        static_cast<double>(kTurns) * steps));
  }

  void specials() {
    special("s2r", kSpecials,
            [](const Probe& probe, int grid, int block, int turns, std::uint32_t* sink) {
              special_chain<Special::kVector><<<grid, block>>>(probe, turns, 0, sink);
            });
    special("s2ur", kSpecials,
            [](const Probe& probe, int grid, int block, int turns, std::uint32_t* sink) {
              special_chain<Special::kUniform><<<grid, block>>>(probe, turns, 0, sink);
            });
    special("s2ur_lds_ex2", kSpecials,
            [](const Probe& probe, int grid, int block, int turns, std::uint32_t* sink) {
              special_chain<Special::kUniformLoadExp><<<grid, block>>>(probe, turns, 0, sink);
            });
    special("shared_ex2_loop", 1,
            [](const Probe& probe, int grid, int block, int turns, std::uint32_t* sink) {
              natural_chain<<<grid, block>>>(probe, turns, 1000, sink);
            });
    special("ldc_chain", kSpecials,
            [](const Probe& probe, int grid, int block, int turns, std::uint32_t* sink) {
              constant_chain<<<grid, block>>>(probe, turns, 0, sink);
            });
  }

  // All SMs; `cold`: everything else has been in the L2 since.
  void batch(int ctas_of_sm, bool cold) {
    constexpr std::uint32_t kGaussians = 200'000;
    const int ctas = ctas_of_sm * harness_.device().sms;
    std::vector<std::uint32_t> ids(static_cast<std::size_t>(ctas) * kBatches * kBatchThreads);
    std::mt19937 random(1);
    for (std::uint32_t& id : ids) {
      id = random() % kGaussians;
    }
    const DeviceBuffer<std::uint32_t> device_ids{std::span<const std::uint32_t>(ids)};
    const DeviceBuffer<float2> mean(kGaussians);
    const DeviceBuffer<float4> conic(kGaussians);
    const DeviceBuffer<float> color(std::size_t{3} * kGaussians);
    mean.clear_async();
    conic.clear_async();
    color.clear_async();
    const DeviceBuffer<char> flush(cold ? 4 * harness_.device().l2_bytes : 0);
    const DeviceBuffer<float> sink(1);
    Placement placement;
    placement.grid = ctas;
    placement.block = kBatchThreads;
    placement.ctas = ctas;
    placement.whole_gpu = true;
    const std::string name = std::string("latency/batch/") + (cold ? "cold" : "warm") +
                             "/ctas=" + std::to_string(ctas_of_sm);
    harness_.attempt(name, [&] {
      const auto samples = harness_.run(placement, [&](const Probe& probe, int grid, int block) {
        flush.clear_async();
        batch_fetch<<<grid, block>>>(
            probe, {device_ids.data(), mean.data(), conic.data(), color.data()}, sink.data());
      });
      harness_.report().add(window_result(
          "latency", name, {{"step", "batch"}, {"ctas_of_sm", ctas_of_sm}, {"cold", cold}},
          "SM cycles/batch of a CTA", placement, samples, kBatches));
    });
  }

 private:
  Harness& harness_;
  DeviceBuffer<char> buffer_;
  DeviceBuffer<std::uint64_t> cycles_;
};

}  // namespace

void bench_latency(Harness& harness) {
  LatencyBench bench(harness);
  bench.measure<Step::kFence>("fence", 1, 0);
  for (const auto& [lanes, bytes] : {std::pair(1, 0U), {8, 0U}, {32, 0U}, {32, 4U}, {32, 32U}}) {
    bench.measure<Step::kRedFence>("red_fence", lanes, bytes);
    bench.measure<Step::kRedLoad>("red_load", lanes, bytes);
    bench.measure<Step::kAtomic>("atomic", lanes, bytes);
    bench.measure<Step::kLoadL2>("load_l2", lanes, bytes);
  }
  bench.chain("load_l1_chain", 16U << 10U, 128, 1, true, false);
  bench.chain("load_l2_chain", 2U << 20U, 512, 1, false, false);
  bench.chain("load_l2_chain", 16U << 20U, 4096, 1, false, false);
  bench.chain("load_l2_chain", 16U << 20U, 128, 4099, false, false);
  bench.chain_of_every_sm();
  // Near places of DRAM, so that pages stay open and translations stay known, and far ones.
  bench.chain("load_dram_chain", 4U << 20U, 1024, 1, false, true);
  bench.chain("load_dram_chain", 32U << 20U, 8192, 1, false, true);
  bench.chain("load_dram_chain", 512U << 20U, 1024, 10007, false, true);
  bench.specials();
  for (const int ctas : {1, 2, 6}) {
    bench.batch(ctas, false);
    bench.batch(ctas, true);
  }
}

}  // namespace warpfold::microbench

// SPDX-License-Identifier: Apache-2.0
// Latency of what a warp can wait for in memory: atomics, REDs, fences, loads of the L2 and of
// DRAM. One warp alone.
#include <numeric>

#include "traces/capture/microbench/benches.hpp"
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
      std::uint64_t end = 0;
      asm volatile("{ .reg .pred p; setp.eq.u32 p, %1, 0; @p mov.u64 %0, %%clock64; }"
                   : "+l"(end)
                   : "r"(wait)
                   : "memory");
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
  // Near places of DRAM, so that pages stay open and translations stay known, and far ones.
  bench.chain("load_dram_chain", 4U << 20U, 1024, 1, false, true);
  bench.chain("load_dram_chain", 32U << 20U, 8192, 1, false, true);
  bench.chain("load_dram_chain", 512U << 20U, 1024, 10007, false, true);
}

}  // namespace warpfold::microbench

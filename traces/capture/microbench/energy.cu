// SPDX-License-Identifier: Apache-2.0
// Energy of each class of instructions: the whole GPU busy with nothing else for more than two
// seconds, less what it takes when idle, over the operations done.
#include <chrono>
#include <cstdio>
#include <thread>

#include "traces/capture/common/gpu_info.hpp"
#include "traces/capture/common/power.hpp"
#include "traces/capture/microbench/benches.hpp"
#include "traces/capture/microbench/kernels_memory.cuh"
#include "traces/capture/microbench/kernels_red.cuh"
#include "traces/capture/microbench/ops.cuh"

namespace warpfold::microbench {
namespace {

constexpr int kWarps = 32;  // on each SM

// `zeros`, which the compiler does not know, with an operand of zero: nothing toggles but what
// issues the instructions.
template <class Op>
__global__ void energy_op(int iterations, std::uint32_t operand, bool zeros, std::uint32_t* sink) {
  constexpr int kChains = 4;
  typename Op::State state[kChains];
#pragma unroll
  for (int c = 0; c < kChains; ++c) {
    state[c] = zeros ? typename Op::State{} : Op::begin(lane_id(), c);
  }
  const auto a = Op::operand(operand);
#pragma unroll 1
  for (int i = 0; i < iterations; ++i) {
#pragma unroll
    for (int k = 0; k < 64 / kChains; ++k) {
#pragma unroll
      for (int c = 0; c < kChains; ++c) {
        Op::step(state[c], a);
      }
    }
  }
  std::uint32_t sum = 0;
#pragma unroll
  for (int c = 0; c < kChains; ++c) {
    sum ^= Op::bits(state[c]);
  }
  if (iterations == 0) {
    sink[threadIdx.x] = sum;
  }
}

__global__ void energy_red(char* base, const __grid_constant__ RedPattern pattern, int iterations) {
  red_loop(base, pattern, blockIdx.x * (blockDim.x / 32U) + threadIdx.x / 32U, iterations, 0.001F);
}

__global__ void energy_shared(int iterations, std::uint32_t stride, std::uint32_t* sink) {
  __shared__ SharedTable table;
  table.fill();
  std::uint32_t at[4];
#pragma unroll
  for (int c = 0; c < 4; ++c) {
    at[c] = table.address(lane_id() * stride + static_cast<std::uint32_t>(c) * 128);
  }
#pragma unroll 1
  for (int i = 0; i < iterations; ++i) {
#pragma unroll
    for (int k = 0; k < 64; ++k) {
      load_shared<4>(at[k % 4]);
    }
  }
  if ((at[0] ^ at[1] ^ at[2] ^ at[3]) == 0xffffffffU) {
    sink[0] = at[0];
  }
}

__global__ void energy_stream(const char* base, std::uint64_t bytes, int rounds,
                              std::uint32_t* sink) {
  for (int i = 0; i < rounds; ++i) {
    stream_loop(base, bytes, blockIdx.x * (blockDim.x / 32U) + threadIdx.x / 32U,
                static_cast<std::uint64_t>(gridDim.x) * (blockDim.x / 32U), sink);
  }
}

// Warps that are there and issue next to nothing.
__global__ void energy_resident(int rounds) {
  for (int i = 0; i < rounds; ++i) {
    __nanosleep(100'000);
  }
}

class EnergyBench {
 public:
  explicit EnergyBench(Harness& harness)
      : harness_(harness),
        meter_(capture::pci_bus_id()),
        buffer_(2ULL << 30U),
        sink_(1024),
        grid_(harness.device().sms) {
    buffer_.clear_async();
  }

  [[nodiscard]] std::string source() const { return meter_.source(); }

  void idle() {
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
    const auto reading =
        meter_.measure([] { std::this_thread::sleep_for(std::chrono::milliseconds(2500)); });
    idle_watts_ = reading.watts;
    report("idle", reading, 0, 0, "", 0);
  }

  void resident() {
    std::uint64_t launches = 0;
    const auto reading = run([&] { energy_resident<<<grid_, kWarps * 32>>>(100); }, launches);
    resident_watts_ = reading.watts;
    report("resident", reading, launches, 0, "", 0);
  }

  template <class Op>
  void op(bool zeros = false) {
    constexpr int kIterations = 8000;
    std::uint64_t launches = 0;
    const auto reading = run(
        [&] {
          energy_op<Op>
              <<<grid_, kWarps * 32>>>(kIterations, zeros ? 0 : Op::kOperand, zeros, sink_.data());
        },
        launches);
    report(std::string(Op::kName) + (zeros ? "_zeros" : ""), reading, launches,
           kIterations * 64.0 * kWarps * grid_, "warp instruction", 32);
  }

  // A RED for each of kReds arrays; `lanes` active.
  void red(const std::string& name, std::uint32_t lane_floats, int lanes, bool hot,
           int iterations) {
    RedPattern p;
    p.active = lanes == 32 ? 0xffffffffU : (1U << lanes) - 1U;
    if (!hot) {
      p.warp_step = 32 * 37;
      p.step = 32 * 1031;
      p.mask = (2U << 18U) - 1;
    }
    for (int a = 0; a < kReds; ++a) {
      p.scale[a] = 4;
      p.offset[a] = hot ? 0 : static_cast<std::uint64_t>(a) * ((5U << 20U) + 37 * 128);
    }
    for (std::uint32_t l = 0; l < 32; ++l) {
      p.lane[l] = l * lane_floats;
    }
    std::uint64_t launches = 0;
    const auto reading =
        run([&] { energy_red<<<grid_, kWarps * 32>>>(buffer_.data(), p, iterations); }, launches);
    report(name, reading, launches, static_cast<double>(iterations) * kReds * kWarps * grid_,
           "warp instruction", lanes);
  }

  void shared(const std::string& name, std::uint32_t stride) {
    constexpr int kIterations = 4000;
    std::uint64_t launches = 0;
    const auto reading =
        run([&] { energy_shared<<<grid_, kWarps * 32>>>(kIterations, stride, sink_.data()); },
            launches);
    report(name, reading, launches, kIterations * 64.0 * kWarps * grid_, "warp instruction", 32);
  }

  void stream(const std::string& name, std::uint64_t bytes, int rounds) {
    std::uint64_t launches = 0;
    const auto reading = run(
        [&] { energy_stream<<<grid_, kWarps * 32>>>(buffer_.data(), bytes, rounds, sink_.data()); },
        launches);
    report(name, reading, launches, static_cast<double>(bytes) * rounds / 32, "sector of 32 bytes",
           1);
  }

 private:
  template <class Kernel>
  capture::PowerReading run(const Kernel& kernel, std::uint64_t& launches) {
    kernel();
    check_launch("energy");
    check(cudaDeviceSynchronize(), "energy");
    launches = 0;
    using Clock = std::chrono::steady_clock;
    return meter_.measure([&] {
      const auto end = Clock::now() + std::chrono::milliseconds(2400);
      while (Clock::now() < end) {
        for (int i = 0; i < 8; ++i) {
          kernel();
          ++launches;
        }
        check(cudaDeviceSynchronize(), "energy");
      }
    });
  }

  void report(const std::string& name, const capture::PowerReading& reading, std::uint64_t launches,
              double operations_of_launch, const std::string& operation, int lanes) {
    const double operations = static_cast<double>(launches) * operations_of_launch;
    Result result;
    result.group = "energy";
    result.name = "energy/" + name;
    result.parameters = {{"work", name}, {"lanes", lanes}, {"warps_per_sm", kWarps}};
    const auto nanojoules = [&](double without) {
      return operations > 0 ? (reading.watts - without) * reading.seconds * 1e9 / operations : 0.0;
    };
    const double value = operations > 0 ? nanojoules(idle_watts_) : reading.watts;
    result.unit = operations > 0 ? "nJ/" + operation + " above idle" : "W";
    result.value = summarize({&value, 1});
    result.grid = launches > 0 ? grid_ : 0;
    result.block = launches > 0 ? kWarps * 32 : 0;
    result.mhz = reading.sm_clock_mhz;
    result.extra = {{"watts", reading.watts},
                    {"idle_watts", idle_watts_},
                    {"resident_watts", resident_watts_},
                    {"nanojoules_above_resident", nanojoules(resident_watts_)},
                    {"seconds", reading.seconds},
                    {"operations", operations},
                    {"launches", launches},
                    {"counter_steps", reading.samples},
                    {"temperature_c", reading.temperature_c}};
    harness_.report().add(result);
    std::printf("  %-24s %6.1f W  %9.4f %s\n", name.c_str(), reading.watts, value,
                result.unit.c_str());
    std::fflush(stdout);
  }

  Harness& harness_;
  capture::PowerMeter meter_;
  DeviceBuffer<char> buffer_;
  DeviceBuffer<std::uint32_t> sink_;
  int grid_;
  double idle_watts_ = 0;
  double resident_watts_ = 0;
};

}  // namespace

void bench_energy(Harness& harness) {
  EnergyBench bench(harness);
  harness.report().set("energy_source", bench.source());
  if (bench.source().empty()) {
    std::printf("  NVML reads neither energy nor power here: not measured\n");
    return;
  }
  bench.idle();
  bench.resident();
  bench.red("red_same_32_lanes", 0, 32, false, 40);
  bench.red("red_1_lane", 0, 1, false, 400);
  bench.red("red_consecutive_32_lanes", 1, 32, false, 200);
  bench.red("red_sectors_32_lanes", 8, 32, false, 40);
  bench.red("red_hot_address_1_lane", 0, 1, true, 4);
  bench.op<OpShflBfly>();
  bench.op<OpShflBfly>(true);
  bench.op<OpFadd>();
  bench.op<OpFadd>(true);
  bench.op<OpFfma>();
  bench.op<OpLop>();
  bench.op<OpEx2>();
  bench.op<OpMatchAny<1>>();
  bench.shared("lds_consecutive", 4);
  bench.shared("lds_broadcast", 0);
  bench.stream("l2_read", 16U << 20U, 512);
  bench.stream("dram_read", 2ULL << 30U, 4);
}

}  // namespace warpfold::microbench

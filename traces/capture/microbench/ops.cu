// SPDX-License-Identifier: Apache-2.0
// Latency and rate of each class of instructions: chains of dependent steps, by the number of
// chains in a warp and of warps in a sub-core.
#include "traces/capture/microbench/benches.hpp"
#include "traces/capture/microbench/ops.cuh"

namespace warpfold::microbench {
namespace {

constexpr int kUnrolled = 64;  // steps of all chains in the body of the loop

template <class Op, int kChains>
__global__ void op_chain(Probe probe, int iterations, std::uint32_t operand, std::uint32_t* sink) {
  const int warp = enter(probe);
  if (warp < 0) {
    return;
  }
  using State = typename Op::State;
  State state[kChains];
#pragma unroll
  for (int c = 0; c < kChains; ++c) {
    state[c] = Op::begin(lane_id(), c);
  }
  const auto a = Op::operand(operand);
  Stopwatch watch;
  watch.start();
#pragma unroll 1
  for (int i = 0; i < iterations; ++i) {
#pragma unroll
    for (int k = 0; k < kUnrolled / kChains; ++k) {
#pragma unroll
      for (int c = 0; c < kChains; ++c) {
        Op::step(state[c], a);
      }
    }
  }
  watch.stop(probe, warp, false);
  std::uint32_t sum = 0;
#pragma unroll
  for (int c = 0; c < kChains; ++c) {
    sum ^= Op::bits(state[c]);
  }
  // Never so: the operand is no small number.
  if (operand == 0) {
    sink[threadIdx.x] = sum;
  }
}

class OpsBench {
 public:
  explicit OpsBench(Harness& harness) : harness_(harness), sink_(1024) {}

  template <class Op>
  void op() {
    chains<Op, 1>();
    chains<Op, 4>();
  }

 private:
  template <class Op, int kChains>
  void chains() {
    for (const int warps : {1, 2, 4, 8, 12, 16}) {
      for (const int subcores : {1, 4}) {
        if (warps * 4 > harness_.device().max_warps) {
          continue;
        }
        const std::string name =
            std::string("ops/") + Op::kName + "/chains=" + std::to_string(kChains) +
            "/subcores=" + std::to_string(subcores) + "/warps_each=" + std::to_string(warps);
        harness_.attempt(name, [&] { one<Op, kChains>(name, warps, subcores); });
      }
    }
  }

  template <class Op, int kChains>
  void one(const std::string& name, int warps, int subcores) {
    const Placement placement = harness_.place(warps * subcores, false, subcores);
    constexpr int kIterations = 40;
    const auto samples = harness_.run(placement, [&](const Probe& probe, int grid, int block) {
      op_chain<Op, kChains><<<grid, block>>>(probe, kIterations, Op::kOperand, sink_.data());
    });
    // Cycles that a step takes of its sub-core.
    const double steps = static_cast<double>(kIterations) * kUnrolled * warps;
    harness_.report().add(window_result("ops", name,
                                        {{"class", Op::kName},
                                         {"chains", kChains},
                                         {"subcores", subcores},
                                         {"warps_of_subcore", warps},
                                         {"instruction", Op::kSass},
                                         {"instructions_of_step", Op::kEach}},
                                        "SM cycles/step of a sub-core", placement, samples, steps));
  }

  Harness& harness_;
  DeviceBuffer<std::uint32_t> sink_;
};

}  // namespace

void bench_ops(Harness& harness) {
  OpsBench bench(harness);
  bench.op<OpFfma>();
  bench.op<OpFadd>();
  bench.op<OpFmul>();
  bench.op<OpFfmaLop>();
  bench.op<OpIadd>();
  bench.op<OpImad>();
  bench.op<OpLop>();
  bench.op<OpShf>();
  bench.op<OpSelect>();
  bench.op<OpEx2>();
  bench.op<OpRcp>();
  bench.op<OpConvert>();
  bench.op<OpPopc>();
  bench.op<OpFlo>();
  bench.op<OpBrev>();
  bench.op<OpShflBfly>();
  bench.op<OpShflDown>();
  bench.op<OpShflIdx>();
  bench.op<OpButterfly>();
  bench.op<OpMatchAny<1>>();
  bench.op<OpMatchAny<2>>();
  bench.op<OpMatchAny<8>>();
  bench.op<OpMatchAny<32>>();
  bench.op<OpMatchAll>();
  bench.op<OpBallot>();
  if (harness.device().compute_capability >= 80) {
    bench.op<OpRedux>();
  }
}

}  // namespace warpfold::microbench

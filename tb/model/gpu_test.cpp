// SPDX-License-Identifier: Apache-2.0
// Timing and bookkeeping of the GPU model, whole runs on small traces: what only a whole GPU shows.
// Its blocks have tests of their own (sm_*_test.cpp, l2_port_test.cpp). Each test that simulates
// runs in a process of its own (ctest does so); those that compare runs fork one for each.
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "model/base/ticks.hpp"
#include "model/gpu/cta/gradient_memory.hpp"
#include "model/gpu/run/occupancy.hpp"
#include "model/results/process_pool.hpp"
#include "tb/model/gpu_run.hpp"

namespace warpfold::test {
namespace {

TEST(GpuTiming, OneRedTakesTheSumOfItsStages) {
  SmallTrace trace(1, 1, 1, 4, 4);
  trace.event(0, 0, 0xf, 2);
  const GpuConfig gpu = small_h200(1);
  const RunResult result = run(trace.read(), gpu, "baseline");
  EXPECT_EQ(result.failure, "");
  // Issue, LSU a cycle later, the port a cycle after that, the latency, four additions to one
  // address, one after the other.
  const Cycle arrival = first_issue(gpu) + 2 + gpu.noc.latency;
  EXPECT_EQ(result.cycles, arrival + 14);  // 4 x 3.49 = 13.96
  EXPECT_EQ(result.rop_ops, 4U);
  EXPECT_EQ(result.noc_bytes, 4U * (gpu.noc.request_bytes + gpu.noc.sector_bytes));
}

// Turns of nine SHFL.IDX that are waited for, whatever steps they are made of.
class ShuffleTurns : public testing::TestWithParam<std::uint32_t> {};
TEST_P(ShuffleTurns, TakeALoneWarpAsLongAsTheirSum) {
  SmallTrace trace(1, 1, 1, 4, 4);
  trace.path_cost(0, {.shuffle_index = 9, .waits = {{trace::ResultClass::kShuffleIndex, 0, 0}}});
  trace.work(0, 0, GetParam());
  const GpuConfig gpu = small_h200(1);
  EXPECT_EQ(run(trace.read(), gpu, "baseline").cycles,
            first_issue(gpu) + GetParam() * (9U * 4 + 26) + 1);
}
INSTANTIATE_TEST_SUITE_P(GpuTiming, ShuffleTurns, testing::Values(1, 2, 5, 6, 7, 13));

TEST(GpuTiming, SumsOfASectorGoTogether) {
  // Eight groups of four lanes, neighbours in two sectors: two operations of the L2 instead of 32.
  SmallTrace trace(1, 1, 1, 64, 4);
  std::vector<std::uint32_t> primitives(kLanes);
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    primitives[lane] = 4 + lane % 8;
  }
  trace.event(0, 0, ~0U, primitives);
  const GpuConfig gpu = small_h200(1);
  const RunResult result = run(trace.read(), gpu, "sw-s:0");
  EXPECT_EQ(result.failure, "");
  EXPECT_EQ(result.rop_ops, 2U);
  EXPECT_EQ(counter(result.activity, "sums_from_software"), 8U);
}

TEST(GpuTiming, SharedMemoryAccessesTakeTheirTurnOnThePipe) {
  // 32 warps, 50 passes of 8 accesses each: 12,800 cycles of the LSU, four sub-cores issuing far
  // less.
  SmallTrace trace(1, 32, 1, 4, 4);
  trace.path_cost(0, {.shared = 8});
  for (std::size_t w = 0; w < 32; ++w) {
    trace.work(0, w, 50);
  }
  const GpuConfig gpu = small_h200(1);
  const RunResult result = run(trace.read(), gpu, "baseline");
  EXPECT_EQ(result.failure, "");
  EXPECT_GE(result.cycles, 32U * 50 * 8);
  EXPECT_LE(result.cycles, 32U * 50 * 8 + 400);
}

// Cycles of a warp with so many REDs of these lanes on one address, on an L2 that has it.
Cycle cycles_of_reds(GpuConfig gpu, std::uint32_t reds, LaneMask lanes) {
  SmallTrace trace(1, 1, 1, 4, 4);
  for (std::uint32_t i = 0; i < reds; ++i) {
    trace.event(0, 0, lanes, 0);
  }
  const trace::Reader reader = trace.read();
  gpu.sm.count = 1;
  gpu.l2.turn_spread = 0;
  const auto work = [&](const auto&) { return run(reader, gpu, "baseline"); };
  const auto outcomes =
      run_pool({{.name = "reds", .work = work, .prepare = {}}}, {.jobs = 1, .progress = {}});
  EXPECT_TRUE(outcomes[0].result) << outcomes[0].error;
  EXPECT_EQ(outcomes[0].result ? outcomes[0].result->failure : "", "");
  return outcomes[0].result ? outcomes[0].result->cycles : 0;
}

TEST(GpuTiming, AWarpThatWaitsIssuesItsNextRedAfterARoundTrip) {
  GpuConfig gpu = small_h200(1);
  gpu.rules.red_wait.name = "own-reds";
  // Two cycles to the crossbar, 3.49 for each lane, and what a load's answer takes.
  const Cycle trip = gpu.latency.global_load + 2;
  EXPECT_EQ(cycles_of_reds(gpu, 3, 1) - cycles_of_reds(gpu, 2, 1), trip + 3);
  EXPECT_EQ(cycles_of_reds(gpu, 3, ~0U) - cycles_of_reds(gpu, 2, ~0U), trip + 111);
  gpu.rules.red_wait.name = "go-on";
  // One after the other on a sector.
  EXPECT_LE(cycles_of_reds(gpu, 3, 1) - cycles_of_reds(gpu, 2, 1), 6U);
}

TEST(GpuTiming, OnThePapersMachineARedTakesItsLatencyAndACycleForEachLane) {
  const GpuConfig gpu = load_gpu("arc-4090-sim");
  EXPECT_EQ(cycles_of_reds(gpu, 3, 1) - cycles_of_reds(gpu, 2, 1), 220U + 2 + 1);
  EXPECT_EQ(cycles_of_reds(gpu, 3, ~0U) - cycles_of_reds(gpu, 2, ~0U), 220U + 2 + 32);
}

TEST(GpuTiming, ScatteredAddressesCostTheUnitNothing) {
  // Lanes on random addresses, more of them than the L2 takes: there is nothing to reduce, and what
  // the unit passes on travels as the baseline's REDs do (ARC 5.6, PageRank).
  std::mt19937 random(1);
  SmallTrace trace(24, 8, 1, 64 * 1024, 4);
  for (std::uint32_t c = 0; c < 24; ++c) {
    for (std::uint32_t w = 0; w < 8; ++w) {
      for (std::uint32_t i = 0; i < 20; ++i) {
        std::vector<std::uint32_t> lanes(kLanes);
        for (std::uint32_t& primitive : lanes) {
          primitive = static_cast<std::uint32_t>(random() % (64 * 1024));
        }
        trace.event(c, w, ~0U, lanes);
      }
    }
  }
  const trace::Reader reader = trace.read();
  std::vector<PoolTask> tasks;
  for (const std::string policy : {"baseline", "arc-hw"}) {
    GpuConfig gpu = small_h200(6);
    gpu.l2.slices = 6;
    PoolTask task;
    task.name = policy;
    task.work = [gpu, policy, &reader](const std::function<void(double)>& /*progress*/) {
      return run(reader, gpu, policy);
    };
    tasks.push_back(std::move(task));
  }
  std::vector<RunResult> results;
  for (const PoolOutcome& outcome : run_pool(tasks, {.jobs = 2, .progress = {}})) {
    ASSERT_TRUE(outcome.result) << outcome.error;
    EXPECT_EQ(outcome.result->failure, "");
    results.push_back(*outcome.result);
  }
  // Two lanes of a RED meet on one address now and then.
  EXPECT_LT(counter(results[1].activity, "lanes_to_unit"), results[1].lane_atomics / 100);
  EXPECT_NEAR(static_cast<double>(counter(results[1].activity, "noc_flits")),
              static_cast<double>(counter(results[0].activity, "noc_flits")),
              static_cast<double>(results[0].lane_atomics) / 100);
  const double cost =
      static_cast<double>(results[1].cycles) / static_cast<double>(results[0].cycles);
  EXPECT_NEAR(cost, 1, 0.01);
}

// Cycles of runs, each of which must come out right.
std::vector<double> cycles_of(const std::vector<PoolTask>& tasks) {
  std::vector<double> cycles;
  for (const PoolOutcome& outcome : run_pool(tasks, {.jobs = 2, .progress = {}})) {
    EXPECT_TRUE(outcome.result) << outcome.error;
    EXPECT_EQ(outcome.result ? outcome.result->failure : "", "");
    cycles.push_back(outcome.result ? static_cast<double>(outcome.result->cycles) : 0);
  }
  return cycles;
}

// Two CTAs of one SM, a warp of each on every sub-core, at one address: 160 REDs of 32 lanes of the
// first and one of each warp of the second, which has 20,000 cycles of work after it. That ends
// last.
RunResult run_sleepers(std::uint32_t sleep_cycles) {
  SmallTrace trace(2, 4, 1, 4, 4);
  trace.path_cost(0, {.alu = 1});
  for (std::uint32_t w = 0; w < 4; ++w) {
    for (std::uint32_t i = 0; i < 40; ++i) {
      trace.event(0, w, ~0U, 0);
    }
    trace.event(1, w, ~0U, 0);
    trace.work(1, w, 20'000);
  }
  GpuConfig gpu = small_h200(1);
  gpu.lsu.sleep_cycles = sleep_cycles;
  gpu.lsu.tick_groups = 1;
  gpu.lsu.queue_depth = 1;
  gpu.noc.injection_depth = 4;
  gpu.l2.ingress_flits = 48;  // three REDs of lone words
  return run(trace.read(), gpu, "baseline");
}

TEST(GpuTiming, WarpsSleepWhereTheWayOutIsFull) {
  constexpr double kWork = 20'000;
  const double red = 32 * small_h200(1).l2.sector_cycles;
  std::vector<PoolTask> tasks;
  for (const std::uint32_t sleep : {0U, 1000U, 3000U, 1'000'000U}) {
    tasks.push_back(
        {std::to_string(sleep), [sleep](const auto&) { return run_sleepers(sleep); }, nullptr});
  }
  std::vector<double> begun = cycles_of(tasks);
  for (double& cycles : begun) {
    cycles -= kWork;
  }
  // In turn: when the memory queue first has room.
  EXPECT_LT(begun[0], 8 * red);
  // At the second tick, or up to so much later as the L2 takes for the REDs of all sub-cores.
  EXPECT_GE(begun[1], 2 * 1000);
  EXPECT_LE(begun[1], 2 * 1000 + 5 * red);
  EXPECT_GE(begun[2], 2 * 3000);
  EXPECT_LE(begun[2], 2 * 3000 + 5 * red);
  // When the injection port of four entries has one: those before it are at the L2 or done.
  const GpuConfig gpu = small_h200(1);
  const double begins = static_cast<double>(first_issue(gpu) + gpu.noc.latency);
  EXPECT_NEAR(begun[3], begins + 158 * red, 3 * red);
}

// A warp that works for 4000 cycles, waits for loads and works for 20,000 more, beside `reds` REDs
// of 32 lanes to one address by a warp of another sub-core, which are in the injection port by
// then.
RunResult run_load(std::uint32_t reds, const std::string& policy, std::uint32_t loads) {
  SmallTrace trace(1, 2, 1, 4, 4);
  trace.path_cost(0, {.alu = 4000,
                      .global_load = loads,
                      .stall_cycles = 4000,
                      .waits = {{trace::ResultClass::kGlobalLoad, 4000, 4000}}});
  trace.path_cost(1, {.alu = 1});
  for (std::uint32_t i = 0; i < reds; ++i) {
    trace.event(0, 1, ~0U, 0);
  }
  trace.work(0, 0, 1);
  trace.warp(0, 0).records.push_back(
      {.kind = trace::RecordKind::kWork, .path = 1, .count = 20'000});
  return run(trace.read(), small_h200(1), policy);
}

TEST(GpuTiming, ALoadGoesTheWayOfReds) {
  struct Case {
    std::uint32_t reds, loads;
    const char* policy;
  };
  std::vector<PoolTask> tasks;
  for (const Case& c : {Case{0, 1, "baseline"}, Case{0, 3, "baseline"}, Case{120, 1, "baseline"},
                        Case{120, 1, "lab-ideal"}}) {
    tasks.push_back(
        {c.policy, [c](const auto&) { return run_load(c.reds, c.policy, c.loads); }, nullptr});
  }
  std::vector<double> cycles = cycles_of(tasks);
  const GpuConfig gpu = small_h200(1);
  for (double& each : cycles) {
    each -= 20'000 + static_cast<double>(first_issue(gpu));
  }
  // The work, the load-store unit up to the last of its four sectors, the port and the answer.
  const double lsu = gpu.lsu.global_load;
  EXPECT_NEAR(cycles[0], 4000 + 1 + 0.75 * lsu + 1 + gpu.latency.global_load, 4);
  // Others before it take of the load-store unit what they do.
  EXPECT_NEAR(cycles[1], cycles[0] + 2 * lsu, 2);
  // The L2 takes one lane after the other and has room for so many; the load leaves the SM behind
  // the rest.
  const double left = (120.0 * 32 - 2 * gpu.l2.ingress_flits) * gpu.l2.sector_cycles;
  EXPECT_NEAR(cycles[2], gpu.noc.latency + left + gpu.latency.global_load, 40);
  // With an atomic buffer in the SM nothing is ahead of it.
  EXPECT_LT(cycles[3], cycles[0] + 200);
}

TEST(GpuTiming, AMissWaitsForDram) {
  // Two lines that cannot both be in an L2 of one line: the second is in after the clearing, so the
  // first is fetched and the other written back.
  SmallTrace trace(1, 1, 1, 64, 4);
  trace.event(0, 0, 1, 0);
  GpuConfig gpu = small_h200(1);
  gpu.l2.slices = 1;
  gpu.l2.slices_per_port = 1;
  gpu.l2.bytes = 128;
  gpu.l2.ways = 1;
  const RunResult result = run(trace.read(), gpu, "baseline");
  EXPECT_EQ(result.failure, "");
  EXPECT_EQ(counter(result.activity, "l2_misses"), 1U);
  const Cycle arrival = first_issue(gpu) + 2 + gpu.noc.latency;
  const Ticks line = to_ticks(128 / gpu.l2.dram_bytes_per_cycle);
  const Cycle ready = cycle_after(at_cycle(arrival) + 2 * line) + gpu.l2.dram_latency;
  EXPECT_EQ(result.cycles, ready + 4);  // 3.49 of one operation
}

TEST(Checks, ALostLaneIsNoticed) {
  // The model adds what one trace says and is checked against one that has a lane more.
  SmallTrace less(1, 1, 2, 4, 8);
  less.event(0, 0, 0x7, 1);
  SmallTrace more(1, 1, 2, 4, 8);
  more.event(0, 0, 0xf, 1);
  SimOptions options;
  options.gpu = small_h200(1);
  options.policy = parse_policy("arc-hw");
  options.unit.model = UnitModel::kGolden;
  const trace::Reader trace = less.read();
  const RunResult result = simulate(options, trace, ReferenceSums::compute(more.read()));
  EXPECT_FALSE(result.conserved);
  EXPECT_FALSE(result.sums_match);
  EXPECT_NE(result.failure, "");
}

TEST(Checks, AWrongSumIsNoticed) {
  const trace::Reader trace = random_trace(7, 2, 4, 3, 0.5, true).read();
  const ReferenceSums reference = ReferenceSums::compute(trace);
  const AddressMap map(trace.header());
  std::vector<Fp32Bits> memory(map.element_count(), 0);
  for (std::size_t c = 0; c < trace.cta_count(); ++c) {
    const trace::CtaTrace cta = trace.read_cta(c);
    for (std::uint32_t w = 0; w < cta.warps.size(); ++w) {
      const trace::WarpTrace& warp = cta.warps[w];
      for (std::uint32_t r = 0; r < warp.records.size(); ++r) {
        const trace::Record& event = warp.records[r];
        if (event.kind != trace::RecordKind::kEvent) {
          continue;
        }
        for (std::uint32_t p = 0; p < 3; ++p) {
          for (std::uint32_t lane = 0; lane < 32; ++lane) {
            if ((event.mask >> lane & 1U) != 0) {
              Fp32Bits& cell = memory[map.element(lane_primitive(warp, event, lane), p)];
              const float sum = std::bit_cast<float>(cell) +
                                std::bit_cast<float>(
                                    traced_value(&warp.values[event.values], event.mask, p, lane));
              cell = std::bit_cast<Fp32Bits>(sum);
            }
          }
        }
      }
    }
  }
  EXPECT_TRUE(reference.compare(memory).match);
  EXPECT_LE(reference.compare(memory).max_error, 1.0);
  for (std::size_t i = 0; i < memory.size(); ++i) {
    if (memory[i] != 0) {
      // Off by a thousandth: far under any lane's value that could be lost unseen by a loose bound.
      std::vector<Fp32Bits> wrong = memory;
      wrong[i] = std::bit_cast<Fp32Bits>(std::bit_cast<float>(memory[i]) * 1.001F);
      EXPECT_FALSE(reference.compare(wrong).match) << i;
    }
  }
}

TEST(Occupancy, IsWhatRegistersWarpsAndSharedMemoryAllow) {
  SmallTrace trace(1, 8, 1, 4, 4);
  const GpuConfig gpu = load_gpu("rtx4090");
  const auto fit = [&](std::uint32_t registers, std::uint32_t shared) {
    trace.header.shared_bytes_per_cta = shared;
    return ctas_per_sm(gpu, trace.header, registers);
  };
  EXPECT_EQ(fit(32, 0), 6U);  // 48 warps
  EXPECT_EQ(fit(40, 0), 6U);  // 65536 / (40 * 32 * 8) = 6.4
  EXPECT_EQ(fit(48, 0), 5U);  // 5.3
  EXPECT_EQ(fit(255, 0), 1U);
  EXPECT_EQ(fit(32, 33000), 3U);   // 102400 / (33000 + 1024) = 3.009
  EXPECT_EQ(fit(32, 101377), 0U);  // with the system's KiB one byte too much
}

TEST(Errors, AMachineWithoutCostsInTheTraceIsNamed) {
  SmallTrace trace(1, 1, 1, 4, 4);
  trace.event(0, 0, 1, 0);
  trace.header.costs.clear();
  EXPECT_THROW(
      {
        try {
          run(trace.read(), small_h200(1), "baseline");
        } catch (const SimulationError& error) {
          EXPECT_NE(std::string(error.what()).find("no instruction costs for sm_90"),
                    std::string::npos);
          throw;
        }
      },
      SimulationError);
}

}  // namespace
}  // namespace warpfold::test

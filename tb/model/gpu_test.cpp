// SPDX-License-Identifier: Apache-2.0
// Timing and bookkeeping of the GPU model, whole runs on small traces. Each test that simulates
// runs in a process of its own (ctest does so); those that compare runs fork one for each.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "model/base/ticks.hpp"
#include "model/gpu/cta/gradient_memory.hpp"
#include "model/gpu/noc/slice_map.hpp"
#include "model/gpu/run/occupancy.hpp"
#include "model/gpu/run/reference_sums.hpp"
#include "model/gpu/run/simulate.hpp"
#include "model/results/json.hpp"
#include "model/results/process_pool.hpp"
#include "tb/model/small_trace.hpp"

namespace warpfold::test {
namespace {

RunResult run(const trace::Reader& trace, const GpuConfig& gpu, const std::string& policy) {
  SimOptions options;
  options.gpu = gpu;
  options.policy = parse_policy(policy);
  options.unit = UnitModel::kGolden;
  return simulate(options, trace, ReferenceSums::compute(trace));
}

std::uint64_t counter(const Counters& counters, const std::string& name) {
  for (const auto& [key, value] : counters) {
    if (key == name) {
      return value;
    }
  }
  ADD_FAILURE() << "no counter " << name;
  return 0;
}

// Cycle in which a warp of the first CTA can issue first: the dispatcher acts in cycle 1, the
// sub-core sees the launch in 2.
Cycle first_issue(const GpuConfig& gpu) {
  return 2 + gpu.latency.cta_launch;
}

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

TEST(GpuTiming, WarpsTakeTurns) {
  // Warps 0 and 4 share sub-core 0: 10 and 3 issue slots, one a cycle, no gap.
  SmallTrace trace(1, 8, 1, 4, 4);
  trace.path_cost(0, {.alu = 1});
  trace.work(0, 0, 10);
  trace.work(0, 4, 3);
  const GpuConfig gpu = small_h200(1);
  const RunResult result = run(trace.read(), gpu, "baseline");
  EXPECT_EQ(result.failure, "");
  EXPECT_EQ(counter(result.subcore_cycles, "issued"), 13U);
  // Warp 4 is chosen every other cycle until it ends: warp 0 is ready and not chosen 3 times, warp
  // 4 as often.
  EXPECT_EQ(counter(result.warp_cycles, "not_selected"), 6U);
  // The last warp ends in the cycle after its last issue, which the dispatcher sees one later.
  EXPECT_EQ(result.cycles, first_issue(gpu) + 13 + 1);
}

TEST(GpuTiming, GreedyWarpGoesFirst) {
  SmallTrace trace(1, 8, 1, 4, 4);
  trace.path_cost(0, {.alu = 1});
  trace.work(0, 0, 10);
  trace.work(0, 4, 3);
  GpuConfig gpu = small_h200(1);
  gpu.sm.issue_order = IssueOrder::kGreedyThenOldest;
  const RunResult result = run(trace.read(), gpu, "baseline");
  EXPECT_EQ(counter(result.subcore_cycles, "issued"), 13U);
  // Warp 4 waits for all ten of warp 0.
  EXPECT_EQ(counter(result.warp_cycles, "not_selected"), 10U);
}

TEST(GpuTiming, DependentWorkDelaysTheWarp) {
  SmallTrace trace(1, 1, 1, 4, 4);
  trace.path_cost(0, {.alu = 3, .stall_cycles = 50});
  trace.work(0, 0, 2);
  const GpuConfig gpu = small_h200(1);
  const RunResult result = run(trace.read(), gpu, "baseline");
  EXPECT_EQ(result.cycles, first_issue(gpu) + 100 + 1);
  EXPECT_EQ(counter(result.subcore_cycles, "issued"), 6U);
  // Three more: the launch latency and the cycles of dependent work that did not issue.
  EXPECT_EQ(counter(result.subcore_cycles, "dependency"), 94U + gpu.latency.cta_launch);
}

TEST(GpuTiming, BarrierWaitsForTheLastWarp) {
  SmallTrace trace(1, 8, 1, 4, 4);
  trace.path_cost(0, {.alu = 1});
  trace.work(0, 0, 40);
  for (std::size_t w = 0; w < 8; ++w) {
    trace.barrier(0, w);
  }
  trace.work(0, 1, 5);
  const GpuConfig gpu = small_h200(1);
  const RunResult result = run(trace.read(), gpu, "baseline");
  EXPECT_EQ(result.failure, "");
  // Sub-core 0 issues 40 turns, the barriers of warps 4 and 0 among and after them. The release is
  // seen a cycle after the last arrival; then the latency, warp 1's five turns, its end.
  const Cycle arrival = first_issue(gpu) + 41;
  EXPECT_EQ(result.cycles, arrival + 1 + gpu.latency.barrier + 5 + 1);
}

TEST(GpuTiming, BarrierTakesArrivalsInTurn) {
  // Four warps, one of each sub-core, that arrive together: the last is taken three turns later.
  SmallTrace trace(1, 4, 1, 4, 4);
  for (std::size_t w = 0; w < 4; ++w) {
    trace.barrier(0, w);
  }
  const GpuConfig gpu = small_h200(1);
  const RunResult result = run(trace.read(), gpu, "baseline");
  EXPECT_EQ(result.failure, "");
  const auto turns = static_cast<Cycle>(3 * gpu.latency.barrier_warp);
  EXPECT_EQ(result.cycles, first_issue(gpu) + 1 + gpu.latency.barrier + turns + 1);
}

// Nine REDs of one lane to sectors of their own: cycles of the last one's addition.
Cycle red_cycles(std::uint32_t warps) {
  SmallTrace trace(1, warps, 9, 64, 32 * 37);
  for (std::uint32_t p = 0; p < 9; ++p) {
    trace.header.parameters[p].base = SmallTrace::kBase + 1'048'576 * p;
  }
  for (std::uint32_t w = 0; w < warps; ++w) {
    trace.event(0, w, 1, w);
  }
  return run(trace.read(), small_h200(1), "baseline").cycles;
}

TEST(GpuTiming, ASubcoreHandsRedsOverOneAfterTheOther) {
  // One warp: six cycles from one to the next, as seen on an H200.
  const GpuConfig gpu = small_h200(1);
  const Cycle first = first_issue(gpu) + 2 + gpu.noc.latency;
  EXPECT_EQ(red_cycles(1), first + 8 * 6 + 4);
}

TEST(GpuTiming, FourSubcoresAreHeldByTheLoadStoreUnit) {
  // 2.09 cycles a RED, more than the six cycles over four: the last begins in cycle 73.
  const GpuConfig gpu = small_h200(1);
  const Cycle first = first_issue(gpu) + 2 + gpu.noc.latency;
  EXPECT_EQ(red_cycles(4), first + 73 + 4);
}

// Cycles of turns of nine SHFL.IDX in each warp, one after the other.
Cycle shuffle_cycles(const std::vector<std::uint32_t>& warps, std::uint32_t turns = 1) {
  SmallTrace trace(1, 8, 1, 4, 4);
  trace.path_cost(0, {.shuffle_index = 9, .waits = {{trace::ResultClass::kShuffleIndex, 0, 0}}});
  for (const std::uint32_t w : warps) {
    trace.work(0, w, turns);
  }
  return run(trace.read(), small_h200(1), "baseline").cycles - first_issue(small_h200(1)) - 1;
}

TEST(GpuTiming, AWarpWaitsForItsShufflesToBeHandedOver) {
  EXPECT_EQ(shuffle_cycles({0}), 9U * 4 + 26);
}

// Whatever steps they are made of.
class ShuffleTurns : public testing::TestWithParam<std::uint32_t> {};
TEST_P(ShuffleTurns, TakeALoneWarpAsLongAsTheirSum) {
  EXPECT_EQ(shuffle_cycles({0}, GetParam()), GetParam() * (9U * 4 + 26));
}
INSTANTIATE_TEST_SUITE_P(GpuTiming, ShuffleTurns, testing::Values(2, 5, 6, 7, 13));

TEST(GpuTiming, WarpsOfASubcoreHandShufflesOverInTurn) {
  EXPECT_EQ(shuffle_cycles({0, 4}), 2U * 9 * 4 + 26);
}

TEST(GpuTiming, SubcoresHandShufflesOverSideBySide) {
  // The pipe takes nine in 9.09 cycles: the second ends as the first, but for a fraction.
  EXPECT_NEAR(static_cast<double>(shuffle_cycles({0, 1})), 9 * 4 + 26, 1);
}

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

TEST(GpuTiming, AWarpGetsTheRoomThatTheUnitLeaves) {
  // Two warps of a sub-core, a memory queue of one: sums of the unit take the room for which a warp
  // waits with an access to shared memory, until the unit has none left.
  SmallTrace trace(1, 8, 9, 4, 36);
  trace.path_cost(0, {.alu = 1, .shared = 1, .waits = {{trace::ResultClass::kShared, 0, 0}}});
  for (std::uint32_t i = 0; i < 8; ++i) {
    trace.event(0, 0, ~0U, i % 4);
    trace.work(0, 4, 1 + i % 3);
    trace.event(0, 4, 0xff, i % 4);
    trace.work(0, 4, 1);
  }
  GpuConfig gpu = small_h200(1);
  gpu.lsu.queue_depth = 1;
  EXPECT_EQ(run(trace.read(), gpu, "arc-hw").failure, "");
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

// The second CTA begins when the REDs of the first have left the SM: cycles of a run in which that
// one has so many REDs of 32 lanes on one address.
RunResult run_two_ctas(std::uint32_t reds) {
  SmallTrace trace(2, 1, 1, 4, 4);
  trace.path_cost(0, {.alu = 1});
  for (std::uint32_t i = 0; i < reds; ++i) {
    trace.event(0, 0, ~0U, 0);
  }
  trace.work(1, 0, 2000);  // the last addition is done long before
  GpuConfig gpu = small_h200(1);
  gpu.sm.max_ctas = 1;
  return run(trace.read(), gpu, "baseline");
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

TEST(GpuTiming, ACtaKeepsItsPlaceUntilItsRedsHaveLeft) {
  std::vector<PoolTask> tasks;
  for (const std::uint32_t reds : {1U, 8U}) {
    tasks.push_back(
        {std::to_string(reds), [reds](const auto&) { return run_two_ctas(reds); }, nullptr});
  }
  const std::vector<double> cycles = cycles_of(tasks);
  EXPECT_NEAR(cycles[1] - cycles[0], 7 * 32 * 1.02, 2);  // they leave one after the other
}

// Two CTAs of the last of `sms` SMs, a warp of each on every sub-core, at one address: 160 REDs of
// 32 lanes of the first and one of each warp of the second, which has 20,000 cycles of work after
// it. That ends last. The other SMs have nothing to do.
RunResult run_sleepers(std::uint32_t sleep_cycles, std::uint32_t sms = 1,
                       std::uint32_t tick_groups = 1) {
  SmallTrace trace(2 * sms, 4, 1, 4, 4);
  trace.path_cost(0, {.alu = 1});
  const std::uint32_t first = sms - 1;
  const std::uint32_t second = 2 * sms - 1;
  for (std::uint32_t w = 0; w < 4; ++w) {
    for (std::uint32_t i = 0; i < 40; ++i) {
      trace.event(first, w, ~0U, 0);
    }
    trace.event(second, w, ~0U, 0);
    trace.work(second, w, 20'000);
  }
  GpuConfig gpu = small_h200(sms);
  gpu.lsu.sleep_cycles = sleep_cycles;
  gpu.lsu.tick_groups = tick_groups;
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

TEST(GpuTiming, GroupsOfSmsHaveTheirTicksAtTimesOfTheirOwn) {
  const double red = 32 * small_h200(1).l2.sector_cycles;
  std::vector<PoolTask> tasks;
  for (const std::uint32_t groups : {1U, 2U}) {
    tasks.push_back({std::to_string(groups),
                     [groups](const auto&) { return run_sleepers(3000, 2, groups); }, nullptr});
  }
  const std::vector<double> cycles = cycles_of(tasks);
  // The second tick, or up to so much later as the L2 takes for the REDs of all sub-cores: of the
  // second group half of the time between two sooner.
  EXPECT_GE(cycles[0] - 20'000, 2 * 3000);
  EXPECT_LE(cycles[0] - 20'000, 2 * 3000 + 5 * red);
  EXPECT_GE(cycles[1] - 20'000, 1.5 * 3000);
  EXPECT_LE(cycles[1] - 20'000, 1.5 * 3000 + 5 * red);
}

// Lone-lane REDs to many slices, so that nothing but the memory queues of a lone SM holds them up:
// `reds` of each of the warps, which have work after them if `works` says so.
RunResult run_reds_then_work(std::uint32_t ctas, std::uint32_t warps, std::uint32_t reds,
                             std::uint32_t sleep_cycles,
                             const std::function<bool(std::uint32_t, std::uint32_t)>& works) {
  SmallTrace trace(ctas, warps, 1, 512, 4096);
  trace.path_cost(0, {.alu = 1});
  std::uint32_t next = 0;
  for (std::uint32_t c = 0; c < ctas; ++c) {
    for (std::uint32_t w = 0; w < warps; ++w) {
      for (std::uint32_t i = 0; i < reds; ++i) {
        trace.event(c, w, 1, next++ % 512);
      }
      if (works(c, w)) {
        trace.work(c, w, 20'000);
      }
    }
  }
  GpuConfig gpu = small_h200(1);
  gpu.lsu.sleep_cycles = sleep_cycles;
  gpu.lsu.queue_depth = 1;
  return run(trace.read(), gpu, "baseline");
}

// What these take, the work left aside, with warps that do not sleep and with warps that do.
std::vector<double> cycles_in_turn_and_not(
    std::uint32_t ctas, std::uint32_t warps, std::uint32_t reds,
    const std::function<bool(std::uint32_t, std::uint32_t)>& works) {
  std::vector<PoolTask> tasks;
  for (const std::uint32_t sleep : {0U, 16384U}) {
    tasks.push_back(
        {std::to_string(sleep),
         [=](const auto&) { return run_reds_then_work(ctas, warps, reds, sleep, works); },
         nullptr});
  }
  std::vector<double> cycles = cycles_of(tasks);
  for (double& each : cycles) {
    each -= 20'000;
  }
  return cycles;
}

TEST(GpuTiming, TheOldestCtaOfASubcoreGoesFirst) {
  // Eight CTAs of a warp, two on each sub-core. The first of each works when its REDs are issued,
  // after half of all turns.
  const std::vector<double> cycles =
      cycles_in_turn_and_not(8, 1, 200, [](std::uint32_t cta, std::uint32_t) { return cta < 4; });
  const auto begins = static_cast<double>(first_issue(small_h200(1)));
  EXPECT_NEAR((cycles[1] - begins) / (cycles[0] - begins), 1.0 / 2, 0.08);
}

TEST(GpuTiming, ThreeWarpsOfASubcoreTakeTurns) {
  // Six warps of a CTA on each sub-core. The first of each works when its REDs are issued, those of
  // two others with them.
  const std::vector<double> cycles = cycles_in_turn_and_not(
      1, 24, 200, [](std::uint32_t, std::uint32_t warp) { return warp < 4; });
  const auto begins = static_cast<double>(first_issue(small_h200(1)));
  EXPECT_NEAR((cycles[1] - begins) / (cycles[0] - begins), 3.0 / 6, 0.08);
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

TEST(GpuTiming, OneOfTheLoadsOfAPassGoesToTheL2) {
  const RunResult result = run_load(0, "baseline", 3);
  EXPECT_EQ(counter(result.activity, "noc_load_flits"), 4U);  // the sectors of a line
  EXPECT_EQ(counter(result.activity, "noc_flits"), 0U);
  EXPECT_EQ(counter(result.subcore_cycles, "issued"), 4000U + 3 + 20'000);
}

TEST(GpuTiming, TheUnitFillsNoMoreOfTheMemoryQueueThanItsPart) {
  // Four warps a sub-core, more lanes than the L2 takes: what may wait in the queue goes on as
  // REDs, the rest is reduced.
  SmallTrace trace(1, 16, 9, 1, 36);
  for (std::uint32_t w = 0; w < 16; ++w) {
    for (std::uint32_t i = 0; i < 8; ++i) {
      trace.event(0, w, ~0U, 0);
    }
  }
  const trace::Reader reader = trace.read();
  std::vector<PoolTask> tasks;
  for (const std::uint32_t depth : {1U, 4U, 16U, 1024U}) {
    GpuConfig gpu = small_h200(1);
    gpu.lsu.queue_depth = 16;
    gpu.arc.queue_depth = depth;
    gpu.noc.injection_depth = 4;
    PoolTask task;
    task.name = std::to_string(depth);
    task.work = [gpu, &reader](const std::function<void(double)>& /*progress*/) {
      return run(reader, gpu, "arc-hw");
    };
    tasks.push_back(std::move(task));
  }
  std::vector<std::uint64_t> sent;
  for (const PoolOutcome& outcome : run_pool(tasks, {.jobs = 2, .progress = {}})) {
    ASSERT_TRUE(outcome.result) << outcome.error;
    EXPECT_EQ(outcome.result->failure, "");
    sent.push_back(counter(outcome.result->activity, "lanes_as_red"));
  }
  EXPECT_LT(sent[0], sent[1]);
  EXPECT_LT(sent[1], sent[2]);
  EXPECT_EQ(sent[2], sent[3]);  // no more than there is
}

TEST(GpuTiming, WarpsOfSmallCtasSpreadOverTheSubcores) {
  // 32 CTAs of one warp on one SM: eight a sub-core, not all on the first.
  SmallTrace trace(32, 1, 1, 4, 4);
  trace.path_cost(0, {.alu = 1});
  for (std::size_t c = 0; c < 32; ++c) {
    trace.work(c, 0, 1000);
  }
  const RunResult result = run(trace.read(), small_h200(1), "baseline");
  EXPECT_EQ(result.failure, "");
  EXPECT_LE(result.cycles, 8U * 1000 + 400);
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

TEST(GpuTiming, StallsAreNamedByTheirCause) {
  // Many full REDs to one address fill every queue on the way.
  SmallTrace trace(1, 8, 9, 4, 36);
  for (std::size_t w = 0; w < 8; ++w) {
    for (int i = 0; i < 20; ++i) {
      trace.event(0, w, ~0U, 1);
    }
  }
  GpuConfig gpu = small_h200(1);
  gpu.l2.ingress_flits = 384;
  const RunResult result = run(trace.read(), gpu, "baseline");
  EXPECT_EQ(result.failure, "");
  EXPECT_GT(counter(result.subcore_cycles, "memory_queue"), 3 * result.cycles);
  EXPECT_EQ(counter(result.subcore_cycles, "arc_unit"), 0U);
  // One warp of each sub-core goes on with its REDs while the other waits.
  EXPECT_GT(counter(result.warp_cycles, "memory_queue"), 4 * result.cycles);
}

// One SM alone, 32 warps: SM cycles per RED by pattern, beside what an H200 did (measured with 32
// warps a SM, unrolled REDs to spread addresses).
struct Pattern {
  const char* name;
  std::uint32_t lanes;
  std::uint32_t stride;  // in floats between lanes; 0: one address
  double modelled;
  double measured;
  std::uint32_t distinct = 32;  // lanes so far apart add to the same
};
void PrintTo(const Pattern& pattern, std::ostream* out) {
  *out << pattern.name;
}

class RedThroughput : public testing::TestWithParam<Pattern> {};

TEST_P(RedThroughput, MatchesOneSmOfAnH200) {
  const Pattern pattern = GetParam();
  constexpr std::uint32_t kWarps = 32, kReds = 200;
  constexpr std::uint32_t kPrimitives = 1 << 16;
  SmallTrace trace(1, kWarps, 1, kPrimitives, 4);
  const std::uint32_t mask = pattern.lanes == 32 ? ~0U : (std::uint32_t{1} << pattern.lanes) - 1;
  for (std::uint32_t w = 0; w < kWarps; ++w) {
    for (std::uint32_t i = 0; i < kReds; ++i) {
      const std::uint32_t first = (w * kReds + i) * 256 % (kPrimitives - 1024);
      std::vector<std::uint32_t> primitives(kLanes);
      for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
        primitives[lane] = first + lane % pattern.distinct * pattern.stride;
      }
      trace.event(0, w, mask, primitives);
    }
  }
  const RunResult result = run(trace.read(), small_h200(1), "baseline");
  EXPECT_EQ(result.failure, "");
  const double per_red = static_cast<double>(result.cycles) / (kWarps * kReds);
  EXPECT_NEAR(per_red, pattern.modelled, 0.03 * pattern.modelled + 300.0 / (kWarps * kReds));
  RecordProperty("cycles_per_red", std::to_string(per_red));
  EXPECT_NEAR(per_red, pattern.measured, 0.03 * pattern.measured + 300.0 / (kWarps * kReds));
}

INSTANTIATE_TEST_SUITE_P(
    Patterns, RedThroughput,
    testing::Values(Pattern{"lanes1", 1, 0, 2.09, 2.09}, Pattern{"same2", 2, 0, 2.09, 2.09},
                    Pattern{"same4", 4, 0, 4.08, 4.06}, Pattern{"same8", 8, 0, 8.16, 8.12},
                    Pattern{"same32", 32, 0, 32.64, 32.66}, Pattern{"row8", 8, 1, 2.09, 2.10},
                    Pattern{"row16", 16, 1, 3.06, 3.06}, Pattern{"row32", 32, 1, 5.1, 5.10},
                    Pattern{"sectors4", 4, 8, 5.1, 5.07}, Pattern{"sectors8", 8, 8, 10.2, 10.14},
                    Pattern{"sectors32", 32, 8, 40.8, 40.82}, Pattern{"lines8", 8, 32, 8.16, 8.14},
                    Pattern{"lines32", 32, 32, 32.64, 32.78},
                    // Passes over several lines, all but the first with 3, 7 or 15 changes of 0.12.
                    Pattern{"four_lines8", 8, 32, 8.52, 8.69, 4},
                    Pattern{"four_lines32", 32, 32, 35.16, 35.23, 4},
                    Pattern{"eight_lines32", 32, 32, 35.16, 35.31, 8},
                    Pattern{"sixteen_lines32", 32, 32, 34.44, 35.24, 16},
                    // None in passes of several words of a line.
                    Pattern{"eight_sectors32", 32, 8, 40.8, 40.78, 8}),
    [](const auto& parameter) { return std::string(parameter.param.name); });

struct Flits {
  std::uint64_t all;
  std::uint64_t lone_words;
  bool operator==(const Flits&) const = default;
};
void PrintTo(const Flits& flits, std::ostream* out) {
  *out << flits.all << ", of lone words " << flits.lone_words;
}

// Of one RED to these floats, a lane each.
Flits flits_of(std::vector<std::uint32_t> primitives, const std::string& policy = "baseline") {
  SmallTrace trace(1, 1, 1, 4096, 4);
  const LaneMask mask = primitives.size() == kLanes ? ~0U : (LaneMask{1} << primitives.size()) - 1;
  primitives.resize(kLanes);
  trace.event(0, 0, mask, primitives);
  const RunResult result = run(trace.read(), small_h200(1), policy);
  EXPECT_EQ(result.failure, "");
  return {counter(result.activity, "noc_flits"), counter(result.activity, "noc_lone_words")};
}

std::vector<std::uint32_t> floats(std::uint32_t lanes, std::uint32_t step, std::uint32_t distinct) {
  std::vector<std::uint32_t> primitives;
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    primitives.push_back(lane % distinct * step);
  }
  return primitives;
}

// One RED, or the sums of one, by the floats that its lanes add to.
struct FlitCase {
  const char* name;
  const char* policy;
  std::vector<std::uint32_t> primitives;
  Flits flits;
};
void PrintTo(const FlitCase& one, std::ostream* out) {
  *out << one.name;
}

class RedFlits : public testing::TestWithParam<FlitCase> {};

TEST_P(RedFlits, AreCounted) {
  EXPECT_EQ(flits_of(GetParam().primitives, GetParam().policy), GetParam().flits);
}

INSTANTIATE_TEST_SUITE_P(
    Reds, RedFlits,
    testing::Values(FlitCase{"one_word", "baseline", floats(32, 0, 1), {32, 32}},
                    FlitCase{"one_word_and_another_line", "baseline", {0, 0, 0, 32}, {4, 4}},
                    FlitCase{"lines", "baseline", floats(32, 32, 32), {32, 32}},
                    // A head and the sectors of the line, in each pass.
                    FlitCase{"two_words", "baseline", floats(2, 1, 2), {2, 0}},
                    FlitCase{"a_line", "baseline", floats(32, 1, 32), {5, 0}},
                    FlitCase{"two_sectors_16_times", "baseline", floats(32, 8, 2), {48, 0}},
                    FlitCase{"eight_lines_of_sectors", "baseline", floats(32, 8, 32), {40, 0}},
                    FlitCase{"two_words_then_one_twice", "baseline", {7, 7, 7, 6}, {4, 2}},
                    FlitCase{
                        "three_sectors_two_one", "baseline", {0, 0, 0, 8, 8, 16}, {4 + 3 + 1, 1}},
                    FlitCase{"sums_of_two_sectors", "sw-s:0", floats(32, 1, 16), {3, 0}},
                    FlitCase{"one_sum", "sw-s:0", floats(32, 0, 1), {1, 1}},
                    // A buffer sends a sector at a time.
                    FlitCase{"buffered_sectors", "lab", floats(32, 1, 16), {4, 0}},
                    FlitCase{"buffered_words", "lab", floats(32, 32, 2), {2, 2}}),
    [](const auto& parameter) { return std::string(parameter.param.name); });

// Full REDs of several SMs that come in one cycle, one for each SM: cycles from their arrival to
// the last addition. More of them, without the way there: round_model_test.cpp.
struct Meeting {
  const char* name;
  // Which sectors, each as {slice of port 5 or 6, the so-manyth sector there}: 0 and 1 are the
  // slices of port 5, 2 is one of port 6.
  std::vector<std::pair<int, std::size_t>> sectors;
  Cycle cycles;
  std::uint32_t words = 1;  // that the lanes of a RED take turns at
  std::uint32_t part = 1;   // of an Nth of the GPU: each SM stands for N
  // SMs of an input of the port, and REDs of the last SM: inputs have as many operations done, so
  // the SMs of a small one get ahead.
  std::uint32_t input_sms = 36;
  std::uint32_t last_reds = 1;
  std::uint32_t step = 1;  // from word to word
};
void PrintTo(const Meeting& meeting, std::ostream* out) {
  *out << meeting.name;
}

Address sector_of(const SliceMap& map, SliceMap::Place wanted, std::size_t index) {
  for (Address a = SmallTrace::kBase;; a += 32) {
    const SliceMap::Place place = map.place(a);
    if (place.port == wanted.port && place.slice == wanted.slice && index-- == 0) {
      return a;
    }
  }
}

class L2Port : public testing::TestWithParam<Meeting> {};

TEST_P(L2Port, ServesWhatMeetsThere) {
  const auto sms = static_cast<std::uint32_t>(GetParam().sectors.size());
  const auto map = make_slice_map(load_gpu("h200"));
  SmallTrace trace(sms, 1, 1, 1 << 20, 4);
  trace::InstructionCost slot;
  slot.alu = 1;
  trace.path_cost(0, slot);
  for (std::uint32_t c = 0; c < sms; ++c) {
    const auto& [slice, index] = GetParam().sectors[c];
    const SliceMap::Place place =
        slice == 2 ? SliceMap::Place{6, 0} : SliceMap::Place{5, static_cast<std::uint32_t>(slice)};
    // One CTA is dispatched a cycle: the earlier ones work for as long.
    trace.work(c, 0, sms - c);
    std::vector<std::uint32_t> primitives = floats(kLanes, GetParam().step, GetParam().words);
    for (std::uint32_t& primitive : primitives) {
      primitive +=
          static_cast<std::uint32_t>(sector_of(*map, place, index) - SmallTrace::kBase) / 4;
    }
    for (std::uint32_t i = 0; i < (c + 1 < sms ? 1 : GetParam().last_reds); ++i) {
      trace.event(c, 0, ~0U, primitives);
    }
  }
  GpuConfig whole = small_h200(sms * GetParam().part);
  whole.l2.input_sms = GetParam().input_sms;
  const GpuConfig gpu = part_of_gpu(whole, GetParam().part);
  const RunResult result = run(trace.read(), gpu, "baseline");
  EXPECT_EQ(result.failure, "");
  const Cycle arrival = first_issue(gpu) + sms + 2 + gpu.noc.latency;
  EXPECT_EQ(result.cycles, arrival + GetParam().cycles);
  EXPECT_LE(counter(result.bounds, "rop"), GetParam().cycles);
}

INSTANTIATE_TEST_SUITE_P(
    Meetings, L2Port,
    testing::Values(
        Meeting{"one", {{0, 0}}, 112},  // 32 x 3.49 = 111.7
        // Words of each of the four sectors in 8 turns, of two SMs: 8 x 2 x (4.72 + 1.18).
        Meeting{"same_words_of_sectors", {{0, 0}, {0, 0}}, 95, 4, 1, 36, 1, 8},
        // Three sectors of 11, 11 and 10 lanes: 10 turns of 3 x 1.18, of 4 flits each, and one of
        // two sectors, which leaves the SM 40 cycles after them: 40 + 3.49.
        Meeting{"words_of_three_sectors", {{0, 0}}, 44, 3, 1, 36, 1, 8},
        // Two ports have nothing in common: 32 x 4 x 1.47.
        Meeting{"two_ports", {{0, 0}, {0, 1}, {0, 2}, {0, 3}, {2, 0}, {2, 1}, {2, 2}, {2, 3}}, 189},
        // SMs that stand for two, the last alone on its input.
        Meeting{"inputs_for_two", {{0, 0}, {0, 1}, {0, 2}, {0, 3}}, 412, 1, 2, 6, 2}),
    [](const auto& parameter) { return std::string(parameter.param.name); });

// All SMs on few addresses, `stride` bytes apart: additions per SM clock of the whole GPU.
double hot_rate(std::uint32_t addresses, std::uint32_t reds, std::uint32_t stride = 4) {
  constexpr std::uint32_t kWarps = 4;
  const GpuConfig gpu = load_gpu("h200");
  std::mt19937 random(1);
  SmallTrace trace(gpu.sm.count, kWarps, 1, 64 * 1024, stride);
  for (std::uint32_t c = 0; c < gpu.sm.count; ++c) {
    for (std::uint32_t w = 0; w < kWarps; ++w) {
      for (std::uint32_t i = 0; i < reds; ++i) {
        trace.event(c, w, 1, static_cast<std::uint32_t>(random() % addresses));
      }
    }
  }
  const RunResult result = run(trace.read(), gpu, "baseline");
  EXPECT_EQ(result.failure, "");
  const double rate = static_cast<double>(result.lane_atomics) / static_cast<double>(result.cycles);
  std::printf("%u addresses: %.3f additions a clock\n", addresses, rate);
  return rate;
}

TEST(HotSpots, OneAddress) {
  // An H200 does 0.286 a clock.
  EXPECT_NEAR(hot_rate(1, 16), 0.286, 0.005);
}

TEST(HotSpots, OneLine) {
  // An H200 does 0.49 to 0.52 a clock.
  EXPECT_NEAR(hot_rate(32, 32), 0.50, 0.02);
}

// Sectors of one slice at random: cycles of an addition, as an H200 has them (share/random).
struct Sectors {
  std::uint32_t number;
  double cycles;
};
void PrintTo(const Sectors& sectors, std::ostream* out) {
  *out << sectors.number;
}
class SectorsOfASlice : public testing::TestWithParam<Sectors> {};
TEST_P(SectorsOfASlice, TakeAsLongAsOnAnH200) {
  EXPECT_NEAR(1 / hot_rate(GetParam().number, 100, 32) / GetParam().cycles, 1, 0.03);
}
INSTANTIATE_TEST_SUITE_P(HotSpots, SectorsOfASlice,
                         testing::Values(Sectors{1, 3.483}, Sectors{2, 2.517}, Sectors{3, 2.128},
                                         Sectors{4, 1.915}, Sectors{6, 1.688}, Sectors{8, 1.568}),
                         [](const auto& parameter) {
                           return std::to_string(parameter.param.number);
                         });

TEST(HotSpots, SpreadAddressesComeNearThePortsRate) {
  // An H200 does 51 a clock; 48 ports take one per 0.89 cycles each, 53.9. Launch, first issue, the
  // way to the L2 and the last REDs behind the fullest port are 1000 cycles with few additions: 800
  // REDs a warp take ten times as long. An SM's port waits while its first RED finds no room.
  const double rate = hot_rate(64 * 1024, 800);
  EXPECT_GT(rate, 40);
  EXPECT_LE(rate, 48 / 0.89);
}

// Conservation and sums of every policy on random traces; the checks are those of every run.
struct Workload {
  const char* name;
  double shared;
  bool values;
};
void PrintTo(const Workload& workload, std::ostream* out) {
  *out << workload.name;
}

class Policies : public testing::TestWithParam<std::tuple<std::string, Workload, UnitKind>> {};

// The same results from both units, with gated and ungated clocks, and on any number of threads.
void expect_the_same(const GpuConfig& gpu, const trace::Reader& trace,
                     const Policies::ParamType& parameter) {
  const auto& [policy, workload, kind] = parameter;
  const ReferenceSums reference = ReferenceSums::compute(trace);
  std::vector<PoolTask> tasks;
  for (int i = 0; i < 5; ++i) {
    SimOptions options;
    options.gpu = gpu;
    options.policy = parse_policy(policy);
    options.unit = i == 1 || i == 4 ? UnitModel::kRtl : UnitModel::kGolden;
    options.unit_kind = kind;
    options.reference = i == 2;
    options.threads = i == 3 ? 2 : i == 4 ? 4 : 1;
    tasks.push_back({.name = policy + std::to_string(i),
                     .work = [&trace, &reference,
                              options](const auto&) { return simulate(options, trace, reference); },
                     .prepare = {}});
  }
  std::vector<nlohmann::ordered_json> results;
  for (const PoolOutcome& outcome : run_pool(tasks, {.jobs = 2, .progress = {}})) {
    ASSERT_TRUE(outcome.result) << outcome.error;
    RunResult result = *outcome.result;
    EXPECT_EQ(result.failure, "");
    EXPECT_TRUE(result.sums_match);
    EXPECT_TRUE(result.conserved);
    EXPECT_EQ(result.sum_check, workload.values ? "bound" : "exact");
    EXPECT_GT(result.cycles, 0U);
    result.unit.clear();
    result.wall_seconds = 0;
    results.push_back(nlohmann::ordered_json::parse(results_to_json({result}))["runs"][0]);
  }
  EXPECT_EQ(results[0], results[1]) << "golden and RTL unit differ";
  EXPECT_EQ(results[0], results[2]) << "gated and ungated clocks differ";
  EXPECT_EQ(results[0], results[3]) << "one thread and two differ";
  EXPECT_EQ(results[0], results[4]) << "one thread and four differ";
}

TEST_P(Policies, KeepEveryLaneOnBothUnitsAndHoweverClocked) {
  const Workload& workload = std::get<1>(GetParam());
  const std::uint64_t seed = std::getenv("WARPFOLD_SEED") != nullptr
                                 ? std::strtoull(std::getenv("WARPFOLD_SEED"), nullptr, 0)
                                 : 20251120;
  RecordProperty("seed", std::to_string(seed));
  SCOPED_TRACE("seed " + std::to_string(seed));
  const trace::Reader trace = random_trace(seed, 40, 8, 9, workload.shared, workload.values).read();
  GpuConfig gpu = small_h200(6);
  // Tight queues and few ROPs, so that everything stalls now and then.
  gpu.lsu.queue_depth = 3;
  gpu.lsu.sleep_cycles = 200;
  gpu.arc.queue_depth = 2;
  gpu.noc.injection_depth = 2;
  gpu.l2.slices = 6;
  gpu.l2.ingress_flits = 48;
  gpu.l2.turn_spread = 0.4;
  // Small buffers that have to send sums away; 8 KiB of the L1 are the CTAs' shared memory.
  gpu.l1.bytes = 8192 + 2048;
  gpu.lab.bytes = 512;
  gpu.lab.ways = 2;
  gpu.buffer.queue_depth = 2;
  gpu.buffer.victims = 4;
  expect_the_same(gpu, trace, GetParam());
  // Room for SMs that do not keep step, with CTAs that wait for a place.
  gpu.noc.injection_depth = 24;
  gpu.sm.max_ctas = 3;
  expect_the_same(gpu, trace, GetParam());
}

constexpr Workload kWorkloads[] = {
    {"uniform", 1.0, false}, {"mixed", 0.5, false}, {"values", 0.5, true}};

std::string policies_test_name(const testing::TestParamInfo<Policies::ParamType>& parameter) {
  std::string name = std::get<0>(parameter.param) + "_" + std::get<1>(parameter.param).name + "_" +
                     std::string(unit_kind_name(std::get<2>(parameter.param)));
  for (char& c : name) {
    c = c == ':' || c == '-' ? '_' : c;
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(WithoutUnit, Policies,
                         testing::Combine(testing::Values("baseline", "sw-s:0", "sw-s:12", "sw-b:0",
                                                          "sw-b:20", "skip", "cccl", "lab",
                                                          "lab-ideal", "phi"),
                                          testing::ValuesIn(kWorkloads),
                                          testing::Values(UnitKind::kSerial)),
                         policies_test_name);
INSTANTIATE_TEST_SUITE_P(WithUnit, Policies,
                         testing::Combine(testing::Values("arc-hw"), testing::ValuesIn(kWorkloads),
                                          testing::ValuesIn(kUnitKinds)),
                         policies_test_name);

TEST(Checks, ALostLaneIsNoticed) {
  // The model adds what one trace says and is checked against one that has a lane more.
  SmallTrace less(1, 1, 2, 4, 8);
  less.event(0, 0, 0x7, 1);
  SmallTrace more(1, 1, 2, 4, 8);
  more.event(0, 0, 0xf, 1);
  SimOptions options;
  options.gpu = small_h200(1);
  options.policy = parse_policy("arc-hw");
  options.unit = UnitModel::kGolden;
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
  trace.header.costs.erase("sm_90");
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

class Timelines : public ::testing::TestWithParam<std::string> {};

// In every interval a kind is busy for no longer than its units could be, and all intervals
// together make what the run reports; recording them changes nothing, and what is recorded does not
// depend on which blocks are clocked, nor on who clocks them.
TEST_P(Timelines, SumsAreTheTotalsOfTheRun) {
  constexpr std::uint64_t kInterval = 97;
  const trace::Reader trace = random_trace(7, 12, 8, 3, 0.7, false).read();
  const ReferenceSums reference = ReferenceSums::compute(trace);
  std::vector<PoolTask> tasks;
  for (int i = 0; i < 4; ++i) {
    SimOptions options;
    options.gpu = small_h200(3);
    options.policy = parse_policy(GetParam());
    options.unit = UnitModel::kGolden;
    options.reference = i == 1;
    options.threads = i == 3 ? 2 : 1;
    options.timeline_interval = i == 2 ? 0 : kInterval;
    tasks.push_back({.name = GetParam() + std::to_string(i),
                     .work = [&trace, &reference,
                              options](const auto&) { return simulate(options, trace, reference); },
                     .prepare = {}});
  }
  std::vector<RunResult> runs;
  for (const PoolOutcome& outcome : run_pool(tasks, {.jobs = 2, .progress = {}})) {
    ASSERT_TRUE(outcome.result) << outcome.error;
    runs.push_back(*outcome.result);
    runs.back().wall_seconds = 0;
  }
  EXPECT_EQ(results_to_json({runs[0]}), results_to_json({runs[2]}));
  EXPECT_EQ(runs[0].timeline.busy, runs[1].timeline.busy);
  EXPECT_EQ(runs[0].timeline.busy, runs[3].timeline.busy);
  EXPECT_EQ(runs[2].timeline.interval, 0U);
  EXPECT_TRUE(runs[2].timeline.busy.empty());

  const RunResult& run = runs[0];
  const Timeline& timeline = run.timeline;
  EXPECT_EQ(timeline.interval, kInterval);
  ASSERT_EQ(timeline.busy.size(), run.utilization.size());
  for (std::size_t kind = 0; kind < timeline.busy.size(); ++kind) {
    const auto& [name, busy] = timeline.busy[kind];
    EXPECT_EQ(name, run.utilization[kind].first);
    EXPECT_EQ(busy.size(), (run.cycles + kInterval - 1) / kInterval);
    const auto units = static_cast<double>(timeline.units[kind].second);
    double sum = 0;
    for (const double cycles : busy) {
      EXPECT_GE(cycles, 0) << name;
      // A packet's time at an injection port counts from the cycle after it was let in.
      EXPECT_LE(cycles, units * (kInterval + 1)) << name;
      sum += cycles;
    }
    EXPECT_DOUBLE_EQ(sum, run.utilization[kind].second * units * static_cast<double>(run.cycles))
        << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Gpu, Timelines,
                         ::testing::Values("baseline", "sw-s:4", "sw-b:8", "arc-hw", "lab",
                                           "lab-ideal", "phi"),
                         [](const auto& parameter) {
                           std::string name = parameter.param;
                           std::replace_if(
                               name.begin(), name.end(),
                               [](char c) { return c == ':' || c == '-'; }, '_');
                           return name;
                         });

TEST(GpuTimeline, ShowsWhenAUnitIsBusy) {
  // One warp: 100 issue slots, then one RED of four lanes on one address.
  SmallTrace trace(1, 1, 1, 4, 4);
  trace.path_cost(0, {.alu = 100});
  trace.work(0, 0, 1);
  trace.event(0, 0, 0xf, 2);
  SimOptions options;
  options.gpu = small_h200(1);
  options.policy = parse_policy("baseline");
  options.unit = UnitModel::kGolden;
  options.timeline_interval = 10;
  const trace::Reader reader = trace.read();
  const RunResult run = simulate(options, reader, ReferenceSums::compute(reader));
  const auto busy = [&run](std::size_t kind, Cycle from, Cycle to) {
    double sum = 0;
    for (Cycle cycle = from; cycle < to; cycle += 10) {
      sum += run.timeline.busy[kind].second.at(cycle / 10);
    }
    return sum;
  };
  const Cycle first = first_issue(options.gpu);
  const Cycle begin = first / 10 * 10;
  // issue: from the first issue on, one a cycle.
  EXPECT_EQ(busy(0, 0, begin), 0.0);
  EXPECT_EQ(busy(0, begin, begin + 10), static_cast<double>(begin + 10 - first));
  EXPECT_EQ(busy(0, begin + 10, begin + 100), 90.0);
  // rop: four additions of 1.5 cycles each.
  const Cycle arrival = (first + 100 + 2 + options.gpu.noc.latency) / 10 * 10;
  EXPECT_EQ(busy(5, 0, arrival), 0.0);
  EXPECT_NEAR(busy(5, arrival, run.cycles), 4 * options.gpu.l2.rop_cycles, 0.01);
}

}  // namespace
}  // namespace warpfold::test

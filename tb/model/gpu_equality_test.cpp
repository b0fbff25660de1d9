// SPDX-License-Identifier: Apache-2.0
// Whole runs that must come out alike: on both units, on the gated clock and the reference, on any
// number of threads, with a timeline and without. Each run has a process of its own.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <nlohmann/json.hpp>

#include "model/results/json.hpp"
#include "model/results/process_pool.hpp"
#include "tb/lockstep/units_of_rtl.hpp"
#include "tb/model/gpu_run.hpp"

namespace warpfold::test {
namespace {

// Conservation and sums of every policy on random traces; the checks are those of every run.
struct Workload {
  const char* name;
  double shared;
  bool values;
  const char* scheduler = "";  // of the unit, where it is not that of its kind
  bool waits = false;          // warps wait for their REDs, whose packets have no heads
};
void PrintTo(const Workload& workload, std::ostream* out) {
  *out << workload.name;
}

class Policies : public testing::TestWithParam<std::tuple<std::string, Workload, UnitKind>> {};

// The same results from both units, with gated and ungated clocks, and on any number of threads.
void expect_the_same(const GpuConfig& gpu, const trace::Reader& trace,
                     const Policies::ParamType& parameter, std::uint32_t unit_divider = 1) {
  const auto& [policy, workload, kind] = parameter;
  const ReferenceSums reference = ReferenceSums::compute(trace);
  std::vector<PoolTask> tasks;
  for (int i = 0; i < 5; ++i) {
    SimOptions options;
    options.gpu = gpu;
    options.policy = parse_policy(policy);
    options.unit.model = i == 1 || i == 4 ? UnitModel::kRtl : UnitModel::kGolden;
    options.unit.kind = kind;
    options.unit.divider = unit_divider;
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
  SmallTrace made = random_trace(seed, 40, 8, 9, workload.shared, workload.values);
  if (unit_declaration(std::get<2>(GetParam())).promise.adds == WordType::kHalves) {
    made.make_halves();
  }
  const trace::Reader trace = made.read();
  GpuConfig gpu = small_h200(6);
  if (*workload.scheduler != '\0') {
    gpu.rules.scheduler.name = workload.scheduler;
  }
  if (workload.waits) {
    gpu.rules.red_wait.name = "own-reds";
    gpu.rules.packets.name = "flit-a-sector";
  }
  // Tight queues and few ROPs, so that everything stalls now and then.
  gpu.lsu.queue_depth = 3;
  gpu.lsu.sleep_cycles = 200;
  gpu.arc.queue_depth = 2;
  gpu.noc.injection_depth = 2;
  gpu.l2.slices = 6;
  gpu.l2.ingress_flits = 64;
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
  if (parse_policy(std::get<0>(GetParam())).has_unit()) {
    expect_the_same(gpu, trace, GetParam(), 3);
  }
}

constexpr Workload kUniform{"uniform", 1.0, false};
constexpr Workload kMixed{"mixed", 0.5, false};
constexpr Workload kValues{"values", 0.5, true};
constexpr Workload kUniformGroups{"uniform_groups", 1.0, false, "reduce-groups"};
constexpr Workload kValuesGroups{"values_groups", 0.5, true, "reduce-groups"};
constexpr Workload kUniformWait{"uniform_waits", 1.0, false, "", true};
constexpr Workload kValuesWait{"values_waits", 0.5, true, "", true};
using Case = Policies::ParamType;

std::string policies_test_name(const testing::TestParamInfo<Policies::ParamType>& parameter) {
  std::string name = std::get<0>(parameter.param) + "_" + std::get<1>(parameter.param).name + "_" +
                     kind_test_name(std::get<2>(parameter.param));
  for (char& c : name) {
    c = c == ':' || c == '-' ? '_' : c;
  }
  return name;
}

// Every policy, every kind of unit and every scheduler with one workload or two, so that each
// workload, waiting or not, meets software, a buffer, a unit and a merge buffer. All workloads with
// all of them take nine times as long: at night.
INSTANTIATE_TEST_SUITE_P(
    Each, Policies,
    testing::Values(
        Case{"baseline", kMixed, UnitKind::kSerial}, Case{"sw-s:0", kUniform, UnitKind::kSerial},
        Case{"sw-s:12", kValuesWait, UnitKind::kSerial}, Case{"sw-b:0", kValues, UnitKind::kSerial},
        Case{"sw-b:20", kMixed, UnitKind::kSerial}, Case{"skip", kUniform, UnitKind::kSerial},
        Case{"cccl", kValues, UnitKind::kSerial}, Case{"lab", kMixed, UnitKind::kSerial},
        Case{"lab-ideal", kUniformWait, UnitKind::kSerial}, Case{"phi", kValues, UnitKind::kSerial},
        Case{"arc-hw", kValues, UnitKind::kSerial}, Case{"arc-hw", kUniformWait, UnitKind::kPaired},
        Case{"arc-hw", kMixed, UnitKind::kFused}, Case{"arc-hw", kValuesWait, UnitKind::kVector},
        Case{"arc-hw", kMixed, UnitKind::kHalves}, Case{"arc-hw", kValuesGroups, UnitKind::kSerial},
        Case{"arc-hw", kUniformGroups, UnitKind::kFused},
        Case{"arc-merge", kMixed, UnitKind::kSerial},
        Case{"arc-merge-l2", kValuesWait, UnitKind::kVector}),
    policies_test_name);

INSTANTIATE_TEST_SUITE_P(
    NightlySoftware, Policies,
    testing::Combine(testing::Values("baseline", "sw-s:0", "sw-s:12", "sw-b:0", "sw-b:20", "skip",
                                     "cccl", "lab", "lab-ideal", "phi"),
                     testing::Values(kUniform, kMixed, kValues, kUniformWait, kValuesWait),
                     testing::Values(UnitKind::kSerial)),
    policies_test_name);
INSTANTIATE_TEST_SUITE_P(NightlyUnit, Policies,
                         testing::Combine(testing::Values("arc-hw"),
                                          testing::Values(kUniform, kMixed, kValues, kUniformWait,
                                                          kValuesWait, kUniformGroups,
                                                          kValuesGroups),
                                          testing::ValuesIn(unit_kinds())),
                         policies_test_name);
INSTANTIATE_TEST_SUITE_P(NightlyMerging, Policies,
                         testing::Combine(testing::Values("arc-merge", "arc-merge-l2"),
                                          testing::Values(kUniform, kMixed, kValues, kUniformWait,
                                                          kValuesWait),
                                          testing::Values(UnitKind::kSerial, UnitKind::kVector)),
                         policies_test_name);

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
    options.unit.model = UnitModel::kGolden;
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
                                           "lab-ideal", "phi", "arc-merge", "arc-merge-l2"),
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
  options.unit.model = UnitModel::kGolden;
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

// SPDX-License-Identifier: Apache-2.0
// The merge buffer of an SM in whole runs (policy arc-merge): what meets in it leaves as one, what
// it cannot sum goes by, and what it cannot be is refused. That its cycles are the RTL's shows
// tb/unit/arc_merge_buffer_test.cpp.
#include <gtest/gtest.h>

#include <string>

#include "model/gpu/run/reference_sums.hpp"
#include "model/gpu/run/simulate.hpp"
#include "model/results/process_pool.hpp"
#include "tb/model/gpu_run.hpp"
#include "tb/model/small_trace.hpp"

namespace warpfold::test {
namespace {

constexpr std::uint32_t kWarps = 8;

// A run of a trace on a machine under a policy, in a process of its own.
RunResult merged(const SmallTrace& trace, const GpuConfig& gpu,
                 const std::string& policy = "arc-merge") {
  const auto outcomes =
      run_pool({{policy, [&](const auto&) { return run(trace.read(), gpu, policy); }, nullptr}},
               {.jobs = 1, .progress = {}});
  EXPECT_TRUE(outcomes.at(0).result) << outcomes.at(0).error;
  const RunResult result = outcomes.at(0).result.value_or(RunResult{});
  EXPECT_EQ(result.failure, "");
  EXPECT_TRUE(result.sums_match);
  return result;
}

// A sector of eight words, to which every warp adds in eight lanes.
SmallTrace one_sector() {
  SmallTrace trace(1, kWarps, 1, 8, 4);
  std::vector<std::uint32_t> primitives(kLanes);
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    primitives[lane] = lane % 8;
  }
  for (std::uint32_t warp = 0; warp < kWarps; ++warp) {
    trace.event(0, warp, 0xff, primitives);
  }
  return trace;
}

TEST(MergeBuffer, SumsOfAllWarpsLeaveAsOneSector) {
  const RunResult result = merged(one_sector(), small_h200(1));
  EXPECT_EQ(result.rop_ops, 1U);
  EXPECT_EQ(counter(result.activity, "buffer_misses"), 1U);
  EXPECT_EQ(counter(result.activity, "buffer_hits"), kWarps - 1);
  EXPECT_EQ(counter(result.activity, "buffer_flushed_sectors"), 1U);
  EXPECT_EQ(counter(result.activity, "lanes_to_buffer"), kWarps * 8U);
  EXPECT_EQ(counter(result.activity, "sums_from_buffer"), 8U);
  EXPECT_EQ(merged(one_sector(), small_h200(1), "arc-hw").rop_ops, kWarps);
}

// Requests of one row follow each other after six cycles, as many as the adders take.
TEST(MergeBuffer, TakesARequestOfARowEverySixCycles) {
  const GpuConfig gpu = small_h200(1);
  SmallTrace few = one_sector();
  SmallTrace many = one_sector();
  for (int again = 0; again < 100; ++again) {
    many.ctas[0].warps[0].records.push_back(many.ctas[0].warps[0].records[0]);
  }
  EXPECT_NEAR(
      static_cast<double>(merged(many, gpu).cycles) - static_cast<double>(merged(few, gpu).cycles),
      600, 20);
}

TEST(MergeBuffer, SectorsThatShareARowPushEachOtherOut) {
  GpuConfig gpu = small_h200(1);
  gpu.arc.merge_rows = 8;
  const SmallTrace trace = random_trace(3, 4, kWarps, 9, 0.3, false);
  const RunResult small = merged(trace, gpu);
  EXPECT_GT(counter(small.activity, "buffer_evicted_sectors"), 0U);
  gpu.arc.merge_rows = 1024;
  const RunResult large = merged(trace, gpu);
  EXPECT_EQ(counter(large.activity, "buffer_evicted_sectors"), 0U);
  EXPECT_LT(large.rop_ops, small.rop_ops);
}

TEST(MergeBuffer, RecordedValuesAddUpRight) {
  GpuConfig gpu = small_h200(2);
  gpu.arc.merge_rows = 8;
  EXPECT_EQ(merged(random_trace(5, 8, kWarps, 9, 0.5, true), gpu).sum_check, "bound");
}

TEST(MergeBuffer, IsNotForAUnitOfHalves) {
  SimOptions options;
  options.gpu = small_h200(1);
  options.policy = parse_policy("arc-merge");
  options.unit = UnitModel::kGolden;
  options.unit_kind = UnitKind::kHalves;
  const trace::Reader reader = one_sector().read();
  try {
    simulate(options, reader, ReferenceSums::compute(reader));
    ADD_FAILURE() << "not refused";
  } catch (const SimulationError& error) {
    EXPECT_NE(std::string(error.what()).find("the merge buffer of policy arc-merge adds FP32"),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace warpfold::test

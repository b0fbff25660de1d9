// SPDX-License-Identifier: Apache-2.0
// Merge buffers of SMs and of ports of the L2 in whole runs (policies arc-merge, arc-merge-l2):
// what meets in one leaves as one, what it cannot sum goes by, and what it cannot be is refused.
#include <gtest/gtest.h>

#include <bit>
#include <string>

#include "model/gpu/run/reference_sums.hpp"
#include "model/gpu/run/simulate.hpp"
#include "model/gpu/traffic/merger.hpp"
#include "model/results/process_pool.hpp"
#include "model/unit/golden_merge.hpp"
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

// A sector of eight words, to which every warp adds in eight lanes, so many times.
SmallTrace one_sector(std::uint32_t times = 1) {
  SmallTrace trace(1, kWarps, 1, 8, 4);
  std::vector<std::uint32_t> primitives(kLanes);
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    primitives[lane] = lane % 8;
  }
  for (std::uint32_t warp = 0; warp < kWarps; ++warp) {
    for (std::uint32_t i = 0; i < times; ++i) {
      trace.event(0, warp, 0xff, primitives);
    }
  }
  return trace;
}

// Warps that add at once have partial sums, in four rows at most.
TEST(MergeBuffer, SumsOfAllWarpsLeaveAsFourSectorsAtMost) {
  const RunResult result = merged(one_sector(), small_h200(1));
  const std::uint64_t partial = counter(result.activity, "buffer_misses");
  EXPECT_GE(partial, 1U);
  EXPECT_LE(partial, 4U);
  EXPECT_EQ(result.rop_ops, partial);
  EXPECT_EQ(counter(result.activity, "buffer_hits"), kWarps - partial);
  EXPECT_EQ(counter(result.activity, "buffer_flushed_sectors"), partial);
  EXPECT_EQ(counter(result.activity, "lanes_to_buffer"), kWarps * 8U);
  EXPECT_EQ(counter(result.activity, "sums_from_buffer"), partial * 8U);
  EXPECT_EQ(merged(one_sector(), small_h200(1), "arc-hw").rop_ops, kWarps);
}

// The LSU hands over a request in lsu.red_min cycles. One row would take one in six cycles, four
// rows take four.
TEST(MergeBuffer, TakesRequestsOfASectorAsFastAsTheLsuSendsThem) {
  const GpuConfig gpu = small_h200(1);
  const auto cycles = [&gpu](std::uint32_t times) {
    return static_cast<double>(merged(one_sector(times), gpu).cycles);
  };
  EXPECT_NEAR(cycles(200) - cycles(100), 100 * kWarps * gpu.lsu.red_min, 20);
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

// Two SMs add to one sector, each in one CTA: an SM merges what is its own, the port all of it.
TEST(MergeBufferAtTheL2, MergesSumsOfAllSms) {
  SmallTrace trace(2, kWarps, 1, 8, 4);
  std::vector<std::uint32_t> primitives(kLanes);
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    primitives[lane] = lane % 8;
  }
  for (std::uint32_t cta = 0; cta < 2; ++cta) {
    for (std::uint32_t warp = 0; warp < kWarps; ++warp) {
      trace.event(cta, warp, 0xff, primitives);
    }
  }
  const RunResult in_sms = merged(trace, small_h200(2));
  const RunResult at_port = merged(trace, small_h200(2), "arc-merge-l2");
  EXPECT_EQ(in_sms.noc_packets, in_sms.rop_ops);
  EXPECT_EQ(counter(in_sms.activity, "sums_from_buffer"), 8U * in_sms.rop_ops);
  EXPECT_EQ(at_port.noc_packets, 2 * kWarps);
  // No more than the ways of its sector.
  EXPECT_LE(at_port.rop_ops, kMergeWays);
  EXPECT_EQ(counter(at_port.activity, "buffer_flushed_sectors"), at_port.rop_ops);
  EXPECT_EQ(counter(at_port.activity, "lanes_to_buffer"), 2 * kWarps * 8U);
  EXPECT_EQ(counter(at_port.activity, "buffer_hits") + counter(at_port.activity, "buffer_misses"),
            2 * kWarps);
}

// 32 requests of one word: four in six cycles, the last four in four.
TEST(Merger, TakesFourRequestsOfASectorInSixCycles) {
  const AddressMap addresses(one_sector().header);
  LineSumsPool sums;
  Tally tally;
  Merger merger({.addresses = addresses, .sums = sums, .tally = tally}, 512);
  std::uint32_t cycles = 0;
  for (std::uint32_t request = 0; request < 32; ++request) {
    Transaction transaction;
    transaction.reduced = true;
    transaction.mask = 1;
    transaction.data = std::bit_cast<Fp32Bits>(1.0F);
    transaction.address = 0x1000;
    merger.take(transaction);
    for (; !merger.ready(); ++cycles) {
      EXPECT_FALSE(merger.clock(true));
    }
  }
  EXPECT_EQ(cycles, 32U / 4 * 6 - 2);
  EXPECT_EQ(merger.words(), 4U);
  EXPECT_EQ(tally.sums_buffered, 32U);
  merger.flush();
  float sum = 0;
  while (merger.busy()) {
    if (const auto leaving = merger.clock(true)) {
      EXPECT_EQ(leaving->address, 0x1000U);
      EXPECT_EQ(leaving->words, 1U);
      sum += std::bit_cast<float>(leaving->sums[0]);
    }
  }
  EXPECT_EQ(sum, 32.0F);
  EXPECT_EQ(merger.stats().flushed, 4U);
  EXPECT_EQ(merger.words(), 0U);
}

TEST(MergeBufferAtTheL2, PushesOutWhatFindsNoRow) {
  GpuConfig gpu = small_h200(4);
  gpu.arc.merge_rows = 8;
  const SmallTrace trace = random_trace(7, 8, kWarps, 9, 0.4, false);
  const RunResult small = merged(trace, gpu, "arc-merge-l2");
  EXPECT_GT(counter(small.activity, "buffer_evicted_sectors"), 0U);
  gpu.arc.merge_rows = 4096;
  const RunResult large = merged(trace, gpu, "arc-merge-l2");
  EXPECT_EQ(counter(large.activity, "buffer_evicted_sectors"), 0U);
  EXPECT_LT(large.rop_ops, small.rop_ops);
  EXPECT_EQ(merged(random_trace(5, 8, kWarps, 9, 0.5, true), gpu, "arc-merge-l2").sum_check,
            "bound");
}

TEST(MergeBuffer, IsNotForAUnitOfHalves) {
  SimOptions options;
  options.gpu = small_h200(1);
  options.policy = parse_policy("arc-merge");
  options.unit.model = UnitModel::kGolden;
  options.unit.kind = UnitKind::kHalves;
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

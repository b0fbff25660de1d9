// SPDX-License-Identifier: Apache-2.0
// What an event becomes under each policy: instructions, shuffles, additions, and the software
// sums.
#include "model/policy/program.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "tb/model/small_trace.hpp"

namespace warpfold::test {
namespace {

constexpr std::uint32_t kParameters = 9;

// One warp with costs that tell the segments apart: every segment has another power of ten of
// slots.
SmallTrace priced_trace() {
  SmallTrace trace(1, 1, kParameters, 100, 4 * kParameters);
  trace.path_cost(0, {.alu = 1, .stall_cycles = 2});
  trace.path_cost(1, {.alu = 10, .stall_cycles = 20});
  trace.reduce_cost("plain", {.alu = 100});
  trace.reduce_cost("check", {.alu = 1000});
  trace.reduce_cost("agree", {.alu = 10000000});
  trace.reduce_cost("setup", {.alu = 10000});
  trace.reduce_cost("leader", {.alu = 100000});
  trace.reduce_cost("per_lane", {.alu = 1000000, .shuffle = kParameters});
  trace.reduce_cost("butterfly", {.alu = 1000000, .shuffle = 5 * kParameters});
  return trace;
}

struct Issued {
  std::uint64_t slots = 0;  // of runs
  std::uint64_t min_cycles = 0;
  std::uint64_t shuffles = 0;
  std::uint64_t of_zeros = 0;  // of these
  std::uint64_t shuffle_waits = 0;
  Ticks lsu_ticks = 0;         // of shuffles and of accesses of shared memory that are waited for
  Ticks hand_ticks = 0;        // the same
  Ticks match_ticks = 0;       // of runs
  std::uint32_t latency = 0;   // of the last of them
  std::uint64_t accesses = 0;  // of shared memory, waited for
  std::uint64_t loads = 0;     // of global memory, waited for
  std::uint64_t load_waits = 0;
  Ticks run_lsu_ticks = 0;
  std::uint64_t atomics = 0;  // lane by lane
  std::uint64_t lanes = 0;    // of those
  std::uint64_t reduced = 0;  // sums
  std::uint64_t barriers = 0;
  std::uint64_t steps = 0;
  std::uint64_t longest = 0;  // slots of one run
};

Issued issue(const SmallTrace& trace, const std::string& policy) {
  const PolicyTiming timing(trace.header, load_gpu("h200"), parse_policy(policy));
  WarpProgram program;
  program.start(timing, trace.ctas[0].warps[0]);
  Issued issued;
  std::uint32_t next_parameter = 0;
  Step step;
  for (program.next(step); step.kind != StepKind::kEnd; program.next(step)) {
    ++issued.steps;
    switch (step.kind) {
      case StepKind::kAccess:
      case StepKind::kWait:
        issued.slots += step.slots;
        break;
      case StepKind::kRun:
        issued.slots += step.slots;
        issued.min_cycles += step.min_cycles;
        issued.match_ticks += step.match_ticks;
        issued.run_lsu_ticks += step.lsu_ticks;
        issued.longest = std::max(issued.longest, step.slots);
        if (const Access* access = step.access) {
          issued.lsu_ticks += access->lsu_ticks;
          issued.hand_ticks += access->hand_ticks;
          issued.latency = access->latency;
          switch (access->kind) {
            case AccessKind::kShuffle:
              issued.shuffles += access->slots;
              issued.of_zeros += access->of_zeros ? access->slots : 0;
              ++issued.shuffle_waits;
              break;
            case AccessKind::kShared:
              issued.accesses += access->slots;
              break;
            case AccessKind::kGlobal:
              issued.loads += access->slots;
              ++issued.load_waits;
              break;
          }
        }
        break;
      case StepKind::kAtomic:
      case StepKind::kReduced:
        // Parameters in order, each once.
        EXPECT_EQ(step.parameter, next_parameter);
        next_parameter = (next_parameter + 1) % kParameters;
        if (step.kind == StepKind::kReduced) {
          ++issued.reduced;
        } else {
          ++issued.atomics;
          issued.lanes += static_cast<std::uint64_t>(lane_count(step.mask));
        }
        break;
      case StepKind::kBarrier:
        ++issued.barriers;
        break;
      case StepKind::kEnd:
        break;
    }
  }
  program.next(step);
  EXPECT_EQ(step.kind, StepKind::kEnd);
  return issued;
}

TEST(Program, BaselineAndArcHwSendEveryLane) {
  SmallTrace trace = priced_trace();
  trace.work(0, 0, 3);
  trace.event(0, 0, 0xff, 5);
  for (const char* policy : {"baseline", "arc-hw"}) {
    const Issued issued = issue(trace, policy);
    EXPECT_EQ(issued.slots, 3U + 10 + 100) << policy;
    EXPECT_EQ(issued.min_cycles, 6U + 20) << policy;
    EXPECT_EQ(issued.atomics, kParameters) << policy;
    EXPECT_EQ(issued.lanes, 8U * kParameters) << policy;
    EXPECT_EQ(issued.reduced, 0U) << policy;
  }
}

TEST(Program, SerialReductionTakesATurnForEachLaneButTheLeader) {
  SmallTrace trace = priced_trace();
  trace.event(0, 0, 0xff, 5);
  const Issued at = issue(trace, "sw-s:8");
  EXPECT_EQ(at.slots, 10U + 1000 + 10000 + 7 * 1000000 + 100000);
  EXPECT_EQ(at.shuffles, 7U * kParameters);
  EXPECT_EQ(at.shuffle_waits, 7U);
  EXPECT_EQ(at.reduced, kParameters);
  EXPECT_EQ(at.atomics, 0U);
  const Issued below = issue(trace, "sw-s:9");
  EXPECT_EQ(below.slots, 10U + 1000 + 100);
  EXPECT_EQ(below.shuffles, 0U);
  EXPECT_EQ(below.atomics, kParameters);
}

TEST(Program, WaitsPutOffAllThatComesBehindThem) {
  const GpuConfig gpu = load_gpu("h200");
  SmallTrace trace = priced_trace();
  // Asked for at 10 and wanted at 14: 4 of its cycles pass meanwhile. The second is asked for
  // behind the first wait, and so as much later. The third is there by then.
  trace.path_cost(0, {.alu = 5,
                      .stall_cycles = 100,
                      .branches = 2,
                      .waits = {{trace::ResultClass::kUniform, 10, 14},
                                {trace::ResultClass::kSfu, 20, 22},
                                {trace::ResultClass::kMatch, 11, 60}}});
  trace.work(0, 0, 1);
  const Issued issued = issue(trace, "baseline");
  EXPECT_EQ(issued.min_cycles,
            100 + 2 * gpu.latency.branch + (gpu.latency.uniform - 4) + (gpu.latency.sfu - 2));
  EXPECT_EQ(issued.slots, 5U);
}

// A lane that reads on stays in its sector seven times of eight: with n lanes (7/8)^n of the passes
// wait for the L1 alone. Asked for at 2 and wanted at 20.
TEST(Program, WordsThatLanesReadOnToAreMostlyInTheL1) {
  const GpuConfig gpu = load_gpu("h200");
  ASSERT_EQ(gpu.latency.l1_load, 36U);
  ASSERT_EQ(gpu.latency.global_load, 282U);
  const auto cycles = [](LaneMask mask) {
    SmallTrace trace = priced_trace();
    trace.reduce_cost(
        "plain", {.alu = 3, .stall_cycles = 30, .waits = {{trace::ResultClass::kNextWord, 2, 20}}});
    trace.event(0, 0, mask, 5);
    return issue(trace, "baseline").min_cycles;
  };
  SmallTrace ready = priced_trace();
  ready.reduce_cost("plain", {.alu = 3, .stall_cycles = 30});
  ready.event(0, 0, 1, 5);
  const std::uint64_t without = issue(ready, "baseline").min_cycles;
  EXPECT_EQ(cycles(0x1), without + 67 - 18);          // 36 + 246 / 8
  EXPECT_EQ(cycles(0x80000001), without + 94 - 18);   // 36 + 246 (1 - 49/64)
  EXPECT_EQ(cycles(0xffffffff), without + 279 - 18);  // (7/8)^32 is 1.4 %
}

// Code that checks first has waited for the word by the time it adds.
TEST(Program, AWordIsWaitedForOnce) {
  SmallTrace trace = priced_trace();
  const std::vector<trace::ResultWait> word = {{trace::ResultClass::kNextWord, 0, 10}};
  trace.reduce_cost("check", {.alu = 3, .stall_cycles = 20, .waits = word});
  trace.reduce_cost("plain", {.alu = 3, .stall_cycles = 20});
  trace.event(0, 0, 0x3, 5);
  SmallTrace both = trace;
  both.reduce_cost("plain", {.alu = 3, .stall_cycles = 20, .waits = word});
  EXPECT_EQ(issue(both, "sw-b:32").min_cycles, issue(trace, "sw-b:32").min_cycles);
  EXPECT_EQ(issue(both, "sw-s:32").min_cycles, issue(trace, "sw-s:32").min_cycles);
  EXPECT_GT(issue(both, "baseline").min_cycles, issue(trace, "baseline").min_cycles);

  // Where the test for one primitive has waited, it is there only for those that were tested.
  SmallTrace apart = priced_trace();
  apart.reduce_cost("check", {.alu = 3, .stall_cycles = 20});
  apart.reduce_cost("agree", {.alu = 3, .stall_cycles = 20, .waits = word});
  apart.reduce_cost("plain", {.alu = 3, .stall_cycles = 20});
  std::vector<std::uint32_t> primitives(kLanes, 5);
  primitives[1] = 6;
  apart.event(0, 0, 0x3, primitives);
  SmallTrace again = apart;
  again.reduce_cost("plain", {.alu = 3, .stall_cycles = 20, .waits = word});
  EXPECT_EQ(issue(again, "sw-b:2").min_cycles, issue(apart, "sw-b:2").min_cycles);
  EXPECT_GT(issue(again, "sw-b:3").min_cycles, issue(apart, "sw-b:3").min_cycles);
}

TEST(Program, TheBusiestPipeCountsWhereItTakesLonger) {
  SmallTrace trace = priced_trace();
  trace.path_cost(0, {.alu = 1, .integer = 10, .sfu = 1, .stall_cycles = 40});
  trace.work(0, 0, 1);
  EXPECT_EQ(issue(trace, "baseline").slots, 20U);
}

TEST(Program, ResultsOfSharedMemoryComeThroughTheQueue) {
  const GpuConfig gpu = load_gpu("h200");
  SmallTrace trace = priced_trace();
  trace.path_cost(
      0,
      {.alu = 10, .shared = 2, .stall_cycles = 60, .waits = {{trace::ResultClass::kShared, 4, 6}}});
  trace.work(0, 0, 3);
  const Issued issued = issue(trace, "baseline");
  EXPECT_EQ(issued.slots, 30U);
  EXPECT_EQ(issued.accesses, 6U);
  // Of 60 cycles and the rest of the latency, less what the step of the two accesses takes: two
  // slots, two cycles of the pipe, the latency.
  EXPECT_EQ(issued.min_cycles, 3 * (60 + gpu.latency.shared - 2 - (gpu.latency.shared + 4)));
}

TEST(Program, WideAccessesTakeThePipeForLonger) {
  const GpuConfig gpu = load_gpu("h200");
  SmallTrace trace = priced_trace();
  trace.path_cost(0,
                  {.shared = 1, .shared_wide = 2, .waits = {{trace::ResultClass::kShared, 0, 0}}});
  trace.work(0, 0, 1);
  const Issued issued = issue(trace, "baseline");
  EXPECT_EQ(issued.accesses, 3U);
  EXPECT_EQ(issued.lsu_ticks, to_ticks(gpu.lsu.shared_access + 2 * gpu.lsu.shared_wide));
  EXPECT_EQ(issued.hand_ticks, 0U);
}

TEST(Program, ShufflesWaitAsOftenAsOneNeedsAnother) {
  const GpuConfig gpu = load_gpu("h200");
  SmallTrace trace = priced_trace();
  // The third is asked for when the first has come, the others earlier: two waits in turn. A MATCH
  // goes the same way.
  trace.reduce_cost("per_lane", {.alu = 10,
                                 .shuffle = 1,
                                 .shuffle_index = 2,
                                 .match = 1,
                                 .stall_cycles = 10,
                                 .waits = {{trace::ResultClass::kShuffleIndex, 0, 6},
                                           {trace::ResultClass::kShuffle, 2, 8},
                                           {trace::ResultClass::kShuffleIndex, 6, 9}}});
  trace.event(0, 0, 0x3, 5);
  const Issued issued = issue(trace, "sw-s:0");
  EXPECT_EQ(issued.shuffles, 3U);
  EXPECT_EQ(issued.shuffle_waits, 2U);
  EXPECT_EQ(issued.latency, gpu.latency.shuffle_index);
  EXPECT_EQ(issued.lsu_ticks, to_ticks(3 * gpu.lsu.shuffle + gpu.lsu.match));
  EXPECT_EQ(issued.hand_ticks,
            to_ticks(gpu.lsu.hand_shuffle + 2 * gpu.lsu.hand_shuffle_index + gpu.lsu.hand_match));
  EXPECT_EQ(issued.match_ticks, to_ticks(gpu.lsu.match_unit));
}

TEST(Program, LoadsOfAPassTakeOneTripToTheL2) {
  const GpuConfig gpu = load_gpu("h200");
  SmallTrace trace = priced_trace();
  // The second is asked for when the first has come. Beside them shared memory is waited for.
  const trace::InstructionCost cost{.alu = 5,
                                    .shared = 1,
                                    .global_load = 2,
                                    .stall_cycles = 10,
                                    .waits = {{trace::ResultClass::kGlobalLoad, 1, 4},
                                              {trace::ResultClass::kShared, 4, 6},
                                              {trace::ResultClass::kGlobalLoad, 6, 9}}};
  trace.path_cost(0, cost);
  trace.work(0, 0, 3);
  const Issued issued = issue(trace, "baseline");
  EXPECT_EQ(issued.loads, 3U * 2);
  EXPECT_EQ(issued.load_waits, 3U);
  EXPECT_EQ(issued.accesses, 0U);
  EXPECT_EQ(issued.slots, 3U * 6);
  EXPECT_EQ(issued.latency, gpu.latency.global_load);
  EXPECT_EQ(issued.lsu_ticks, 3 * to_ticks(2 * gpu.lsu.global_load));
  EXPECT_EQ(issued.run_lsu_ticks, 3 * to_ticks(gpu.lsu.shared_access));
  // What the loads take apart, their issue and one latency, is not in the runs; the rest is.
  const Issued together = issue(trace, "lab");
  EXPECT_EQ(together.loads, 0U);
  EXPECT_EQ(together.accesses, 3U);
  EXPECT_EQ(together.slots, 3U * 7);
  EXPECT_EQ(together.run_lsu_ticks, 3 * to_ticks(2 * gpu.lsu.global_load));
  const std::uint64_t apart = gpu.latency.global_load + 2;
  const auto shared_apart =
      static_cast<std::uint64_t>(std::llround(gpu.latency.shared + 1 + gpu.lsu.shared_access));
  EXPECT_EQ(issued.min_cycles + 3 * apart, together.min_cycles + 3 * shared_apart);
}

TEST(Program, LoadsBesideShufflesAreNotApart) {
  SmallTrace trace = priced_trace();
  trace.path_cost(0, {.alu = 5,
                      .global_load = 2,
                      .shuffle = 1,
                      .stall_cycles = 10,
                      .waits = {{trace::ResultClass::kGlobalLoad, 1, 4},
                                {trace::ResultClass::kShuffle, 5, 8}}});
  trace.work(0, 0, 1);
  const Issued issued = issue(trace, "baseline");
  EXPECT_EQ(issued.loads, 0U);
  EXPECT_EQ(issued.shuffle_waits, 1U);
}

TEST(Program, AMatchTakesLongerWithEachValue) {
  const GpuConfig gpu = load_gpu("h200");
  SmallTrace trace = priced_trace();
  trace.reduce_cost("check", {.match = 1});
  SmallTrace mixed = trace;
  trace.event(0, 0, 0xff, 5);
  mixed.event(0, 0, 0xff, {1, 2, 3, 1, 2, 3, 1, 2});
  const Issued one = issue(trace, "sw-s:32");
  const Issued three = issue(mixed, "sw-s:32");
  EXPECT_EQ(three.min_cycles, one.min_cycles + 2 * gpu.latency.match_group);
  EXPECT_EQ(one.match_ticks, to_ticks(gpu.lsu.match_unit));
  EXPECT_EQ(three.match_ticks, 3 * one.match_ticks);
}

TEST(Program, SumsOfSeveralGroupsAreOneInstruction) {
  SmallTrace trace = priced_trace();
  trace.event(0, 0, 0xff, {1, 2, 3, 1, 2, 3, 1, 2});
  const Issued issued = issue(trace, "sw-s:0");
  EXPECT_EQ(issued.reduced, kParameters);
  EXPECT_EQ(issued.atomics, 0U);
}

TEST(Program, SerialReductionOfALoneLaneNeedsNoTurn) {
  SmallTrace trace = priced_trace();
  trace.event(0, 0, 0x10, 5);
  const Issued issued = issue(trace, "sw-s:1");
  EXPECT_EQ(issued.slots, 10U + 1000 + 10000 + 100000);
  EXPECT_EQ(issued.shuffles, 0U);
  EXPECT_EQ(issued.reduced, kParameters);
}

TEST(Program, SerialReductionSplitsGroupsAtTheThreshold) {
  SmallTrace trace = priced_trace();
  std::vector<std::uint32_t> primitives(kLanes, 1);
  primitives[30] = primitives[31] = 2;
  trace.event(0, 0, ~0U, primitives);
  const Issued issued = issue(trace, "sw-s:4");
  // The group of 30 reduces in 29 turns, the group of two adds directly.
  EXPECT_EQ(issued.shuffle_waits, 29U);
  EXPECT_EQ(issued.reduced, kParameters);
  EXPECT_EQ(issued.atomics, kParameters);
  EXPECT_EQ(issued.lanes, 2U * kParameters);
}

TEST(Program, LanesOfAPrimitiveTakeTurnsInTheirSlot) {
  SmallTrace trace = priced_trace();
  trace.reduce_cost("turn", {.alu = 1000000, .shared = 1});
  std::vector<std::uint32_t> primitives(kLanes, 1);
  primitives[0] = primitives[1] = primitives[2] = 2;
  primitives[31] = 3;
  trace.event(0, 0, ~0U, primitives);
  const Issued issued = issue(trace, "shared-slot");
  // All but the leader of the larger group of 28 take a turn, those of the other beside them; the
  // lone lane adds as it is.
  EXPECT_EQ(issued.slots, 10U + 1000 + 10000 + 27 * 1000001 + 100000 + 100);
  EXPECT_EQ(issued.reduced, kParameters);
  EXPECT_EQ(issued.atomics, kParameters);
  EXPECT_EQ(issued.lanes, kParameters);
}

TEST(Program, LoneLanesNeedNoSlot) {
  SmallTrace trace = priced_trace();
  std::vector<std::uint32_t> primitives(kLanes);
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    primitives[lane] = lane;
  }
  trace.event(0, 0, ~0U, primitives);
  const Issued issued = issue(trace, "shared-slot");
  EXPECT_EQ(issued.slots, 10U + 1000 + 100);
  EXPECT_EQ(issued.lanes, 32U * kParameters);
}

// The masks of groups, too, are matched, ahead of the turns and behind them.
TEST(Program, AMatchOfMasksTakesLongerWithEachSlot) {
  const GpuConfig gpu = load_gpu("h200");
  SmallTrace trace = priced_trace();
  for (const char* part : {"check", "setup", "leader"}) {
    trace.reduce_cost(part, {.match = 1});
  }
  SmallTrace mixed = trace;
  trace.event(0, 0, 0xff, 5);
  mixed.event(0, 0, 0xff, {1, 2, 3, 1, 2, 1, 1, 2});
  const Issued one = issue(trace, "shared-slot");
  const Issued three = issue(mixed, "shared-slot");
  // Three primitives, two of them with a slot.
  EXPECT_EQ(three.min_cycles, one.min_cycles + (2 + 1 + 1) * gpu.latency.match_group);
}

TEST(Program, ACompareAndSwapTakesLongerThanALoad) {
  const GpuConfig gpu = load_gpu("h200");
  SmallTrace trace = priced_trace();
  trace.path_cost(
      0, {.alu = 3,
          .shared = 2,
          .stall_cycles = 28,
          .branches = 1,
          .waits = {{trace::ResultClass::kShared, 0, 2}, {trace::ResultClass::kSharedCas, 8, 10}}});
  trace.work(0, 0, 1);
  const Issued issued = issue(trace, "baseline");
  EXPECT_EQ(issued.lsu_ticks, to_ticks(gpu.lsu.shared_access + gpu.lsu.shared_cas));
  // Two steps with half of both latencies each, and what is left of a lone warp's time.
  EXPECT_EQ(issued.latency, (gpu.latency.shared + gpu.latency.shared_cas) / 2);
  const std::uint64_t alone =
      28 + gpu.latency.branch + gpu.latency.shared - 2 + gpu.latency.shared_cas - 2;
  const auto with_steps = static_cast<std::uint64_t>(
      std::llround(2.0 * issued.latency + 2 + gpu.lsu.shared_access + gpu.lsu.shared_cas));
  EXPECT_EQ(issued.min_cycles, alone - with_steps);
}

TEST(Program, AFenceIsWaitedFor) {
  SmallTrace trace = priced_trace();
  trace.path_cost(0, {.alu = 3, .stall_cycles = 20, .waits = {{trace::ResultClass::kFence, 2, 8}}});
  trace.work(0, 0, 1);
  EXPECT_EQ(issue(trace, "baseline").min_cycles, 20 + load_gpu("h200").latency.fence - 6);
}

TEST(Program, ButterflyNeedsOnePrimitiveAndTheThreshold) {
  SmallTrace trace = priced_trace();
  trace.event(0, 0, 0xff, 5);
  const Issued at = issue(trace, "sw-b:8");
  EXPECT_EQ(at.slots, 10U + 1000 + 10000000 + 1000000 + 100000);
  EXPECT_EQ(at.shuffles, 5U * kParameters);
  EXPECT_EQ(at.shuffle_waits, 5U);
  EXPECT_EQ(at.reduced, kParameters);
  const Issued below = issue(trace, "sw-b:9");
  EXPECT_EQ(below.slots, 10U + 1000 + 100);
  EXPECT_EQ(below.atomics, kParameters);

  SmallTrace mixed = priced_trace();
  std::vector<std::uint32_t> primitives(kLanes, 1);
  primitives[3] = 2;
  mixed.event(0, 0, 0xff, primitives);
  for (const auto& [policy, slots] : std::map<std::string, std::uint64_t>{
           {"sw-b:1", 10 + 1000 + 10000000 + 100},
           {"sw-b:8", 10 + 1000 + 10000000 + 100},
           {"sw-b:9", 10 + 1000 + 100},  // too few to look whether they agree
           {"skip", 10 + 1000 + 100}}) {
    const Issued issued = issue(mixed, policy);
    EXPECT_EQ(issued.slots, slots) << policy;
    EXPECT_EQ(issued.shuffles, 0U) << policy;
    EXPECT_EQ(issued.lanes, 8U * kParameters) << policy;
  }
}

// A pass without an event runs the same code; a kernel that shuffles under every policy is no such
// case.
TEST(Program, CcclShufflesZerosWhereNoLaneAdds) {
  SmallTrace trace = priced_trace();
  trace.work(0, 0, 3);
  trace.event(0, 0, 0x10, 5);
  const auto shuffle_in_passes_of = [&](const std::string& variant) {
    for (auto& [arch, variants] : trace.header.costs) {
      trace::InstructionCost& cost = variants.at(variant).paths.at(0);
      cost.shuffle = 5 * kParameters;
      cost.waits = {{trace::ResultClass::kShuffle, 0, 0}};
    }
  };
  shuffle_in_passes_of("cccl");
  const Issued issued = issue(trace, "cccl");
  EXPECT_EQ(issued.shuffles, 4U * 5U * kParameters);
  EXPECT_EQ(issued.of_zeros, 3U * 5U * kParameters);
  shuffle_in_passes_of("baseline");
  EXPECT_EQ(issue(trace, "cccl").of_zeros, 0U);
  EXPECT_EQ(issue(trace, "baseline").shuffles, 3U * 5U * kParameters);
}

TEST(Program, CcclReducesWhateverIsActive) {
  SmallTrace trace = priced_trace();
  trace.event(0, 0, 0x10, 5);
  const Issued issued = issue(trace, "cccl");
  EXPECT_EQ(issued.slots, 10U + 1000000 + 100000);
  EXPECT_EQ(issued.shuffles, 5U * kParameters);
  EXPECT_EQ(issued.reduced, kParameters);
}

TEST(Program, LongWorkKeepsEverySlot) {
  // As many passes as a record can hold: no overflow, and no run longer than its bound.
  SmallTrace trace = priced_trace();
  trace.path_cost(0, {.alu = 900, .shared = 1, .stall_cycles = 1000});
  trace.work(0, 0, 3000000);
  trace.work(0, 0, 2);
  trace.barrier(0, 0);
  const Issued issued = issue(trace, "baseline");
  EXPECT_EQ(issued.slots, 3000002ULL * 901);
  EXPECT_EQ(issued.min_cycles, 3000002ULL * 1000);
  EXPECT_LE(issued.longest, 1024U);
  EXPECT_EQ(issued.barriers, 1U);
}

TEST(Program, SoftwareSumsFollowTheirOrder) {
  std::array<std::uint32_t, kLanes> values{};
  const auto set = [&](std::size_t lane, float value) {
    values[lane] = std::bit_cast<std::uint32_t>(value);
  };
  // In lane order 1 is lost beside 2^24 and the sum is 0; the butterfly adds lanes 0 and 16 first.
  set(0, 0x1p24F);
  set(1, 1.0F);
  set(16, -0x1p24F);
  const LaneMask mask = 0x10003;
  EXPECT_EQ(std::bit_cast<float>(software_sum(values.data(), mask, SumOrder::kSerial)), 0.0F);
  EXPECT_EQ(std::bit_cast<float>(software_sum(values.data(), mask, SumOrder::kButterfly)), 1.0F);
  // Neighbours first: 1 is lost in lane 0 before lane 16 comes.
  EXPECT_EQ(std::bit_cast<float>(software_sum(values.data(), mask, SumOrder::kNeighbours)), 0.0F);
  // Lanes outside the mask do not count.
  EXPECT_EQ(std::bit_cast<float>(software_sum(values.data(), 0x2, SumOrder::kButterfly)), 1.0F);
}

}  // namespace
}  // namespace warpfold::test

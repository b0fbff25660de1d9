// SPDX-License-Identifier: Apache-2.0
// Atomic buffers (policies lab, lab-ideal, phi): cycles worked out by hand on one SM, and what the
// checks say when a sum is lost. Each test that simulates runs in a process of its own.
//
// In the comments F is the first cycle in which a warp can issue. Common to all: a RED issued in F
// is taken by the LSU in F+1, which hands it to the buffer and holds the pipe for its lanes (4 of
// them: until F+5); the buffer sees it in F+2. A sector that the buffer sends in cycle t goes to
// the injection port in t+1, which sees it in t+2, and arrives at its slice a latency later. A warp
// that has issued its last RED in t ends in t+1, the dispatcher knows in t+2, the LSU in t+3 and
// the buffer, behind the last RED, in t+4 or later.
#include "model/gpu/sm/atomic_buffer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <string>
#include <utility>
#include <vector>

#include "model/base/check.hpp"
#include "model/base/ticks.hpp"
#include "model/gpu/run/reference_sums.hpp"
#include "model/gpu/run/simulate.hpp"
#include "model/gpu/sm/sum_store.hpp"
#include "tb/model/small_trace.hpp"

namespace warpfold::test {
namespace {

constexpr std::uint32_t kSectorStride = 32;  // primitives in sectors of their own
constexpr std::uint32_t kFour = 0xf;         // lanes

SimOptions options_for(const GpuConfig& gpu, const std::string& policy) {
  SimOptions options;
  options.gpu = gpu;
  options.policy = parse_policy(policy);
  options.unit.model = UnitModel::kGolden;
  return options;
}

RunResult run(const SmallTrace& trace, const GpuConfig& gpu, const std::string& policy) {
  const trace::Reader reader = trace.read();
  const RunResult result =
      simulate(options_for(gpu, policy), reader, ReferenceSums::compute(reader));
  EXPECT_EQ(result.failure, "");
  EXPECT_TRUE(result.sums_match);
  return result;
}

std::uint64_t counter(const RunResult& result, const std::string& name) {
  for (const auto& [key, value] : result.activity) {
    if (key == name) {
      return value;
    }
  }
  ADD_FAILURE() << "no counter " << name;
  return 0;
}

struct Counts {
  std::uint64_t hits, misses, evicted, flushed, blocked;
  friend bool operator==(const Counts&, const Counts&) = default;
};
void PrintTo(const Counts& c, std::ostream* out) {
  *out << c.hits << " hits, " << c.misses << " misses, " << c.evicted << " evicted, " << c.flushed
       << " flushed, " << c.blocked << " blocked";
}
Counts counts(const RunResult& result) {
  return {counter(result, "buffer_hits"), counter(result, "buffer_misses"),
          counter(result, "buffer_evicted_sectors"), counter(result, "buffer_flushed_sectors"),
          counter(result, "buffer_blocked_cycles")};
}

// One SM whose buffer steps take whole cycles.
GpuConfig one_sm() {
  GpuConfig gpu = small_h200(1);
  gpu.lsu.red_min = 2;
  gpu.lsu.red_flit = 1;
  gpu.l1.access_cycles = 1;
  gpu.buffer.add_cycles = 1;
  return gpu;
}

Cycle first_issue(const GpuConfig& gpu) {
  return 2 + gpu.latency.cta_launch;
}

// End of a run whose last sector the injection port sees in that cycle.
Cycle end_of(const GpuConfig& gpu, Cycle port) {
  return cycle_after(at_cycle(port + gpu.noc.latency) + to_ticks(gpu.l2.sector_cycles));
}

TEST(Lab, AMissAndTheFlush) {
  SmallTrace trace(1, 1, 1, 4, kSectorStride);
  trace.event(0, 0, kFour, 1);
  const GpuConfig gpu = one_sm();
  const RunResult result = run(trace, gpu, "lab");
  // F+2: look-up, whose access waits for the pipe: F+5 to F+6. F+6 to F+10: four lanes, one after
  // the other. The end of the kernel has come in F+4, so the sum is sent in F+10.
  EXPECT_EQ(result.cycles, end_of(gpu, first_issue(gpu) + 12));
  EXPECT_EQ(counts(result), (Counts{0, 1, 0, 1, 0}));
  EXPECT_EQ(result.rop_ops, 1U);
  EXPECT_EQ(counter(result, "lanes_to_buffer"), 4U);
  EXPECT_EQ(counter(result, "sums_from_buffer"), 1U);
  EXPECT_EQ(counter(result, "lanes_as_red"), 0U);
}

TEST(Lab, AHitAddsToTheSameSum) {
  SmallTrace trace(1, 1, 1, 4, kSectorStride);
  trace.event(0, 0, kFour, 1);
  trace.event(0, 0, kFour, 1);
  const GpuConfig gpu = one_sm();
  const RunResult result = run(trace, gpu, "lab");
  // The sub-core hands the second RED over 6 cycles after the first, when the pipe is free of that
  // and of its look-up: F+7 to F+11. Its own look-up: F+11 to F+12. The adder, free since F+10:
  // F+12 to F+16, when the sum is sent.
  EXPECT_EQ(result.cycles, end_of(gpu, first_issue(gpu) + 18));
  EXPECT_EQ(counts(result), (Counts{1, 1, 0, 1, 0}));
  EXPECT_EQ(result.rop_ops, 1U);
}

TEST(Lab, AMissInAFullBufferSendsTheOldSum) {
  SmallTrace trace(1, 1, 1, 4, kSectorStride);
  trace.event(0, 0, kFour, 1);
  trace.event(0, 0, kFour, 2);
  GpuConfig gpu = one_sm();
  gpu.lab.bytes = 32;
  gpu.lab.ways = 1;
  const RunResult result = run(trace, gpu, "lab");
  // The second RED comes in F+8 and has to wait until the adder is done with the only entry, in
  // F+10, and the pipe with the RED itself, in F+11. Then two accesses, for the look-up and the old
  // sum: F+11 to F+13. Adder: F+13 to F+17.
  EXPECT_EQ(result.cycles, end_of(gpu, first_issue(gpu) + 19));
  EXPECT_EQ(counts(result), (Counts{0, 2, 1, 1, 2}));
  EXPECT_EQ(result.rop_ops, 2U);
}

TEST(Lab, TheSumNotUsedForTheLongestTimeGoes) {
  SmallTrace trace(1, 1, 1, 4, kSectorStride);
  for (const std::uint32_t primitive : {0U, 1U, 0U, 2U, 0U, 1U}) {
    trace.event(0, 0, kFour, primitive);
  }
  GpuConfig gpu = one_sm();
  gpu.lab.bytes = 64;
  gpu.lab.ways = 2;
  // 2 sends 1 away, so that 0 hits twice; the last 1 sends 2 away.
  EXPECT_EQ(counts(run(trace, gpu, "lab")), (Counts{2, 4, 2, 2, 0}));
}

TEST(Lab, OrdinaryAccessesDelayALookUp) {
  // A second CTA, launched a cycle later, puts 20 accesses to shared memory on the pipe just when
  // the RED starts, so that they are in front of its look-up.
  SmallTrace trace(2, 1, 1, 4, kSectorStride);
  trace.path_cost(0, {.shared = 20});
  trace.event(0, 0, kFour, 1);
  trace.work(1, 0, 1);
  const GpuConfig gpu = one_sm();
  EXPECT_EQ(run(trace, gpu, "lab").cycles, end_of(gpu, first_issue(gpu) + 12 + 20));
}

TEST(Lab, DifferentWordsOfASectorAreAddedSideBySide) {
  // Eight neighbours in one sector: the pipe is held for red_min, 2 cycles, until F+3; look-up to
  // F+4, one turn of the adder to F+5, when the end of the kernel has come already.
  SmallTrace trace(1, 1, 1, 64, 4);
  std::vector<std::uint32_t> primitives(kLanes);
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    primitives[lane] = lane;
  }
  trace.event(0, 0, 0xff, primitives);
  const GpuConfig gpu = one_sm();
  const RunResult result = run(trace, gpu, "lab");
  EXPECT_EQ(result.cycles, end_of(gpu, first_issue(gpu) + 7));
  EXPECT_EQ(result.rop_ops, 1U);
  EXPECT_EQ(counter(result, "sums_from_buffer"), 8U);
}

TEST(Lab, AFullVictimQueueHoldsLookUpsUp) {
  // One entry, and an L2 that takes no more than one packet in thousands of cycles: the sums that
  // were sent away fill the injection queue and the victims' places.
  SmallTrace trace(1, 1, 1, 16, kSectorStride);
  for (std::uint32_t i = 0; i < 12; ++i) {
    trace.event(0, 0, 1, i);
  }
  GpuConfig gpu = one_sm();
  gpu.lab.bytes = 32;
  gpu.lab.ways = 1;
  gpu.l2.slices = 1;
  gpu.l2.slices_per_port = 1;
  gpu.l2.ingress_flits = 1;
  gpu.l2.rop_cycles = 1000;
  gpu.l2.sector_cycles = 1000;
  gpu.buffer.victims = 2;
  gpu.noc.injection_depth = 1;
  const RunResult result = run(trace, gpu, "lab");
  EXPECT_GT(counter(result, "buffer_blocked_cycles"), 5000U);
  EXPECT_EQ(result.rop_ops, 12U);
}

// Eight CTAs of one warp and 20 KiB with the system's, 1000 cycles of work each, on an SM whose
// buffer leaves so much of the 256 KiB.
Cycle cycles_with_shared(std::uint32_t kib_left) {
  SmallTrace trace(8, 1, 1, 4, 4);
  trace.header.shared_bytes_per_cta = 19 * 1024;
  trace.path_cost(0, {.alu = 1000});
  for (std::size_t cta = 0; cta < 8; ++cta) {
    trace.work(cta, 0, 1);
  }
  GpuConfig gpu = one_sm();
  gpu.lab.bytes = gpu.l1.bytes - std::uint64_t{kib_left} * 1024;
  return run(trace, gpu, "lab").cycles;
}

TEST(Lab, EightCtasFitBesideASmallBuffer) {
  // All at once, two on each sub-core.
  EXPECT_NEAR(static_cast<double>(cycles_with_shared(160)), 2000.0 + one_sm().latency.cta_launch,
              20);
}

TEST(Lab, TwoCtasFitBesideALargeBuffer) {
  // Four rounds of two.
  EXPECT_NEAR(static_cast<double>(cycles_with_shared(59)),
              4 * (1000.0 + one_sm().latency.cta_launch), 40);
}

TEST(Lab, TooLittleSramForOneCtaIsRefused) {
  SmallTrace trace(1, 1, 1, 4, 4);
  trace.header.shared_bytes_per_cta = 19 * 1024;
  trace.event(0, 0, 1, 0);
  GpuConfig gpu = one_sm();
  gpu.lab.bytes = gpu.l1.bytes - 19 * 1024;
  const trace::Reader reader = trace.read();
  EXPECT_THROW(simulate(options_for(gpu, "lab"), reader, ReferenceSums::compute(reader)),
               SimulationError);
}

TEST(LabIdeal, NothingWaitsForThePipe) {
  // 20 accesses to shared memory are on the pipe from F on. The RED goes beside it: handed over in
  // F+1, added from F+2 to F+6, sent in F+6 but for the kernel's end: the other warp ends in F+20,
  // the dispatcher knows in F+21, the LSU in F+22, the buffer in F+23.
  SmallTrace trace(1, 2, 1, 4, kSectorStride);
  trace.path_cost(0, {.shared = 20});
  trace.event(0, 0, kFour, 1);
  trace.work(0, 1, 1);
  const GpuConfig gpu = one_sm();
  const RunResult result = run(trace, gpu, "lab-ideal");
  EXPECT_EQ(result.cycles, end_of(gpu, first_issue(gpu) + 23 + 2));
  EXPECT_EQ(counts(result), (Counts{0, 1, 0, 1, 0}));
}

TEST(LabIdeal, AccessesWaitForThePipeAndRedsPassThem) {
  // Warps of two sub-cores have 20 accesses in the queue in F+19. The first are on the pipe from
  // F+20 to F+40 and the others to F+60; a RED of a third comes in between. The results are there
  // latency.shared later, and the end of the kernel is at the buffer three cycles after that.
  SmallTrace trace(1, 3, 1, 4, kSectorStride);
  trace.path_cost(0, {.shared = 20, .waits = {{trace::ResultClass::kShared, 0, 0}}});
  trace.path_cost(1, {.alu = 21});
  trace.work(0, 0, 1);
  trace.work(0, 1, 1);
  trace.event(0, 2, kFour, 1);
  const GpuConfig gpu = one_sm();
  const RunResult result = run(trace, gpu, "lab-ideal");
  EXPECT_EQ(result.cycles, end_of(gpu, first_issue(gpu) + 60 + gpu.latency.shared + 3 + 2));
  EXPECT_EQ(counts(result), (Counts{0, 1, 0, 1, 0}));
}

TEST(LabIdeal, LanesOfOneAddressTakeTheirTurns) {
  // F+2 to F+34: 32 lanes. The end of the kernel has come long before.
  SmallTrace trace(1, 1, 1, 4, kSectorStride);
  trace.event(0, 0, ~0U, 1);
  const GpuConfig gpu = one_sm();
  EXPECT_EQ(run(trace, gpu, "lab-ideal").cycles, end_of(gpu, first_issue(gpu) + 34 + 2));
}

TEST(LabIdeal, IsAsLargeAsTheL1WithoutConflicts) {
  // As many sectors as fit, twice: all of the second round hit, whatever their sets would be.
  GpuConfig gpu = one_sm();
  gpu.l1.bytes = 4096;
  constexpr std::uint32_t kEntries = 4096 / 32;
  SmallTrace trace(1, 1, 1, kEntries, kSectorStride);
  for (std::uint32_t i = 0; i < 2 * kEntries; ++i) {
    trace.event(0, 0, 1, i % kEntries);
  }
  EXPECT_EQ(counts(run(trace, gpu, "lab-ideal")), (Counts{kEntries, kEntries, 0, kEntries, 0}));
}

TEST(Phi, EachLaneLooksUpForItself) {
  SmallTrace trace(1, 1, 1, 4, kSectorStride);
  trace.event(0, 0, kFour, 1);
  const GpuConfig gpu = one_sm();
  const RunResult result = run(trace, gpu, "phi");
  // Four accesses behind the RED: F+5 to F+9. Adder: F+9 to F+13, when the sum is sent.
  EXPECT_EQ(result.cycles, end_of(gpu, first_issue(gpu) + 15));
  EXPECT_EQ(counts(result), (Counts{3, 1, 0, 1, 0}));
  // The pipe: four cycles for the RED, four look-ups, four sums written, one read for the flush.
  EXPECT_EQ(result.bounds[2], (std::pair<std::string, std::uint64_t>{"lsu", 13}));
}

TEST(Phi, LinesOfLoadsSendSumsAway) {
  SmallTrace trace(1, 1, 1, 4, kSectorStride);
  trace.path_cost(0, {.global_load = 1, .waits = {{trace::ResultClass::kGlobalLoad, 0, 0}}});
  trace.event(0, 0, kFour, 1);
  trace.work(0, 0, 1);
  GpuConfig gpu = one_sm();
  gpu.l1.ways = 2;
  // Two lines beside the shared memory of the 32 CTAs that fit, 1 KiB each.
  gpu.l1.bytes = 32 * 1024 + 2 * gpu.l1.line_bytes;
  gpu.l1.load_lines = 2;
  EXPECT_EQ(counts(run(trace, gpu, "phi")), (Counts{3, 1, 1, 0, 0}));
}

TEST(Phi, OneLineOfALoadLeavesTheOtherAlone) {
  SmallTrace trace(1, 1, 1, 4, kSectorStride);
  trace.path_cost(0, {.global_load = 1, .waits = {{trace::ResultClass::kGlobalLoad, 0, 0}}});
  trace.event(0, 0, kFour, 1);
  trace.work(0, 0, 1);
  GpuConfig gpu = one_sm();
  gpu.l1.ways = 2;
  gpu.l1.bytes = 32 * 1024 + 2 * gpu.l1.line_bytes;
  gpu.l1.load_lines = 1;
  EXPECT_EQ(counts(run(trace, gpu, "phi")), (Counts{3, 1, 0, 1, 0}));
}

TEST(Phi, SharedMemoryThatLeavesNoCacheIsRefused) {
  SmallTrace trace(1, 1, 1, 4, 4);
  trace.event(0, 0, 1, 0);
  GpuConfig gpu = one_sm();
  gpu.l1.bytes = 32 * 1024;
  const trace::Reader reader = trace.read();
  try {
    simulate(options_for(gpu, "phi"), reader, ReferenceSums::compute(reader));
    ADD_FAILURE() << "not refused";
  } catch (const SimulationError& error) {
    EXPECT_NE(std::string(error.what()).find("leave no L1 cache"), std::string::npos)
        << error.what();
  }
}

class LostFlush : public testing::TestWithParam<const char*> {};

// The fault that the end of the kernel is there to prevent: a sum stays behind.
TEST_P(LostFlush, IsNoticed) {
  SmallTrace trace(1, 1, 1, 4, kSectorStride);
  trace.event(0, 0, 0x7, 1);
  trace.event(0, 0, 0x7, 2);
  SimOptions options = options_for(one_sm(), GetParam());
  options.lose_flushed = 1;
  const trace::Reader reader = trace.read();
  const RunResult result = simulate(options, reader, ReferenceSums::compute(reader));
  EXPECT_FALSE(result.conserved);
  EXPECT_FALSE(result.sums_match);
  EXPECT_EQ(result.failure, "sums sent by atomic buffers differ from sums begun in them");
}

INSTANTIATE_TEST_SUITE_P(Policies, LostFlush,
                         testing::Values("lab", "lab-ideal", "phi", "arc-merge"),
                         [](const auto& parameter) {
                           std::string name = parameter.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// --- SumStore ------------------------------------------------------------------------------------

Fp32Bits bits(float value) {
  return std::bit_cast<Fp32Bits>(value);
}

TEST(SumStore, KeepsSumsByWordAndHandsThemOutBySector) {
  SumStore store(256, 2, 128);
  const SumStore::Line line = store.line_of(0x1280);
  const SumStore::Slot slot = store.victim(line);
  store.assign(slot, line);
  EXPECT_EQ(store.find(line), slot);
  EXPECT_TRUE(store.add(slot, 0x1280 + 4, bits(1)));
  EXPECT_FALSE(store.add(slot, 0x1280 + 4, bits(2)));
  EXPECT_TRUE(store.add(slot, 0x1280 + 100, bits(5)));
  EXPECT_EQ(store.words(), 2U);
  EXPECT_EQ(store.dirty_sectors(slot), 2U);
  const auto first = store.take_sector(slot);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->address, 0x1280U);
  EXPECT_EQ(first->words, 0x2U);
  EXPECT_EQ(first->sums[1], bits(3));
  const auto second = store.take_sector(slot);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->address, 0x1280U + 96);
  EXPECT_EQ(second->words, 0x2U);
  EXPECT_EQ(second->sums[1], bits(5));
  EXPECT_EQ(store.take_sector(slot), std::nullopt);
  EXPECT_EQ(store.words(), 0U);
}

TEST(SumStore, GivesTheOldestPlaceOfASet) {
  SumStore store(4 * 32, 0, 32);
  std::vector<SumStore::Slot> slots;
  for (SumStore::Line line = 0; line < 4; ++line) {
    slots.push_back(store.victim(line));
    store.assign(slots.back(), line);
    store.touch(slots.back());
  }
  EXPECT_EQ(store.victim(9), slots[0]);
  store.touch(slots[0]);
  EXPECT_EQ(store.victim(9), slots[1]);
  store.touch(slots[2]);
  store.touch(slots[1]);
  EXPECT_EQ(store.victim(9), slots[3]);
  store.assign(slots[3], 9);
  EXPECT_EQ(store.find(3), std::nullopt);
  EXPECT_EQ(store.line_at(slots[3]), 9U);
}

TEST(SumStore, ALineWithSumsIsNotGivenAway) {
  SumStore store(32, 1, 32);
  store.assign(0, 1);
  store.add(0, 32, bits(1));
  EXPECT_THROW(store.assign(0, 2), CheckError);
}

}  // namespace
}  // namespace warpfold::test

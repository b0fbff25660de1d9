// SPDX-License-Identifier: Apache-2.0
// Warps followed by their records: ways, runs of additions, lanes that part and meet, barriers.
#include "traces/record/host/launch_tracker.hpp"

#include <gtest/gtest.h>

#include "tb/record/ring_words.hpp"

namespace warpfold::record::test {
namespace {

using Kind = LogRecord::Kind;
using InstructionRun = record::Run;
using Way = std::vector<InstructionNumber>;

constexpr LaunchShape kOneWarp{.ctas = 1, .warps_per_cta = 1, .every = 1};

LaunchTracker follow(const KernelCode& code, const RingWords& words, LaunchShape shape = kOneWarp) {
  LaunchTracker tracker(code, shape);
  tracker.add(words.words());
  tracker.finish();
  return tracker;
}

Way way(const LaunchTracker& tracker, std::size_t record) {
  const LogRecord& found = tracker.warp(0, 0).at(record);
  EXPECT_EQ(found.kind, Kind::kWay);
  return tracker.ways().markers(found.index);
}

TEST(LaunchTracker, AWarpWithoutAdditionsIsOneWay) {
  const KernelCode code = straight_code(20);
  const LaunchTracker tracker = follow(code, RingWords()
                                                 .enter()
                                                 .marker(Marker::kGlobal, 3, kAll)
                                                 .marker(Marker::kShared, 7, kAll)
                                                 .exit(12));
  ASSERT_EQ(tracker.warp(0, 0).size(), 1U);
  EXPECT_EQ(way(tracker, 0), (Way{kEntry, 3, 7, 12}));
}

TEST(LaunchTracker, PassesOfALoopAreOneWayCounted) {
  const KernelCode code = straight_code(20);
  RingWords words;
  words.enter().marker(Marker::kShared, 4, kAll).marker(Marker::kShared, 6, kAll);
  for (int pass = 0; pass < 5; ++pass) {
    words.marker(Marker::kShared, 4, kAll).marker(Marker::kShared, 6, kAll);
  }
  const LaunchTracker tracker = follow(code, words.exit(9));
  ASSERT_EQ(tracker.warp(0, 0).size(), 3U);
  EXPECT_EQ(way(tracker, 0), (Way{kEntry, 4, 6, 4}));
  EXPECT_EQ(way(tracker, 1), (Way{4, 6, 4}));
  EXPECT_EQ(tracker.warp(0, 0)[1].count, 4U);
  EXPECT_EQ(way(tracker, 2), (Way{4, 6, 9}));
}

TEST(LaunchTracker, AdditionsOfABlockAreOneEventWhateverIsBetween) {
  KernelCode code = straight_code(20);
  make_red(code, 5);
  make_red(code, 8);
  const LaunchTracker tracker = follow(code, RingWords()
                                                 .enter()
                                                 .red(5, 0xffU, {0x1000})
                                                 .marker(Marker::kGlobal, 6, 0xffU)
                                                 .red(8, 0xffU, {0x2000})
                                                 .marker(Marker::kGlobal, 9, 0xffU)
                                                 .exit(12));
  const auto& log = tracker.warp(0, 0);
  ASSERT_EQ(log.size(), 3U);
  EXPECT_EQ(way(tracker, 0), (Way{kEntry, 5, 6, 8}));
  EXPECT_EQ(log[1].kind, Kind::kEvent);
  EXPECT_EQ(log[1].count, 0xffU);
  EXPECT_TRUE(log[1].uniform);
  EXPECT_EQ(tracker.runs().at(log[1].index), (InstructionRun{.instructions = {5, 8}}));
  EXPECT_EQ(tracker.addresses()[log[1].addresses], 0x1000U);
  EXPECT_EQ(tracker.addresses()[log[1].addresses + 1], 0x2000U);
  // What comes behind the last of them is a way of its own.
  EXPECT_EQ(way(tracker, 2), (Way{8, 9, 12}));
}

TEST(LaunchTracker, AnotherBlockOrAnotherMaskEndsARun) {
  KernelCode code = straight_code(20);
  for (const std::size_t at : {4U, 6U, 8U}) {
    make_red(code, at);
  }
  code.instructions[8].block = 1;
  const LaunchTracker tracker = follow(code, RingWords()
                                                 .enter()
                                                 .red(4, kAll, {0x100})
                                                 .red(6, 0x3U, {0x200})
                                                 .red(8, 0x3U, {0x300})
                                                 .exit(12));
  EXPECT_EQ(tracker.runs(),
            (std::vector<InstructionRun>{
                {.instructions = {4}}, {.instructions = {6}}, {.instructions = {8}}}));
}

TEST(LaunchTracker, AddressesOfARunOfBothKindsAreByLane) {
  KernelCode code = straight_code(20);
  make_red(code, 4);
  make_red(code, 5);
  const LaunchTracker tracker = follow(code, RingWords()
                                                 .enter(0x7U)
                                                 .red(4, 0x7U, {0x100})
                                                 .red(5, 0x7U, {0x200, 0x204, 0x208})
                                                 .exit(9, 0x7U));
  const LogRecord& event = tracker.warp(0, 0).at(1);
  EXPECT_FALSE(event.uniform);
  const auto addresses = tracker.addresses().subspan(event.addresses);
  EXPECT_EQ(std::vector<std::uint64_t>(addresses.begin(), addresses.end()),
            (std::vector<std::uint64_t>{0x100, 0x100, 0x100, 0x200, 0x204, 0x208}));
}

TEST(LaunchTracker, ALoadWithItsLinesEndsTheWay) {
  KernelCode code = straight_code(20);
  make_load(code, 4);
  const LaunchTracker tracker = follow(code, RingWords()
                                                 .enter()
                                                 .marker(Marker::kShared, 2, kAll)
                                                 .access(4, 0xffU, {{0x1080, 0xfU}, {0x1000, 0x1U}})
                                                 .marker(Marker::kShared, 6, kAll)
                                                 .exit(9));
  ASSERT_EQ(tracker.warp(0, 0).size(), 3U);
  EXPECT_EQ(way(tracker, 0), (Way{kEntry, 2, 4}));
  const LogRecord& access = tracker.warp(0, 0)[1];
  EXPECT_EQ(access.kind, Kind::kAccess);
  EXPECT_EQ(access.index, 4U);
  EXPECT_EQ(access.count, 0xffU);
  const auto lines = tracker.lines(access);
  EXPECT_EQ(std::vector<std::uint64_t>(lines.begin(), lines.end()),
            (std::vector<std::uint64_t>{0x1080 / 128 << 4U | 0xfU, 0x1000 / 128 << 4U | 0x1U}));
  EXPECT_EQ(way(tracker, 2), (Way{4, 6, 9}));
}

// The events are those that there would be without loads.
TEST(LaunchTracker, ALoadBetweenAdditionsOfARunComesBeforeTheEvent) {
  KernelCode code = straight_code(20);
  make_red(code, 4);
  make_load(code, 6);
  make_red(code, 8);
  const LaunchTracker tracker = follow(code, RingWords()
                                                 .enter()
                                                 .red(4, kAll, {0x100})
                                                 .marker(Marker::kShared, 5, kAll)
                                                 .access(6, kAll, {{0x1000, 1}})
                                                 .red(8, kAll, {0x104})
                                                 .exit(12));
  ASSERT_EQ(tracker.warp(0, 0).size(), 6U);
  EXPECT_EQ(way(tracker, 0), (Way{kEntry, 4}));
  EXPECT_EQ(way(tracker, 1), (Way{4, 5, 6}));
  EXPECT_EQ(tracker.warp(0, 0)[2].kind, Kind::kAccess);
  EXPECT_EQ(way(tracker, 3), (Way{6, 8}));
  EXPECT_EQ(tracker.warp(0, 0)[4].kind, Kind::kEvent);
  EXPECT_EQ(tracker.runs(), (std::vector<InstructionRun>{{.instructions = {4, 8}}}));
  EXPECT_EQ(way(tracker, 5), (Way{8, 12}));
}

TEST(LaunchTracker, ALoadBehindARunComesBehindTheEvent) {
  KernelCode code = straight_code(20);
  make_red(code, 4);
  make_load(code, 6);
  code.instructions[9].block = 1;
  make_load(code, 9, trace::AccessKind::kStore);
  const LaunchTracker tracker = follow(code, RingWords()
                                                 .enter()
                                                 .red(4, kAll, {0x100})
                                                 .marker(Marker::kShared, 5, kAll)
                                                 .access(6, kAll, {{0x1000, 1}})
                                                 .marker(Marker::kShared, 7, kAll)
                                                 .access(9, kAll, {{0x2000, 1}})
                                                 .exit(12));
  ASSERT_EQ(tracker.warp(0, 0).size(), 7U);
  EXPECT_EQ(way(tracker, 0), (Way{kEntry, 4}));
  EXPECT_EQ(tracker.warp(0, 0)[1].kind, Kind::kEvent);
  EXPECT_EQ(way(tracker, 2), (Way{4, 5, 6}));
  EXPECT_EQ(tracker.warp(0, 0)[3].index, 6U);
  EXPECT_EQ(way(tracker, 4), (Way{6, 7, 9}));
  EXPECT_EQ(tracker.warp(0, 0)[5].index, 9U);
  EXPECT_EQ(way(tracker, 6), (Way{9, 12}));
}

TEST(LaunchTracker, LanesThatLeaveAnAdditionOutCostNothingMore) {
  // A predicated RED: some lanes run it, and all go on together.
  KernelCode code = straight_code(20);
  make_red(code, 5);
  const LaunchTracker tracker = follow(code, RingWords()
                                                 .enter()
                                                 .marker(Marker::kShared, 3, kAll)
                                                 .red(5, 0xfU, {0x100})
                                                 .marker(Marker::kShared, 7, kAll)
                                                 .exit(9));
  ASSERT_EQ(tracker.warp(0, 0).size(), 3U);
  EXPECT_EQ(way(tracker, 0), (Way{kEntry, 3, 5}));
  EXPECT_EQ(way(tracker, 2), (Way{5, 7, 9}));
}

TEST(LaunchTracker, BothSidesOfABranchAreCounted) {
  const KernelCode code = straight_code(20);
  const LaunchTracker tracker = follow(code, RingWords()
                                                 .enter()
                                                 .marker(Marker::kShared, 3, kAll)
                                                 .marker(Marker::kShared, 5, 0xffffU)
                                                 .marker(Marker::kShared, 8, 0xffff0000U)
                                                 .marker(Marker::kShared, 10, kAll)
                                                 .exit(12));
  ASSERT_EQ(tracker.warp(0, 0).size(), 2U);
  // The side that came last goes on with the warp; the other ends where the warp meets.
  EXPECT_EQ(way(tracker, 0), (Way{kEntry, 3, 5}));
  EXPECT_EQ(way(tracker, 1), (Way{3, 8, 10, 12}));
}

// Lanes 0 to 15 end at a predicated EXIT, which the others leave out and go on behind.
TEST(LaunchTracker, LanesThatLeaveAMarkerOutHaveComeToIt) {
  KernelCode code = straight_code(20);
  make_red(code, 8);
  code.instructions[5].predicated = true;
  const LaunchTracker tracker = follow(
      code,
      RingWords().enter().exit(5, 0xffffU).red(8, 0xffff0000U, {0x1000}).exit(12, 0xffff0000U));
  ASSERT_EQ(tracker.warp(0, 0).size(), 4U);
  EXPECT_EQ(way(tracker, 0), (Way{kEntry, 5}));
  EXPECT_EQ(way(tracker, 1), (Way{5, 8}));
  EXPECT_EQ(way(tracker, 3), (Way{8, 12}));
  for (const WayIndex gone : tracker.ways_gone()) {
    EXPECT_FALSE(tracker.parted(gone));
  }
}

// The same with a branch in place of the predicate: where they parted is not known.
TEST(LaunchTracker, WaysOfLanesThatPartedSomewhereAreTold) {
  KernelCode code = straight_code(20);
  make_red(code, 8);
  const LaunchTracker tracker = follow(
      code,
      RingWords().enter().exit(5, 0xffffU).red(8, 0xffff0000U, {0x1000}).exit(12, 0xffff0000U));
  EXPECT_EQ(way(tracker, 1), (Way{kEntry, 8}));
  EXPECT_FALSE(tracker.parted(tracker.warp(0, 0)[0].index));
  EXPECT_TRUE(tracker.parted(tracker.warp(0, 0)[1].index));
  EXPECT_FALSE(tracker.parted(tracker.warp(0, 0)[3].index));
}

TEST(LaunchTracker, AWarpWaitsOnceAtABarrier) {
  const KernelCode code = straight_code(20);
  const LaunchTracker tracker =
      follow(code, RingWords()
                       .enter()
                       .marker(Marker::kBarrier, 4, 0xffffU, 0, 0, kWholeBarrier)
                       .marker(Marker::kBarrier, 4, 0xffff0000U, 0, 0, kWholeBarrier)
                       .exit(9));
  std::size_t barriers = 0;
  for (const LogRecord& record : tracker.warp(0, 0)) {
    barriers += record.kind == Kind::kBarrier ? 1 : 0;
  }
  EXPECT_EQ(barriers, 1U);
}

TEST(LaunchTracker, ABarrierOfAPartIsCountedApart) {
  const KernelCode code = straight_code(20);
  const LaunchTracker tracker =
      follow(code, RingWords().enter().marker(Marker::kBarrier, 4, kAll).exit(9));
  EXPECT_EQ(tracker.partial_barriers(), 1U);
  for (const LogRecord& record : tracker.warp(0, 0)) {
    EXPECT_NE(record.kind, Kind::kBarrier);
  }
}

TEST(LaunchTracker, LanesMayEndEarly) {
  const KernelCode code = straight_code(20);
  const LaunchTracker tracker =
      follow(code, RingWords()
                       .enter()
                       .exit(3, 0xfU)
                       .marker(Marker::kBarrier, 5, ~0xfU, 0, 0, kWholeBarrier)
                       .exit(9, ~0xfU));
  std::size_t barriers = 0;
  for (const LogRecord& record : tracker.warp(0, 0)) {
    barriers += record.kind == Kind::kBarrier ? 1 : 0;
  }
  EXPECT_EQ(barriers, 1U);
}

TEST(LaunchTracker, AtomicsWithoutAddressesAreCounted) {
  KernelCode code = straight_code(20);
  make_atom(code, 5);
  const LaunchTracker tracker =
      follow(code, RingWords().enter().marker(Marker::kGlobal, 5, kAll).exit(9));
  EXPECT_EQ(tracker.other_atomics().at(5), 1U);
  EXPECT_TRUE(tracker.runs().empty());
}

TEST(LaunchTracker, AnAtomicWhoseResultIsUsedIsAnEventByItself) {
  KernelCode code = straight_code(20);
  make_red(code, 4);
  make_atom(code, 5);
  make_atom(code, 6);
  make_red(code, 7);
  const LaunchTracker tracker = follow(code, RingWords()
                                                 .enter()
                                                 .red(4, kAll, {0x1000})
                                                 .red(5, kAll, {0x2000})
                                                 .red(6, 0xfU, {0x3000})
                                                 .red(7, kAll, {0x4000})
                                                 .exit(9));
  EXPECT_EQ(tracker.runs(), (std::vector<InstructionRun>{{.instructions = {4}},
                                                         {.instructions = {5}},
                                                         {.instructions = {6}},
                                                         {.instructions = {7}}}));
  EXPECT_TRUE(tracker.other_atomics().empty());
  // Each ends a way.
  const auto& log = tracker.warp(0, 0);
  ASSERT_GE(log.size(), 4U);
  EXPECT_EQ(way(tracker, 0), (Way{kEntry, 4}));
  EXPECT_EQ(log[1].kind, Kind::kEvent);
  EXPECT_EQ(way(tracker, 2), (Way{4, 5}));
  EXPECT_EQ(log[3].kind, Kind::kEvent);
}

TEST(LaunchTracker, RowsOfDifferentLengthsAreDifferentRuns) {
  KernelCode code = straight_code(20);
  make_row(code, 5);
  const LaunchTracker tracker =
      follow(code, RingWords().enter().row(5, 1U, 0x1000, 8).row(5, 1U, 0x2000, 3).exit(9));
  EXPECT_EQ(tracker.runs(), (std::vector<InstructionRun>{{.instructions = {5}, .row = 8},
                                                         {.instructions = {5}, .row = 3}}));
  const LogRecord& first = tracker.warp(0, 0).at(1);
  EXPECT_EQ(first.kind, Kind::kEvent);
  EXPECT_EQ(tracker.addresses()[first.addresses], 0x1000U);
}

TEST(LaunchTracker, WarpsOfASampleAreTheMiddleOnes) {
  const LaunchShape shape{.ctas = 10, .warps_per_cta = 2, .every = 4};
  EXPECT_EQ(shape.recorded_ctas(), 2U);
  EXPECT_EQ(shape.place(2), 0U);
  EXPECT_EQ(shape.place(6), 1U);
  EXPECT_EQ(shape.place(0), std::nullopt);
  EXPECT_EQ(shape.cta(1), 6U);
  const KernelCode code = straight_code(20);
  LaunchTracker tracker(code, shape);
  tracker.add(RingWords().enter(kAll, 6, 1).exit(9, kAll, 6, 1).words());
  EXPECT_EQ(tracker.warp(1, 1).size(), 1U);
  EXPECT_TRUE(tracker.warp(0, 1).empty());
}

TEST(LaunchTracker, WhatMakesNoSenseIsRefused) {
  const KernelCode code = straight_code(20);
  const auto refused = [&](const RingWords& words) {
    LaunchTracker tracker(code, kOneWarp);
    EXPECT_THROW(tracker.add(words.words()), trace::TraceError);
  };
  refused(RingWords().enter(kAll, 1));                    // a CTA too many
  refused(RingWords().enter(kAll, 0, 1));                 // a warp too many
  refused(RingWords().enter().exit(20));                  // an instruction too many
  refused(RingWords().marker(Marker::kShared, 3, kAll));  // lanes that never began
  // A row of an address for each lane, and one with operands.
  for (const std::uint32_t flags : {kAddresses, kAddresses | kUniform | kOperands}) {
    std::vector<std::uint32_t> words = RingWords().enter().row(5, kAll, 0x1000, 8).words();
    words[kHeadWords] = (words[kHeadWords] & ~(kAddresses | kUniform)) | flags;
    LaunchTracker tracker(code, kOneWarp);
    EXPECT_THROW(tracker.add(words), trace::TraceError);
  }
  LaunchTracker tracker(code, kOneWarp);
  tracker.add(RingWords().enter().words());
  EXPECT_THROW(tracker.finish(), trace::TraceError);  // a warp that never ended
}

}  // namespace
}  // namespace warpfold::record::test

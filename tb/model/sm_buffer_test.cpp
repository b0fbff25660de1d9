// SPDX-License-Identifier: Apache-2.0
// An SM's atomic buffer between a load-store unit and an injection port that are made up. What
// comes in cycle 10 is looked up in 11; an access of the SRAM and an addition are a cycle each.
#include <gtest/gtest.h>

#include "model/gpu/sm/atomic_buffer.hpp"
#include "tb/model/sm_bench.hpp"

namespace warpfold::test {
namespace {

constexpr Address kSector = SmallTrace::kBase;

BufferShape on_pipe(std::uint64_t bytes = 1024) {
  return {.bytes = bytes,
          .ways = 1,
          .line_bytes = 32,
          .queue_depth = 8,
          .victims = 8,
          .access = at_cycle(1),
          .add = at_cycle(1)};
}

// Hands transactions over from a cycle on, each as soon as there is room for it.
class FakeLsu : public Block {
 public:
  explicit FakeLsu(Domain& domain) : Block("lsu", domain) {}
  void hand(Cycle from, Transaction transaction) {
    waiting_.emplace_back(from, std::move(transaction));
    wake_at(from);
  }
  Fifo<Transaction>* input = nullptr;
  Cycles when;

 private:
  void tick() override {
    while (when.size() < waiting_.size() && waiting_[when.size()].first <= now()) {
      if (!input->can_push()) {
        input->want_room();
        return;
      }
      input->push(std::move(waiting_[when.size()].second));
      when.push_back(now());
    }
  }
  std::vector<std::pair<Cycle, Transaction>> waiting_;
};

class BufferBench : public SmBench {
 public:
  explicit BufferBench(Clocking clocking)
      : SmBench(clocking), pipe(inside()), lsu(inside()), script(inside()) {}
  void build(const BufferShape& shape) {
    buffer = shape;
    outlet = std::make_unique<Outlet>(wheel, inside(), gpu.noc.injection_depth);
    wheel.keep(*outlet);
    block = std::make_unique<AtomicBuffer>("buffer", inside(), context(), pipe, *outlet);
    port = std::make_unique<OutletTaker>(clock.partition(0), *outlet);
    outlet->bind(*block, *port);
    port->wake_at(1);
    block->input.bind(lsu, *block);
    lsu.input = &block->input;
    whole = &cta();
    note_growth([this] { return outlet->waiting() + port->taken.size(); }, sent);
  }
  // So many lanes on one word.
  void hand(Cycle from, int lanes, Address address = kSector) {
    Transaction transaction;
    transaction.uniform = true;
    transaction.mask = (LaneMask{1} << lanes) - 1;
    transaction.turns = transaction.packets = static_cast<std::uint16_t>(lanes);
    transaction.address = address;
    transaction.event = {.cta = CtaHold::of(*whole)};
    lsu.hand(from, std::move(transaction));
  }
  // One that it cannot sum.
  void hand_passing(Cycle from) {
    Transaction transaction;
    transaction.passes = true;
    transaction.mask = 1;
    transaction.address = kSector;
    transaction.event = {.cta = CtaHold::of(*whole)};
    lsu.hand(from, std::move(transaction));
  }
  void hand_flush(Cycle from) {
    Transaction transaction;
    transaction.flush = true;
    lsu.hand(from, std::move(transaction));
  }

  LsuPipe pipe;
  FakeLsu lsu;
  Script script;
  std::unique_ptr<Outlet> outlet;
  std::unique_ptr<AtomicBuffer> block;
  std::unique_ptr<OutletTaker> port;
  CtaContext* whole = nullptr;
  Cycles sent;  // the cycles in which sectors went into the outlet
};

class BufferOnEitherClock : public testing::TestWithParam<Clocking> {};
INSTANTIATE_TEST_SUITE_P(AtomicBuffer, BufferOnEitherClock,
                         testing::Values(Clocking::kGated, Clocking::kReference),
                         testing::PrintToStringParamName());

TEST_P(BufferOnEitherClock, ASumLeavesWhenTheLastLaneIsAdded) {
  BufferBench bench(GetParam());
  bench.build(on_pipe());
  bench.hand(10, 4);
  bench.hand_flush(11);
  bench.run();
  // Looked up from 11 to 12, added until 16, in which it is on its way to the outlet.
  EXPECT_EQ(bench.sent, Cycles{17});
  EXPECT_EQ(bench.port->when(), Cycles{18});
  EXPECT_EQ(bench.port->taken[0].what.address, kSector);
  EXPECT_EQ(bench.port->taken[0].what.flits, 1U);
  EXPECT_EQ(bench.block->stats().adder_busy, at_cycle(4));
  EXPECT_EQ(bench.block->busy_until(), at_cycle(16));
  EXPECT_EQ(bench.tally.lanes_buffered, 4U);
  EXPECT_EQ(bench.tally.buffer_reduced, 1U);
  // The look-up, the sum back into the SRAM and out of it.
  EXPECT_EQ(bench.pipe.busy(), at_cycle(3));
  EXPECT_TRUE(bench.block->empty());
}

TEST_P(BufferOnEitherClock, ALoneWordIsAFlitAndASectorOfSeveralTwo) {
  BufferBench bench(GetParam());
  bench.build(on_pipe());
  bench.hand(10, 1, kSector + 4);
  bench.hand(10, 1, kSector + 32);
  bench.hand(10, 1, kSector + 32 + 28);
  bench.hand_flush(40);
  bench.run();
  ASSERT_EQ(bench.port->taken.size(), 2U);
  const Transaction& lone = bench.port->taken[0].what;
  EXPECT_EQ(lone.flits, 1U);
  EXPECT_EQ(lone.lone_words, 1U);
  EXPECT_EQ(lone.mask, 0b10U);
  const Transaction& two = bench.port->taken[1].what;
  EXPECT_EQ(two.flits, 2U);
  EXPECT_EQ(two.lone_words, 0U);
  EXPECT_EQ(two.mask, 0x8100U);
  EXPECT_EQ(two.sectors, 2U);
  EXPECT_FALSE(two.whole);
}

TEST_P(BufferOnEitherClock, ALookUpWaitsForThePipe) {
  BufferBench bench(GetParam());
  bench.build(on_pipe());
  bench.script.at(10, [&] { bench.pipe.charge(at_cycle(20)); });
  bench.hand(10, 4);
  bench.hand_flush(11);
  bench.run();
  EXPECT_EQ(bench.sent, Cycles{17 + 19});
}

TEST_P(BufferOnEitherClock, WithAnSramOfItsOwnNothingWaits) {
  BufferBench bench(GetParam());
  BufferShape shape = on_pipe();
  shape.access = 0;
  bench.build(shape);
  bench.script.at(10, [&] { bench.pipe.charge(at_cycle(20)); });
  bench.hand(10, 4);
  bench.hand_flush(11);
  bench.run();
  EXPECT_EQ(bench.sent, Cycles{16});
}

TEST_P(BufferOnEitherClock, EachLaneIsAnAccessWhereTheL1IsTheBuffer) {
  BufferBench bench(GetParam());
  BufferShape shape = on_pipe();
  shape.by_lane = true;
  bench.build(shape);
  bench.hand(10, 4);
  bench.hand_flush(11);
  bench.run();
  EXPECT_EQ(bench.sent, Cycles{20});
  EXPECT_EQ(bench.block->stats().hits, 3U);
  EXPECT_EQ(bench.block->stats().misses, 1U);
}

TEST_P(BufferOnEitherClock, TheNextIsLookedUpWhileOneIsAdded) {
  BufferBench bench(GetParam());
  BufferShape shape = on_pipe();
  shape.queue_depth = 1;
  bench.build(shape);
  for (int i = 0; i < 5; ++i) {
    bench.hand(10, 4);
  }
  bench.run();
  // Looked up in 11, 13 and then when the adder takes the one before, in 16 and 20; there is room
  // a cycle later.
  EXPECT_EQ(bench.lsu.when, (Cycles{10, 12, 14, 17, 21}));
  EXPECT_EQ(bench.block->busy_until(), at_cycle(12 + 5 * 4));
  EXPECT_EQ(bench.block->stats().hits, 4U);
}

TEST_P(BufferOnEitherClock, AMissWaitsForTheAdderAndForRoomForTheOldSum) {
  BufferBench bench(GetParam());
  BufferShape shape = on_pipe(32);
  shape.victims = 1;
  bench.gpu.noc.injection_depth = 1;
  bench.build(shape);
  bench.port->only_in({50, 60, 70, 80});
  for (Address i = 0; i < 4; ++i) {
    bench.hand(10, 1, kSector + 32 * i);
  }
  bench.hand_flush(10);
  bench.run();
  // The first is added from 12 to 13, the second from 15 to 16, the third from 18 to 19. The sum of
  // the second has to wait for the outlet, and so the last one, which wants the third's place.
  EXPECT_EQ(bench.sent, (Cycles{14, 51, 61, 71}));
  EXPECT_EQ(bench.block->stats().blocked_cycles, (13U - 12) + (16 - 15) + (51 - 18));
  EXPECT_EQ(bench.block->stats().evicted, 3U);
  EXPECT_EQ(bench.block->stats().flushed, 1U);
  EXPECT_EQ(bench.block->stats().misses, 4U);
}

TEST_P(BufferOnEitherClock, AFlushReadsASectorForEachAccess) {
  BufferBench bench(GetParam());
  BufferShape shape = on_pipe();
  shape.access = at_cycle(2);
  bench.build(shape);
  for (Address i = 0; i < 3; ++i) {
    bench.hand(10, 1, kSector + 32 * i);
  }
  bench.hand_flush(100);
  bench.run();
  EXPECT_EQ(bench.sent, (Cycles{102, 104, 106}));
}

TEST_P(BufferOnEitherClock, ALineOfALoadSendsASumAway) {
  BufferBench bench(GetParam());
  BufferShape shape = on_pipe(64);
  shape.load_lines = 1;
  bench.build(shape);
  bench.hand(10, 1);
  bench.hand(10, 1, kSector + 32);
  bench.script.at(30, [&] { bench.block->loads.post(1); });
  bench.script.at(40, [&] { bench.block->loads.post(1); });
  bench.run();
  EXPECT_EQ(bench.sent, (Cycles{32, 42}));
  EXPECT_TRUE(bench.block->empty());
}

TEST_P(BufferOnEitherClock, ALostSectorIsGone) {
  BufferBench bench(GetParam());
  bench.build(on_pipe());
  bench.block->lose_flushed(1);
  bench.hand(10, 1);
  bench.hand(10, 1, kSector + 32);
  bench.hand_flush(40);
  bench.run();
  ASSERT_EQ(bench.port->taken.size(), 1U);
  EXPECT_EQ(bench.block->stats().flushed, 2U);
  EXPECT_EQ(bench.tally.buffer_sums_begun, 2U);
  EXPECT_EQ(bench.tally.buffer_reduced, 1U);
}

TEST_P(BufferOnEitherClock, WhatItCannotSumGoesByInItsTurn) {
  BufferBench bench(GetParam());
  bench.build(on_pipe());
  bench.hand(10, 4);
  bench.hand_passing(10);
  bench.hand_passing(10);
  bench.hand_flush(40);
  bench.run();
  // The sum's look-up is over in 12.
  EXPECT_EQ(bench.sent, (Cycles{12, 13, 42}));
  EXPECT_TRUE(bench.port->taken[0].what.passes);
  EXPECT_TRUE(bench.port->taken[0].what.event.cta);
  EXPECT_FALSE(bench.port->taken[2].what.passes);
  EXPECT_EQ(bench.tally.lanes_buffered, 4U);
  EXPECT_EQ(bench.block->stats().hits + bench.block->stats().misses, 1U);
}

TEST_P(BufferOnEitherClock, WhatGoesByWaitsForRoomInTheOutlet) {
  BufferBench bench(GetParam());
  bench.gpu.noc.injection_depth = 1;
  bench.build(on_pipe());
  bench.port->only_in({50, 60, 70});
  for (int i = 0; i < 3; ++i) {
    bench.hand_passing(10);
  }
  bench.run();
  EXPECT_EQ(bench.sent, (Cycles{11, 51, 61}));
}

// By the room of the outlet, and whether there is a sum as well.
class FlushBehindOthers : public testing::TestWithParam<std::tuple<Clocking, std::uint32_t, bool>> {
};
INSTANTIATE_TEST_SUITE_P(AtomicBuffer, FlushBehindOthers,
                         testing::Combine(testing::Values(Clocking::kGated, Clocking::kReference),
                                          testing::Values(1U, 2U, 8U), testing::Bool()));

// The flush stands in the queue while what is in front of it waits for room: nobody wakes the
// buffer for it then but the buffer.
TEST_P(FlushBehindOthers, IsDone) {
  const auto [clocking, depth, summed_first] = GetParam();
  BufferBench bench(clocking);
  bench.gpu.noc.injection_depth = depth;
  BufferShape shape = on_pipe();
  shape.access = 0;
  bench.build(shape);
  if (summed_first) {
    bench.hand(10, 1);
  }
  for (int i = 0; i < 3; ++i) {
    bench.hand_passing(10);
  }
  bench.hand_flush(10);
  bench.run();
  EXPECT_TRUE(bench.block->empty()) << bench.block->waits();
  EXPECT_EQ(bench.sent.size(), summed_first ? 4U : 3U);
}

TEST_P(BufferOnEitherClock, OneGoesIntoTheOutletInACycle) {
  BufferBench bench(GetParam());
  BufferShape shape = on_pipe(32);
  shape.access = 0;
  bench.build(shape);
  bench.hand(10, 1);
  bench.hand(10, 1, kSector + 32);  // sends the sum before it away
  bench.hand_passing(10);
  bench.run();
  EXPECT_EQ(bench.sent, (Cycles{13, 14}));
  EXPECT_TRUE(bench.port->taken[1].what.passes);
}

TEST_P(BufferOnEitherClock, SaysForWhatItWaits) {
  BufferBench bench(GetParam());
  bench.gpu.noc.injection_depth = 1;
  bench.build(on_pipe(32));
  bench.port->only_in({});
  EXPECT_EQ(bench.block->waits(), "");
  for (Address i = 0; i < 4; ++i) {
    bench.hand(10, 1, kSector + 32 * i);
  }
  bench.run(300);
  EXPECT_EQ(bench.block->waits(), "buffer holds 1 sums, 2 sectors for the injection port");
}

}  // namespace
}  // namespace warpfold::test

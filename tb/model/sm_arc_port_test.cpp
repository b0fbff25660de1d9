// SPDX-License-Identifier: Apache-2.0
// A sub-core's side of its ARC unit between a sub-core that does nothing else, a unit and a
// load-store unit that are made up. A request put there in cycle 10 is seen by the unit in 11.
#include <gtest/gtest.h>

#include "model/gpu/sm/arc_port.hpp"
#include "tb/model/sm_bench.hpp"
#include "tb/model/sm_fake_unit.hpp"

namespace warpfold::test {
namespace {

// Clocks its port, and asks when it is told.
class FakeSubcore : public Block {
 public:
  FakeSubcore(Domain& domain, std::size_t depth) : Block("subcore", domain), queue(depth) {}
  void build(const SmContext& context, std::unique_ptr<ArcUnit> unit) {
    reds = std::make_unique<RedsOut>(context.config);
    port = std::make_unique<ArcPort>(
        ArcPort::Around{.context = context, .subcore = *this, .memory_queue = queue, .reds = *reds},
        std::move(unit));
  }
  void ask(Cycle cycle, CtaContext& cta, const Step& step, std::uint32_t slot) {
    asks_.push_back({.cycle = cycle, .cta = &cta, .step = step, .slot = slot});
    wake_at(cycle);
  }
  Fifo<MemOp> queue;
  std::unique_ptr<RedsOut> reds;
  std::unique_ptr<ArcPort> port;
  Cycles left;   // the cycles in which a request left
  Cycles ticks;  // of its own

 private:
  struct Ask {
    Cycle cycle;
    CtaContext* cta;
    Step step;
    std::uint32_t slot;
  };
  void tick() override {
    ticks.push_back(now());
    if (port->tick(now())) {
      left.push_back(now());
    }
    for (const Ask& ask : asks_) {
      if (ask.cycle == now()) {
        EXPECT_TRUE(port->takes_request());
        reds->add(ask.slot);
        port->request({.cta = *ask.cta, .warp = 0, .slot = ask.slot}, ask.step, now());
        wake_next();
      }
    }
  }
  std::vector<Ask> asks_;
};

SmallTrace one_event() {
  SmallTrace trace(1, 1, 2, 64, 8);
  trace.event(0, 0, 0xf, 3);
  return trace;
}

class ArcPortBench : public SmBench {
 public:
  explicit ArcPortBench(Clocking clocking)
      : SmBench(clocking, one_event()), subcore(inside(), 16), filler(inside()) {}
  void build() {
    subcore.build(context("arc-hw"), std::make_unique<FakeUnit>(inside(), plan, unit));
    lsu = std::make_unique<QueueTaker>(inside(), subcore.queue);
    subcore.queue.bind(subcore, *lsu);
    note_growth([this] { return subcore.queue.size() + lsu->taken.size(); }, put);
    whole = &cta();
  }
  void ask(Cycle cycle, std::uint16_t parameter = 0, std::uint8_t words = 1,
           std::uint32_t slot = 0) {
    Step step;
    step.kind = StepKind::kAtomic;
    step.parameter = parameter;
    step.words = words;
    step.mask = 0xf;
    step.primitive = 3;
    step.uniform = true;
    subcore.ask(cycle, *whole, step, slot);
  }
  // Instructions of others come into the memory queue.
  void fill(Cycle cycle) {
    filler.at(cycle, [this] { subcore.queue.push(MemOp{}); });
  }

  FakeSubcore subcore;
  Script filler;
  FakeUnitPlan plan;
  FakeUnitLog unit;
  std::unique_ptr<QueueTaker> lsu;
  CtaContext* whole = nullptr;
  Cycles put;
};

class ArcPortOnEitherClock : public testing::TestWithParam<Clocking> {};
INSTANTIATE_TEST_SUITE_P(ArcPort, ArcPortOnEitherClock,
                         testing::Values(Clocking::kGated, Clocking::kReference),
                         testing::PrintToStringParamName());

TEST_P(ArcPortOnEitherClock, ARequestStandsThereUntilItIsAccepted) {
  ArcPortBench bench(GetParam());
  bench.plan = {.accept = 4, .sum = 6};
  bench.build();
  bench.ask(10);
  bench.ask(14, 1);
  bench.run();
  EXPECT_EQ(bench.unit.seen, (Cycles{11, 15}));
  // The second has to wait until the sum of the first has left, which was read in 15.
  EXPECT_EQ(bench.subcore.left, (Cycles{14, 21}));
  EXPECT_EQ(bench.put, (Cycles{21, 28}));
  EXPECT_EQ(bench.lsu->when(), (Cycles{22, 29}));
  const MemOp& sum = bench.lsu->taken[1].what;
  EXPECT_EQ(sum.kind, MemOpKind::kReduced);
  EXPECT_EQ(sum.data, 0x40000000U);
  EXPECT_EQ(sum.address, bench.addresses.address(3, 1));
  EXPECT_EQ(sum.parameter, 1U);
  EXPECT_EQ(bench.tally.lanes_issued, 8U);
  EXPECT_EQ(bench.tally.lanes_to_unit, 8U);
  EXPECT_EQ(bench.tally.unit_reduced, 2U);
  EXPECT_FALSE(bench.subcore.port->held());
}

TEST_P(ArcPortOnEitherClock, ASumIsThatOfTheWarpWhoseLanesItHas) {
  ArcPortBench bench(GetParam());
  bench.gpu.rules.red_wait.name = "own-reds";
  bench.plan = {.accept = 1, .sum = 6};
  bench.build();
  bench.ask(10, 0, 1, 3);
  // The lanes of the first have been read in 12, so that this one has the same tag.
  bench.ask(14, 1, 1, 5);
  bench.run();
  EXPECT_EQ(bench.put, (Cycles{18, 25}));
  EXPECT_EQ(bench.lsu->taken[0].what.warp_slot, 3U);
  EXPECT_EQ(bench.lsu->taken[1].what.warp_slot, 5U);
  // Of each the RED with the sum is left.
  RedsOut& reds = *bench.subcore.reds;
  for (const std::uint32_t slot : {3U, 5U}) {
    EXPECT_TRUE(reds.waits(slot));
    reds.end(slot);
    EXPECT_FALSE(reds.waits(slot));
  }
}

TEST_P(ArcPortOnEitherClock, ARedThatPassesIsThatOfItsWarp) {
  ArcPortBench bench(GetParam());
  bench.gpu.rules.red_wait.name = "own-reds";
  bench.plan = {.as_red = true};
  bench.build();
  bench.ask(10, 0, 2, 7);
  bench.run();
  EXPECT_EQ(bench.lsu->taken.at(0).what.warp_slot, 7U);
  RedsOut& reds = *bench.subcore.reds;
  EXPECT_TRUE(reds.waits(7));
  reds.end(7);
  EXPECT_FALSE(reds.waits(7));
}

TEST_P(ArcPortOnEitherClock, SumsOfAStructLeaveTogether) {
  ArcPortBench bench(GetParam());
  bench.build();
  bench.ask(10, 0, 2);
  bench.run();
  // Accepted in 11, read in 12 and 14, summed in 13 and 15.
  EXPECT_EQ(bench.put, Cycles{15});
  ASSERT_EQ(bench.lsu->taken.size(), 1U);
  const MemOp& packet = bench.lsu->taken[0].what;
  EXPECT_EQ(packet.kind, MemOpKind::kReduced);
  EXPECT_EQ(packet.words, 2U);
  EXPECT_EQ(packet.address, bench.addresses.address(3, 0));
  const LineSums sums = bench.sums.take(packet.data);
  EXPECT_EQ(sums[0], 0x40000000U);
  EXPECT_EQ(sums[1], 0x40000001U);
  EXPECT_EQ(bench.tally.lanes_issued, 8U);
  EXPECT_EQ(bench.tally.lanes_to_unit, 8U);
  EXPECT_EQ(bench.tally.unit_reduced, 2U);
  EXPECT_FALSE(bench.subcore.port->held());
}

TEST_P(ArcPortOnEitherClock, LanesOfAStructPassAsOneRed) {
  ArcPortBench bench(GetParam());
  bench.plan = {.as_red = true};
  bench.build();
  bench.ask(10, 0, 2);
  bench.run();
  ASSERT_EQ(bench.lsu->taken.size(), 1U);
  const MemOp& red = bench.lsu->taken[0].what;
  EXPECT_EQ(red.kind, MemOpKind::kRed);
  EXPECT_EQ(red.words, 2U);
  EXPECT_EQ(red.mask, 0xfU);
  EXPECT_EQ(bench.tally.lanes_as_red, 8U);
}

TEST_P(ArcPortOnEitherClock, ARedPassesInTheCycleInWhichItIsAccepted) {
  ArcPortBench bench(GetParam());
  bench.plan = {.accept = 3, .as_red = true};
  bench.build();
  bench.ask(10);
  bench.run();
  EXPECT_EQ(bench.subcore.left, Cycles{13});
  EXPECT_EQ(bench.put, Cycles{13});
  EXPECT_EQ(bench.lsu->taken[0].what.kind, MemOpKind::kRed);
  EXPECT_TRUE(bench.lsu->taken[0].what.uniform);
  EXPECT_EQ(bench.lsu->taken[0].what.mask, 0xfU);
  EXPECT_EQ(bench.tally.lanes_as_red, 4U);
  EXPECT_EQ(bench.tally.lanes_to_unit, 0U);
}

TEST_P(ArcPortOnEitherClock, ARedWaitsForThePartOfTheQueueThatTheUnitMayFill) {
  ArcPortBench bench(GetParam());
  bench.gpu.arc.queue_depth = 2;
  bench.plan = {.as_red = true};
  bench.build();
  bench.lsu->only_in({50, 51, 52, 53});
  bench.fill(9);
  bench.fill(10);
  bench.ask(12);
  bench.run();
  EXPECT_EQ(bench.put, (Cycles{9, 10, 51}));
}

TEST_P(ArcPortOnEitherClock, WithOneLessAheadOfItItPasses) {
  ArcPortBench bench(GetParam());
  bench.gpu.arc.queue_depth = 2;
  bench.plan = {.as_red = true};
  bench.build();
  bench.lsu->only_in({50, 51, 52, 53});
  bench.fill(9);
  bench.ask(12);
  bench.run();
  EXPECT_EQ(bench.put, (Cycles{9, 13}));
}

TEST_P(ArcPortOnEitherClock, CyclesOfRestCountAsBlocked) {
  ArcPortBench bench(GetParam());
  bench.build();
  bench.lsu->only_in({70, 80, 90});
  bench.fill(8);
  bench.fill(9);
  bench.ask(10);
  bench.run();
  // Accepted in 11, read in 12, the sum waits from 13 on; the room of 71 is not the unit's.
  EXPECT_EQ(bench.put, (Cycles{8, 9, 81}));
  EXPECT_EQ(bench.subcore.port->stats().blocked_cycles, 81U - 13);
  EXPECT_EQ(bench.subcore.port->stats().read_cycles, 1U);
}

TEST_P(ArcPortOnEitherClock, NoticesALaneThatIsReadTwice) {
  ArcPortBench bench(GetParam());
  bench.plan = {.sum = 4, .reads_twice = true};
  bench.build();
  bench.ask(10);
  EXPECT_THROW(bench.run(), CheckError);
}

TEST(ArcPort, RestsAfterAsManyCyclesAsTheUnitSays) {
  ArcPortBench bench(Clocking::kGated);
  bench.plan = {.cycles_to_rest = 5};
  bench.build();
  bench.lsu->only_in({80, 90});
  bench.fill(9);
  bench.ask(10);
  bench.run();
  EXPECT_EQ(bench.unit.clocked, (Cycles{11, 12, 13, 14, 15, 16, 17, 81}));
}

TEST(ArcPort, ARequestEndsTheRest) {
  ArcPortBench bench(Clocking::kGated);
  bench.build();
  bench.lsu->only_in({80, 90});
  bench.fill(9);
  bench.ask(10);
  bench.ask(40, 1);
  bench.run();
  // At rest again three cycles later, with the sum at its port and the request in front of it; and
  // once more, three cycles after the other sum has come to its port in 83.
  EXPECT_EQ(bench.unit.clocked, (Cycles{11, 12, 13, 14, 15, 41, 42, 43, 81, 82, 83, 84, 85, 91}));
  EXPECT_EQ(bench.put, (Cycles{9, 81, 91}));
  EXPECT_EQ(bench.subcore.port->stats().blocked_cycles, (81U - 13) + (91 - 83));
}

}  // namespace
}  // namespace warpfold::test

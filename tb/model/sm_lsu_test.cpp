// SPDX-License-Identifier: Apache-2.0
// The load-store unit of an SM between sub-cores and a way out that are made up. What a sub-core
// has put into its queue in cycle 10 is taken in 11 at the earliest.
#include <gtest/gtest.h>

#include "model/gpu/sm/lsu.hpp"
#include "tb/model/sm_bench.hpp"

namespace warpfold::test {
namespace {

constexpr std::uint32_t kSources = 4;

MemOp sum(Address address = SmallTrace::kBase) {
  MemOp op;
  op.kind = MemOpKind::kReduced;
  op.address = address;
  return op;
}

// So many lanes on one address.
MemOp lanes(int count) {
  MemOp op;
  op.uniform = true;
  op.mask = count == kLanes ? ~LaneMask{0} : (LaneMask{1} << count) - 1;
  op.address = SmallTrace::kBase;
  return op;
}

MemOp on_pipe(MemOpKind kind, double pipe, double hand, Cycle begun) {
  MemOp op;
  op.kind = kind;
  op.warp_slot = 7;
  op.lsu_ticks = to_ticks(pipe);
  op.hand_ticks = to_ticks(hand);
  op.begun = begun;
  op.latency = 26;
  return op;
}

struct Answer {
  Cycle cycle;
  std::uint32_t slot;
  Cycle due;
  bool operator==(const Answer&) const = default;
};
void PrintTo(const Answer& answer, std::ostream* out) {
  *out << "slot " << answer.slot << " in " << answer.cycle << ", due " << answer.due;
}

class FakeAnswers : public AccessAnswers {
 public:
  explicit FakeAnswers(Domain& domain) : domain_(domain) {}
  void access_answered(std::uint32_t slot, Cycle due) override {
    answers.push_back({domain_.now(), slot, due});
  }
  void red_split(std::uint32_t slot, std::uint32_t transactions) override {
    splits.push_back({domain_.now(), slot, transactions});
  }
  void red_answered(std::uint32_t slot, Cycle due) override {
    red_answers.push_back({domain_.now(), slot, due});
  }
  std::vector<Answer> answers;
  std::vector<Answer> splits;  // with a number of transactions in place of a cycle
  std::vector<Answer> red_answers;

 private:
  Domain& domain_;
};

class LsuBench : public SmBench {
 public:
  explicit LsuBench(Clocking clocking, const SmallTrace& made_up = SmallTrace(1, 1, 1, 4096, 4))
      : SmBench(clocking, made_up), subcores(inside()), answers(inside()), pipe(inside()) {}

  // The way out: an outlet that a port empties, or the queue of an atomic buffer.
  void build() {
    const SmContext& known = context();
    control = std::make_unique<SmControl>(inside(), gpu, buffer.present(), wheel);
    outlet = std::make_unique<Outlet>(wheel, inside(), gpu.noc.injection_depth);
    wheel.keep(*outlet);
    port = std::make_unique<OutletTaker>(clock.partition(0), *outlet);
    if (buffer.present()) {
      queue = std::make_unique<Fifo<Transaction>>(buffer.queue_depth);
    }
    lsu = std::make_unique<Lsu>(
        "lsu", inside(), known, *control, pipe,
        Lsu::Sinks{.outlet = *outlet, .buffer = queue ? queue.get() : nullptr});
    outlet->bind(*lsu, *port);
    port->wake_at(1);
    if (queue) {
      behind = std::make_unique<BufferTaker>(inside(), *queue);
      queue->bind(*lsu, *behind);
    }
    std::vector<Lsu::Source> sources;
    for (std::uint32_t i = 0; i < kSources; ++i) {
      queues.push_back(std::make_unique<Fifo<MemOp>>(16));
      queues.back()->bind(subcores, *lsu, &lsu->inputs, i);
      sources.push_back({.queue = queues.back().get(), .answers = &answers});
    }
    lsu->connect(std::move(sources));
    note_growth(
        [this] {
          return queue ? queue->size() + behind->taken.size()
                       : outlet->waiting() + port->taken.size();
        },
        sent);
  }
  void put(Cycle cycle, std::uint32_t source, MemOp op) {
    auto held = std::make_shared<MemOp>(std::move(op));
    subcores.at(cycle, [this, source, held] { queues[source]->push(std::move(*held)); });
  }
  // One in each of the queues, in the order in which they are asked.
  void put_in_all(Cycle cycle) {
    for (std::uint32_t i = 0; i < kSources; ++i) {
      put(cycle, i, sum(SmallTrace::kBase + 4 * i));
    }
  }
  // The queues from which what has been sent came, of put_in_all().
  [[nodiscard]] std::vector<std::uint32_t> order() const {
    std::vector<std::uint32_t> from;
    for (const auto& taken : port->taken) {
      from.push_back(static_cast<std::uint32_t>(taken.what.address - SmallTrace::kBase) / 4);
    }
    return from;
  }

  Script subcores;
  FakeAnswers answers;
  LsuPipe pipe;
  std::unique_ptr<SmControl> control;
  std::unique_ptr<Outlet> outlet;
  std::unique_ptr<OutletTaker> port;
  std::unique_ptr<Fifo<Transaction>> queue;
  std::unique_ptr<BufferTaker> behind;
  std::unique_ptr<Lsu> lsu;
  std::vector<std::unique_ptr<Fifo<MemOp>>> queues;
  Cycles sent;  // the cycles in which transactions left
};

class LsuOnEitherClock : public testing::TestWithParam<Clocking> {};
INSTANTIATE_TEST_SUITE_P(Lsu, LsuOnEitherClock,
                         testing::Values(Clocking::kGated, Clocking::kReference),
                         testing::PrintToStringParamName());

TEST_P(LsuOnEitherClock, TakesAnInstructionInTheNextCycle) {
  LsuBench bench(GetParam());
  bench.build();
  bench.put(10, 0, sum());
  bench.run();
  EXPECT_EQ(bench.sent, Cycles{11});
  EXPECT_EQ(bench.port->when(), Cycles{12});
  EXPECT_TRUE(bench.lsu->empty());
  EXPECT_EQ(bench.pipe.busy(), to_ticks(2.09));
}

TEST_P(LsuOnEitherClock, SourcesTakeTurnsAtTheLeastOccupancyOfARed) {
  LsuBench bench(GetParam());
  bench.build();
  bench.put(5, 1, sum(SmallTrace::kBase + 4));
  bench.put_in_all(10);
  bench.put_in_all(10);
  bench.run();
  // 2.09 cycles each, from 11 on: the twelfth would begin at 11 + 22.99.
  EXPECT_EQ(bench.sent, (Cycles{6, 11, 13, 15, 17, 19, 21, 23, 25}));
  EXPECT_EQ(bench.order(), (std::vector<std::uint32_t>{1, 2, 3, 0, 1, 2, 3, 0, 1}));
}

TEST_P(LsuOnEitherClock, ASourceThatCouldGoOnWaitsForTheOthers) {
  LsuBench bench(GetParam());
  bench.gpu.lsu.hand_red = 0;
  bench.build();
  bench.put_in_all(10);
  bench.put_in_all(10);
  bench.run();
  EXPECT_EQ(bench.order(), (std::vector<std::uint32_t>{0, 1, 2, 3, 0, 1, 2, 3}));
}

TEST_P(LsuOnEitherClock, FractionsOfACycleAddUp) {
  LsuBench bench(GetParam());
  bench.gpu.lsu.hand_red = 0;
  bench.build();
  for (int i = 0; i < 14; ++i) {
    bench.put(10, 0, sum());
  }
  bench.run();
  // 535 / 256 cycles each: eleven of them are 22.99 and twelve 25.08.
  EXPECT_EQ(bench.sent, (Cycles{11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31, 33, 36, 38}));
}

TEST_P(LsuOnEitherClock, AQueueHandsItsRedsOverOneAfterTheOther) {
  LsuBench bench(GetParam());
  bench.gpu.lsu.hand_red = 6.5;
  bench.build();
  for (int i = 0; i < 4; ++i) {
    bench.put(10, 0, sum());
  }
  bench.put(10, 2, sum());
  bench.run();
  // Of the first queue at 11, 17.5, 24 and 30.5.
  EXPECT_EQ(bench.sent, (Cycles{11, 13, 17, 24, 30}));
}

TEST_P(LsuOnEitherClock, LanesOnOneAddressTakeAFlitEach) {
  LsuBench bench(GetParam());
  bench.build();
  bench.put(10, 0, lanes(32));
  bench.put(10, 1, lanes(3));
  bench.put(10, 2, lanes(1));
  bench.put(10, 3, sum());
  bench.run();
  // 32 x 261 / 256 = 32.63, 3.06 and 2.09.
  EXPECT_EQ(bench.sent, (Cycles{11, 43, 46, 48}));
  EXPECT_EQ(bench.port->taken[0].what.flits, 32U);
}

SmallTrace four_lines_of_eight() {
  SmallTrace trace(1, 1, 1, 4096, 4);
  std::vector<std::uint32_t> primitives;
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    primitives.push_back(lane % 4 * 32);
  }
  trace.event(0, 0, ~0U, primitives);
  return trace;
}

TEST_P(LsuOnEitherClock, ChangesOfLineCostTheLaterTurns) {
  LsuBench bench(GetParam(), four_lines_of_eight());
  bench.build();
  CtaContext& cta = bench.cta();
  MemOp op;
  op.mask = ~0U;
  op.event = {.cta = CtaHold::of(cta)};
  op.cta = &cta;
  bench.put(10, 0, std::move(op));
  bench.put(10, 1, sum());
  bench.run();
  // 8 flits, 8.16 cycles; of the others with 7 changes 9.00: 19.16, 28.16, 37.16, 46.17.
  EXPECT_EQ(bench.sent, (Cycles{11, 19, 28, 37, 46}));
  // The last one says whose RED has left.
  EXPECT_EQ(bench.port->taken[2].what.last_of, nullptr);
  EXPECT_EQ(bench.port->taken[3].what.last_of, &cta);
}

TEST_P(LsuOnEitherClock, AShuffleIsAnsweredWhenItHasLeftThePipe) {
  LsuBench bench(GetParam());
  bench.build();
  bench.put(10, 0, on_pipe(MemOpKind::kShuffle, 50, 2, 5));
  bench.put(10, 1, on_pipe(MemOpKind::kShared, 50.01, 2, 5));
  bench.put(10, 2, on_pipe(MemOpKind::kCached, 3, 0, 0));
  bench.put(10, 3, sum());
  bench.run();
  // From 11 to 61, from there to 111.01; the load that the L1 answers takes the pipe until 114.01.
  EXPECT_EQ(bench.answers.answers, (std::vector<Answer>{{11, 7, 61 + 26}, {61, 7, 112 + 26}}));
  EXPECT_EQ(bench.sent, Cycles{114});
}

TEST_P(LsuOnEitherClock, AShuffleIsAnsweredWhenItHasBeenHandedOver) {
  LsuBench bench(GetParam());
  bench.build();
  bench.put(10, 0, on_pipe(MemOpKind::kShuffle, 9.09, 36, 5));
  bench.put(10, 0, on_pipe(MemOpKind::kShuffle, 9.09, 36, 6));
  bench.put(10, 1, on_pipe(MemOpKind::kShuffle, 9.09, 36, 5));
  bench.put(10, 2, sum());
  bench.run();
  // From 5 to 41 and on to 77; beside it, of another source, to 41. The others take the pipe as
  // soon as it is free, at 20.09 and 29.18.
  EXPECT_EQ(bench.answers.answers,
            (std::vector<Answer>{{11, 7, 41 + 26}, {20, 7, 41 + 26}, {41, 7, 77 + 26}}));
  EXPECT_EQ(bench.sent, Cycles{29});
}

TEST_P(LsuOnEitherClock, ALoadIsFourSectorsOfWhichTheLastAnswers) {
  LsuBench bench(GetParam());
  bench.build();
  MemOp load;
  load.kind = MemOpKind::kLoad;
  load.warp_slot = 5;
  load.lsu_ticks = to_ticks(8);
  bench.put(10, 2, std::move(load));
  bench.put(10, 3, sum());
  bench.run();
  EXPECT_EQ(bench.sent, (Cycles{11, 13, 15, 17, 19}));
  EXPECT_EQ(bench.port->taken[2].what.answers, Transaction::kNoAnswer);
  EXPECT_EQ(bench.port->taken[3].what.answers, 5U);
  EXPECT_EQ(bench.port->taken[3].what.subcore, 2U);
}

TEST_P(LsuOnEitherClock, WaitsForRoomAndGoesOnInTheCycleInWhichItIsThere) {
  LsuBench bench(GetParam());
  bench.gpu.noc.injection_depth = 2;
  bench.build();
  bench.port->only_in({50, 60, 61});
  bench.put_in_all(10);
  bench.run(300);
  // The pipe is free for the third at 15.18 and, after that one, for the fourth at 53.09.
  EXPECT_EQ(bench.sent, (Cycles{11, 13, 51, 61}));
  EXPECT_EQ(bench.lsu->blocked_cycles(), (51 - 15) + (61 - 53));
}

TEST_P(LsuOnEitherClock, SaysForWhatItWaits) {
  LsuBench bench(GetParam());
  bench.gpu.noc.injection_depth = 1;
  bench.build();
  EXPECT_EQ(bench.lsu->waits(), "");
  bench.port->only_in({});
  bench.put_in_all(10);
  bench.run(300);
  EXPECT_EQ(bench.lsu->waits(),
            "lsu holds 1 transactions for the injection port, which has no room");
  EXPECT_FALSE(bench.lsu->empty());
}

MemOp scattered_red(CtaContext& cta) {
  MemOp op;
  op.mask = ~0U;
  op.warp_slot = 9;
  op.event = {.cta = CtaHold::of(cta)};
  op.cta = &cta;
  return op;
}

TEST_P(LsuOnEitherClock, TransactionsSayWhoWaitsForThem) {
  LsuBench bench(GetParam(), four_lines_of_eight());
  bench.gpu.rules.red_wait.name = "own-reds";
  bench.build();
  bench.put(10, 2, scattered_red(bench.cta()));
  bench.run();
  EXPECT_EQ(bench.answers.splits, (std::vector<Answer>{{11, 9, 4}}));
  ASSERT_EQ(bench.port->taken.size(), 4U);
  for (const auto& taken : bench.port->taken) {
    EXPECT_EQ(taken.what.answers, 9U);
    EXPECT_EQ(taken.what.subcore, 2U);
  }
  EXPECT_TRUE(bench.answers.red_answers.empty());
}

TEST_P(LsuOnEitherClock, NobodyWaitsWhereWarpsGoOn) {
  LsuBench bench(GetParam(), four_lines_of_eight());
  bench.build();
  bench.put(10, 2, scattered_red(bench.cta()));
  bench.run();
  EXPECT_TRUE(bench.answers.splits.empty());
  EXPECT_EQ(bench.port->taken.at(0).what.answers, Transaction::kNoAnswer);
}

TEST_P(LsuOnEitherClock, ABufferAnswersARedWhenItHasAllOfIt) {
  LsuBench bench(GetParam(), four_lines_of_eight());
  bench.gpu.rules.red_wait.name = "own-reds";
  bench.buffer = {.bytes = 1024, .ways = 1, .line_bytes = 32, .queue_depth = 4};
  bench.build();
  CtaContext& cta = bench.cta();
  cta.red_issued();
  bench.put(10, 2, scattered_red(cta));
  bench.run();
  EXPECT_EQ(bench.sent, (Cycles{11, 19, 28, 37}));
  EXPECT_EQ(bench.answers.red_answers, (std::vector<Answer>{{37, 9, 37 + 36}}));
  EXPECT_EQ(bench.behind->taken.at(0).what.answers, Transaction::kNoAnswer);
}

TEST_P(LsuOnEitherClock, ABufferGetsSectorsAndTheEndOfTheKernelBehindThem) {
  LsuBench bench(GetParam(), four_lines_of_eight());
  bench.buffer = {.bytes = 1024, .ways = 1, .line_bytes = 32, .queue_depth = 4};
  bench.build();
  CtaContext& cta = bench.cta();
  cta.red_issued();
  MemOp op;
  op.mask = ~0U;
  op.event = {.cta = CtaHold::of(cta)};
  op.cta = &cta;
  bench.put(10, 0, std::move(op));
  bench.subcores.at(20, [&] { bench.lsu->flushes.post(true); });
  std::vector<bool> out;
  for (const Cycle cycle : {36U, 38U}) {
    bench.subcores.at(cycle, [&] { out.push_back(cta.has_reds_out()); });
  }
  bench.run();
  EXPECT_EQ(bench.sent, (Cycles{11, 19, 28, 37, 38}));
  EXPECT_FALSE(bench.behind->taken[3].what.flush);
  EXPECT_TRUE(bench.behind->taken[4].what.flush);
  EXPECT_EQ(out, (std::vector<bool>{true, false}));
  EXPECT_TRUE(bench.lsu->empty());
}

TEST_P(LsuOnEitherClock, TheEndOfTheKernelWaitsForRoom) {
  LsuBench bench(GetParam());
  bench.buffer = {.bytes = 1024, .ways = 1, .line_bytes = 32, .queue_depth = 1};
  bench.build();
  bench.behind->only_in({40, 50});
  bench.put(10, 0, lanes(4));
  bench.subcores.at(10, [&] { bench.lsu->flushes.post(true); });
  bench.run(300);
  EXPECT_EQ(bench.sent, (Cycles{11, 41}));
  EXPECT_EQ(bench.behind->when(), (Cycles{40, 50}));
}

TEST_P(LsuOnEitherClock, BesideThePipeATransactionLeavesEachCycle) {
  LsuBench bench(GetParam(), four_lines_of_eight());
  bench.buffer = {
      .bytes = 1024, .ways = 1, .line_bytes = 32, .queue_depth = 4, .beside_pipe = true};
  bench.build();
  MemOp op;
  op.mask = ~0U;
  op.event = {.cta = CtaHold::of(bench.cta())};
  bench.put(9, 1, on_pipe(MemOpKind::kShared, 90, 0, 5));
  bench.put(10, 0, std::move(op));
  bench.put(10, 2, lanes(32));
  bench.run();
  EXPECT_EQ(bench.sent, (Cycles{11, 12, 13, 14, 15}));
  EXPECT_EQ(bench.pipe.busy(), to_ticks(90));
}

}  // namespace
}  // namespace warpfold::test

// SPDX-License-Identifier: Apache-2.0
// The channels by which blocks of a domain talk, between blocks that do what a case says: what one
// writes in a cycle the other sees in the next, and nobody is woken who did not ask for it.
#include "model/kernel/channel.hpp"

#include <gtest/gtest.h>

#include "tb/model/sm_bench.hpp"

namespace warpfold::test {
namespace {

// Notes the cycles in which it is woken.
class Sleeper : public Block {
 public:
  explicit Sleeper(Domain& domain) : Block("sleeper", domain) {}
  Cycles woken;

 private:
  void tick() override { woken.push_back(now()); }
};

class ChannelBench : public SmBench {
 public:
  explicit ChannelBench(Clocking clocking = Clocking::kGated)
      : SmBench(clocking), script(inside()), writer(inside()), reader(inside()) {}
  // The script stands for both sides, so that these note only what wakes them.
  Script script;
  Sleeper writer, reader;
};

class FifoOnEitherClock : public testing::TestWithParam<Clocking> {};
INSTANTIATE_TEST_SUITE_P(Fifo, FifoOnEitherClock,
                         testing::Values(Clocking::kGated, Clocking::kReference),
                         testing::PrintToStringParamName());

TEST_P(FifoOnEitherClock, AnEntryIsThereInTheNextCycleAndSoIsItsRoom) {
  ChannelBench bench(GetParam());
  Fifo<int> fifo(1);
  fifo.bind(bench.writer, bench.reader);
  int checks = 0;
  bench.script.at(10, [&] {
    EXPECT_TRUE(fifo.can_push());
    fifo.push(7);
    EXPECT_FALSE(fifo.can_push());
    EXPECT_TRUE(fifo.empty());
    EXPECT_EQ(fifo.size(), 0U);
  });
  bench.script.at(11, [&] {
    EXPECT_FALSE(fifo.empty());
    EXPECT_EQ(fifo.front(), 7);
    EXPECT_EQ(fifo.size(), 1U);
    fifo.pop();
    EXPECT_TRUE(fifo.empty());
    EXPECT_FALSE(fifo.can_push());
    EXPECT_EQ(fifo.size(), 1U);
  });
  bench.script.at(12, [&] {
    EXPECT_TRUE(fifo.can_push());
    EXPECT_EQ(fifo.size(), 0U);
    ++checks;
  });
  bench.run(300);
  EXPECT_EQ(checks, 1);
}

TEST_P(FifoOnEitherClock, KeepsTheOrderRoundItsRing) {
  ChannelBench bench(GetParam());
  Fifo<int> fifo(3);
  fifo.bind(bench.writer, bench.reader);
  std::vector<int> seen;
  int next = 0;
  // Two in, one out, at first; it is full now and then.
  for (Cycle cycle = 10; cycle < 60; ++cycle) {
    bench.script.at(cycle, [&, cycle] {
      for (int i = 0; i < 2 && fifo.can_push(); ++i) {
        fifo.push(next++);
      }
      for (Cycle i = 0; i <= cycle % 3 && !fifo.empty(); ++i) {
        seen.push_back(fifo.front());
        fifo.pop();
      }
    });
  }
  bench.run(300);
  EXPECT_GT(seen.size(), 40U);
  for (std::size_t i = 0; i < seen.size(); ++i) {
    EXPECT_EQ(seen[i], static_cast<int>(i));
  }
}

TEST_P(FifoOnEitherClock, SaysWhatFits) {
  ChannelBench bench(GetParam());
  Fifo<int> fifo(4);
  fifo.bind(bench.writer, bench.reader);
  bench.script.at(10, [&] {
    fifo.push(1);
    fifo.push(2);
    EXPECT_TRUE(fifo.can_push(2));
    EXPECT_FALSE(fifo.can_push(3));
    EXPECT_TRUE(fifo.can_push_below(3));
    EXPECT_FALSE(fifo.can_push_below(2));
    fifo.push(3);
    fifo.push(4);
    EXPECT_FALSE(fifo.can_push_below(9));
    EXPECT_THROW(fifo.push(5), CheckError);
    EXPECT_THROW(fifo.pop(), CheckError);
  });
  bench.run(300);
  EXPECT_EQ(fifo.size(), 4U);
}

TEST(Fifo, WakesAReaderOnceItHasAsked) {
  ChannelBench bench;
  Fifo<int> fifo(8);
  fifo.bind(bench.writer, bench.reader);
  for (const Cycle cycle : {10U, 20U, 30U, 40U}) {
    bench.script.at(cycle, [&] { fifo.push(1); });
  }
  bench.script.at(25, [&] { fifo.want_entries(); });
  bench.run();
  // It has asked at the start, too.
  EXPECT_EQ(bench.reader.woken, (Cycles{11, 31}));
  EXPECT_EQ(bench.writer.woken, Cycles{});
}

TEST(Fifo, WakesAWriterOnceItHasAsked) {
  ChannelBench bench;
  Fifo<int> fifo(2);
  fifo.bind(bench.writer, bench.reader);
  bench.script.at(10, [&] {
    fifo.push(1);
    fifo.push(2);
  });
  bench.script.at(15, [&] { fifo.want_room(); });
  bench.script.at(30, [&] { fifo.pop(); });
  bench.script.at(40, [&] { fifo.pop(); });
  bench.run();
  EXPECT_EQ(bench.writer.woken, Cycles{31});
}

TEST(Fifo, SeveralQueuesHaveABitEach) {
  ChannelBench bench;
  Inputs inputs;
  Fifo<int> low(2), high(2);
  low.bind(bench.writer, bench.reader, &inputs, 1);
  high.bind(bench.writer, bench.reader, &inputs, 5);
  std::vector<std::pair<Cycle, std::uint32_t>> held;
  for (Cycle cycle = 10; cycle < 15; ++cycle) {
    bench.script.at(cycle, [&, cycle] { held.emplace_back(cycle, inputs.held); });
  }
  bench.script.at(10, [&] { high.push(1); });
  bench.script.at(11, [&] { low.push(1); });
  bench.script.at(12, [&] { high.pop(); });
  bench.script.at(13, [&] { low.pop(); });
  bench.run();
  using Held = std::vector<std::pair<Cycle, std::uint32_t>>;
  EXPECT_EQ(held, (Held{{10, 0}, {11, 0b100000}, {12, 0b100010}, {13, 0b10}, {14, 0}}));
  EXPECT_EQ(bench.reader.woken, Cycles{11});  // for the first, and not asked again
}

TEST(Fifo, LiesInOneDomain) {
  ChannelBench bench;
  Sleeper elsewhere(bench.clock.partition(0));
  Fifo<int> fifo(1);
  EXPECT_THROW(fifo.bind(bench.writer, elsewhere), CheckError);
}

// Delivers a message as a cycle ends.
class Deliverer : public Channel {
 public:
  Deliverer(Domain& domain, Mailbox<int>& to) : to_(to) { join(domain); }
  void deliver() { request_update(); }

 private:
  void update() override { to_.deliver(3); }
  Mailbox<int>& to_;
};

TEST(Mailbox, MessagesComeTogetherInTheNextCycleAndOnce) {
  ChannelBench bench;
  Mailbox<int> mailbox;
  mailbox.bind(bench.reader);
  Deliverer deliverer(bench.inside(), mailbox);
  std::vector<std::pair<Cycle, int>> sums;
  for (Cycle cycle = 10; cycle < 14; ++cycle) {
    bench.script.at(cycle, [&, cycle] {
      int sum = 0;
      mailbox.take([&sum](int message) { sum += message; });
      sums.emplace_back(cycle, sum);
    });
  }
  bench.script.at(10, [&] {
    mailbox.post(1);
    mailbox.post(2);
    deliverer.deliver();
  });
  bench.script.at(12, [&] { deliverer.deliver(); });
  bench.run();
  EXPECT_EQ(sums, (std::vector<std::pair<Cycle, int>>{{10, 0}, {11, 6}, {12, 0}, {13, 3}}));
  EXPECT_EQ(bench.reader.woken, (Cycles{11, 13}));
}

}  // namespace
}  // namespace warpfold::test

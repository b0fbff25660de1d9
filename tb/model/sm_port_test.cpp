// SPDX-License-Identifier: Apache-2.0
// The injection port of an SM and the outlet in front of it, between a block of the SM, the
// entrances of an L2 and an owner that are made up. What is put into the outlet in cycle 10 asks
// to be let in in 11.
#include <gtest/gtest.h>

#include "model/gpu/sm/injection_port.hpp"
#include "tb/model/sm_bench.hpp"

namespace warpfold::test {
namespace {

// Lets in who asks, as a cycle ends: that in which it asks, but in none before the one from which
// it does.
class FakeEntrance : public Block, public Entrance {
 public:
  explicit FakeEntrance(Partition& partition) : Block("entrance", partition), gate_(partition) {}
  void connect(Injector& injector) { gate_.injector = &injector; }
  void let_in_from(Cycle cycle) { from_ = cycle; }
  void request(Partition& /*from*/, std::uint32_t sm) override {
    asked.push_back(now());
    sms.push_back(sm);
    if (now() >= from_) {
      gate_.open();
    } else {
      waits_ = true;
      wake_at(from_);
    }
  }
  Cycles asked;
  std::vector<std::uint32_t> sms;

 private:
  class Gate : public Channel {
   public:
    explicit Gate(Partition& partition) { join(partition); }
    void open() { request_update(); }
    Injector* injector = nullptr;

   private:
    void update() override { injector->grant(); }
  };
  void tick() override {
    if (waits_ && now() >= from_) {
      waits_ = false;
      gate_.open();
    }
  }
  Gate gate_;
  Cycle from_ = 0;
  bool waits_ = false;
};

struct LoadAnswer {
  Cycle cycle;
  std::uint32_t slot;
  Cycle due;
  bool operator==(const LoadAnswer&) const = default;
};
void PrintTo(const LoadAnswer& answer, std::ostream* out) {
  *out << "slot " << answer.slot << " in " << answer.cycle << ", due " << answer.due;
}

class FakeOwner : public PortOwner {
 public:
  explicit FakeOwner(Domain& domain) : domain_(domain) {}
  void red_left(CtaContext& cta) override { left.emplace_back(domain_.now(), &cta); }
  void answer_load(std::uint64_t asker, Cycle due) override {
    answers.push_back({domain_.now(), slot_of_asker(asker), due});
  }
  void answer_red(std::uint64_t asker, Cycle due) override {
    red_answers.push_back({domain_.now(), static_cast<std::uint32_t>(asker), due});
  }
  std::vector<LoadAnswer> red_answers;
  std::vector<std::pair<Cycle, CtaContext*>> left;
  std::vector<LoadAnswer> answers;

 private:
  Domain& domain_;
};

// A port for each line, two slices behind it.
class ByLine : public SliceMap {
 public:
  [[nodiscard]] Place place(Address address) const override {
    return {.port = static_cast<std::uint32_t>(address / 128 % 2),
            .slice = static_cast<std::uint32_t>(address / 256 % 2)};
  }
};

// Puts transactions into the outlet, from a cycle on, as soon as there is room.
class Writer : public Block {
 public:
  Writer(Domain& domain, Outlet& outlet) : Block("writer", domain), outlet_(outlet) {}
  void put(Cycle from, std::vector<Transaction> transactions) {
    from_ = from;
    transactions_ = std::move(transactions);
    wake_at(from);
  }
  Cycles when;

 private:
  void tick() override {
    if (now() < from_ || when.size() == transactions_.size()) {
      return;
    }
    if (!outlet_.can_push()) {
      outlet_.want_room();
      return;
    }
    outlet_.push(std::move(transactions_[when.size()]));
    when.push_back(now());
    wake_next();
  }
  Outlet& outlet_;
  Cycle from_ = 0;
  std::vector<Transaction> transactions_;
};

Transaction red(std::uint16_t flits, Address address = 0) {
  Transaction transaction;
  transaction.flits = transaction.packets = transaction.lone_words = flits;
  transaction.address = address;
  return transaction;
}

Transaction load(std::uint8_t answers = Transaction::kNoAnswer) {
  Transaction transaction;
  transaction.load = true;
  transaction.answers = answers;
  return transaction;
}

template <typename... T>
std::vector<Transaction> list(T... each) {
  std::vector<Transaction> all;
  (all.push_back(std::move(each)), ...);
  return all;
}

class PortBench : public SmBench {
 public:
  explicit PortBench(Clocking clocking, std::size_t depth = 64)
      : SmBench(clocking),
        owner(clock.partition(0)),
        outlet(wheel, inside(), depth),
        writer(inside(), outlet),
        entrances{FakeEntrance(clock.partition(0)), FakeEntrance(clock.partition(0))} {
    wheel.keep(outlet);
  }
  void build() {
    port = std::make_unique<InjectionPort>("port", clock.partition(0), gpu, 3, outlet, owner);
    port->connect(map, {&entrances[0], &entrances[1]});
    entrances[0].connect(*port);
    entrances[1].connect(*port);
    outlet.bind(writer, *port);
    port->wake_at(1);
  }

  ByLine map;
  FakeOwner owner;
  Outlet outlet;
  Writer writer;
  FakeEntrance entrances[2];
  std::unique_ptr<InjectionPort> port;
};

class PortOnEitherClock : public testing::TestWithParam<Clocking> {};
INSTANTIATE_TEST_SUITE_P(InjectionPort, PortOnEitherClock,
                         testing::Values(Clocking::kGated, Clocking::kReference),
                         testing::PrintToStringParamName());

TEST_P(PortOnEitherClock, SendsAFlitInEachOfItsCycles) {
  PortBench bench(GetParam());
  bench.build();
  bench.writer.put(10, list(red(1), red(5), red(2), red(1), red(1)));
  bench.run();
  EXPECT_EQ(bench.entrances[0].asked, (Cycles{11, 12, 17, 19, 20}));
  EXPECT_EQ(bench.port->flits(), 10U);
  EXPECT_EQ(bench.port->busy(), at_cycle(10));
  EXPECT_EQ(bench.port->busy_until(), at_cycle(21));
  EXPECT_EQ(bench.entrances[0].sms[0], 3U);
  EXPECT_TRUE(bench.port->idle());
}

TEST_P(PortOnEitherClock, AnAnswerToARedTakesTheWayBackOfALoad) {
  PortBench bench(GetParam());
  bench.gpu.latency.global_load = 250;
  bench.gpu.noc.latency = 190;
  bench.build();
  Transaction waited_for = red(3);
  waited_for.answers = 5;
  bench.writer.put(10, list(std::move(waited_for)));
  Script l2(bench.clock.partition(0));
  l2.at(50, [&] { bench.port->added(0x205); });
  bench.run();
  EXPECT_EQ(bench.owner.red_answers, (std::vector<LoadAnswer>{{50, 0x205, 50 + 60}}));
  EXPECT_TRUE(bench.owner.answers.empty());
  EXPECT_FALSE(bench.outlet.has_loads());
}

TEST_P(PortOnEitherClock, FractionsOfACycleAddUp) {
  PortBench bench(GetParam());
  bench.gpu.noc.flit_cycles = 1.75;
  bench.build();
  bench.writer.put(10, list(red(1), red(1), red(1), red(1), red(1)));
  bench.run();
  // At 11, 12.75, 14.5, 16.25 and 18.
  EXPECT_EQ(bench.entrances[0].asked, (Cycles{11, 12, 14, 16, 18}));
}

TEST_P(PortOnEitherClock, IsTakenFromWhenItIsLetIn) {
  PortBench bench(GetParam());
  bench.build();
  bench.entrances[0].let_in_from(50);
  bench.writer.put(10, list(red(4), red(1)));
  bench.run();
  EXPECT_EQ(bench.entrances[0].asked, (Cycles{11, 54}));
}

TEST_P(PortOnEitherClock, AsksAtThePortOfTheLine) {
  PortBench bench(GetParam());
  bench.build();
  bench.writer.put(10, list(red(1, 128), red(1, 256 + 127), red(1, 256 + 128)));
  bench.run();
  EXPECT_EQ(bench.entrances[0].asked, Cycles{12});
  EXPECT_EQ(bench.entrances[1].asked, (Cycles{11, 13}));
}

TEST_P(PortOnEitherClock, ALoadIsOneFlitAndAnsweredALatencyAfterItIsLetIn) {
  PortBench bench(GetParam());
  bench.build();
  bench.entrances[0].let_in_from(40);
  bench.writer.put(10, list(load(), load(9), red(1)));
  bench.run();
  EXPECT_EQ(bench.entrances[0].asked, (Cycles{11, 41, 42}));
  EXPECT_EQ(bench.owner.answers,
            (std::vector<LoadAnswer>{{42, 9, 41 + bench.gpu.latency.global_load}}));
  EXPECT_EQ(bench.port->load_flits(), 2U);
  EXPECT_EQ(bench.port->flits(), 1U);
}

TEST_P(PortOnEitherClock, AnAnswerIsYetToCome) {
  PortBench bench(GetParam());
  bench.gpu.latency.global_load = 1;
  bench.build();
  bench.writer.put(10, list(load(9)));
  bench.run();
  EXPECT_EQ(bench.owner.answers, (std::vector<LoadAnswer>{{12, 9, 13}}));
}

TEST_P(PortOnEitherClock, TellsWhenTheLastOfARedHasLeft) {
  PortBench bench(GetParam());
  bench.build();
  CtaContext& cta = bench.cta();
  std::vector<Transaction> two = list(red(3), red(3));
  two[1].last_of = &cta;
  bench.writer.put(10, std::move(two));
  bench.run();
  EXPECT_EQ(bench.owner.left, (std::vector<std::pair<Cycle, CtaContext*>>{{15, &cta}}));
}

TEST_P(PortOnEitherClock, RoomIsThereInTheCycleAfterItTakesAnEntry) {
  PortBench bench(GetParam(), 1);
  bench.build();
  bench.entrances[0].let_in_from(50);
  bench.writer.put(10, list(red(1), red(1), red(1)));
  bench.run();
  // Let in in 50, it takes the entry in 51.
  EXPECT_EQ(bench.writer.when, (Cycles{10, 52, 55}));
  EXPECT_EQ(bench.entrances[0].asked, (Cycles{11, 53, 56}));
}

TEST_P(PortOnEitherClock, ALostGrantHoldsItUpForEver) {
  PortBench bench(GetParam());
  bench.build();
  bench.port->lose_grants(1);
  bench.writer.put(10, list(red(1, 128), red(1)));
  bench.run();
  EXPECT_EQ(bench.port->waits(), "port waits for port 1 of the L2");
  EXPECT_FALSE(bench.port->idle());
  EXPECT_EQ(bench.port->flits(), 0U);
  EXPECT_TRUE(bench.entrances[0].asked.empty());
}

TEST(InjectionPort, SeesAnEntryNoSoonerFromAnSmThatIsAhead) {
  PortBench bench(Clocking::kGated);
  bench.build();
  bench.wheel.run_ahead(40);
  bench.writer.put(100, list(red(1), red(5), red(1)));
  Script later(bench.inside());
  later.at(120, [&] { bench.outlet.push(red(1)); });
  bench.run();
  EXPECT_EQ(bench.writer.when, (Cycles{100, 101, 102}));
  EXPECT_EQ(bench.entrances[0].asked, (Cycles{101, 102, 107, 121}));
}

TEST(InjectionPort, TakesFromAnSmThatIsBehindAndGivesItRoomAsIfItWereNot) {
  PortBench bench(Clocking::kGated, 12);
  bench.build();
  bench.wheel.stay_behind(30, 60);
  std::vector<Transaction> transactions;
  for (int i = 0; i < 20; ++i) {
    transactions.push_back(red(10));
  }
  bench.writer.put(10, std::move(transactions));
  bench.run();
  // An entry is taken in 12, 22 and so on, also from 30 to 60.
  EXPECT_EQ(bench.writer.when, (Cycles{10, 11, 12, 13, 14, 15, 16, 17, 18, 19,
                                       20, 21, 22, 23, 33, 43, 53, 63, 73, 83}));
  EXPECT_EQ(bench.entrances[0].asked[5], 61U);
  EXPECT_EQ(bench.entrances[0].asked.size(), 20U);
}

class OutletOnEitherClock : public testing::TestWithParam<Clocking> {};
INSTANTIATE_TEST_SUITE_P(Outlet, OutletOnEitherClock,
                         testing::Values(Clocking::kGated, Clocking::kReference),
                         testing::PrintToStringParamName());

TEST_P(OutletOnEitherClock, SaysHowFullItWasAtTheStartOfTheCycle) {
  SmBench bench(GetParam());
  Outlet outlet(bench.wheel, bench.inside(), 8);
  bench.wheel.keep(outlet);
  Script writer(bench.inside());
  OutletTaker port(bench.clock.partition(0), outlet);
  outlet.bind(writer, port);
  port.only_in({20, 30});
  std::vector<std::pair<Cycle, bool>> quarter;
  const auto look = [&] { quarter.emplace_back(bench.inside().now(), outlet.quarter_full()); };
  writer.at(10, [&] { outlet.push(red(1)); });
  writer.at(11, look);
  writer.at(12, [&] {
    outlet.push(red(1));
    look();
    EXPECT_FALSE(outlet.settled());
  });
  for (const Cycle cycle : {13U, 20U, 21U}) {
    writer.at(cycle, look);
  }
  bench.run(300);
  using Looks = std::vector<std::pair<Cycle, bool>>;
  EXPECT_EQ(quarter, (Looks{{11, false}, {12, false}, {13, true}, {20, true}, {21, false}}));
  EXPECT_EQ(port.when(), (Cycles{20, 30}));
  EXPECT_TRUE(outlet.idle());
}

TEST_P(OutletOnEitherClock, RefusesAnEntryThatDoesNotFit) {
  SmBench bench(GetParam());
  Outlet outlet(bench.wheel, bench.inside(), 2);
  bench.wheel.keep(outlet);
  Script writer(bench.inside());
  OutletTaker port(bench.clock.partition(0), outlet);
  outlet.bind(writer, port);
  port.only_in({20});
  writer.at(10, [&] {
    outlet.push(red(1));
    outlet.push(red(1));
    EXPECT_FALSE(outlet.can_push());
  });
  writer.at(20, [&] { EXPECT_FALSE(outlet.can_push()); });
  writer.at(21, [&] { EXPECT_TRUE(outlet.can_push()); });
  writer.at(22, [&] {
    outlet.push(red(1));
    EXPECT_THROW(outlet.push(red(1)), CheckError);
  });
  bench.run(300);
  EXPECT_EQ(outlet.waiting(), 2U);
}

}  // namespace
}  // namespace warpfold::test

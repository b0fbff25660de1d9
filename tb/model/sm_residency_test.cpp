// SPDX-License-Identifier: Apache-2.0
// Which CTAs an SM has, between a dispatcher and an SM that are made up; and what the warps of an
// SM tell each other, between sub-cores that are made up.
#include <gtest/gtest.h>

#include "model/gpu/sm/residency.hpp"
#include "model/gpu/sm/sm_control.hpp"
#include "tb/model/sm_bench.hpp"

namespace warpfold::test {
namespace {

// Notes down what it is to do.
class FakeRunner : public CtaRunner {
 public:
  explicit FakeRunner(const Domain& domain) : domain_(domain) {}
  void begin_cta(CtaContext& cta) override { begun.emplace_back(domain_.now(), cta.sequence); }
  void begin_warp(CtaContext& /*cta*/, std::uint32_t /*warp*/, std::size_t subcore) override {
    placed.push_back(subcore);
  }
  void end_kernel() override { ended.push_back(domain_.now()); }
  std::vector<std::pair<Cycle, std::uint64_t>> begun;
  std::vector<std::size_t> placed;  // the sub-core of each warp
  Cycles ended;

 private:
  const Domain& domain_;
};

// Hears of the CTAs that end.
class FakeDispatcher : public Block {
 public:
  explicit FakeDispatcher(Domain& domain) : Block("dispatcher", domain) { finished.bind(*this); }
  Mailbox<std::uint32_t> finished;
  std::vector<std::pair<Cycle, std::uint32_t>> heard;

 private:
  void tick() override {
    finished.take([this](std::uint32_t sm) { heard.emplace_back(now(), sm); });
    mail_taken();
  }
};

using Heard = std::vector<std::pair<Cycle, std::uint32_t>>;

class ResidencyBench : public SmBench {
 public:
  ResidencyBench(Clocking clocking, std::uint32_t ctas, std::uint32_t warps)
      : SmBench(clocking, SmallTrace(ctas, warps, 1, 4, 4)),
        partition(clock.partition(0)),
        runner(partition),
        dispatcher(partition),
        script(partition),
        residency(partition, runner, 4) {
    residency.connect(partition, dispatcher.finished);
  }
  CtaContext& launch(Cycle cycle, std::size_t index) {
    CtaContext& launched = cta(index);
    launched.sm = 5;
    script.at(cycle, [this, &launched] { residency.launch(CtaHold::of(launched)); });
    return launched;
  }

  Partition& partition;
  FakeRunner runner;
  FakeDispatcher dispatcher;
  Script script;
  Residency residency;
};

class ResidencyOnEitherClock : public testing::TestWithParam<Clocking> {};
INSTANTIATE_TEST_SUITE_P(Residency, ResidencyOnEitherClock,
                         testing::Values(Clocking::kGated, Clocking::kReference),
                         testing::PrintToStringParamName());

TEST_P(ResidencyOnEitherClock, WarpsGoWhereMostSlotsAreFree) {
  ResidencyBench bench(GetParam(), 3, 3);
  bench.launch(10, 0);
  CtaContext& second = bench.launch(11, 1);
  bench.script.at(20, [&] { bench.residency.ended(second); });
  bench.launch(21, 2);
  bench.run();
  using Begun = std::vector<std::pair<Cycle, std::uint64_t>>;
  EXPECT_EQ(bench.runner.begun, (Begun{{10, 0}, {11, 1}, {21, 2}}));
  // In turn; then sub-core 2 would be next, but of 3 nobody has a slot any more.
  EXPECT_EQ(bench.runner.placed, (std::vector<std::size_t>{0, 1, 2, 3, 0, 1, 3, 0, 1}));
  EXPECT_EQ(bench.dispatcher.heard, (Heard{{21, 5}}));
}

TEST_P(ResidencyOnEitherClock, WarpsThatEndInTheCycleStillHoldTheirPlaces) {
  ResidencyBench bench(GetParam(), 5, 1);
  std::vector<CtaContext*> ctas;
  for (std::size_t i = 0; i < 4; ++i) {
    ctas.push_back(&bench.launch(10 + i, i));
  }
  bench.script.at(20, [&] { bench.residency.ended(*ctas[2]); });
  bench.launch(20, 4);
  bench.run();
  EXPECT_EQ(bench.runner.placed, (std::vector<std::size_t>{0, 1, 2, 3, 0}));
}

TEST_P(ResidencyOnEitherClock, ACtaKeepsItsPlaceUntilItsRedsHaveLeft) {
  ResidencyBench bench(GetParam(), 1, 4);
  CtaContext& cta = bench.launch(10, 0);
  cta.red_issued();
  cta.red_issued();
  bench.script.at(20, [&] { bench.residency.red_left(cta); });
  bench.script.at(30, [&] { bench.residency.ended(cta); });
  bench.script.at(40, [&] { EXPECT_FALSE(bench.residency.empty()); });
  bench.script.at(50, [&] { bench.residency.red_left(cta); });
  bench.script.at(51, [&] { EXPECT_TRUE(bench.residency.empty()); });
  bench.run();
  EXPECT_EQ(bench.dispatcher.heard, (Heard{{51, 5}}));
}

TEST_P(ResidencyOnEitherClock, TheEndIsToldAsTheCycleEnds) {
  ResidencyBench bench(GetParam(), 1, 4);
  bench.script.at(10, [&] {
    bench.residency.close();
    EXPECT_FALSE(bench.residency.closed());
  });
  bench.script.at(11, [&] { EXPECT_TRUE(bench.residency.closed()); });
  bench.script.at(20, [&] { bench.residency.flush(); });
  bench.run();
  EXPECT_EQ(bench.runner.ended, Cycles{20});
}

TEST(Residency, NoticesTheEndOfACtaThatIsNotThere) {
  ResidencyBench bench(Clocking::kGated, 1, 4);
  CtaContext& cta = bench.cta();
  bench.script.at(10, [&] { bench.residency.ended(cta); });
  EXPECT_THROW(bench.run(), CheckError);
}

// A sub-core that hears of barriers.
class FakeSubcore : public Block {
 public:
  explicit FakeSubcore(Domain& domain) : Block("subcore", domain) { releases.bind(*this); }
  Mailbox<BarrierRelease> releases;
  struct Release {
    Cycle cycle;
    std::uint64_t cta;
    Ticks arrived;
    bool operator==(const Release&) const = default;
  };
  std::vector<Release> heard;

 private:
  void tick() override {
    releases.take([this](const BarrierRelease& release) {
      heard.push_back({now(), release.cta->sequence, release.arrived});
    });
    mail_taken();
  }
};
void PrintTo(const FakeSubcore::Release& release, std::ostream* out) {
  *out << "CTA " << release.cta << " in " << release.cycle << ", taken at " << release.arrived;
}

class ControlBench : public SmBench {
 public:
  ControlBench(Clocking clocking, std::uint32_t ctas, bool buffered = false)
      : SmBench(clocking, SmallTrace(ctas, 2, 1, 4, 4)),
        script(inside()),
        subcores{FakeSubcore(inside()), FakeSubcore(inside())},
        control(inside(), gpu, buffered, wheel) {
    control.connect({&subcores[0].releases, &subcores[1].releases});
    for (std::uint32_t i = 0; i < ctas; ++i) {
      launched.push_back(&cta(i));
      control.launch(launched.back());
    }
  }
  void arrive(Cycle cycle, std::size_t index) {
    script.at(cycle, [this, index, cycle] { control.barrier_arrived(launched[index], cycle); });
  }
  void finish(Cycle cycle, std::size_t index) {
    script.at(cycle, [this, index] { control.warp_finished(launched[index]); });
  }

  Script script;
  FakeSubcore subcores[2];
  SmControl control;
  std::vector<CtaContext*> launched;
};

using Releases = std::vector<FakeSubcore::Release>;

class ControlOnEitherClock : public testing::TestWithParam<Clocking> {};
INSTANTIATE_TEST_SUITE_P(SmControl, ControlOnEitherClock,
                         testing::Values(Clocking::kGated, Clocking::kReference),
                         testing::PrintToStringParamName());

TEST_P(ControlOnEitherClock, ABarrierOpensInTheCycleAfterTheLastArrival) {
  ControlBench bench(GetParam(), 1);
  bench.arrive(10, 0);
  bench.arrive(30, 0);
  bench.arrive(40, 0);
  bench.arrive(41, 0);
  bench.run();
  // An arrival takes two cycles: the last one begins in 42.
  EXPECT_EQ(bench.subcores[0].heard, (Releases{{31, 0, at_cycle(32)}, {42, 0, at_cycle(44)}}));
  EXPECT_EQ(bench.subcores[1].heard, bench.subcores[0].heard);
}

TEST_P(ControlOnEitherClock, ArrivalsOfACycleAreTakenInTheOrderOfTheirCtas) {
  ControlBench bench(GetParam(), 2);
  bench.arrive(10, 1);
  bench.arrive(10, 0);
  bench.arrive(20, 1);
  bench.arrive(20, 0);
  bench.run();
  EXPECT_EQ(bench.subcores[0].heard, (Releases{{21, 0, at_cycle(22)}, {21, 1, at_cycle(24)}}));
}

TEST_P(ControlOnEitherClock, WhoHasEndedIsNotWaitedForAtABarrier) {
  ControlBench bench(GetParam(), 1);
  bench.arrive(10, 0);
  bench.finish(20, 0);
  bench.run();
  EXPECT_EQ(bench.subcores[0].heard, (Releases{{21, 0, at_cycle(12)}}));
}

TEST_P(ControlOnEitherClock, ACtaEndsWithItsLastWarp) {
  ControlBench bench(GetParam(), 2);
  bench.finish(10, 1);
  bench.finish(20, 1);
  bench.script.at(20, [&] { EXPECT_EQ(bench.control.running(), 2U); });
  bench.script.at(21, [&] { EXPECT_EQ(bench.control.running(), 1U); });
  bench.run();
  ASSERT_EQ(bench.control.ended.size(), 1U);
  EXPECT_EQ(bench.control.ended.front().cta, bench.launched[1]);
  EXPECT_EQ(bench.control.ended.front().cycle, 20U);
}

TEST_P(ControlOnEitherClock, WithABufferACtaEndsWhenItsRedsAreInIt) {
  ControlBench bench(GetParam(), 1, true);
  bench.launched[0]->red_issued();
  bench.launched[0]->red_issued();
  bench.finish(10, 0);
  bench.finish(20, 0);
  bench.script.at(30, [&] { bench.control.red_buffered(bench.launched[0]); });
  bench.script.at(40, [&] { bench.control.red_buffered(bench.launched[0]); });
  bench.run();
  ASSERT_EQ(bench.control.ended.size(), 1U);
  EXPECT_EQ(bench.control.ended.front().cycle, 40U);
}

TEST(SmControl, NoticesAWarpOfACtaThatHasEnded) {
  ControlBench bench(Clocking::kGated, 1);
  bench.finish(10, 0);
  bench.finish(11, 0);
  bench.finish(12, 0);
  EXPECT_THROW(bench.run(), CheckError);
}

}  // namespace
}  // namespace warpfold::test

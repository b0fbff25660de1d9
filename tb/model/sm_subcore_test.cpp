// SPDX-License-Identifier: Apache-2.0
// A sub-core between a dispatcher, a load-store unit, an admission rule and an ARC unit that are
// made up. CTAs come in cycle 1 and may issue from 10 on.
#include <gtest/gtest.h>

#include "model/gpu/sm/subcore.hpp"
#include "tb/model/sm_bench.hpp"
#include "tb/model/sm_fake_unit.hpp"

namespace warpfold::test {
namespace {

constexpr Cycle kFirst = 10;
using Slots = std::vector<std::uint32_t>;

// Lets all in but one slot, that from a cycle on.
class Doorman : public QueueAdmission {
 public:
  using Notes = std::vector<std::pair<std::uint32_t, Cycle>>;
  struct Log {
    bool says_it_admits_all = false;
    Notes wants, enters;
  };
  Doorman(const Domain& domain, std::uint32_t slot, Cycle until, Log& log)
      : domain_(domain), slot_(slot), until_(until), log_(log) {}
  [[nodiscard]] bool admits_all() const override { return log_.says_it_admits_all; }
  void wants(std::uint32_t slot, Cycle cycle) override { log_.wants.emplace_back(slot, cycle); }
  void enters(std::uint32_t slot, Cycle cycle) override { log_.enters.emplace_back(slot, cycle); }
  SlotMask admitted(SlotMask wanting) override {
    return domain_.now() < until_ ? wanting & ~(SlotMask{1} << slot_) : wanting;
  }
  Cycle decided(bool /*has_room*/, Cycle cycle) override {
    return cycle < until_ ? until_ : kNever;
  }
  [[nodiscard]] bool depends_on_time() const override { return until_ > 0; }

 private:
  const Domain& domain_;
  const std::uint32_t slot_;
  const Cycle until_;
  Log& log_;
};

class SubcoreBench : public SmBench {
 public:
  SubcoreBench(Clocking clocking, const SmallTrace& made_up)
      : SmBench(clocking, made_up), pipe(inside()), match_pipe(inside()), script(inside()) {
    gpu.latency.cta_launch = 8;
  }
  void build(const std::string& policy = "baseline") {
    const SmContext& known = context(policy);
    control = std::make_unique<SmControl>(inside(), gpu, false, wheel);
    subcore = std::make_unique<Subcore>(
        "subcore", inside(), known,
        Subcore::Shared{
            .control = *control, .pipe = pipe, .match_pipe = match_pipe, .loads = nullptr},
        std::make_unique<Doorman>(inside(), refused, refused_until, door),
        policy == "arc-hw" ? std::make_unique<FakeUnit>(inside(), plan, unit) : nullptr);
    lsu = std::make_unique<QueueTaker>(inside(), subcore->memory_queue);
    subcore->memory_queue.bind(*subcore, *lsu);
    control->connect({&subcore->barrier_releases});
    note_growth([this] { return subcore->memory_queue.size() + lsu->taken.size(); }, put);
    for (std::size_t i = 0; i < trace.ctas.size(); ++i) {
      CtaContext& launched = cta(i);
      first_cta = i == 0 ? &launched : first_cta;
      script.at(1, [this, &launched] {
        control->launch(&launched);
        for (std::uint32_t w = 0; w < launched.trace.warps.size() - warps_elsewhere; ++w) {
          subcore->launches.post({&launched, w});
        }
      });
    }
  }
  // Of the instructions that came through the memory queue.
  [[nodiscard]] Slots slots() const {
    Slots all;
    for (const auto& taken : lsu->taken) {
      all.push_back(taken.what.warp_slot);
    }
    return all;
  }
  std::uint64_t cycles(CycleCause cause) {
    return subcore->ledger().cycles()[static_cast<std::size_t>(cause)];
  }
  std::uint64_t warp_cycles(CycleCause cause) {
    return subcore->ledger().warp_cycles()[static_cast<std::size_t>(cause)];
  }

  LsuPipe pipe, match_pipe;
  Script script;
  std::uint32_t warps_elsewhere = 0;  // of a CTA, on other sub-cores
  std::uint32_t refused = 0;
  Cycle refused_until = 0;
  Doorman::Log door;
  FakeUnitPlan plan;
  FakeUnitLog unit;
  CtaContext* first_cta = nullptr;
  std::unique_ptr<SmControl> control;
  std::unique_ptr<Subcore> subcore;
  std::unique_ptr<QueueTaker> lsu;
  Cycles put;  // the cycles in which instructions came into the memory queue
};

// A RED of each of so many warps, for each parameter.
SmallTrace a_red_each(std::uint32_t warps, std::uint32_t parameters = 1) {
  SmallTrace trace(1, warps, parameters, 64, 4 * parameters);
  for (std::uint32_t w = 0; w < warps; ++w) {
    trace.event(0, w, 0xf, w);
  }
  return trace;
}

class SubcoreOnEitherClock : public testing::TestWithParam<Clocking> {};
INSTANTIATE_TEST_SUITE_P(Subcore, SubcoreOnEitherClock,
                         testing::Values(Clocking::kGated, Clocking::kReference),
                         testing::PrintToStringParamName());

TEST_P(SubcoreOnEitherClock, WarpsTakeTurns) {
  SubcoreBench bench(GetParam(), a_red_each(3, 2));
  bench.build();
  bench.run();
  EXPECT_EQ(bench.put, (Cycles{10, 11, 12, 13, 14, 15}));
  EXPECT_EQ(bench.slots(), (Slots{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(bench.lsu->taken[5].what.address, bench.addresses.address(2, 1));
  EXPECT_EQ(bench.lsu->taken[5].what.mask, 0xfU);
  EXPECT_TRUE(bench.subcore->empty());
}

TEST_P(SubcoreOnEitherClock, GreedyWarpsGoOnAndThenTheOldest) {
  SubcoreBench bench(GetParam(), a_red_each(3, 2));
  bench.gpu.sm.issue_order = IssueOrder::kGreedyThenOldest;
  bench.build();
  bench.run();
  EXPECT_EQ(bench.put, (Cycles{10, 11, 12, 13, 14, 15}));
  EXPECT_EQ(bench.slots(), (Slots{0, 0, 1, 1, 2, 2}));
}

TEST_P(SubcoreOnEitherClock, RunsTakeTurnsToo) {
  SmallTrace trace(1, 2, 1, 64, 4);
  trace.path_cost(0, {.alu = 1});
  trace.work(0, 0, 10);
  trace.work(0, 1, 3);
  trace.event(0, 0, 1, 0);
  trace.event(0, 1, 1, 0);
  SubcoreBench bench(GetParam(), trace);
  bench.build();
  bench.run();
  // Until 16 in turn, the short one's RED, and the six that are left.
  EXPECT_EQ(bench.slots(), (Slots{1, 0}));
  EXPECT_EQ(bench.put, (Cycles{17, 24}));
  bench.subcore->finish(2000);
  EXPECT_EQ(bench.cycles(CycleCause::kIssued), 15U);
  EXPECT_EQ(bench.subcore->stats().issued, 15U);
  // Each of the eight cycles in which both could issue.
  EXPECT_EQ(bench.warp_cycles(CycleCause::kIdle), 8U);
}

TEST_P(SubcoreOnEitherClock, DependentWorkDelaysTheWarp) {
  SmallTrace trace(1, 1, 1, 64, 4);
  trace.path_cost(0, {.alu = 3, .stall_cycles = 50});
  trace.work(0, 0, 2);
  trace.event(0, 0, 1, 0);
  SubcoreBench bench(GetParam(), trace);
  bench.build();
  bench.run();
  EXPECT_EQ(bench.put, Cycles{110});
  bench.subcore->finish(200);
  EXPECT_EQ(bench.cycles(CycleCause::kIssued), 7U);
  // The launch, too; the warp ends in 111.
  EXPECT_EQ(bench.cycles(CycleCause::kDependency), 94U + 8);
  EXPECT_EQ(bench.control->ended.front().cycle, 111U);
  EXPECT_EQ(bench.control->running(), 0U);
}

TEST_P(SubcoreOnEitherClock, AFullMemoryQueueStallsAndIsTheCause) {
  SubcoreBench bench(GetParam(), a_red_each(4));
  bench.gpu.lsu.queue_depth = 2;
  bench.build();
  bench.lsu->only_in({50, 60, 70, 71});
  bench.run();
  EXPECT_EQ(bench.put, (Cycles{10, 11, 51, 61}));
  bench.subcore->finish(2000);
  EXPECT_EQ(bench.cycles(CycleCause::kIssued), 4U);
  EXPECT_EQ(bench.cycles(CycleCause::kMemoryQueue), (51U - 12) + (61 - 52));
  // Both of them, then one.
  EXPECT_EQ(bench.warp_cycles(CycleCause::kMemoryQueue), 2 * (51U - 12) + (61 - 52));
}

TEST_P(SubcoreOnEitherClock, TheAdmissionRuleSaysWhoGetsIn) {
  SubcoreBench bench(GetParam(), a_red_each(2, 2));
  bench.refused = 0;
  bench.refused_until = 30;
  bench.build();
  bench.run();
  EXPECT_EQ(bench.slots(), (Slots{1, 1, 0, 0}));
  EXPECT_EQ(bench.put, (Cycles{10, 11, 30, 31}));
  EXPECT_EQ(bench.door.wants, (Doorman::Notes{{0, 10}, {1, 10}, {1, 11}, {0, 31}}));
  EXPECT_EQ(bench.door.enters, (Doorman::Notes{{1, 10}, {1, 11}, {0, 30}, {0, 31}}));
  bench.subcore->finish(2000);
  EXPECT_EQ(bench.cycles(CycleCause::kMemoryQueue), 30U - 12);
}

TEST_P(SubcoreOnEitherClock, AnAdmissionRuleThatAdmitsAllIsNotAsked) {
  SubcoreBench bench(GetParam(), a_red_each(2, 2));
  bench.refused = 0;
  bench.refused_until = 30;
  bench.door.says_it_admits_all = true;
  bench.build();
  bench.run();
  EXPECT_EQ(bench.slots(), (Slots{0, 1, 0, 1}));
  EXPECT_EQ(bench.put, (Cycles{10, 11, 12, 13}));
  EXPECT_TRUE(bench.door.wants.empty());
  EXPECT_TRUE(bench.door.enters.empty());
}

TEST_P(SubcoreOnEitherClock, AWarpWaitsForAllAnswersToItsRed) {
  SubcoreBench bench(GetParam(), a_red_each(1, 2));
  bench.gpu.rules.red_wait.name = "own-reds";
  bench.build();
  const auto answer = [&](Cycle cycle, Cycle due) {
    bench.script.at(cycle, [&bench, due] { bench.subcore->red_answered(0, due); });
  };
  bench.script.at(20, [&] { bench.subcore->red_split(0, 2); });
  answer(30, 40);
  answer(35, 45);
  bench.script.at(50, [&] { bench.subcore->red_split(0, 1); });
  answer(60, 70);
  bench.run();
  // The second RED when the last answer to the first is there, and the warp's end likewise.
  EXPECT_EQ(bench.put, (Cycles{10, 45}));
  EXPECT_EQ(bench.control->ended.front().cycle, 70U);
  bench.subcore->finish(200);
  EXPECT_EQ(bench.cycles(CycleCause::kIssued), 2U);
  EXPECT_EQ(bench.cycles(CycleCause::kMemoryQueue), (45U - 11) + (70 - 46));
  EXPECT_EQ(bench.warp_cycles(CycleCause::kMemoryQueue), (45U - 11) + (70 - 46));
}

TEST_P(SubcoreOnEitherClock, AWarpDoesNotWaitForTheRedsOfOthers) {
  SubcoreBench bench(GetParam(), a_red_each(2, 2));
  bench.gpu.rules.red_wait.name = "own-reds";
  bench.build();
  bench.script.at(30, [&] { bench.subcore->red_answered(1, 40); });
  bench.run();
  EXPECT_EQ(bench.put, (Cycles{10, 11, 40}));
  EXPECT_EQ(bench.slots(), (Slots{0, 1, 1}));
  EXPECT_FALSE(bench.subcore->empty());
}

TEST_P(SubcoreOnEitherClock, WhereWarpsGoOnNobodyCountsTheirReds) {
  SubcoreBench bench(GetParam(), a_red_each(1, 2));
  bench.gpu.rules.red_wait.name = "go-on";
  bench.build();
  bench.run();
  EXPECT_EQ(bench.put, (Cycles{10, 11}));
  EXPECT_THROW(bench.subcore->red_answered(0, 2100), CheckError);
}

TEST_P(SubcoreOnEitherClock, ABarrierIsOpenALatencyAfterTheLastArrival) {
  SmallTrace trace(1, 2, 1, 64, 4);
  trace.path_cost(0, {.alu = 1});
  trace.barrier(0, 0);
  trace.work(0, 1, 20);
  trace.barrier(0, 1);
  trace.event(0, 0, 1, 0);
  trace.event(0, 1, 1, 0);
  SubcoreBench bench(GetParam(), trace);
  bench.build();
  bench.run();
  // Barriers in 10 and 31, of which the sub-core is told in 32.
  const Cycle open = kFirst + 21 + 1 + bench.gpu.latency.barrier;
  EXPECT_EQ(bench.put, (Cycles{open, open + 1}));
  EXPECT_EQ(bench.slots(), (Slots{0, 1}));
}

TEST_P(SubcoreOnEitherClock, ABarrierIsOpenWhenTheOtherArrivalsHaveBeenTaken) {
  SmallTrace trace(1, 4, 1, 64, 4);
  for (std::uint32_t w = 0; w < 4; ++w) {
    trace.barrier(0, w);
  }
  trace.event(0, 0, 1, 0);
  SubcoreBench bench(GetParam(), trace);
  bench.warps_elsewhere = 3;
  bench.build();
  for (int w = 0; w < 3; ++w) {
    bench.script.at(kFirst, [&] { bench.control->barrier_arrived(bench.first_cta, kFirst); });
  }
  bench.run();
  // Two cycles each, of which the latency holds those of one.
  EXPECT_EQ(bench.put, Cycles{kFirst + 1 + bench.gpu.latency.barrier + 3 * 2});
}

TEST_P(SubcoreOnEitherClock, AnAnswerOfTheLsuIsThereWhenItIsDue) {
  SmallTrace trace(1, 1, 1, 64, 4);
  trace.path_cost(0, {.shared = 3, .waits = {{trace::ResultClass::kShared, 0, 0}}});
  trace.work(0, 0, 1);
  trace.event(0, 0, 1, 0);
  SubcoreBench bench(GetParam(), trace);
  bench.build();
  bench.script.at(30, [&] { bench.subcore->access_answered(0, 45); });
  bench.run();
  EXPECT_EQ(bench.put, (Cycles{12, 45}));
  const MemOp& op = bench.lsu->taken[0].what;
  EXPECT_EQ(op.kind, MemOpKind::kShared);
  EXPECT_EQ(op.lsu_ticks, at_cycle(3));
  EXPECT_EQ(op.begun, kFirst);
  bench.subcore->finish(2000);
  EXPECT_EQ(bench.cycles(CycleCause::kShuffle), 31U - 13);
  EXPECT_EQ(bench.cycles(CycleCause::kDependency), 8U + (45 - 31));
}

TEST_P(SubcoreOnEitherClock, ARunIsDoneWhenItsAccessesHaveLeftThePipe) {
  SmallTrace trace(1, 1, 1, 64, 4);
  trace.path_cost(0, {.shared = 8});
  trace.work(0, 0, 1);
  trace.event(0, 0, 1, 0);
  SubcoreBench bench(GetParam(), trace);
  bench.build();
  bench.script.at(9, [&] { bench.pipe.charge(at_cycle(50)); });
  bench.run();
  EXPECT_EQ(bench.put, Cycles{9 + 50 + 8});
}

TEST_P(SubcoreOnEitherClock, TheLastOfTheLoadsGoesToTheL2AndIsWaitedFor) {
  SmallTrace trace(1, 1, 1, 64, 4);
  trace.path_cost(0, {.global_load = 3, .waits = {{trace::ResultClass::kGlobalLoad, 0, 0}}});
  trace.work(0, 0, 1);
  trace.event(0, 0, 1, 0);
  SubcoreBench bench(GetParam(), trace);
  bench.build();
  bench.script.at(40, [&] { bench.subcore->load_answered(0, 41); });
  bench.run();
  EXPECT_EQ(bench.put, (Cycles{10, 11, 12, 41}));
  EXPECT_EQ(bench.lsu->taken[1].what.kind, MemOpKind::kCached);
  EXPECT_EQ(bench.lsu->taken[2].what.kind, MemOpKind::kLoad);
  EXPECT_EQ(bench.lsu->taken[2].what.lsu_ticks, at_cycle(8));
}

TEST_P(SubcoreOnEitherClock, AnAnswerThatNobodyWaitsForIsNoticed) {
  SubcoreBench bench(GetParam(), a_red_each(1));
  bench.build();
  bench.script.at(40, [&] { bench.subcore->load_answered(0, 41); });
  EXPECT_THROW(bench.run(), CheckError);
}

TEST_P(SubcoreOnEitherClock, AnAtomredWaitsForTheRegisterInFrontOfTheUnit) {
  SubcoreBench bench(GetParam(), a_red_each(2));
  bench.plan = {.accept = 5, .sum = 2};
  bench.build("arc-hw");
  bench.run();
  // The first stands there in 11 and leaves in 15, in which the other is issued.
  EXPECT_EQ(bench.unit.seen, (Cycles{11, 16}));
  // Read in 16, the sum is there in 18; of the other, which leaves in 20, in 23.
  EXPECT_EQ(bench.put, (Cycles{18, 23}));
  EXPECT_EQ(bench.lsu->taken[0].what.kind, MemOpKind::kReduced);
  EXPECT_EQ(bench.subcore->stats().atomreds, 2U);
  EXPECT_EQ(bench.subcore->stats().reds, 0U);
  bench.subcore->finish(2000);
  EXPECT_EQ(bench.cycles(CycleCause::kArcUnit), 15U - 11);
  EXPECT_TRUE(bench.subcore->empty());
}

// A sum waits behind another warp's access to shared memory, which the load-store unit takes in 50.
SmallTrace an_access_and_a_sum() {
  SmallTrace trace(1, 2, 1, 64, 4);
  trace.path_cost(0, {.shared = 1, .waits = {{trace::ResultClass::kShared, 0, 0}}});
  trace.work(0, 0, 1);
  trace.event(0, 1, 0xf, 0);
  return trace;
}

TEST_P(SubcoreOnEitherClock, ASumWaitsForTheUnitsPartOfTheMemoryQueue) {
  SubcoreBench bench(GetParam(), an_access_and_a_sum());
  bench.build("arc-hw");
  bench.lsu->only_in({50, 60});
  bench.script.at(70, [&] { bench.subcore->access_answered(0, 80); });
  bench.run();
  EXPECT_EQ(bench.put, (Cycles{10, 51}));
  // Issued in 11, accepted in 12, read in 13: the sum stands at the port from 14 on.
  EXPECT_EQ(bench.subcore->arc_port().stats().blocked_cycles, 51U - 14);
  EXPECT_EQ(bench.subcore->arc_port().stats().read_cycles, 1U);
}

TEST_P(SubcoreOnEitherClock, AWarpGetsTheRoomThatTheUnitLeaves) {
  SmallTrace trace = an_access_and_a_sum();
  trace.ctas[0].warps.push_back(trace.ctas[0].warps[0]);
  SubcoreBench bench(GetParam(), trace);
  bench.gpu.lsu.queue_depth = 1;
  bench.build("arc-hw");
  bench.lsu->only_in({50, 60, 70});
  bench.script.at(80, [&] { bench.subcore->access_answered(0, 90); });
  bench.script.at(81, [&] { bench.subcore->access_answered(2, 90); });
  bench.run();
  // The sum has gone into the room for which the third warp was woken.
  EXPECT_EQ(bench.put, (Cycles{10, 51, 61}));
  EXPECT_EQ(bench.lsu->taken[1].what.kind, MemOpKind::kReduced);
  EXPECT_EQ(bench.lsu->taken[2].what.warp_slot, 2U);
}

TEST(Subcore, AUnitAtRestIsNotClocked) {
  SubcoreBench bench(Clocking::kGated, an_access_and_a_sum());
  bench.build("arc-hw");
  bench.lsu->only_in({50, 60});
  bench.script.at(70, [&] { bench.subcore->access_answered(0, 80); });
  bench.run();
  EXPECT_EQ(bench.unit.clocked, (Cycles{12, 13, 14, 15, 16, 51}));
}

}  // namespace
}  // namespace warpfold::test

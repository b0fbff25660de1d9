// SPDX-License-Identifier: Apache-2.0
// The rules that say which of a sub-core's warps get room in its memory queue, asked as a sub-core
// asks them. An SM's ticks come every 1000 cycles here, and the way out holds 16 transactions.
#include <gtest/gtest.h>

#include "model/gpu/sm/queue_admission.hpp"
#include "tb/model/sm_bench.hpp"

namespace warpfold::test {
namespace {

using SlotMask = QueueAdmission::SlotMask;

// Asks two sub-cores' rules from a script. The way out fills and empties as a case says.
class AdmissionBench : public SmBench {
 public:
  explicit AdmissionBench(std::uint32_t sm = 0, std::uint32_t tick_groups = 1)
      : SmBench(Clocking::kGated, SmallTrace(8, 1, 1, 4, 4)),
        script(inside()),
        way_out(wheel, inside(), 16),
        port(clock.partition(0), way_out),
        sm_(sm) {
    wheel.keep(way_out);
    way_out.bind(script, port);
    port.only_in({});
    gpu.lsu.sleep_cycles = 1000;
    gpu.lsu.tick_groups = tick_groups;
  }
  // Warps of these CTAs, by their sequence, in the slots of each sub-core.
  void build(const std::string& rule, const std::vector<std::uint64_t>& ctas) {
    rules = admission_rules().find(rule).make(
        {.config = gpu, .domain = inside(), .way_out = way_out, .sm = sm_});
    for (std::uint32_t slot = 0; slot < ctas.size(); ++slot) {
      for (const auto& each : rules) {
        each->launched(slot, cta(ctas[slot]));
      }
    }
  }
  QueueAdmission& rule() { return *rules[0]; }
  void fill(Cycle cycle, int entries) {
    script.at(cycle, [this, entries] {
      for (int i = 0; i < entries; ++i) {
        way_out.push({});
      }
    });
  }
  void want(Cycle cycle, std::vector<std::uint32_t> slots, std::size_t subcore = 0) {
    script.at(cycle, [this, cycle, slots = std::move(slots), subcore] {
      for (const std::uint32_t slot : slots) {
        rules[subcore]->wants(slot, cycle);
      }
    });
  }
  void enter(Cycle cycle, std::uint32_t slot, std::size_t subcore = 0) {
    script.at(cycle, [this, cycle, slot, subcore] { rules[subcore]->enters(slot, cycle); });
  }
  void find_full(Cycle cycle) {
    script.at(cycle, [this, cycle] { EXPECT_EQ(rule().decided(false, cycle), kNever); });
  }
  // Who is admitted in that cycle of those that want.
  void expect(Cycle cycle, SlotMask wanting, SlotMask admitted) {
    script.at(cycle, [this, cycle, wanting, admitted] {
      ++asked;
      EXPECT_EQ(rule().admitted(wanting), admitted) << "in cycle " << cycle;
    });
  }

  Script script;
  Outlet way_out;
  OutletTaker port;
  Admissions rules;
  int asked = 0;

 private:
  const std::uint32_t sm_;
};

TEST(RoundRobin, AdmitsAll) {
  AdmissionBench bench;
  bench.build("round-robin", {3, 1, 2});
  bench.want(10, {0, 1, 2});
  bench.expect(11, 0b111, 0b111);
  bench.enter(11, 1);
  bench.expect(12, 0b101, 0b101);
  bench.script.at(12, [&] {
    EXPECT_TRUE(bench.rule().admits_all());
    EXPECT_EQ(bench.rule().decided(true, 12), kNever);
    EXPECT_FALSE(bench.rule().depends_on_time());
    EXPECT_FALSE(bench.rule().looks_at_way_out(false));
  });
  bench.run(100);
  EXPECT_EQ(bench.asked, 2);
}

TEST(Sleepers, OfThoseAwakeTheOldestCtaGoes) {
  AdmissionBench bench;
  bench.build("sleepers", {3, 1, 2, 1});
  EXPECT_FALSE(bench.rule().admits_all());
  bench.want(10, {0, 1, 2, 3});
  bench.expect(11, 0b1111, 0b1010);
  bench.enter(11, 1);
  bench.expect(12, 0b1101, 0b1000);
  bench.enter(12, 3);
  bench.expect(13, 0b0101, 0b0100);
  bench.run(100);
  EXPECT_EQ(bench.asked, 3);
}

TEST(Sleepers, ThreeWarpsTakeTurns) {
  AdmissionBench bench;
  bench.build("sleepers", {1, 1, 1, 1, 1});
  bench.want(10, {0, 1, 2, 3, 4});
  bench.expect(11, 0b11111, 0b11111);
  for (std::uint32_t slot = 0; slot < 3; ++slot) {
    bench.enter(11 + slot, slot);
    bench.want(12 + slot, {slot});  // its next RED comes at once
  }
  bench.expect(14, 0b11111, 0b00111);
  // The third has done with its REDs: all that wait may come in its place.
  bench.enter(15, 2);
  bench.enter(16, 0);
  bench.expect(17, 0b11010, 0b11010);
  bench.run(100);
  EXPECT_EQ(bench.asked, 3);
}

TEST(Sleepers, WhoFindsTheQueueAndTheWayOutFullSleepsUntilTheSecondTick) {
  AdmissionBench bench;
  bench.build("sleepers", {1, 2});
  bench.fill(10, 4);
  bench.want(20, {0, 1});
  bench.find_full(21);
  bench.expect(22, 0b11, 0);
  bench.expect(1000, 0b11, 0);
  bench.expect(1999, 0b11, 0);
  // And then goes ahead, the oldest first, with two.
  bench.expect(2000, 0b11, 0b01);
  bench.enter(2000, 0);
  bench.want(2001, {0});
  bench.expect(2001, 0b11, 0b01);
  bench.enter(2001, 0);
  bench.want(2002, {0});
  bench.expect(2002, 0b11, 0b10);
  bench.run(2100);
  EXPECT_EQ(bench.asked, 6);
}

TEST(Sleepers, NobodySleepsWhereTheWayOutIsLessThanAQuarterFull) {
  AdmissionBench bench;
  bench.build("sleepers", {1, 2});
  bench.fill(10, 3);
  bench.want(20, {0, 1});
  bench.find_full(21);
  bench.expect(22, 0b11, 0b01);
  bench.run(100);
  EXPECT_EQ(bench.asked, 1);
}

TEST(Sleepers, LookAtTheWayOutNowAndThen) {
  AdmissionBench bench;
  bench.port.only_in({400});
  bench.build("sleepers", {1, 1});
  bench.fill(10, 4);
  bench.want(20, {0, 1});
  bench.find_full(21);
  bench.script.at(22, [&] { EXPECT_TRUE(bench.rule().looks_at_way_out(true)); });
  bench.expect(384, 0b11, 0);
  bench.expect(401, 0b11, 0);  // it has room, at which nobody looks before 512
  bench.expect(511, 0b11, 0);
  bench.expect(512, 0b11, 0b11);
  bench.expect(513, 0b11, 0);
  bench.run(600);
  EXPECT_EQ(bench.asked, 5);
}

TEST(Sleepers, ATurnOfTheirCtaInAnotherSubcoreWakesThemInTheNextCycle) {
  AdmissionBench bench;
  bench.build("sleepers", {1, 2});
  bench.fill(10, 4);
  bench.want(20, {0, 1});
  bench.find_full(21);
  bench.want(29, {1}, 1);
  bench.enter(30, 1, 1);
  bench.expect(29, 0b11, 0);
  bench.expect(31, 0b11, 0b10);
  // The turn is the other CTA's then.
  bench.want(39, {0}, 1);
  bench.enter(40, 0, 1);
  bench.expect(41, 0b11, 0b01);
  bench.run(100);
  EXPECT_EQ(bench.asked, 3);
}

TEST(Sleepers, WhatStaysInTheSmIsNotAsleep) {
  AdmissionBench bench;
  bench.build("sleepers", {1, 2, 3});
  bench.fill(10, 4);
  bench.want(20, {0, 1});
  bench.find_full(21);
  bench.expect(22, 0b111, 0b100);  // it wants room for a shuffle
  bench.run(100);
  EXPECT_EQ(bench.asked, 1);
}

TEST(Sleepers, SmsOfOtherGroupsHaveTheirTicksAtOtherTimes) {
  AdmissionBench bench(1, 4);
  bench.build("sleepers", {1, 2});
  bench.fill(10, 4);
  bench.want(20, {0, 1});
  bench.find_full(21);
  // 250 cycles sooner.
  bench.expect(1749, 0b11, 0);
  bench.expect(1750, 0b11, 0b01);
  bench.run(2000);
  EXPECT_EQ(bench.asked, 2);
}

TEST(Sleepers, SayByWhenTheTimeAloneMayChangeIt) {
  AdmissionBench bench;
  bench.build("sleepers", {1, 2});
  bench.script.at(10, [&] { EXPECT_EQ(bench.rule().decided(true, 10), kNever); });
  bench.want(20, {0});
  bench.script.at(20, [&] {
    EXPECT_TRUE(bench.rule().depends_on_time());
    EXPECT_EQ(bench.rule().decided(true, 20), 128U);
    EXPECT_EQ(bench.rule().decided(true, 127), 128U);
    EXPECT_EQ(bench.rule().decided(true, 128), 256U);
    EXPECT_EQ(bench.rule().decided(true, 990), 1000U);
    ++bench.asked;
  });
  bench.run(100);
  EXPECT_EQ(bench.asked, 1);
}

TEST(Sleepers, NeedTicks) {
  AdmissionBench bench;
  bench.gpu.lsu.sleep_cycles = 0;
  EXPECT_THROW(bench.build("sleepers", {1}), std::invalid_argument);
}

}  // namespace
}  // namespace warpfold::test

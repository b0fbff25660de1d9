// SPDX-License-Identifier: Apache-2.0
// When things happen at the ports of the unit of kind fused, to the cycle: not a cycle before, and
// in that cycle. Every test runs on the golden unit and on the RTL.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string>

#include "model/unit/arc_unit.hpp"
#include "model/unit/fp32.hpp"
#include "model/unit/lockstep.hpp"
#include "tb/lockstep/test_seed.hpp"

namespace warpfold {
namespace {

constexpr Address kBase = 0x7fff'1234'5600;

LaneMask lowest_lanes(int count) {
  return static_cast<LaneMask>((std::uint64_t{1} << count) - 1);
}

LaneMask lowest_of_each_bank(LaneMask left) {
  LaneMask lanes = 0;
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    const LaneMask bank = 0x11111111U << lane % kBanks;
    if ((left >> lane & 1U) != 0 && (lanes & bank) == 0) {
      lanes |= LaneMask{1} << lane;
    }
  }
  return lanes;
}

int reads_of(LaneMask mask) {
  int reads = 0;
  for (; mask != 0; mask &= ~lowest_of_each_bank(mask)) {
    ++reads;
  }
  return reads;
}

// One unit with its register file. `in` is what the test drives in the next cycle.
class FusedTiming : public testing::TestWithParam<UnitModel> {
 protected:
  FusedTiming() : unit(make_unit(GetParam(), UnitKind::kFused)) {}

  UnitOutputs tick() {
    const UnitOutputs out = unit->tick(in);
    if (out.rf_valid && in.rf_ready) {
      answer_read(in, UnitKind::kFused, out.rf_mask, operands[out.rf_tag]);
    }
    return out;
  }

  // A request of `mask` at one address, with values that differ from lane to lane.
  void offer(LaneMask mask, Tag tag, Address address = kBase) {
    in.req_valid = true;
    in.req_mask = mask;
    in.req_addr.fill(address);
    in.req_tag = tag;
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      operands[tag][lane] = synthetic_value(7, 0, tag * 8U + 5, 0, lane);
    }
  }
  void withdraw() { in.req_valid = false; }

  Fp32Bits sum(Tag tag, LaneMask mask) { return fused_reference(mask, operands[tag]); }

  // Hands over one transaction to the reduction unit, which must be able to take it.
  void start_reduction(LaneMask mask, Tag tag, Address address = kBase) {
    offer(mask, tag, address);
    in.lsu_room = false;
    ASSERT_TRUE(tick().req_ready);
    withdraw();
  }

  // The result of `mask` is at the port in this cycle.
  void expect_result(const UnitOutputs& out, Tag tag, LaneMask mask, Address address = kBase) {
    EXPECT_TRUE(out.lsu_valid);
    EXPECT_TRUE(out.lsu_reduced);
    EXPECT_EQ(out.lsu_addr, address);
    EXPECT_EQ(out.lsu_mask, 1U);
    EXPECT_EQ(out.lsu_tag, tag);
    EXPECT_EQ(out.lsu_data, sum(tag, mask));
  }

  std::unique_ptr<ArcUnit> unit;
  UnitInputs in;
  std::map<Tag, std::array<Fp32Bits, kLanes>> operands;
};

TEST_P(FusedTiming, ResultComesSixCyclesAfterTheLastRead) {
  for (int n = 1; n <= kLanes; ++n) {
    for (const LaneMask mask : {std::rotl(lowest_lanes(n), n * 3), 0x11111111U & lowest_lanes(n)}) {
      start_reduction(mask, 0x5a0);
      in.rf_ready = true;
      in.lsu_room = true;
      const int reads = reads_of(mask);
      LaneMask left = mask;
      for (int cycle = 1; cycle <= reads + 5; ++cycle) {
        const UnitOutputs out = tick();
        ASSERT_TRUE(out.busy);
        ASSERT_EQ(out.rf_valid, cycle <= reads) << "cycle " << cycle << " of " << reads << " reads";
        ASSERT_EQ(out.rf_mask, lowest_of_each_bank(left));
        ASSERT_EQ(out.rf_tag, cycle <= reads ? 0x5a0 : 0);
        ASSERT_FALSE(out.lsu_valid) << "too early, in cycle " << cycle << " after " << reads;
        left &= ~out.rf_mask;
      }
      const UnitOutputs out = tick();
      expect_result(out, 0x5a0, mask);
      EXPECT_FALSE(out.rf_valid);
      EXPECT_TRUE(out.busy);
      EXPECT_FALSE(unit->busy());
      EXPECT_EQ(tick(), UnitOutputs{});
    }
  }
}

TEST_P(FusedTiming, LowestLaneOfEachBankIsRead) {
  start_reduction(0x8001'0e30U, 1);  // banks: 0: 4 16, 1: 5 9, 2: 10, 3: 11 31
  in.rf_ready = true;
  EXPECT_EQ(tick().rf_mask, 0x0000'0c30U);
  EXPECT_EQ(tick().rf_mask, 0x8001'0200U);
  EXPECT_FALSE(tick().rf_valid);
}

TEST_P(FusedTiming, WholeWarpsAreReadWithoutAGap) {
  in.rf_ready = true;
  Tag next = 0;
  for (int cycle = 0; cycle < 400; ++cycle) {
    if (!in.req_valid) {
      offer(0xffffffffU, next, kBase + 4U * next);
    }
    // Only results are let through, each at once: transaction i is loaded in cycle 8i.
    in.lsu_room = cycle >= 14 && cycle % 8 == 6;
    const UnitOutputs out = tick();
    ASSERT_EQ(out.req_ready, cycle % 8 == 0) << "cycle " << cycle;
    ASSERT_EQ(out.rf_valid, cycle > 0) << "cycle " << cycle;
    ASSERT_EQ(out.lsu_valid, in.lsu_room) << "cycle " << cycle;
    if (out.lsu_valid) {
      const auto tag = static_cast<Tag>((cycle - 14) / 8);
      expect_result(out, tag, 0xffffffffU, kBase + 4U * tag);
    }
    if (out.req_ready) {
      withdraw();
      ++next;
    }
  }
  EXPECT_EQ(next, 50);
}

TEST_P(FusedTiming, TwoTransactionsAtMost) {
  start_reduction(0x1, 1);
  in.rf_ready = true;
  offer(0x2, 2);
  EXPECT_TRUE(tick().req_ready) << "with the last read of the first one";
  offer(0x4, 3);
  for (int cycle = 2; cycle <= 7; ++cycle) {
    in.lsu_room = cycle == 7;
    const UnitOutputs out = tick();
    ASSERT_EQ(out.req_ready, cycle == 7) << "cycle " << cycle;
    ASSERT_EQ(out.lsu_valid, cycle == 7) << "cycle " << cycle;
    ASSERT_EQ(out.rf_valid, cycle == 2) << "cycle " << cycle;
  }
  withdraw();
  // The second sum is complete and takes two cycles from the first result to its own.
  UnitOutputs out = tick();
  EXPECT_EQ(out.rf_mask, 0x4U);
  EXPECT_FALSE(out.lsu_valid);
  expect_result(tick(), 2, 0x2);
  for (int cycle = 0; cycle < 4; ++cycle) {
    ASSERT_FALSE(tick().lsu_valid);
  }
  expect_result(tick(), 3, 0x4);
  EXPECT_FALSE(unit->busy());
}

TEST_P(FusedTiming, NotAcceptedBeforeTheLastRead) {
  start_reduction(0x1111U, 1);  // one bank: four reads
  in.rf_ready = true;
  offer(0x1, 2);
  for (int cycle = 1; cycle <= 4; ++cycle) {
    ASSERT_EQ(tick().req_ready, cycle == 4) << "cycle " << cycle;
  }
}

TEST_P(FusedTiming, RefusedReadIsHeldAndDelaysTheResultByAsMuch) {
  for (int refused_at = 1; refused_at <= 3; ++refused_at) {
    for (int refused = 1; refused <= 5; ++refused) {
      start_reduction(0xfffU, 1);
      in.lsu_room = true;
      int reads = 0;
      for (int cycle = 1; cycle <= 3 + refused; ++cycle) {
        in.rf_ready = cycle < refused_at || cycle >= refused_at + refused;
        const UnitOutputs out = tick();
        ASSERT_TRUE(out.rf_valid);
        ASSERT_EQ(out.rf_mask, 0xfU << 4 * reads) << "held until granted";
        ASSERT_FALSE(out.lsu_valid);
        reads += in.rf_ready ? 1 : 0;
      }
      for (int cycle = 1; cycle <= 5; ++cycle) {
        ASSERT_FALSE(tick().lsu_valid);
      }
      expect_result(tick(), 1, 0xfffU);
    }
  }
}

TEST_P(FusedTiming, StalledResultIsHeldWhileReadsGoOn) {
  for (int stall = 1; stall < 20; stall += 6) {
    start_reduction(0x1, 1);
    in.rf_ready = true;
    offer(0xffU, 2, kBase + 4);
    EXPECT_TRUE(tick().req_ready);
    withdraw();
    EXPECT_EQ(tick().rf_mask, 0x0fU);
    EXPECT_EQ(tick().rf_mask, 0xf0U);
    for (int cycle = 4; cycle <= 6; ++cycle) {
      ASSERT_FALSE(tick().lsu_valid);
    }
    for (int cycle = 0; cycle < stall; ++cycle) {
      expect_result(tick(), 1, 0x1);
    }
    // The reads of the second one were granted in cycles 2 and 3, so its sum is due in cycle 9.
    in.lsu_room = true;
    expect_result(tick(), 1, 0x1);
    const int wait = std::max(1, 9 - (7 + stall) - 1);
    for (int cycle = 0; cycle < wait; ++cycle) {
      ASSERT_FALSE(tick().lsu_valid) << "stall " << stall;
    }
    expect_result(tick(), 2, 0xffU, kBase + 4);
    EXPECT_FALSE(unit->busy());
  }
}

TEST_P(FusedTiming, PlainRedLeavesAtOnce) {
  offer(0x80f0'0001U, 0xfff, 0xffff'ffff'fffc);
  in.lsu_room = true;
  UnitOutputs expected;
  expected.req_ready = true;
  expected.lsu_valid = true;
  expected.lsu_last = true;
  expected.lsu_addr = 0xffff'ffff'fffc;
  expected.lsu_mask = 0x80f0'0001U;
  expected.lsu_tag = 0xfff;
  EXPECT_EQ(tick(), expected);
  EXPECT_FALSE(unit->busy());
}

TEST_P(FusedTiming, PlainRedsPassARunningReduction) {
  start_reduction(0xff, 1);
  in.rf_ready = true;
  in.lsu_room = true;
  for (int cycle = 1; cycle <= 7; ++cycle) {
    offer(0x3, 2, kBase + 4);
    const UnitOutputs out = tick();
    ASSERT_TRUE(out.req_ready);
    ASSERT_TRUE(out.lsu_valid);
    ASSERT_FALSE(out.lsu_reduced);
    ASSERT_EQ(out.rf_valid, cycle <= 2);
  }
  // The result goes before the RED, which the unit takes instead.
  offer(0x3, 2, kBase + 4);
  const UnitOutputs out = tick();
  expect_result(out, 1, 0xff);
  EXPECT_TRUE(out.req_ready);
  withdraw();
  for (int cycle = 1; cycle <= 6; ++cycle) {
    ASSERT_FALSE(tick().lsu_valid);
  }
  expect_result(tick(), 2, 0x3, kBase + 4);
}

TEST_P(FusedTiming, GroupsOfOneRequestAreReducedInTurn) {
  offer(0xffffffffU, 9);
  for (std::size_t lane = 16; lane < kLanes; ++lane) {
    in.req_addr[lane] = kBase + 64;
  }
  in.rf_ready = true;
  for (int cycle = 0; cycle <= 14; ++cycle) {
    in.lsu_room = cycle >= 5;
    const UnitOutputs out = tick();
    ASSERT_EQ(out.req_ready, cycle == 4) << "cycle " << cycle;
    ASSERT_EQ(out.rf_valid, cycle >= 1 && cycle <= 8) << "cycle " << cycle;
    ASSERT_EQ(out.lsu_valid, cycle == 10 || cycle == 14) << "cycle " << cycle;
    if (cycle == 10) {
      expect_result(out, 9, 0x0000ffffU);
    }
    if (cycle == 14) {
      expect_result(out, 9, 0xffff0000U, kBase + 64);
    }
    if (out.req_ready) {
      withdraw();
    }
  }
  EXPECT_FALSE(unit->busy());
}

TEST_P(FusedTiming, ResetEmptiesEveryStage) {
  for (int cycles = 0; cycles < 12; ++cycles) {
    start_reduction(0b11, 1);
    in.rf_ready = true;
    offer(0xff, 2, kBase + 4);
    for (int i = 0; i < cycles; ++i) {
      if (tick().req_ready) {
        withdraw();
      }
    }
    withdraw();
    unit->reset();
    EXPECT_FALSE(unit->busy());
    in.lsu_room = true;
    for (int i = 0; i < 10; ++i) {
      EXPECT_EQ(tick(), UnitOutputs{});
    }
  }
}

// Clock gating: a unit that is clocked while idle and one that is not have the same future.
TEST_P(FusedTiming, IdleCyclesChangeNothing) {
  SplitMix64 random(test_seed());
  const std::unique_ptr<ArcUnit> gated = make_unit(GetParam(), UnitKind::kFused);
  for (int round = 0; round < 300; ++round) {
    const LaneMask mask =
        static_cast<LaneMask>(random.next()) & static_cast<LaneMask>(random.next());
    offer(mask, static_cast<Tag>(random.below(4096)));
    for (Address& address : in.req_addr) {
      address += 4 * random.below(3);
    }
    do {
      in.lsu_room = random.chance(0.4);
      in.rf_ready = random.chance(0.8);
      const UnitInputs same = in;
      ASSERT_EQ(unit->busy(), gated->busy());
      const UnitOutputs out = tick();
      ASSERT_EQ(out, gated->tick(same));
      ASSERT_EQ(unit->busy(), gated->busy());
      if (out.req_ready) {
        withdraw();
      }
    } while (in.req_valid || unit->busy());
    for (auto idle = random.below(10); idle > 0; --idle) {
      in.lsu_room = random.chance(0.5);
      in.rf_ready = random.chance(0.5);
      in.rf_data.fill(static_cast<Fp32Bits>(random.next()));
      in.rf_bins.fill(static_cast<std::uint8_t>(random.below(32)));
      ASSERT_EQ(tick(), UnitOutputs{});
      ASSERT_FALSE(unit->busy());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Units, FusedTiming, testing::Values(UnitModel::kGolden, UnitModel::kRtl),
                         [](const testing::TestParamInfo<UnitModel>& parameter) {
                           return std::string(unit_model_name(parameter.param));
                         });

}  // namespace
}  // namespace warpfold

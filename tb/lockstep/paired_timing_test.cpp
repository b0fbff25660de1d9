// SPDX-License-Identifier: Apache-2.0
// When things happen at the ports of the unit of kind paired, to the cycle: not a cycle before, and
// in that cycle. Every test runs on the golden unit and on the RTL.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <memory>
#include <string>

#include "model/unit/arc_unit.hpp"
#include "model/unit/fp32.hpp"
#include "model/unit/lockstep.hpp"

namespace warpfold {
namespace {

constexpr Address kBase = 0x7fff'1234'5600;
constexpr LaneMask kEven = 0x55555555U;

LaneMask lowest_pair(LaneMask left) {
  LaneMask pair = 0;
  for (const LaneMask bank : {left & kEven, left & ~kEven}) {
    pair |= bank != 0 ? LaneMask{1} << std::countr_zero(bank) : 0;
  }
  return pair;
}

int reads_of(LaneMask mask) {
  return std::max(lane_count(mask & kEven), lane_count(mask & ~kEven));
}

// One unit with its register file. `in` is what the test drives in the next cycle.
class PairedTiming : public testing::TestWithParam<UnitModel> {
 protected:
  PairedTiming() : unit(make_unit(GetParam(), UnitKind::kPaired)) {}

  UnitOutputs tick() {
    const UnitOutputs out = unit->tick(in);
    if (out.rf_valid && in.rf_ready) {
      answer_read(in, UnitKind::kPaired, out.rf_mask, operands[out.rf_tag]);
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
    EXPECT_EQ(out.lsu_data, paired_reference(mask, operands[tag]));
  }

  std::unique_ptr<ArcUnit> unit;
  UnitInputs in;
  std::map<Tag, std::array<Fp32Bits, kLanes>> operands;
};

TEST_P(PairedTiming, ResultComesFiveCyclesAfterTheLastRead) {
  for (int n = 1; n <= kLanes; ++n) {
    const auto lowest = static_cast<LaneMask>((std::uint64_t{1} << n) - 1);
    for (const LaneMask mask : {std::rotl(lowest, n * 3), (kEven & lowest) | 1U}) {
      start_reduction(mask, 0x5a0);
      in.rf_ready = true;
      in.lsu_room = true;
      const int reads = reads_of(mask);
      LaneMask left = mask;
      for (int cycle = 1; cycle <= reads + 4; ++cycle) {
        const UnitOutputs out = tick();
        ASSERT_TRUE(out.busy);
        ASSERT_EQ(out.rf_valid, cycle <= reads) << "cycle " << cycle << " of " << reads << " reads";
        ASSERT_EQ(out.rf_mask, lowest_pair(left));
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

TEST_P(PairedTiming, LowestEvenAndLowestOddLaneAreRead) {
  start_reduction(0x8001'0e30U, 1);  // even: 4 10 16, odd: 5 9 11 31
  in.rf_ready = true;
  EXPECT_EQ(tick().rf_mask, 0x0000'0030U);
  EXPECT_EQ(tick().rf_mask, 0x0000'0600U);
  EXPECT_EQ(tick().rf_mask, 0x0001'0800U);
  EXPECT_EQ(tick().rf_mask, 0x8000'0000U);
  EXPECT_FALSE(tick().rf_valid);
}

TEST_P(PairedTiming, TwoTransactionsAtMost) {
  start_reduction(0x1, 1);
  in.rf_ready = true;
  offer(0x2, 2);
  EXPECT_TRUE(tick().req_ready) << "with the last read of the first one";
  offer(0x4, 3);
  for (int cycle = 2; cycle <= 6; ++cycle) {
    in.lsu_room = cycle == 6;
    const UnitOutputs out = tick();
    ASSERT_EQ(out.req_ready, cycle == 6) << "cycle " << cycle;
    ASSERT_EQ(out.lsu_valid, cycle == 6) << "cycle " << cycle;
    ASSERT_EQ(out.rf_valid, cycle == 2) << "cycle " << cycle;
  }
  withdraw();
  // The second sum is complete and takes two cycles from the first result to its own.
  const UnitOutputs out = tick();
  EXPECT_EQ(out.rf_mask, 0x4U);
  EXPECT_FALSE(out.lsu_valid);
  expect_result(tick(), 2, 0x2);
  for (int cycle = 0; cycle < 3; ++cycle) {
    ASSERT_FALSE(tick().lsu_valid);
  }
  expect_result(tick(), 3, 0x4);
  EXPECT_FALSE(unit->busy());
}

TEST_P(PairedTiming, NotAcceptedBeforeTheLastRead) {
  start_reduction(0x55U, 1);  // one bank: four reads
  in.rf_ready = true;
  offer(0x1, 2);
  for (int cycle = 1; cycle <= 4; ++cycle) {
    ASSERT_EQ(tick().req_ready, cycle == 4) << "cycle " << cycle;
  }
}

TEST_P(PairedTiming, RefusedReadIsHeldAndDelaysTheResultByAsMuch) {
  for (int refused_at = 1; refused_at <= 3; ++refused_at) {
    for (int refused = 1; refused <= 5; ++refused) {
      start_reduction(0x3fU, 1);
      in.lsu_room = true;
      int reads = 0;
      for (int cycle = 1; cycle <= 3 + refused; ++cycle) {
        in.rf_ready = cycle < refused_at || cycle >= refused_at + refused;
        const UnitOutputs out = tick();
        ASSERT_TRUE(out.rf_valid);
        ASSERT_EQ(out.rf_mask, 3U << 2 * reads) << "held until granted";
        ASSERT_FALSE(out.lsu_valid);
        reads += in.rf_ready ? 1 : 0;
      }
      for (int cycle = 1; cycle <= 4; ++cycle) {
        ASSERT_FALSE(tick().lsu_valid);
      }
      expect_result(tick(), 1, 0x3fU);
    }
  }
}

TEST_P(PairedTiming, StalledResultIsHeldWhileReadsGoOn) {
  for (int stall = 1; stall < 20; stall += 6) {
    start_reduction(0x1, 1);
    in.rf_ready = true;
    offer(0xfU, 2, kBase + 4);
    EXPECT_TRUE(tick().req_ready);
    withdraw();
    EXPECT_EQ(tick().rf_mask, 0x3U);
    EXPECT_EQ(tick().rf_mask, 0xcU);
    for (int cycle = 4; cycle <= 5; ++cycle) {
      ASSERT_FALSE(tick().lsu_valid);
    }
    for (int cycle = 0; cycle < stall; ++cycle) {
      expect_result(tick(), 1, 0x1);
    }
    // The reads of the second one were granted in cycles 2 and 3, so its sum is due in cycle 8.
    in.lsu_room = true;
    expect_result(tick(), 1, 0x1);
    const int wait = std::max(1, 8 - (6 + stall) - 1);
    for (int cycle = 0; cycle < wait; ++cycle) {
      ASSERT_FALSE(tick().lsu_valid) << "stall " << stall;
    }
    expect_result(tick(), 2, 0xfU, kBase + 4);
    EXPECT_FALSE(unit->busy());
  }
}

INSTANTIATE_TEST_SUITE_P(Units, PairedTiming, testing::Values(UnitModel::kGolden, UnitModel::kRtl),
                         [](const testing::TestParamInfo<UnitModel>& parameter) {
                           return std::string(unit_model_name(parameter.param));
                         });

}  // namespace
}  // namespace warpfold

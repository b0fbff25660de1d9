// SPDX-License-Identifier: Apache-2.0
// When things happen at the ports of the serial unit, to the cycle: not a cycle before, and in that
// cycle. Every test runs on the golden unit and on the RTL.
#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "model/unit/arc_unit.hpp"
#include "model/unit/fp32.hpp"
#include "model/unit/lockstep.hpp"
#include "tb/lockstep/test_seed.hpp"

namespace warpfold {
namespace {

constexpr Address kBase = 0x7fff'1234'5600;

// The lane that a unit asks for which reads one at a time.
unsigned lane_read(const UnitOutputs& out) {
  return static_cast<unsigned>(std::countr_zero(out.rf_mask));
}

// One unit with its register file. `in` is what the test drives in the next cycle.
class UnitTiming : public testing::TestWithParam<UnitModel> {
 protected:
  UnitTiming() : unit(make_unit(GetParam(), UnitKind::kSerial)) {}

  UnitOutputs tick() {
    const UnitOutputs out = unit->tick(in);
    if (out.rf_valid && in.rf_ready) {
      EXPECT_TRUE(std::has_single_bit(out.rf_mask));
      in.rf_data[0] = operands[out.rf_tag][lane_read(out)];
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

  Fp32Bits sum(Tag tag, LaneMask mask) { return reduction_reference(mask, operands[tag]); }

  // Hands over one transaction to the reduction unit, which must be free and asks for its lowest
  // lane at once; that read is refused.
  void start_reduction(LaneMask mask, Tag tag, Address address = kBase) {
    offer(mask, tag, address);
    in.lsu_room = false;
    in.rf_ready = false;
    const UnitOutputs out = tick();
    ASSERT_TRUE(out.req_ready);
    ASSERT_EQ(lane_read(out), std::countr_zero(mask));
    withdraw();
  }

  // The same, the read granted.
  void start_reduction_and_read(LaneMask mask, Tag tag, Address address = kBase) {
    offer(mask, tag, address);
    in.lsu_room = false;
    in.rf_ready = true;
    const UnitOutputs out = tick();
    ASSERT_TRUE(out.req_ready);
    ASSERT_EQ(lane_read(out), std::countr_zero(mask));
    ASSERT_EQ(out.rf_tag, tag);
    withdraw();
  }

  std::unique_ptr<ArcUnit> unit;
  UnitInputs in;
  std::map<Tag, std::array<Fp32Bits, kLanes>> operands;
};

LaneMask lowest_lanes(int count) {
  return static_cast<LaneMask>((std::uint64_t{1} << count) - 1);
}

TEST_P(UnitTiming, ResultComesInCycleN) {
  for (int n = 1; n <= kLanes; ++n) {
    const LaneMask mask = std::rotl(lowest_lanes(n), n * 3);
    start_reduction_and_read(mask, 0x5a0);
    LaneMask left = mask & (mask - 1);
    for (int cycle = 1; cycle < n; ++cycle) {
      in.lsu_room = true;
      const UnitOutputs out = tick();
      ASSERT_TRUE(out.busy);
      ASSERT_TRUE(out.rf_valid) << "read " << cycle + 1 << " of " << n;
      ASSERT_EQ(lane_read(out), std::countr_zero(left));
      ASSERT_EQ(out.rf_tag, 0x5a0);
      ASSERT_FALSE(out.lsu_valid) << "result of " << n << " lanes too early, in cycle " << cycle;
      left &= left - 1;
    }
    in.lsu_room = true;
    const UnitOutputs out = tick();
    ASSERT_TRUE(out.lsu_valid) << "no result of " << n << " lanes in cycle " << n;
    EXPECT_TRUE(out.lsu_reduced);
    EXPECT_EQ(out.lsu_addr, kBase);
    EXPECT_EQ(out.lsu_mask, 1U);
    EXPECT_EQ(out.lsu_tag, 0x5a0);
    EXPECT_EQ(out.lsu_data, sum(0x5a0, mask));
    EXPECT_FALSE(out.rf_valid);
    EXPECT_TRUE(out.busy);
    EXPECT_FALSE(unit->busy());
    EXPECT_EQ(tick(), UnitOutputs{});
  }
}

// Transactions of these lengths, each its own request, must be read without a gap: the memory queue
// takes results only, so that every request goes to the reduction unit.
void expect_no_gap(ArcUnit& unit, const std::vector<int>& lengths) {
  std::vector<std::size_t> transaction_of_read;  // of the read in cycle index
  std::vector<bool> is_last_read;
  for (std::size_t t = 0; t < lengths.size(); ++t) {
    for (int i = 0; i < lengths[t]; ++i) {
      transaction_of_read.push_back(t);
      is_last_read.push_back(i + 1 == lengths[t]);
    }
  }
  auto values_of = [](std::size_t t) {
    std::array<Fp32Bits, kLanes> values{};
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      values[lane] = synthetic_value(3, 1, t * 8 + 5, 0, lane);
    }
    return values;
  };

  UnitInputs in;
  in.rf_ready = true;
  std::size_t offered = 0;
  const std::size_t reads = transaction_of_read.size();
  for (std::size_t cycle = 0; cycle <= reads; ++cycle) {
    const bool result_due = cycle >= 1 && is_last_read[cycle - 1];
    in.req_valid = offered < lengths.size();
    if (in.req_valid) {
      in.req_mask = lowest_lanes(lengths[offered]);
      in.req_addr.fill(kBase + 4 * offered);
      in.req_tag = static_cast<Tag>(offered);
    }
    in.lsu_room = result_due;
    const UnitOutputs out = unit.tick(in);

    const bool read_due = cycle < reads;
    ASSERT_EQ(out.rf_valid, read_due) << "cycle " << cycle;
    ASSERT_EQ(out.lsu_valid, result_due) << "cycle " << cycle;
    if (result_due) {
      const std::size_t t = transaction_of_read[cycle - 1];
      ASSERT_EQ(out.lsu_tag, t);
      ASSERT_TRUE(out.lsu_reduced);
      ASSERT_EQ(out.lsu_addr, kBase + 4 * t);
      ASSERT_EQ(out.lsu_data, reduction_reference(lowest_lanes(lengths[t]), values_of(t)));
    }
    // The next transaction comes, and is read, as the result of the one before leaves.
    const bool accept_due = in.req_valid && (cycle == 0 || result_due);
    ASSERT_EQ(out.req_ready, accept_due) << "cycle " << cycle;
    offered += out.req_ready ? 1 : 0;
    if (out.rf_valid) {
      ASSERT_EQ(out.rf_tag, transaction_of_read[cycle]);
      in.rf_data[0] = values_of(out.rf_tag)[lane_read(out)];
    }
  }
  EXPECT_EQ(offered, lengths.size());
  EXPECT_FALSE(unit.busy());
}

TEST_P(UnitTiming, OneLaneACycleOverTransactions) {
  expect_no_gap(*unit, {2, 3, 32, 2, 17, 4, 2});
}

TEST_P(UnitTiming, OneLaneACycleOverSingleLaneTransactions) {
  expect_no_gap(*unit, std::vector<int>(40, 1));
}

TEST_P(UnitTiming, OneLaneACycleOverMixedTransactions) {
  expect_no_gap(*unit, {1, 1, 2, 1, 32, 1, 1, 1, 5, 1, 2, 2, 1});
}

// Pairs of lanes, each with an address of its own: read without a gap, a sum every other cycle.
TEST_P(UnitTiming, GroupsOfOneRequestAreReadWithoutAGap) {
  offer(0xffffffffU, 9);
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    in.req_addr[lane] = kBase + 32 * (lane / 2);
  }
  in.rf_ready = true;
  for (int cycle = 0; cycle <= kLanes; ++cycle) {
    const bool due = cycle >= 2 && cycle % 2 == 0;
    in.lsu_room = due;
    const UnitOutputs out = tick();
    ASSERT_EQ(out.req_ready, cycle == kLanes - 2) << "cycle " << cycle;
    ASSERT_EQ(out.rf_valid, cycle < kLanes) << "cycle " << cycle;
    ASSERT_EQ(out.lsu_valid, due) << "cycle " << cycle;
    if (out.lsu_valid) {
      const auto pair = static_cast<std::size_t>(cycle / 2 - 1);
      EXPECT_TRUE(out.lsu_reduced);
      EXPECT_EQ(out.lsu_addr, kBase + 32 * pair);
      EXPECT_EQ(out.lsu_data, sum(9, 3U << 2 * pair));
    }
    if (out.req_ready) {
      withdraw();
    }
  }
  EXPECT_FALSE(unit->busy());
}

TEST_P(UnitTiming, LoneLanesWaitForTheRedTogether) {
  offer(0b0110'0010U, 9);
  in.req_addr[1] = kBase + 64;
  in.req_addr[6] = kBase + 32;
  in.rf_ready = true;
  for (int cycle = 0; cycle < 10; ++cycle) {
    UnitOutputs expected;
    expected.busy = cycle > 0;
    EXPECT_EQ(tick(), expected) << "cycle " << cycle;
  }
  in.lsu_room = true;
  UnitOutputs expected;
  expected.req_ready = true;
  expected.lsu_valid = true;
  expected.lsu_last = true;
  expected.lsu_mask = 0b0110'0010U;
  expected.lsu_tag = 9;
  expected.busy = true;
  EXPECT_EQ(tick(), expected);
  EXPECT_FALSE(unit->busy());
}

TEST_P(UnitTiming, ScatteredLanesAreOneRedAfterOneCycle) {
  offer(0xffffffffU, 9);
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    in.req_addr[lane] = kBase + 8 * lane;
  }
  in.lsu_room = true;
  EXPECT_EQ(tick(), UnitOutputs{});
  const UnitOutputs out = tick();
  EXPECT_TRUE(out.req_ready && out.lsu_valid && !out.lsu_reduced);
  EXPECT_EQ(out.lsu_mask, 0xffffffffU);
  EXPECT_EQ(out.lsu_addr, 0U);
  EXPECT_FALSE(unit->busy());
}

TEST_P(UnitTiming, PlainRedLeavesAtOnce) {
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

TEST_P(UnitTiming, GroupsLeaveOneACycleInTheOrderOfTheirLowestLanes) {
  offer(0b1011'0110U, 3);
  in.req_addr[1] = in.req_addr[5] = kBase + 64;
  in.req_addr[2] = kBase + 32;
  in.req_addr[4] = in.req_addr[7] = kBase;
  in.lsu_room = true;
  UnitOutputs out = tick();
  EXPECT_EQ(out.lsu_addr, kBase + 64);
  EXPECT_EQ(out.lsu_mask, 0b0010'0010U);
  EXPECT_FALSE(out.req_ready);
  EXPECT_FALSE(out.busy);
  EXPECT_TRUE(unit->busy()) << "part of the request has been sent";
  out = tick();
  EXPECT_FALSE(out.lsu_valid) << "a lone lane is gathered";
  EXPECT_FALSE(out.req_ready);
  out = tick();
  EXPECT_EQ(out.lsu_addr, kBase);
  EXPECT_EQ(out.lsu_mask, 0b1001'0000U);
  EXPECT_FALSE(out.req_ready);
  out = tick();
  EXPECT_EQ(out.lsu_addr, kBase + 32);
  EXPECT_EQ(out.lsu_mask, 0b0000'0100U);
  EXPECT_TRUE(out.req_ready);
  EXPECT_FALSE(unit->busy());
}

TEST_P(UnitTiming, AddressesDifferInOneBit) {
  for (int bit = 0; bit < kAddrWidth; ++bit) {
    for (const std::size_t odd_lane : {std::size_t{6}, std::size_t{31}}) {
      offer(0xffffffffU, 1);
      in.req_addr[odd_lane] ^= Address{1} << bit;
      in.lsu_room = true;
      ASSERT_EQ(tick().lsu_mask, ~(1U << odd_lane)) << "bit " << bit;
      const UnitOutputs out = tick();
      ASSERT_EQ(out.lsu_mask, 1U << odd_lane) << "bit " << bit;
      ASSERT_EQ(out.lsu_addr, kBase ^ Address{1} << bit);
      ASSERT_TRUE(out.req_ready);
    }
  }
}

TEST_P(UnitTiming, AddressBitsAboveTheBusDoNotCount) {
  offer(0xffffffffU, 1);
  in.req_addr[4] |= Address{1} << kAddrWidth;
  in.req_addr[0] |= Address{1} << 63;
  in.lsu_room = true;
  const UnitOutputs out = tick();
  EXPECT_EQ(out.lsu_mask, 0xffffffffU);
  EXPECT_EQ(out.lsu_addr, kBase);
}

TEST_P(UnitTiming, EmptyRequestIsAcceptedAtOnceAndLeavesNoTrace) {
  for (const bool ready : {false, true}) {
    offer(0, 4);
    in.lsu_room = ready;
    in.rf_ready = ready;
    UnitOutputs expected;
    expected.req_ready = true;
    EXPECT_EQ(tick(), expected);
    EXPECT_FALSE(unit->busy());
  }
  // Also while the reduction unit works and its result is stalled.
  start_reduction(0b11, 5);
  in.rf_ready = true;
  for (int cycle = 1; cycle <= 5; ++cycle) {
    offer(0, 6);
    EXPECT_TRUE(tick().req_ready) << "cycle " << cycle;
  }
  withdraw();
  in.lsu_room = true;
  EXPECT_EQ(tick().lsu_data, sum(5, 0b11));
}

TEST_P(UnitTiming, ResultGoesBeforeAPlainRed) {
  start_reduction_and_read(0b1, 1);
  offer(0b110, 2, kBase + 4);
  in.lsu_room = true;
  UnitOutputs out = tick();
  EXPECT_TRUE(out.lsu_reduced);
  EXPECT_EQ(out.lsu_tag, 1);
  EXPECT_TRUE(out.req_ready)
      << "the reduction unit, free again, takes what the result keeps from the LSU";
  EXPECT_EQ(lane_read(out), 1);
  withdraw();
  EXPECT_EQ(lane_read(tick()), 2);
  out = tick();
  EXPECT_EQ(out.lsu_data, sum(2, 0b110));
  EXPECT_TRUE(out.lsu_reduced);
}

TEST_P(UnitTiming, PlainRedsPassARunningReduction) {
  start_reduction(0xff, 1);
  in.rf_ready = true;
  in.lsu_room = true;
  for (int cycle = 1; cycle <= 8; ++cycle) {
    offer(0x3, 2, kBase + 4);
    const UnitOutputs out = tick();
    ASSERT_TRUE(out.req_ready);
    ASSERT_TRUE(out.lsu_valid);
    ASSERT_FALSE(out.lsu_reduced);
    ASSERT_EQ(lane_read(out), cycle - 1);
  }
  withdraw();
  EXPECT_EQ(tick().lsu_data, sum(1, 0xff));
}

TEST_P(UnitTiming, StalledResultHoldsAndNothingIsTakenOrRead) {
  for (int stall = 1; stall < 20; stall += 6) {
    start_reduction_and_read(0b101, 1);
    offer(0b1110, 2, kBase + 4);
    UnitOutputs out = tick();
    EXPECT_EQ(lane_read(out), 2);
    EXPECT_FALSE(out.req_ready) << "the last read is not yet the result";
    for (int cycle = 0; cycle < stall; ++cycle) {
      out = tick();
      ASSERT_TRUE(out.lsu_valid);
      ASSERT_EQ(out.lsu_data, sum(1, 0b101));
      ASSERT_EQ(out.lsu_tag, 1);
      ASSERT_FALSE(out.req_ready);
      ASSERT_FALSE(out.rf_valid) << "a read would overwrite the value of the result";
    }
    in.lsu_room = true;
    out = tick();
    EXPECT_EQ(out.lsu_data, sum(1, 0b101));
    EXPECT_TRUE(out.req_ready) << "taken in the cycle in which the result leaves";
    EXPECT_TRUE(out.rf_valid) << "and read in it";
    EXPECT_EQ(lane_read(out), 1);
    withdraw();
    EXPECT_EQ(lane_read(tick()), 2);
    EXPECT_EQ(lane_read(tick()), 3);
    out = tick();
    EXPECT_TRUE(out.lsu_valid);
    EXPECT_EQ(out.lsu_data, sum(2, 0b1110));
    EXPECT_FALSE(unit->busy());
  }
}

// Cycle 0 is that of the acceptance.
TEST_P(UnitTiming, RefusedReadsDelayTheResultByAsMuch) {
  for (int refused_at = 0; refused_at <= 3; ++refused_at) {
    for (int refused = 1; refused <= 5; ++refused) {
      offer(0xf0, 1);
      int reads = 0;
      for (int cycle = 0; cycle < 4 + refused; ++cycle) {
        in.lsu_room = cycle != 0;
        in.rf_ready = cycle < refused_at || cycle >= refused_at + refused;
        const UnitOutputs out = tick();
        ASSERT_EQ(out.req_ready, cycle == 0);
        withdraw();
        ASSERT_FALSE(out.lsu_valid);
        ASSERT_TRUE(out.rf_valid);
        ASSERT_EQ(lane_read(out), 4 + reads) << "held until granted";
        reads += in.rf_ready ? 1 : 0;
      }
      const UnitOutputs out = tick();
      ASSERT_TRUE(out.lsu_valid);
      ASSERT_EQ(out.lsu_data, sum(1, 0xf0));
    }
  }
}

TEST_P(UnitTiming, RequestWaitsWhileBothPathsAreTaken) {
  start_reduction_and_read(0b111, 1);
  offer(0b1, 2, kBase + 4);
  EXPECT_FALSE(tick().req_ready) << "one more lane is to be read";
  EXPECT_FALSE(tick().req_ready) << "that is the last one";
  for (int cycle = 0; cycle < 5; ++cycle) {
    EXPECT_FALSE(tick().req_ready) << "the result is stalled";
  }
  in.lsu_room = true;
  EXPECT_TRUE(tick().req_ready);
}

TEST_P(UnitTiming, SumHasTheArithmeticOfTheRed) {
  struct Case {
    std::vector<Fp32Bits> lanes;
    Fp32Bits sum;
  };
  const Case cases[] = {
      {{0x80000000}, 0x80000000},
      {{0x80000000, 0x80000000}, 0x80000000},
      {{0x80000000, 0x00000000}, 0x00000000},
      {{0x80000001}, 0x80000000},
      {{0x00000001}, 0x00000000},
      {{0x7f812345}, 0x7fffffff},
      {{0x7f800000, 0xff800000}, 0x7fffffff},
      {{0x7f7fffff, 0x7f7fffff}, 0x7f800000},
      {{0x3f800000, 0xbf800000}, 0x00000000},
      {{0x4b800000, 0x3f800000, 0x3f800000}, 0x4b800000},
      {{0x3f800000, 0x3f800000, 0x4b800000}, 0x4b800001},
  };
  for (const Case& c : cases) {
    const LaneMask mask = lowest_lanes(static_cast<int>(c.lanes.size()));
    start_reduction(mask, 1);
    std::copy(c.lanes.begin(), c.lanes.end(), operands[1].begin());
    in.rf_ready = true;
    in.lsu_room = true;
    for (std::size_t i = 0; i < c.lanes.size(); ++i) {
      tick();
    }
    EXPECT_EQ(tick().lsu_data, c.sum) << std::hex << c.lanes.front();
  }
}

TEST_P(UnitTiming, ResetEmptiesEveryStage) {
  for (int cycles = 0; cycles < 6; ++cycles) {
    start_reduction(0b11, 1);
    in.rf_ready = true;
    offer(0b1111, 2);
    in.req_addr[2] += 4;
    in.req_addr[3] += 4;
    // Two reads, then the result makes way for the first group of the request, which is read at
    // once and in the next cycle, then the result of that waits.
    for (int i = 0; i < cycles; ++i) {
      in.lsu_room = i == 2;
      EXPECT_FALSE(tick().req_ready);
    }
    withdraw();
    unit->reset();
    EXPECT_FALSE(unit->busy());
    in.lsu_room = true;
    EXPECT_EQ(tick(), UnitOutputs{});
    offer(0b11, 3);
    EXPECT_EQ(tick().lsu_mask, 0b11U) << "nothing is left of the request before";
    withdraw();
  }
}

// Clock gating: a unit that is clocked while idle and one that is not have the same future.
TEST_P(UnitTiming, IdleCyclesChangeNothing) {
  SplitMix64 random(test_seed());
  const std::unique_ptr<ArcUnit> gated = make_unit(GetParam(), UnitKind::kSerial);
  UnitInputs gated_in;
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
      gated_in = in;
      ASSERT_EQ(unit->busy(), gated->busy());
      const UnitOutputs out = tick();
      ASSERT_EQ(out, gated->tick(gated_in));
      ASSERT_EQ(unit->busy(), gated->busy());
      if (out.req_ready) {
        withdraw();
      }
    } while (in.req_valid || unit->busy());
    for (auto idle = random.below(6); idle > 0; --idle) {
      in.lsu_room = random.chance(0.5);
      in.rf_ready = random.chance(0.5);
      in.rf_data[0] = static_cast<Fp32Bits>(random.next());
      ASSERT_EQ(tick(), UnitOutputs{});
      ASSERT_FALSE(unit->busy());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Units, UnitTiming, testing::Values(UnitModel::kGolden, UnitModel::kRtl),
                         [](const testing::TestParamInfo<UnitModel>& parameter) {
                           return std::string(unit_model_name(parameter.param));
                         });

TEST(UnitKinds, NamesAreParsedAndOthersRefused) {
  EXPECT_EQ(parse_unit_model("golden"), UnitModel::kGolden);
  EXPECT_EQ(parse_unit_model("rtl"), UnitModel::kRtl);
  EXPECT_EQ(unit_model_name(UnitModel::kRtl), "rtl");
  for (const char* wrong : {"", "RTL", "golden ", "gold"}) {
    EXPECT_THROW(parse_unit_kind(wrong), std::invalid_argument) << wrong;
  }
}

}  // namespace
}  // namespace warpfold

// SPDX-License-Identifier: Apache-2.0
// When things happen at the ports of the pipelined unit, to the cycle. Every test runs on the
// golden unit and on the RTL.
#include <gtest/gtest.h>

#include <set>

#include "model/unit/arc_unit.hpp"
#include "model/unit/fp32.hpp"
#include "model/unit/lockstep.hpp"

namespace warpfold {
namespace {

constexpr Address kBase = 0x7fff'1234'5600;
constexpr int kPlaces = 4;

LaneMask lowest_lanes(int count) {
  return static_cast<LaneMask>((std::uint64_t{1} << count) - 1);
}

// The value of a lane of the operand `tag`.
Fp32Bits operand(Tag tag, std::uint32_t lane) {
  return synthetic_value(11, 0, tag * 8U + 5, 0, lane);
}

Fp32Bits sum_of(Tag tag, LaneMask mask) {
  std::array<Fp32Bits, kLanes> values{};
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    values[lane] = operand(tag, lane);
  }
  return reduction_reference(mask, values);
}

// One unit with its register file. `in` is what the test drives in the next cycle.
class PipelinedTiming : public testing::TestWithParam<UnitModel> {
 protected:
  PipelinedTiming() : unit(make_unit(GetParam(), UnitKind::kPipelined)) {
    in.rf_ready = true;
    in.lsu_room = true;
  }

  UnitOutputs tick() {
    const UnitOutputs out = unit->tick(in);
    // Only the cycle after a grant has its value.
    in.rf_data[0] = 0x7fc00000U;
    if (out.rf_valid && in.rf_ready) {
      EXPECT_TRUE(std::has_single_bit(out.rf_mask));
      in.rf_data[0] =
          operand(out.rf_tag, static_cast<std::uint32_t>(std::countr_zero(out.rf_mask)));
    }
    return out;
  }

  void offer(LaneMask mask, Tag tag) {
    in.req_valid = true;
    in.req_mask = mask;
    in.req_addr.fill(kBase + 4 * Address{tag});
    in.req_tag = tag;
  }

  // Hands one transaction over to the reduction unit, which must have a place.
  void start(LaneMask mask, Tag tag) {
    offer(mask, tag);
    in.lsu_room = false;
    ASSERT_TRUE(tick().req_ready);
    in.req_valid = false;
  }

  static void expect_result(const UnitOutputs& out, LaneMask mask, Tag tag) {
    ASSERT_TRUE(out.lsu_valid);
    EXPECT_TRUE(out.lsu_reduced);
    EXPECT_EQ(out.lsu_mask, 1U);
    EXPECT_EQ(out.lsu_addr, kBase + 4 * Address{tag});
    EXPECT_EQ(out.lsu_tag, tag);
    EXPECT_EQ(out.lsu_data, sum_of(tag, mask));
  }

  std::unique_ptr<ArcUnit> unit;
  UnitInputs in;
};

// Accepted in cycle t: reads in t+1, t+5 .. t+4n-3, result in t+4n+1, nothing before or after.
TEST_P(PipelinedTiming, LoneTransactionTakesFourCyclesALane) {
  for (int n = 1; n <= kLanes; ++n) {
    const LaneMask mask = std::rotl(lowest_lanes(n), n * 3);
    start(mask, 0x5a0);
    in.lsu_room = true;
    LaneMask left = mask;
    for (int cycle = 1; cycle <= 4 * n; ++cycle) {
      const UnitOutputs out = tick();
      ASSERT_TRUE(out.busy);
      ASSERT_FALSE(out.lsu_valid) << "result of " << n << " lanes too early, in cycle " << cycle;
      ASSERT_EQ(out.rf_valid, cycle % 4 == 1) << "cycle " << cycle;
      if (out.rf_valid) {
        ASSERT_EQ(out.rf_mask, left & ~(left - 1));
        ASSERT_EQ(out.rf_tag, 0x5a0);
        left &= left - 1;
      }
    }
    const UnitOutputs out = tick();
    expect_result(out, mask, 0x5a0);
    EXPECT_FALSE(out.rf_valid);
    EXPECT_TRUE(out.busy);
    EXPECT_FALSE(unit->busy());
    EXPECT_EQ(tick(), UnitOutputs{});
  }
}

// With a request always waiting, every cycle from the second on reads a lane, whatever the number
// of lanes; the memory queue takes results only, so that every request goes to the reduction unit.
TEST_P(PipelinedTiming, OneLaneACycleForEveryLength) {
  for (int n = 1; n <= kLanes; ++n) {
    const LaneMask mask = lowest_lanes(n);
    unit->reset();
    in = {};
    in.rf_ready = true;
    Tag next = 0;
    int results = 0;
    constexpr int kCycles = 640;
    for (int cycle = 0; cycle < kCycles; ++cycle) {
      offer(mask, next);
      // A registered queue would be full or not; here it is full whenever no result is due. The
      // first four transactions start in cycles 0 to 3, and each place gives a result every 4n.
      in.lsu_room = cycle > 4 * n && (cycle - 1) % (4 * n) < kPlaces;
      const UnitOutputs out = tick();
      ASSERT_EQ(out.rf_valid, cycle > 0) << "n " << n << ", cycle " << cycle;
      ASSERT_EQ(out.lsu_valid, in.lsu_room) << "n " << n << ", cycle " << cycle;
      if (out.lsu_valid) {
        expect_result(out, mask, static_cast<Tag>(results++ & kTagMask));
      }
      if (out.req_ready) {
        next = static_cast<Tag>((next + 1) & kTagMask);
      }
    }
    EXPECT_GE(results, (kCycles - 4 * n - 1) / n - kPlaces);
  }
}

TEST_P(PipelinedTiming, ShortTransactionOvertakesALongOne) {
  start(lowest_lanes(3), 1);
  start(0b1, 2);
  in.lsu_room = true;
  for (int cycle = 2; cycle <= 5; ++cycle) {
    ASSERT_FALSE(tick().lsu_valid) << "cycle " << cycle;
  }
  expect_result(tick(), 0b1, 2);
  for (int cycle = 7; cycle <= 12; ++cycle) {
    ASSERT_FALSE(tick().lsu_valid) << "cycle " << cycle;
  }
  expect_result(tick(), lowest_lanes(3), 1);
  EXPECT_FALSE(unit->busy());
}

TEST_P(PipelinedTiming, ReadsGoOnWhileAResultWaits) {
  for (int stall = 1; stall < 40; stall += 5) {
    start(0b1, 1);
    start(0b1111, 2);
    for (int cycle = 2; cycle <= 4; ++cycle) {
      ASSERT_FALSE(tick().lsu_valid);
    }
    for (int cycle = 5; cycle < 5 + stall; ++cycle) {
      const UnitOutputs out = tick();
      ASSERT_NO_FATAL_FAILURE(expect_result(out, 0b1, 1));
      EXPECT_EQ(out.rf_valid, cycle % 4 == 2 && cycle <= 14) << "cycle " << cycle;
    }
    in.lsu_room = true;
    int cycle = 5 + stall;
    expect_result(tick(), 0b1, 1);
    // The other one leaves when its turn comes, in cycle 1 + 4 * 4 + 1 or a multiple of 4 later.
    int due = 18;
    while (due <= cycle) {
      due += 4;
    }
    for (++cycle; cycle < due; ++cycle) {
      ASSERT_FALSE(tick().lsu_valid) << "cycle " << cycle;
    }
    expect_result(tick(), 0b1111, 2);
    EXPECT_FALSE(unit->busy());
  }
}

// A read that is not granted comes again four cycles later; the others keep their turns.
TEST_P(PipelinedTiming, RefusedReadCostsItsTransactionOneTurn) {
  for (int refused = 1; refused <= 5; ++refused) {
    start(0b11, 1);
    start(0b11, 2);
    for (int cycle = 2; cycle <= 9 + 4 * refused; ++cycle) {
      in.lsu_room = true;
      const bool first = cycle % 4 == 1;
      in.rf_ready = !(first && cycle < 4 * refused + 5 && cycle > 1);
      const UnitOutputs out = tick();
      if (first && cycle <= 4 * refused + 5) {
        ASSERT_TRUE(out.rf_valid) << "cycle " << cycle;
        ASSERT_EQ(out.rf_tag, 1);
        ASSERT_EQ(out.rf_mask, 0b10U);
      }
      ASSERT_EQ(out.lsu_valid, cycle == 10 || cycle == 9 + 4 * refused) << "cycle " << cycle;
      if (out.lsu_valid) {
        expect_result(out, 0b11, cycle == 10 ? 2 : 1);
      }
    }
    in.rf_ready = true;
    EXPECT_FALSE(unit->busy());
  }
}

TEST_P(PipelinedTiming, FourTransactionsAndAResultAreHeld) {
  for (Tag tag = 1; tag <= 4; ++tag) {
    start(0b1, tag);
  }
  // The first becomes the result that waits, and a fifth takes its place.
  start(0b1, 5);
  offer(0b1, 6);
  for (int cycle = 5; cycle < 30; ++cycle) {
    const UnitOutputs out = tick();
    ASSERT_FALSE(out.req_ready) << "cycle " << cycle;
    expect_result(out, 0b1, 1);
  }
  in.lsu_room = true;
  std::set<Tag> tags;
  for (int i = 0; i < 8 && tags.size() < 6; ++i) {
    const UnitOutputs out = tick();
    ASSERT_TRUE(out.lsu_valid) << "one after the other";
    if (out.lsu_tag != 6 || out.lsu_reduced) {
      expect_result(out, 0b1, out.lsu_tag);
    }
    EXPECT_TRUE(tags.insert(out.lsu_tag).second);
    if (out.req_ready) {
      in.req_valid = false;
    }
  }
  EXPECT_EQ(tags, (std::set<Tag>{1, 2, 3, 4, 5, 6}));
  EXPECT_FALSE(unit->busy());
}

TEST_P(PipelinedTiming, ZerosKeepTheirSign) {
  // Not through the register file above: the values are given here.
  for (const Fp32Bits zero : {0x80000000U, 0x00000000U}) {
    for (const int n : {1, 2, 5}) {
      start(lowest_lanes(n), 3);
      in.lsu_room = true;
      for (int cycle = 1; cycle <= 4 * n; ++cycle) {
        ASSERT_FALSE(unit->tick(in).lsu_valid);
        in.rf_data[0] = cycle % 4 == 1 ? zero : 0x3f800000U;
      }
      EXPECT_EQ(unit->tick(in).lsu_data, zero) << n << " lanes";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Units, PipelinedTiming,
                         testing::Values(UnitModel::kGolden, UnitModel::kRtl),
                         [](const testing::TestParamInfo<UnitModel>& parameter) {
                           return std::string(unit_model_name(parameter.param));
                         });

}  // namespace
}  // namespace warpfold

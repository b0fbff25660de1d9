// SPDX-License-Identifier: Apache-2.0
// The scheduler reduce-groups with the kinds that are greedy without it. Golden unit and RTL agree
// on every port; it is greedy until the memory path is congested; then groups are reduced; and, for
// the serial unit, when things happen, to the cycle.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <memory>
#include <string>
#include <tuple>

#include "model/unit/arc_unit.hpp"
#include "model/unit/fp32.hpp"
#include "model/unit/lockstep.hpp"
#include "model/unit/request_shapes.hpp"
#include "tb/lockstep/test_seed.hpp"
#include "tb/lockstep/units_of_rtl.hpp"

namespace warpfold {
namespace {

constexpr std::string_view kGroups = "reduce-groups";
constexpr Address kBase = 0x7fff'1234'5600;
constexpr LaneMask kFullWarp = 0xffffffffU;

// Cycles without room in a row after which the memory path is congested, and the groups for which
// it is (rtl/README.md).
constexpr int kStall = 64;
constexpr int kGroupsReduced = 8192 - kStall;

struct Pressure {
  const char* name;
  double lsu_stall;
  double rf_stall;
};
constexpr Pressure kPressures[] = {
    {"none", 0, 0}, {"even", 0.5, 0.25}, {"long_lsu_stalls", 0.97, 0.1}, {"both_long", 0.9, 0.9}};
constexpr UnitKind kKinds[] = {UnitKind::kSerial, UnitKind::kFused, UnitKind::kHalves,
                               UnitKind::kPaired};
constexpr Shape kShapes[] = {Shape::kUniform,     Shape::kAllDifferent, Shape::kFewGroups,
                             Shape::kPairs,       Shape::kSingleLane,   Shape::kEmptyMasks,
                             Shape::kOneBitApart, Shape::kAny};

class GroupsLockstep : public testing::TestWithParam<std::tuple<UnitKind, Pressure>> {};

TEST_P(GroupsLockstep, GoldenUnitAndRtlAgree) {
  const auto& [kind, pressure] = GetParam();
  for (const Shape shape : kShapes) {
    const std::uint64_t seed = test_seed() + static_cast<std::uint64_t>(shape);
    const std::unique_ptr<ArcUnit> rtl = make_unit(UnitModel::kRtl, kind, kGroups);
    const std::unique_ptr<ArcUnit> golden = make_unit(UnitModel::kGolden, kind, kGroups);
    Lockstep lockstep(*rtl, *golden,
                      {.kind = kind,
                       .seed = seed,
                       .lsu_stall_probability = pressure.lsu_stall,
                       .rf_stall_probability = pressure.rf_stall});
    SplitMix64 random(seed);
    for (int i = 0; i < 400; ++i) {
      ASSERT_TRUE(lockstep.send(random_request(random, shape)))
          << lockstep.message() << " (seed " << seed << ")";
    }
    ASSERT_TRUE(lockstep.drain()) << lockstep.message() << " (seed " << seed << ")";
    if (pressure.lsu_stall == 0) {
      EXPECT_EQ(lockstep.counts().reduced_lanes, 0U);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, GroupsLockstep,
                         testing::Combine(testing::ValuesIn(kKinds), testing::ValuesIn(kPressures)),
                         [](const testing::TestParamInfo<GroupsLockstep::ParamType>& parameter) {
                           return kind_test_name(std::get<0>(parameter.param)) + "_" +
                                  std::get<1>(parameter.param).name;
                         });

// Units of one kind beside each other, with the same requests and grants.
class BesideGreedy : public testing::TestWithParam<UnitKind> {
 protected:
  // Each phase is without room for `shortest` to `longest` cycles, and has it for the nine behind
  // them.
  void run(int phases, int shortest, int longest) {
    for (int phase = 0; phase < phases; ++phase) {
      const auto further = static_cast<std::uint32_t>(longest - shortest);
      const int stalled = shortest + static_cast<int>(random_.below(further + 1));
      for (int cycle = 0; cycle <= stalled + 8; ++cycle) {
        in_.lsu_room = cycle >= stalled;
        request();
        const UnitOutputs golden = golden_->tick(in_);
        ASSERT_EQ(rtl_->tick(in_), golden) << "phase " << phase << " cycle " << cycle;
        if (!differs_) {
          differs_ = greedy_->tick(in_) != golden;
        }
        if (golden.rf_valid) {
          answer_read(in_, GetParam(), golden.rf_mask, requests_.at(golden.rf_tag).values);
        }
        in_.req_valid = in_.req_valid && !golden.req_ready;
      }
    }
  }
  [[nodiscard]] bool differs() const { return differs_; }

 private:
  // Always one.
  void request() {
    if (in_.req_valid) {
      return;
    }
    const Tag tag = next_tag_++ & kTagMask;
    AtomredRequest& next = requests_[tag];
    next = random_request(random_, Shape::kFewGroups);
    in_.req_valid = true;
    in_.req_mask = next.mask;
    in_.req_addr = next.addresses;
    in_.req_tag = tag;
  }

  const std::unique_ptr<ArcUnit> greedy_ = make_unit(UnitModel::kGolden, GetParam(), "greedy");
  const std::unique_ptr<ArcUnit> golden_ = make_unit(UnitModel::kGolden, GetParam(), kGroups);
  const std::unique_ptr<ArcUnit> rtl_ = make_unit(UnitModel::kRtl, GetParam(), kGroups);
  SplitMix64 random_{test_seed()};
  UnitInputs in_{.rf_ready = true};
  std::map<Tag, AtomredRequest> requests_;
  std::uint32_t next_tag_ = 0;
  bool differs_ = false;
};

TEST_P(BesideGreedy, ItIsGreedyUntilThePathHasBeenFullForSoLong) {
  ASSERT_NO_FATAL_FAILURE(run(2'000, 0, kStall - 1));
  EXPECT_FALSE(differs());
  ASSERT_NO_FATAL_FAILURE(run(200, kStall, kStall));
  EXPECT_TRUE(differs());
}

INSTANTIATE_TEST_SUITE_P(Kinds, BesideGreedy, testing::ValuesIn(kKinds),
                         [](const testing::TestParamInfo<UnitKind>& parameter) {
                           return kind_test_name(parameter.param);
                         });

// The serial unit with its register file; `in` is what the test drives in the next cycle.
class SerialGroups : public testing::TestWithParam<UnitModel> {
 protected:
  SerialGroups() {
    in.rf_ready = true;
    in.lsu_room = true;
  }

  UnitOutputs tick() {
    const UnitOutputs out = unit->tick(in);
    if (out.rf_valid && in.rf_ready) {
      in.rf_data[0] = operand[static_cast<std::size_t>(std::countr_zero(out.rf_mask))];
    }
    return out;
  }
  // Of one address for the lanes of `group`, and one for each other lane.
  void offer(LaneMask mask, LaneMask group, Tag tag) {
    in.req_valid = true;
    in.req_mask = mask;
    in.req_tag = tag;
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      in.req_addr[lane] = (group >> lane & 1U) != 0 ? kBase : kBase + 64 * (lane + 1);
      operand[lane] = synthetic_value(3, 0, 1, 0, lane);
    }
  }
  void withdraw() { in.req_valid = false; }
  // A sum waits, and a request behind it, until the path is congested; then both leave.
  void congest() {
    in.lsu_room = false;
    offer(1, 1, 0);
    ASSERT_TRUE(tick().req_ready);
    offer(2, 2, 1);
    for (int cycle = 1; cycle < kStall; ++cycle) {
      ASSERT_FALSE(tick().req_ready);
    }
    in.lsu_room = true;
    ASSERT_TRUE(tick().lsu_reduced);
    ASSERT_TRUE(tick().req_ready);
    withdraw();
    ASSERT_EQ(tick(), UnitOutputs{});
  }

  std::unique_ptr<ArcUnit> unit = make_unit(GetParam(), UnitKind::kSerial, kGroups);
  UnitInputs in;
  std::array<Fp32Bits, kLanes> operand{};
};

// One cycle fewer without room, and a group passes on as if nothing had been.
TEST_P(SerialGroups, AGroupPassesOnUntilThePathIsCongested) {
  in.lsu_room = false;
  offer(1, 1, 0);
  ASSERT_TRUE(tick().req_ready);
  offer(kFullWarp, kFullWarp, 1);
  for (int cycle = 1; cycle < kStall - 1; ++cycle) {
    ASSERT_FALSE(tick().req_ready);
  }
  in.lsu_room = true;
  ASSERT_TRUE(tick().lsu_reduced);  // the sum; and the group goes to the unit, which is free again
  withdraw();
  for (int cycle = 0; cycle < kLanes; ++cycle) {
    tick();
  }
  offer(kFullWarp, kFullWarp, 2);
  const UnitOutputs out = tick();
  EXPECT_TRUE(out.req_ready && out.lsu_valid && !out.lsu_reduced);
  EXPECT_EQ(out.lsu_mask, kFullWarp);
}

// Congestion lasts for so many groups and not one more; lone lanes are not counted.
TEST_P(SerialGroups, GroupsPassOnAgainAfterSoMany) {
  ASSERT_NO_FATAL_FAILURE(congest());
  for (int group = 0; group < kGroupsReduced; ++group) {
    offer(0b100, 0, 3);
    ASSERT_TRUE(tick().req_ready) << "group " << group;
    offer(0b11, 0b11, 4);
    UnitOutputs out = tick();
    ASSERT_TRUE(out.req_ready && out.rf_valid && !out.lsu_valid) << "group " << group;
    withdraw();
    tick();
    ASSERT_TRUE(tick().lsu_reduced) << "group " << group;
  }
  offer(0b11, 0b11, 5);
  const UnitOutputs out = tick();
  EXPECT_TRUE(out.req_ready && out.lsu_valid && !out.lsu_reduced);
}

// A full warp is read in 32 cycles although the memory queue has room; the next one is accepted in
// the cycle in which the sum leaves, and not one sooner.
TEST_P(SerialGroups, GroupsWaitForTheUnitWhileThePathIsFree) {
  ASSERT_NO_FATAL_FAILURE(congest());
  offer(kFullWarp, kFullWarp, 1);
  ASSERT_TRUE(tick().req_ready);
  offer(kFullWarp, kFullWarp, 2);
  for (int cycle = 1; cycle < kLanes; ++cycle) {
    const UnitOutputs out = tick();
    ASSERT_FALSE(out.req_ready) << "cycle " << cycle;
    ASSERT_FALSE(out.lsu_valid) << "cycle " << cycle;
    ASSERT_EQ(out.rf_mask, LaneMask{1} << cycle);
  }
  const UnitOutputs out = tick();
  EXPECT_TRUE(out.lsu_valid && out.lsu_reduced);
  EXPECT_EQ(out.lsu_tag, 1);
  EXPECT_EQ(out.lsu_data, reduction_reference(kFullWarp, operand));
  EXPECT_TRUE(out.req_ready);
  EXPECT_EQ(out.rf_mask, 1U);
  EXPECT_EQ(out.rf_tag, 2);
}

// Lanes 0 and 1 share an address, 2 to 4 are alone: two of these are lone when lane 2 has been
// gathered, and all that is left leaves.
TEST_P(SerialGroups, LoneLanesLeaveTogetherAfterTheGroups) {
  ASSERT_NO_FATAL_FAILURE(congest());
  offer(0b11111, 0b0011, 2);
  UnitOutputs out = tick();
  EXPECT_EQ(out.rf_mask, 0b0001U);
  EXPECT_FALSE(out.lsu_valid);
  out = tick();  // lane 2 is gathered
  EXPECT_EQ(out.rf_mask, 0b0010U);
  EXPECT_FALSE(out.lsu_valid);
  out = tick();
  EXPECT_TRUE(out.lsu_valid && out.lsu_reduced);
  EXPECT_EQ(out.lsu_data, reduction_reference(0b0011, operand));
  EXPECT_FALSE(out.req_ready);
  out = tick();
  EXPECT_TRUE(out.req_ready && out.lsu_valid && !out.lsu_reduced);
  EXPECT_EQ(out.lsu_mask, 0b11100U);
  EXPECT_EQ(out.lsu_addr, 0U);
  withdraw();
  EXPECT_FALSE(unit->busy());
}

// A lone lane never goes to the unit, idle as it is: it waits for room.
TEST_P(SerialGroups, ALoneLaneWaitsForRoom) {
  ASSERT_NO_FATAL_FAILURE(congest());
  in.lsu_room = false;
  offer(0b1000, 0, 1);
  for (int cycle = 0; cycle < 50; ++cycle) {
    const UnitOutputs out = tick();
    ASSERT_FALSE(out.rf_valid || out.req_ready || out.lsu_valid);
  }
  in.lsu_room = true;
  const UnitOutputs out = tick();
  EXPECT_TRUE(out.req_ready && out.lsu_valid);
  EXPECT_EQ(out.lsu_mask, 0b1000U);
  withdraw();
  EXPECT_EQ(tick(), UnitOutputs{});
}

INSTANTIATE_TEST_SUITE_P(Units, SerialGroups, testing::Values(UnitModel::kGolden, UnitModel::kRtl),
                         [](const testing::TestParamInfo<UnitModel>& parameter) {
                           return std::string(unit_model_name(parameter.param));
                         });

TEST(Schedulers, OfTheRtlOfAKind) {
  for (const UnitKind kind : kKinds) {
    EXPECT_EQ(unit_scheduler(kind), "greedy");
    EXPECT_NE(make_unit(UnitModel::kRtl, kind, "greedy"), nullptr);
    EXPECT_THROW(make_unit(UnitModel::kRtl, kind, "nonsense"), std::invalid_argument);
  }
}

}  // namespace
}  // namespace warpfold

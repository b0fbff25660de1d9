// SPDX-License-Identifier: Apache-2.0
// The scheduler reduce-groups with the kinds that are greedy without it. What goes which way
// follows from the request alone; golden unit and RTL agree on every port; and, for the serial
// unit, when things happen, to the cycle.
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

namespace warpfold {
namespace {

constexpr std::string_view kGroups = "reduce-groups";
constexpr Address kBase = 0x7fff'1234'5600;
constexpr LaneMask kFullWarp = 0xffffffffU;

// Lanes of a request that share their address with another one, and how many addresses these have.
struct Shared {
  std::uint64_t lanes = 0;
  std::uint64_t addresses = 0;
};

Shared shared_of(const AtomredRequest& request) {
  std::map<Address, std::uint64_t> lanes;
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    if ((request.mask >> lane & 1U) != 0) {
      ++lanes[request.addresses[lane] & kAddrMask];
    }
  }
  Shared shared;
  for (const auto& [address, count] : lanes) {
    shared.lanes += count > 1 ? count : 0;
    shared.addresses += count > 1 ? 1 : 0;
  }
  return shared;
}

struct Pressure {
  const char* name;
  double lsu_stall;
  double rf_stall;
};
constexpr Pressure kPressures[] = {
    {"none", 0, 0}, {"even", 0.5, 0.25}, {"long_lsu_stalls", 0.97, 0.1}, {"both_long", 0.9, 0.9}};
constexpr UnitKind kKinds[] = {UnitKind::kSerial, UnitKind::kPipelined, UnitKind::kFused};
constexpr Shape kShapes[] = {Shape::kUniform,     Shape::kAllDifferent, Shape::kFewGroups,
                             Shape::kPairs,       Shape::kSingleLane,   Shape::kEmptyMasks,
                             Shape::kOneBitApart, Shape::kAny};

class GroupsLockstep : public testing::TestWithParam<std::tuple<UnitKind, Pressure>> {};

TEST_P(GroupsLockstep, GroupsAreReducedWhateverThePressure) {
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
    Shared shared;
    std::uint64_t lanes = 0;
    for (int i = 0; i < 400; ++i) {
      const AtomredRequest request = random_request(random, shape);
      const Shared more = shared_of(request);
      shared.lanes += more.lanes;
      shared.addresses += more.addresses;
      lanes += static_cast<std::uint64_t>(lane_count(request.mask));
      ASSERT_TRUE(lockstep.send(request)) << lockstep.message() << " (seed " << seed << ")";
    }
    ASSERT_TRUE(lockstep.drain()) << lockstep.message() << " (seed " << seed << ")";
    EXPECT_EQ(lockstep.counts().reduced_lanes, shared.lanes);
    EXPECT_EQ(lockstep.counts().reduced_transactions, shared.addresses);
    EXPECT_EQ(lockstep.counts().plain_lanes, lanes - shared.lanes);
  }
}

INSTANTIATE_TEST_SUITE_P(All, GroupsLockstep,
                         testing::Combine(testing::ValuesIn(kKinds), testing::ValuesIn(kPressures)),
                         [](const testing::TestParamInfo<GroupsLockstep::ParamType>& parameter) {
                           return std::string(unit_kind_name(std::get<0>(parameter.param))) + "_" +
                                  std::get<1>(parameter.param).name;
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

  std::unique_ptr<ArcUnit> unit = make_unit(GetParam(), UnitKind::kSerial, kGroups);
  UnitInputs in;
  std::array<Fp32Bits, kLanes> operand{};
};

// A full warp is read in 32 cycles although the memory queue has room; the next one is accepted in
// the cycle in which the sum leaves, and not one sooner.
TEST_P(SerialGroups, GroupsWaitForTheUnitWhileThePathIsFree) {
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

// A request of one lane passes on at once. Lanes that are alone on their addresses are gathered in
// a cycle each, then one RED takes them all.
TEST_P(SerialGroups, LoneLanesAreGatheredAndPassedOnTogether) {
  offer(0b100, 0, 1);
  UnitOutputs out = tick();
  EXPECT_TRUE(out.req_ready && out.lsu_valid && !out.lsu_reduced);
  EXPECT_EQ(out.lsu_mask, 0b100U);
  EXPECT_EQ(out.lsu_addr, in.req_addr[2]);

  offer(0b10110, 0, 2);
  for (int gathered = 0; gathered < 3; ++gathered) {
    out = tick();
    EXPECT_FALSE(out.lsu_valid || out.req_ready || out.rf_valid) << gathered;
  }
  out = tick();
  EXPECT_TRUE(out.req_ready && out.lsu_valid && !out.lsu_reduced);
  EXPECT_EQ(out.lsu_mask, 0b10110U);
  EXPECT_EQ(out.lsu_addr, 0U);
}

// Lanes 0 and 1 share an address, 2 and 3 are alone.
TEST_P(SerialGroups, LoneLanesLeaveAfterTheGroups) {
  offer(0b1111, 0b0011, 1);
  UnitOutputs out = tick();
  EXPECT_EQ(out.rf_mask, 0b0001U);
  EXPECT_FALSE(out.lsu_valid);
  std::map<std::string, int> seen;
  LaneMask left = 0b1100;
  for (int cycle = 1; in.req_valid && cycle < 10; ++cycle) {
    out = tick();
    if (out.lsu_valid && out.lsu_reduced) {
      EXPECT_EQ(cycle, 2);
      EXPECT_EQ(out.lsu_data, reduction_reference(0b0011, operand));
      ++seen["sum"];
    } else if (out.lsu_valid) {
      EXPECT_EQ(out.lsu_mask, left);
      EXPECT_TRUE(out.req_ready);
      left = 0;
      ++seen["red"];
    }
    in.req_valid = !out.req_ready;
  }
  EXPECT_EQ(seen["sum"], 1);
  EXPECT_EQ(seen["red"], 1);
  EXPECT_FALSE(unit->busy());
}

// A lone lane never goes to the unit, idle as it is: it waits for room.
TEST_P(SerialGroups, ALoneLaneWaitsForRoom) {
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

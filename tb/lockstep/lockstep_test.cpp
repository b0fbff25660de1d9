// SPDX-License-Identifier: Apache-2.0
// Golden unit and RTL side by side over random requests of every shape, under every kind of
// back-pressure: all outputs equal in all cycles, all sums right, every lane exactly once.
#include "model/unit/lockstep.hpp"

#include <gtest/gtest.h>

#include "model/unit/request_shapes.hpp"
#include "tb/lockstep/test_seed.hpp"
#include "tb/lockstep/units_of_rtl.hpp"

namespace warpfold {
namespace {

struct Pressure {
  const char* name;
  double lsu_stall;
  double rf_stall;
  double gap;
};

constexpr Pressure kPressures[] = {
    {"none", 0, 0, 0},
    {"even", 0.5, 0.25, 0.25},
    {"long_lsu_stalls", 0.97, 0.1, 0.1},
    {"long_rf_stalls", 0.6, 0.95, 0.1},
    {"both_long", 0.9, 0.9, 0},
    {"sparse_requests", 0.5, 0.2, 1},
};

constexpr std::pair<Shape, const char*> kShapes[] = {
    {Shape::kUniform, "uniform"},
    {Shape::kAllDifferent, "all_different"},
    {Shape::kFewGroups, "few_groups"},
    {Shape::kPairs, "pairs"},
    {Shape::kSingleLane, "single_lane"},
    {Shape::kFewLanes, "few_lanes"},
    {Shape::kEmptyMasks, "empty_masks"},
    {Shape::kOneBitApart, "one_bit_apart"},
    {Shape::kAny, "any"},
};

class LockstepRandom
    : public testing::TestWithParam<std::tuple<std::pair<Shape, const char*>, Pressure, UnitKind>> {
};

TEST_P(LockstepRandom, RtlEqualsGolden) {
  const auto& [shape, pressure, kind] = GetParam();
  const std::uint64_t first_seed = test_seed();
  LockstepCounts total;
  for (std::uint64_t seed = first_seed; seed < first_seed + 8; ++seed) {
    const std::unique_ptr<ArcUnit> rtl = make_unit(UnitModel::kRtl, kind);
    const std::unique_ptr<ArcUnit> golden = make_unit(UnitModel::kGolden, kind);
    Lockstep lockstep(*rtl, *golden,
                      {.kind = kind,
                       .seed = seed,
                       .lsu_stall_probability = pressure.lsu_stall,
                       .rf_stall_probability = pressure.rf_stall,
                       .gap_probability = pressure.gap});
    SplitMix64 random(seed * 0x100 + static_cast<std::uint64_t>(shape.first));
    std::uint64_t lanes = 0;
    const int requests = kind.max_words > 1 ? 60 : 300;
    for (int i = 0; i < requests; ++i) {
      const AtomredRequest request = with_words(random_request(random, shape.first), kind, random);
      lanes += static_cast<std::uint64_t>(lane_count(request.mask)) * request.words();
      ASSERT_TRUE(lockstep.send(request)) << lockstep.message() << " (seed " << seed << ")";
    }
    ASSERT_TRUE(lockstep.drain()) << lockstep.message() << " (seed " << seed << ")";
    const LockstepCounts& counts = lockstep.counts();
    ASSERT_EQ(counts.plain_lanes + counts.reduced_lanes, lanes) << "seed " << seed;
    total.plain_transactions += counts.plain_transactions;
    total.reduced_transactions += counts.reduced_transactions;
    total.reduced_lanes += counts.reduced_lanes;
    total.cycles += counts.cycles;
  }
  RecordProperty("cycles", std::to_string(total.cycles));
  if (kind.max_words > 1) {
    // What goes which way does not depend on the pressure.
    const bool no_groups = shape.first == Shape::kAllDifferent || shape.first == Shape::kFewLanes ||
                           shape.first == Shape::kSingleLane;
    EXPECT_EQ(total.reduced_transactions == 0, no_groups);
    const bool hardly_alone = shape.first == Shape::kUniform || shape.first == Shape::kPairs ||
                              shape.first == Shape::kEmptyMasks;
    EXPECT_TRUE(hardly_alone || total.plain_transactions > 0);
    return;
  }
  // A stream that takes only one of the two paths would test little. Where every lane has its own
  // address, a lane is reduced alone at most, that of a request which has no other.
  EXPECT_GT(total.plain_transactions, 0U);
  if (shape.first == Shape::kAllDifferent || shape.first == Shape::kFewLanes) {
    EXPECT_EQ(total.reduced_lanes, total.reduced_transactions);
  } else {
    EXPECT_EQ(total.reduced_transactions > 0, pressure.lsu_stall > 0);
  }
}

INSTANTIATE_TEST_SUITE_P(All, LockstepRandom,
                         testing::Combine(testing::ValuesIn(kShapes), testing::ValuesIn(kPressures),
                                          testing::ValuesIn(unit_kinds())),
                         [](const testing::TestParamInfo<LockstepRandom::ParamType>& parameter) {
                           return std::string(std::get<0>(parameter.param).second) + "_" +
                                  std::get<1>(parameter.param).name + "_" +
                                  kind_test_name(std::get<2>(parameter.param));
                         });

TEST(Lockstep, SameSeedGivesTheSameRun) {
  auto cycles_with = [](std::uint64_t seed) {
    const std::unique_ptr<ArcUnit> unit = make_unit(UnitModel::kGolden, UnitKind::kSerial);
    const std::unique_ptr<ArcUnit> golden = make_unit(UnitModel::kGolden, UnitKind::kSerial);
    Lockstep lockstep(*unit, *golden, {.seed = seed});
    SplitMix64 random(17);
    for (int i = 0; i < 500; ++i) {
      EXPECT_TRUE(lockstep.send(random_request(random, Shape::kAny))) << lockstep.message();
    }
    EXPECT_TRUE(lockstep.drain()) << lockstep.message();
    return lockstep.counts().cycles;
  };
  EXPECT_EQ(cycles_with(5), cycles_with(5));
  EXPECT_NE(cycles_with(5), cycles_with(6));
}

TEST(Lockstep, RefusesImpossibleStallProbabilities) {
  const std::unique_ptr<ArcUnit> unit = make_unit(UnitModel::kGolden, UnitKind::kSerial);
  const std::unique_ptr<ArcUnit> golden = make_unit(UnitModel::kGolden, UnitKind::kSerial);
  for (const double wrong : {-0.1, 1.0, 2.0, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THROW(Lockstep(*unit, *golden, {.lsu_stall_probability = wrong}), std::invalid_argument);
    EXPECT_THROW(Lockstep(*unit, *golden, {.rf_stall_probability = wrong}), std::invalid_argument);
  }
}

TEST(BackPressure, StallsTheGivenFractionOfCycles) {
  for (const double stall : {0.0, 0.1, 0.5, 0.9}) {
    BackPressure pressure(test_seed(), stall);
    constexpr int kCycles = 2'000'000;
    int stalled = 0;
    for (int i = 0; i < kCycles; ++i) {
      stalled += pressure.next_ready() ? 0 : 1;
    }
    EXPECT_NEAR(static_cast<double>(stalled) / kCycles, stall, 0.02);
  }
}

TEST(SyntheticValue, IsAFunctionOfItsArgumentsAndCoversAllClasses) {
  EXPECT_EQ(synthetic_value(1, 2, 3, 4, 5), synthetic_value(1, 2, 3, 4, 5));
  EXPECT_NE(synthetic_value(1, 2, 3, 4, 5), synthetic_value(1, 2, 3, 4, 6));
  int normal = 0;
  int subnormal = 0;
  int zero = 0;
  int infinity = 0;
  int nan = 0;
  for (std::uint32_t event = 0; event < 10'000; ++event) {
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      const std::uint32_t magnitude = synthetic_value(9, 1, event, 2, lane) & 0x7fffffffU;
      zero += magnitude == 0;
      subnormal += magnitude != 0 && magnitude < 0x00800000U;
      normal += magnitude >= 0x00800000U && magnitude < 0x7f800000U;
      infinity += magnitude == 0x7f800000U;
      nan += magnitude > 0x7f800000U;
    }
  }
  EXPECT_GT(normal, 200'000);
  EXPECT_GT(subnormal, 5'000);
  EXPECT_GT(zero, 5'000);
  EXPECT_GT(nan, 300);
  EXPECT_GE(infinity, 0);
}

}  // namespace
}  // namespace warpfold

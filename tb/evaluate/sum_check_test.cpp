// SPDX-License-Identifier: Apache-2.0
// What counts as a right sum, against the references and at the edges of what is allowed.
#include "model/unit/sum_check.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>

#include "model/unit/fp32.hpp"
#include "model/unit/request_shapes.hpp"

namespace warpfold {
namespace {

constexpr UnitPromise kAnyOrder{.sum = SumKind::kAnyOrder};
constexpr UnitPromise kWindow{.sum = SumKind::kOneRounding, .window = kFusedWindow};
constexpr UnitPromise kExact{.sum = SumKind::kOneRounding};

std::array<Fp32Bits, kLanes> values_of(std::initializer_list<float> values) {
  std::array<Fp32Bits, kLanes> bits{};
  std::transform(values.begin(), values.end(), bits.begin(),
                 [](float value) { return std::bit_cast<Fp32Bits>(value); });
  return bits;
}

bool right(const UnitPromise& promise, LaneMask lanes, const std::array<Fp32Bits, kLanes>& values,
           float sum) {
  return sum_error(promise, lanes, values, std::bit_cast<Fp32Bits>(sum)).empty();
}

TEST(SumCheck, TheReferencesAreRight) {
  SplitMix64 random(7);
  for (int i = 0; i < 20'000; ++i) {
    const LaneMask lanes = random_mask(random) | 1U << random.below(kLanes);
    const auto values = random_values(random, Operands::kAny);
    const Fp32Bits chain = reduction_reference(lanes, values);
    const Fp32Bits fused = fused_reference(lanes, values);
    EXPECT_EQ(sum_error({}, lanes, values, chain), "");
    EXPECT_EQ(sum_error(kAnyOrder, lanes, values, chain), "");
    EXPECT_EQ(sum_error(kWindow, lanes, values, fused), "");
    EXPECT_NE(sum_error({}, lanes, values, chain ^ 1U), "");
  }
}

TEST(SumCheck, ExactSumsAreRoundedToNearestEven) {
  const auto tie = values_of({0x1p24F, 1.0F});
  EXPECT_TRUE(right(kExact, 3, tie, 0x1p24F));
  EXPECT_FALSE(right(kExact, 3, tie, 0x1p24F + 2));
  const auto above = values_of({0x1p24F, 1.0F, 0x1p-100F});
  EXPECT_TRUE(right(kExact, 7, above, 0x1p24F + 2));
  EXPECT_FALSE(right(kExact, 7, above, 0x1p24F));
  EXPECT_TRUE(right(kWindow, 7, above, 0x1p24F)) << "the small one is below the window";
  const auto cancels = values_of({0x1p100F, 1.0F, -0x1p100F, 0x1p-20F});
  EXPECT_TRUE(right(kExact, 15, cancels, 1.0F + 0x1p-20F));
  EXPECT_FALSE(right(kExact, 15, cancels, 1.0F));
  const auto largest = values_of({0x1.fffffep127F, 0x1.fffffep127F});
  EXPECT_TRUE(right(kExact, 3, largest, std::numeric_limits<float>::infinity()));
  const auto negative = values_of({-3.0F, 1.0F});
  EXPECT_TRUE(right(kExact, 3, negative, -2.0F));
  EXPECT_FALSE(right(kExact, 3, negative, 2.0F));
}

TEST(SumCheck, AnyOrderIsWithinItsBound) {
  const auto values = values_of({1.0F, 1.0F, 1.0F});
  EXPECT_TRUE(right(kAnyOrder, 7, values, 3.0F + 0x1p-22F));
  EXPECT_FALSE(right(kAnyOrder, 7, values, 3.0F + 0x1p-20F));
  EXPECT_FALSE(right(kAnyOrder, 7, values, std::numeric_limits<float>::quiet_NaN()));
}

TEST(SumCheck, SubnormalNumbersCountOrDoNot) {
  const auto small = values_of({0x1p-130F, 0x1p-130F});
  EXPECT_TRUE(right({.sum = SumKind::kOneRounding}, 3, small, 0.0F));
  EXPECT_FALSE(right({.sum = SumKind::kOneRounding}, 3, small, 0x1p-129F));
  EXPECT_TRUE(
      right({.sum = SumKind::kOneRounding, .flush_subnormals = false}, 3, small, 0x1p-129F));
  EXPECT_TRUE(right({.flush_subnormals = false}, 3, small, 0x1p-129F));
  EXPECT_FALSE(right({}, 3, small, 0x1p-129F));
}

TEST(SumCheck, OneNanMakesANan) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const UnitPromise& promise : {kAnyOrder, kWindow, kExact}) {
    const auto both = values_of({kInfinity, -kInfinity, 1.0F});
    EXPECT_TRUE(right(promise, 7, both, std::numeric_limits<float>::quiet_NaN()));
    EXPECT_FALSE(right(promise, 7, both, 0.0F));
    EXPECT_TRUE(right(promise, 6, both, -kInfinity));
    EXPECT_FALSE(right(promise, 6, both, kInfinity));
  }
}

}  // namespace
}  // namespace warpfold

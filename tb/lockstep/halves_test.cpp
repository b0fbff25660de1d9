// SPDX-License-Identifier: Apache-2.0
// The model's addition of halves against whole numbers of 2^-24.

#include "model/base/halves.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>

#include "model/unit/fp32.hpp"
#include "model/unit/lockstep.hpp"
#include "tb/lockstep/test_seed.hpp"
#include "tb/unit/exact_half.hpp"

namespace warpfold {
namespace {

constexpr std::uint32_t kValues = 1U << 16;

void check(std::uint32_t a, std::uint32_t b) {
  const auto x = static_cast<HalfBits>(a);
  const auto y = static_cast<HalfBits>(b);
  ASSERT_EQ(half_add(x, y), exact_half_add(x, y, false)) << std::hex << a << " + " << b;
}

TEST(Halves, AreTheirValues) {
  EXPECT_EQ(half_value(0x0001), 0x1p-24F);
  EXPECT_EQ(half_value(0x83ff), -0x3ffp-24F);
  EXPECT_EQ(half_value(0x0400), 0x1p-14F);
  EXPECT_EQ(half_value(0xbc00), -1.0F);
  EXPECT_EQ(half_value(0x7bff), 65504.0F);
  EXPECT_TRUE(std::isinf(half_value(0xfc00)));
  EXPECT_TRUE(std::isnan(half_value(0x7c01)));
  EXPECT_TRUE(std::signbit(half_value(0x8000)));
  for (std::uint32_t half = 0; half < kValues; ++half) {
    const float value = half_value(static_cast<HalfBits>(half));
    if (!std::isnan(value)) {
      ASSERT_EQ(half_of(value), half);
    }
  }
}

TEST(Halves, AddAsWholeNumbersDo) {
  SplitMix64 random(test_seed());
  for (std::uint32_t a = 0; a < kValues; ++a) {
    for (const std::uint32_t b :
         {0U, 1U, 0x3ffU, 0x400U, 0x401U, 0x3bffU, 0x3c00U, 0x6bffU, 0x7bffU, 0x7c00U, 0x7e01U}) {
      ASSERT_NO_FATAL_FAILURE(check(a, b));
      ASSERT_NO_FATAL_FAILURE(check(b | kHalfSign, a));
    }
    for (int i = 0; i < 100; ++i) {
      ASSERT_NO_FATAL_FAILURE(check(a, random.below(kValues)));
    }
  }
}

// Neither half sees the other's carry, sign or NaN.
TEST(Halves, OfAWordAreAddedApart) {
  EXPECT_EQ(halves_add(0x3c00'ffffU, 0x4000'3c00U), 0x4200'7fffU);
  EXPECT_EQ(halves_add(0x7c00'03ffU, 0xfc00'0001U), 0x7fff'0400U);
  EXPECT_EQ(halves_add(0x8000'8000U, 0x8000'0000U), 0x8000'0000U);
  EXPECT_EQ(word_add(WordType::kHalves, 0x3c00'3c00U, 0x3c00'3c00U), 0x4000'4000U);
  EXPECT_EQ(word_add(WordType::kFp32, 0x3f80'0000U, 0x3f80'0000U), 0x4000'0000U);
}

TEST(Halves, ReductionReferenceIsAChain) {
  std::array<Fp32Bits, kLanes> values{};
  values[3] = 0x6800'3c00U;   // 2048, 1
  values[7] = 0x3c00'6800U;   // 1, 2048
  values[31] = 0x3c00'3c00U;  // 1, 1: both ones are lost on the upper side, one on the lower
  EXPECT_EQ(reduction_reference(1U << 3 | 1U << 7 | 1U << 31, values, WordType::kHalves),
            0x6800'6800U);
  values[7] = 0x4000'6800U;
  EXPECT_EQ(reduction_reference(1U << 3 | 1U << 7 | 1U << 31, values, WordType::kHalves),
            0x6802'6800U);
  EXPECT_EQ(reduction_reference(0, values, WordType::kHalves), kMinusZeros);
  EXPECT_EQ(reduction_reference(1, values, WordType::kHalves), 0U);
}

}  // namespace
}  // namespace warpfold

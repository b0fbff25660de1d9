// SPDX-License-Identifier: Apache-2.0
// What counts as a right sum, against the references and at the edges of what is allowed.
#include "model/unit/sum_check.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <utility>
#include <vector>

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
    EXPECT_EQ(sum_error(promise, 7, both, kFp32CanonicalNan), "");
    EXPECT_NE(sum_error(promise, 7, both, 0x7fc00000U), "") << "another NaN";
    EXPECT_FALSE(right(promise, 7, both, 0.0F));
    EXPECT_TRUE(right(promise, 6, both, -kInfinity));
    EXPECT_FALSE(right(promise, 6, both, kInfinity));
  }
}

// Adds in an order drawn at random, lanes or sums in pairs.
template <class Add>
Fp32Bits in_some_order(SplitMix64& random, LaneMask lanes,
                       const std::array<Fp32Bits, kLanes>& values, const Add& add) {
  std::vector<Fp32Bits> left;
  for (; lanes != 0; lanes &= lanes - 1) {
    left.push_back(values[static_cast<std::size_t>(std::countr_zero(lanes))]);
  }
  while (left.size() > 1) {
    std::swap(left[random.below(static_cast<std::uint32_t>(left.size()))], left.back());
    const Fp32Bits one = left.back();
    left.pop_back();
    Fp32Bits& other = left[random.below(static_cast<std::uint32_t>(left.size()))];
    other = add(one, other);
  }
  return left.front();
}

// How many of some random sums of a unit that adds so are wrong.
template <class Sum>
int wrong_of(const UnitPromise& promise, const Sum& sum) {
  SplitMix64 random(11);
  int wrong = 0;
  for (int i = 0; i < 20'000; ++i) {
    const LaneMask few = 1U << random.below(kLanes) | 1U << random.below(kLanes);
    const LaneMask lanes = random.below(2) == 0 ? few : few | random_mask(random);
    AtomredRequest request = random_request(random, Shape::kAny);
    request = random.below(16) == 0 ? near_zero(std::move(request), WordType::kFp32) : request;
    const auto& values = request.values;
    wrong += sum_error(promise, lanes, values, sum(random, lanes, values)).empty() ? 0 : 1;
  }
  return wrong;
}

// What is wrong with each of them shows in a few of the sums.
TEST(SumCheck, SubnormalsNansAndZerosAreJudged) {
  const auto plain = [](Fp32Bits a, Fp32Bits b) { return fp32_add_integer(a, b, true); };
  const auto keeps = [](Fp32Bits a, Fp32Bits b) { return fp32_add_integer(a, b, false); };
  const auto tree = [&](const auto& add) {
    return [add](SplitMix64& random, LaneMask lanes, const auto& values) {
      return add(kFp32MinusZero, in_some_order(random, lanes, values, add));
    };
  };
  EXPECT_EQ(wrong_of(kAnyOrder, tree(plain)), 0);
  EXPECT_EQ(wrong_of({.sum = SumKind::kAnyOrder, .flush_subnormals = false}, tree(keeps)), 0);
  EXPECT_GT(wrong_of(kAnyOrder, tree(keeps)), 20) << "subnormal numbers are not flushed";
  EXPECT_GT(wrong_of({.sum = SumKind::kAnyOrder, .flush_subnormals = false}, tree(plain)), 20)
      << "subnormal numbers are flushed";
  EXPECT_GT(wrong_of(kAnyOrder,
                     [&](SplitMix64& random, LaneMask lanes, const auto& values) {
                       const Fp32Bits sum = tree(plain)(random, lanes, values);
                       return sum == kFp32CanonicalNan ? 0x7fc00000U : sum;
                     }),
            20)
      << "another NaN";
  for (const UnitPromise& promise : {kAnyOrder, kWindow, kExact}) {
    const auto reference = [&](SplitMix64& random, LaneMask lanes, const auto& values) {
      return promise.sum == SumKind::kAnyOrder ? tree(plain)(random, lanes, values)
                                               : fused_reference(lanes, values);
    };
    EXPECT_GT(wrong_of(promise,
                       [&](SplitMix64& random, LaneMask lanes, const auto& values) {
                         return plain(reference(random, lanes, values), 0);
                       }),
              20)
        << "+0 for an absent lane, kind " << static_cast<int>(promise.sum);
    EXPECT_GT(wrong_of(promise,
                       [&](SplitMix64& random, LaneMask lanes, const auto& values) {
                         const Fp32Bits sum = reference(random, lanes, values);
                         return sum == 0 ? kFp32MinusZero : sum;
                       }),
              20)
        << "-0 for what cancels, kind " << static_cast<int>(promise.sum);
  }
}

TEST(SumCheck, ZerosHaveTheSignOfWhatTheyWere) {
  const auto zeros = values_of({-0.0F, -0.0F, 0.0F});
  const auto opposite = values_of({1.0F, -1.0F});
  const auto below = values_of({0x1p-126F, -0x1.8p-126F});  // -2^-127: flushed
  const auto small = values_of({-0x1p-140F, -0x1p-140F});
  for (const UnitPromise& promise : {kAnyOrder, kExact, kWindow}) {
    EXPECT_EQ(sum_error(promise, 3, zeros, kFp32MinusZero), "");
    EXPECT_EQ(sum_error(promise, 3, zeros, 0), "0x80000000 (-0)");
    EXPECT_EQ(sum_error(promise, 7, zeros, 0), "");
    EXPECT_NE(sum_error(promise, 7, zeros, kFp32MinusZero), "");
    EXPECT_EQ(sum_error(promise, 3, opposite, 0), "");
    EXPECT_EQ(sum_error(promise, 3, below, kFp32MinusZero), "");
    EXPECT_EQ(sum_error(promise, 3, small, kFp32MinusZero), "");
    EXPECT_NE(sum_error(promise, 3, small, 0), "");
    EXPECT_NE(sum_error(promise, 3, small, 0x80000200U), "") << "a subnormal sum";
  }
  EXPECT_NE(sum_error(kExact, 3, opposite, kFp32MinusZero), "");
  EXPECT_NE(sum_error(kAnyOrder, 3, opposite, kFp32MinusZero), "");
  EXPECT_NE(sum_error(kExact, 3, below, 0), "");
  EXPECT_NE(sum_error(kAnyOrder, 3, below, 0), "");
}

// More lanes than can be tried in all orders.
TEST(SumCheck, ManyLanesAreWithinTheirBound) {
  std::array<Fp32Bits, kLanes> values{};
  values.fill(std::bit_cast<Fp32Bits>(0x1p-126F));
  constexpr LaneMask kSix = 0x3f;
  EXPECT_TRUE(right(kAnyOrder, kSix, values, 6 * 0x1p-126F));
  EXPECT_FALSE(right(kAnyOrder, kSix, values, 5 * 0x1p-126F)) << "nothing can be flushed";
  values[0] = std::bit_cast<Fp32Bits>(-0x1.8p-126F);
  EXPECT_TRUE(right(kAnyOrder, kSix, values, 4 * 0x1p-126F)) << "one order flushes";
  values.fill(std::bit_cast<Fp32Bits>(0x1p127F));
  EXPECT_TRUE(right(kAnyOrder, kSix, values, std::numeric_limits<float>::infinity()));
  EXPECT_FALSE(right(kAnyOrder, kSix, values, -std::numeric_limits<float>::infinity()));
  values[0] = values[1] = values[2] = std::bit_cast<Fp32Bits>(-0x1p127F);
  EXPECT_EQ(sum_error(kAnyOrder, kSix, values, kFp32CanonicalNan), "") << "infinities may meet";
  EXPECT_NE(sum_error(kAnyOrder, kSix, values, 0x7fc00000U), "");
  EXPECT_EQ(sum_error(kAnyOrder, kSix, values, 0), "");
}

}  // namespace
}  // namespace warpfold

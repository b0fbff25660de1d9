// SPDX-License-Identifier: Apache-2.0
#include "traces/capture/common/half.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace warpfold::capture {
namespace {

TEST(Half, EveryOneComesBack) {
  for (unsigned bits = 0; bits < 0x10000U; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float value = from_half(half);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(from_half(to_half(value)))) << bits;
    } else {
      EXPECT_EQ(to_half(value), half) << bits;
    }
  }
}

TEST(Half, AreInTheOrderOfTheirBits) {
  EXPECT_EQ(from_half(0x0001), std::ldexp(1.0F, -24));
  EXPECT_EQ(from_half(0x3c00), 1.0F);
  EXPECT_EQ(from_half(0xc000), -2.0F);
  EXPECT_EQ(from_half(0x7bff), 65504.0F);
  for (std::uint16_t half = 0; half < 0x7c00; ++half) {
    EXPECT_LT(from_half(half), from_half(static_cast<std::uint16_t>(half + 1)));
  }
}

// Halfway between two goes to the one with an even last bit, and everything else to the nearest.
TEST(Half, RoundsToTheNearest) {
  for (std::uint16_t half = 0; half < 0x7bff; ++half) {
    const float low = from_half(half);
    const float high = from_half(static_cast<std::uint16_t>(half + 1));
    const float middle = 0.5F * (low + high);
    EXPECT_EQ(rounded_to_half(middle), half % 2 == 0 ? low : high);
    EXPECT_EQ(rounded_to_half(std::nextafter(middle, 0.0F)), low);
    EXPECT_EQ(rounded_to_half(std::nextafter(-middle, -1e9F)), -high);
  }
  EXPECT_EQ(rounded_to_half(65519.0F), 65504.0F);
  EXPECT_TRUE(std::isinf(rounded_to_half(65520.0F)));
  EXPECT_TRUE(std::isinf(rounded_to_half(-1e30F)));
}

}  // namespace
}  // namespace warpfold::capture

// SPDX-License-Identifier: Apache-2.0
// The lane picker against the arithmetic of two's complement.

#include <gtest/gtest.h>

#include <cstdint>

#include "Varc_lane_picker.h"
#include "tb/unit/bench.hpp"

namespace warpfold {
namespace {

class LanePicker : public testing::Test {
 protected:
  void check(std::uint32_t mask) {
    dut_->mask_i = mask;
    dut_.settle();
    const std::uint32_t lowest = mask & (~mask + 1U);
    ASSERT_EQ(dut_->any_o, mask != 0 ? 1 : 0) << std::hex << mask;
    ASSERT_EQ(dut_->one_hot_o, lowest) << std::hex << mask;
    ASSERT_EQ(dut_->rest_o, mask ^ lowest) << std::hex << mask;
  }

  bench::Dut<Varc_lane_picker> dut_;
};

TEST_F(LanePicker, NoneAllAndEachLane) {
  check(0);
  check(0xffffffffU);
  for (unsigned lane = 0; lane < 32; ++lane) {
    ASSERT_NO_FATAL_FAILURE(check(1U << lane));
    ASSERT_NO_FATAL_FAILURE(check(0xffffffffU << lane));
    ASSERT_NO_FATAL_FAILURE(check(0xffffffffU >> lane));
  }
}

TEST_F(LanePicker, EveryPairAndTripleOfLanes) {
  for (unsigned a = 0; a < 32; ++a) {
    for (unsigned b = 0; b < 32; ++b) {
      for (unsigned c = 0; c < 32; ++c) {
        ASSERT_NO_FATAL_FAILURE(check((1U << a) | (1U << b) | (1U << c)));
      }
    }
  }
}

TEST_F(LanePicker, EveryMaskOfSixteenLanesAtThreePlaces) {
  for (std::uint32_t mask = 0; mask < 0x10000U; ++mask) {
    ASSERT_NO_FATAL_FAILURE(check(mask));
    ASSERT_NO_FATAL_FAILURE(check(mask << 8));
    ASSERT_NO_FATAL_FAILURE(check(mask << 16));
  }
}

TEST_F(LanePicker, RandomMasks) {
  bench::Rng rng(bench::seed());
  for (int i = 0; i < 1'000'000; ++i) {
    ASSERT_NO_FATAL_FAILURE(check(static_cast<std::uint32_t>(rng()) << (rng() % 32)));
  }
}

}  // namespace
}  // namespace warpfold

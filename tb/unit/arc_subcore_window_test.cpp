// SPDX-License-Identifier: Apache-2.0
// Bench of arc_subcore's parameter WindowWidth: the fused unit keeps so many bits of a value.

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "Varc_subcore_fused.h"
#include "Varc_subcore_fused_narrow.h"
#include "model/types.hpp"
#include "tb/unit/bench.hpp"

namespace warpfold {
namespace {

// The sum of three lanes of one address, read at once.
template <typename Top>
std::uint32_t sum_of(const std::array<std::uint32_t, 3>& values) {
  constexpr std::uint32_t kBinWidth = 5;
  constexpr std::uint32_t kBinLow = 26;  // of a word: its exponent without the lowest three bits
  bench::ClockedDut<Top> dut;
  dut->req_valid_i = 0;
  dut->req_mask_i = 0x7;
  dut->req_tag_i = 0;
  for (std::size_t word = 0; word < kLanes * kAddrWidth / 32; ++word) {
    dut->req_addr_i[word] = 0;
  }
  dut->lsu_room_i = 0;
  dut->rf_ready_i = 1;
  for (std::size_t word = 0; word < kLanes * kBinWidth / 32; ++word) {
    dut->rf_bin_i[word] = 0;
  }
  dut->rf_data_i[3] = 0;
  for (std::size_t lane = 0; lane < values.size(); ++lane) {
    dut->rf_data_i[lane] = values[lane];
    dut->rf_bin_i[0] |= (values[lane] >> kBinLow & 0x1f) << (kBinWidth * lane);
  }
  dut.reset();
  dut->req_valid_i = 1;
  dut.settle();
  EXPECT_EQ(dut->req_ready_o, 1);
  dut.edge();
  dut->req_valid_i = 0;
  for (int cycle = 0; cycle < 10; ++cycle) {
    dut.settle();
    dut.edge();
  }
  EXPECT_EQ(dut->lsu_valid_o, 1);
  return dut->lsu_data_o;
}

// 1 - 1 + 2^-n: the window's top place is that of 1, so n places below it the value is there or
// cut.
std::array<std::uint32_t, 3> left_over(std::uint32_t n) {
  return {0x3f800000, 0xbf800000, (127 - n) << 23};
}

TEST(WindowWidth, IsFortyFourUnlessToldOtherwise) {
  EXPECT_EQ(sum_of<Varc_subcore_fused>(left_over(43)), (127U - 43) << 23);
  EXPECT_EQ(sum_of<Varc_subcore_fused>(left_over(44)), 0U);
}

TEST(WindowWidth, ReachesTheFusedUnit) {
  EXPECT_EQ(sum_of<Varc_subcore_fused_narrow>(left_over(32)), (127U - 32) << 23);
  EXPECT_EQ(sum_of<Varc_subcore_fused_narrow>(left_over(33)), 0U);
}

}  // namespace
}  // namespace warpfold

// SPDX-License-Identifier: Apache-2.0
// Environments that break the contract of rtl/README.md: the RTL says so in simulation, at the edge
// at which it happens, instead of losing lanes or adding wrong ones. And what holds in reset.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

#include "Varc_reduction_fused.h"
#include "Varc_subcore.h"
#include "model/types.hpp"
#include "tb/unit/bench.hpp"

namespace warpfold {
namespace {

class Contract : public testing::Test {
 protected:
  Contract() {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    dut_->req_valid_i = 0;
    dut_->req_mask_i = 0;
    dut_->req_tag_i = 0;
    for (std::size_t word = 0; word < kLanes * kAddrWidth / 32; ++word) {
      dut_->req_addr_i[word] = 0;
    }
    dut_->lsu_room_i = 0;
    dut_->rf_ready_i = 0;
    dut_->rf_data_i = 0;
    dut_.reset();
  }

  // A request of two addresses, whose first group is reduced from this edge on; the other one
  // waits.
  void send_half() {
    dut_->req_valid_i = 1;
    dut_->req_mask_i = 0x7;
    dut_->req_tag_i = 0x123;
    dut_->req_addr_i[3] = 0x40;  // lane 2
    dut_->lsu_room_i = 0;
    edge();
    dut_->lsu_room_i = 1;
  }
  void edge() {
    dut_.settle();
    dut_.edge();
  }

  bench::ClockedDut<Varc_subcore> dut_;
};

// A death test looks at stderr, and Verilator writes to stdout.
void write_to_stderr() {
  dup2(STDERR_FILENO, STDOUT_FILENO);
}

TEST_F(Contract, AHeldRequestPasses) {
  send_half();
  dut_.settle();
  EXPECT_EQ(dut_->lsu_mask_o, 0x4U);
  EXPECT_EQ(dut_->req_ready_o, 1);
  edge();
}

TEST_F(Contract, AWithdrawnRequestIsTold) {
  EXPECT_DEATH(
      {
        write_to_stderr();
        send_half();
        dut_->req_valid_i = 0;
        edge();
      },
      "RequestHeldUntilReady: assumption on the environment failed");
}

TEST_F(Contract, AChangedMaskIsTold) {
  EXPECT_DEATH(
      {
        write_to_stderr();
        send_half();
        dut_->req_mask_i = 0xf;
        edge();
      },
      "RequestHeldUntilReady: assumption on the environment failed");
}

TEST_F(Contract, AChangedAddressIsTold) {
  EXPECT_DEATH(
      {
        write_to_stderr();
        send_half();
        dut_->req_addr_i[3] ^= 0x1;  // lane 2, bit 0
        edge();
      },
      "AddressHeldUntilReady: assumption on the environment failed");
}

TEST_F(Contract, TheAddressOfAnInactiveLaneMayChange) {
  send_half();
  dut_->req_addr_i[6] ^= 0x10;  // lane 4
  edge();
}

TEST_F(Contract, AChangedTagIsTold) {
  EXPECT_DEATH(
      {
        write_to_stderr();
        send_half();
        dut_->req_tag_i = 0x124;
        edge();
      },
      "TagHeldUntilReady: assumption on the environment failed");
}

// The serial unit adds the last value while its result waits.
TEST_F(Contract, ReadDataThatIsNotHeldIsTold) {
  EXPECT_DEATH(
      {
        write_to_stderr();
        dut_->req_valid_i = 1;
        dut_->req_mask_i = 1;
        dut_->rf_ready_i = 1;
        edge();
        dut_->req_valid_i = 0;
        dut_->rf_data_i = 0x3f800000;
        edge();
        dut_->rf_data_i = 0x40000000;
        edge();
      },
      "ReadDataHeldWhileAResultWaits: assumption on the environment failed");
}

// A word with a larger exponent than the bins that came with it would be shifted out unseen.
TEST(FusedContract, BinsOfAnotherOperandAreTold) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  bench::ClockedDut<Varc_reduction_fused> dut;
  dut->txn_valid_i = 0;
  dut->rf_ready_i = 1;
  dut->result_ready_i = 1;
  for (std::size_t bank = 0; bank < 4; ++bank) {
    dut->rf_data_i[bank] = 0;
  }
  for (std::size_t word = 0; word < 5; ++word) {
    dut->rf_bin_i[word] = 0;
  }
  dut.reset();
  const auto reduce = [&](std::uint32_t value, std::uint32_t bin_of_lane_0) {
    dut->txn_valid_i = 1;
    dut->txn_mask_i = 1;
    dut.settle();
    dut.edge();
    dut->txn_valid_i = 0;
    dut.settle();
    EXPECT_EQ(dut->rf_valid_o, 1);
    dut.edge();
    dut->rf_data_i[0] = value;
    dut->rf_bin_i[0] = bin_of_lane_0;
    for (int cycle = 0; cycle < 8; ++cycle) {
      dut.settle();
      dut.edge();
    }
  };
  reduce(0x3f800000, 0x3f800000U >> 26);
  EXPECT_DEATH(
      {
        write_to_stderr();
        reduce(0x3f800000, (0x3f800000U >> 26) - 1);
      },
      "WordsAreWithinTheBinsOfTheirOperand: assumption on the environment failed");
}

// Nothing leaves a unit in reset that is not asked for anything. Requests are not masked by it: an
// environment keeps req_valid_i low until the reset is over.
TEST_F(Contract, QuietInReset) {
  dut_->rst_ni = 0;
  for (int cycle = 0; cycle < 3; ++cycle) {
    dut_->lsu_room_i = cycle == 1 ? 1 : 0;
    dut_->rf_ready_i = cycle == 1 ? 1 : 0;
    dut_->rf_data_i = 0x7fc00000;
    dut_.settle();
    EXPECT_EQ(dut_->lsu_valid_o, 0);
    EXPECT_EQ(dut_->rf_valid_o, 0);
    EXPECT_EQ(dut_->req_ready_o, 0);
    EXPECT_EQ(dut_->busy_o, 0);
    EXPECT_EQ(dut_->lsu_data_o, 0U);
    dut_.edge();
  }
  dut_->req_valid_i = 1;
  dut_->req_mask_i = 1;
  dut_->lsu_room_i = 1;
  dut_.settle();
  EXPECT_EQ(dut_->lsu_valid_o, 1) << "as rtl/README.md says";
}

}  // namespace
}  // namespace warpfold

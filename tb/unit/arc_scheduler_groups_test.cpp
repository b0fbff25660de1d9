// SPDX-License-Identifier: Apache-2.0
// The scheduler of the vector unit: every combination of its valids and readies, for masks with
// none, one and more lanes.

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <string>

#include "Varc_scheduler_groups.h"
#include "tb/unit/bench.hpp"

namespace warpfold {
namespace {

struct Inputs {
  std::uint32_t mask;
  bool txn_valid, left_valid, lsu_room, result_valid, reduce_ready;
};

struct Outputs {
  bool red_valid, reduce_valid, txn_ready, left_ready;

  friend bool operator==(const Outputs&, const Outputs&) = default;
};

// As rtl/README.md has it, case by case.
Outputs expected(const Inputs& in) {
  const bool path_free = in.lsu_room && !in.result_valid;
  const int lanes = std::popcount(in.mask);
  if (in.txn_valid && lanes > 1) {  // a group: reduced, or waits for the reduction unit
    return {false, true, in.reduce_ready, false};
  }
  if (in.txn_valid) {  // one lane: a RED, or waits for the path
    return {path_free, false, path_free, false};
  }
  if (in.left_valid && lanes > 1) {  // all lanes left are gathered: the same
    return {path_free, false, in.reduce_ready, path_free};
  }
  // Nothing, or a lane that is about to be gathered.
  return {false, false, lanes > 1 ? in.reduce_ready : path_free, false};
}

class GroupsScheduler : public testing::Test {
 protected:
  void check(const Inputs& in) {
    dut->txn_mask_i = in.mask;
    dut->txn_valid_i = in.txn_valid;
    dut->left_valid_i = in.left_valid;
    dut->lsu_room_i = in.lsu_room;
    dut->result_valid_i = in.result_valid;
    dut->reduce_ready_i = in.reduce_ready;
    dut.settle();
    const Outputs out{dut->red_valid_o != 0, dut->reduce_valid_o != 0, dut->txn_ready_o != 0,
                      dut->left_ready_o != 0};
    ASSERT_EQ(out, expected(in)) << "mask " << std::hex << in.mask << " txn " << in.txn_valid
                                 << " left " << in.left_valid << " room " << in.lsu_room
                                 << " result " << in.result_valid << " ready " << in.reduce_ready;
  }
  void check_all_of(std::uint32_t mask) {
    for (unsigned bits = 0; bits < 32; ++bits) {
      ASSERT_NO_FATAL_FAILURE(check({mask, (bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0,
                                     (bits & 8) != 0, (bits & 16) != 0}));
    }
  }

  bench::Dut<Varc_scheduler_groups> dut;
};

TEST_F(GroupsScheduler, NoLaneAndEachLane) {
  ASSERT_NO_FATAL_FAILURE(check_all_of(0));
  for (unsigned lane = 0; lane < 32; ++lane) {
    ASSERT_NO_FATAL_FAILURE(check_all_of(1U << lane));
  }
}

TEST_F(GroupsScheduler, EachPairOfLanes) {
  for (unsigned one = 0; one < 32; ++one) {
    for (unsigned other = 0; other < one; ++other) {
      ASSERT_NO_FATAL_FAILURE(check_all_of(1U << one | 1U << other));
    }
  }
}

TEST_F(GroupsScheduler, AnyLanes) {
  bench::Rng rng(bench::seed());
  for (int i = 0; i < 20'000; ++i) {
    ASSERT_NO_FATAL_FAILURE(check_all_of(static_cast<std::uint32_t>(rng())));
  }
}

}  // namespace
}  // namespace warpfold

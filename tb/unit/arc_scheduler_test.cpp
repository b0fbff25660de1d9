// SPDX-License-Identifier: Apache-2.0
// The scheduler's whole truth table, written out by hand.

#include <gtest/gtest.h>

#include <cstdint>

#include "Varc_scheduler.h"
#include "tb/unit/bench.hpp"

namespace warpfold {
namespace {

struct Row {
  std::uint8_t txn_valid, left_valid, lsu_room, result_valid, reduce_ready;  // inputs
  std::uint8_t red_valid, reduce_valid, txn_ready, left_ready;               // outputs
};

constexpr Row kTable[] = {
    // no transaction: nothing is offered; the readies show what would be taken
    {0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 1, 0, 0, 1, 0},
    {0, 0, 0, 1, 0, 0, 0, 0, 0},
    {0, 0, 0, 1, 1, 0, 0, 1, 0},
    {0, 0, 1, 0, 0, 0, 0, 1, 1},
    {0, 0, 1, 0, 1, 0, 0, 1, 1},
    {0, 0, 1, 1, 0, 0, 0, 0, 0},
    {0, 0, 1, 1, 1, 0, 0, 1, 0},
    // lanes left of several addresses: RED, or wait
    {0, 1, 0, 0, 0, 0, 0, 0, 0},
    {0, 1, 0, 0, 1, 0, 0, 1, 0},
    {0, 1, 0, 1, 0, 0, 0, 0, 0},
    {0, 1, 0, 1, 1, 0, 0, 1, 0},
    {0, 1, 1, 0, 0, 1, 0, 0, 1},
    {0, 1, 1, 0, 1, 1, 0, 0, 1},
    {0, 1, 1, 1, 0, 0, 0, 0, 0},
    {0, 1, 1, 1, 1, 0, 0, 1, 0},
    // LSU path stalled: reduce, or wait
    {1, 0, 0, 0, 0, 0, 1, 0, 0},
    {1, 0, 0, 0, 1, 0, 1, 1, 0},
    {1, 0, 0, 1, 0, 0, 1, 0, 0},
    {1, 0, 0, 1, 1, 0, 1, 1, 0},
    // LSU path free: RED, whether or not the unit is free
    {1, 0, 1, 0, 0, 1, 0, 1, 1},
    {1, 0, 1, 0, 1, 1, 0, 1, 1},
    // a finished sum takes the free path: reduce, or wait
    {1, 0, 1, 1, 0, 0, 1, 0, 0},
    {1, 0, 1, 1, 1, 0, 1, 1, 0},
    // a transaction among lanes left: a RED takes them all, the unit only the transaction
    {1, 1, 0, 0, 0, 0, 1, 0, 0},
    {1, 1, 0, 0, 1, 0, 1, 1, 0},
    {1, 1, 0, 1, 0, 0, 1, 0, 0},
    {1, 1, 0, 1, 1, 0, 1, 1, 0},
    {1, 1, 1, 0, 0, 1, 0, 0, 1},
    {1, 1, 1, 0, 1, 1, 0, 0, 1},
    {1, 1, 1, 1, 0, 0, 1, 0, 0},
    {1, 1, 1, 1, 1, 0, 1, 1, 0},
};

TEST(Scheduler, TruthTable) {
  static_assert(sizeof(kTable) / sizeof(kTable[0]) == 32);
  bench::Dut<Varc_scheduler> dut;
  for (const Row& row : kTable) {
    dut->txn_valid_i = row.txn_valid;
    dut->left_valid_i = row.left_valid;
    dut->lsu_room_i = row.lsu_room;
    dut->result_valid_i = row.result_valid;
    dut->reduce_ready_i = row.reduce_ready;
    dut.settle();
    const auto line = &row - kTable;
    EXPECT_EQ(dut->red_valid_o, row.red_valid) << "row " << line;
    EXPECT_EQ(dut->reduce_valid_o, row.reduce_valid) << "row " << line;
    EXPECT_EQ(dut->txn_ready_o, row.txn_ready) << "row " << line;
    EXPECT_EQ(dut->left_ready_o, row.left_ready) << "row " << line;
  }
}

}  // namespace
}  // namespace warpfold

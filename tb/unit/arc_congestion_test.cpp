// SPDX-License-Identifier: Apache-2.0
// When the memory path counts as congested: after 64 cycles without room in a row, for 8,128
// groups, and at random beside two counters.

#include <gtest/gtest.h>

#include <cstdint>

#include "Varc_congestion.h"
#include "tb/unit/bench.hpp"

namespace warpfold {
namespace {

constexpr unsigned kStall = 64;
constexpr unsigned kGroups = 8192 - kStall;

class Congestion : public testing::Test {
 protected:
  Congestion() {
    dut->req_valid_i = 0;
    dut->lsu_room_i = 1;
    dut->taken_i = 0;
    dut.reset();
  }

  // One cycle; whether the path was congested in it.
  bool cycle(bool request, bool room, bool taken = false) {
    dut->req_valid_i = request;
    dut->lsu_room_i = room;
    dut->taken_i = taken;
    dut.settle();
    const bool congested = dut->congested_o != 0;
    dut.edge();
    return congested;
  }
  bool cycles(unsigned count, bool request, bool room, bool taken = false) {
    bool any = false;
    for (; count > 0; --count) {
      any |= cycle(request, room, taken);
    }
    return any;
  }
  void congest() { ASSERT_FALSE(cycles(kStall, true, false)); }

  bench::ClockedDut<Varc_congestion> dut;
};

TEST_F(Congestion, BeginsAfterSoManyCyclesAndNotOneSooner) {
  EXPECT_FALSE(cycles(kStall - 1, true, false));
  EXPECT_FALSE(cycle(true, true));
  EXPECT_FALSE(cycles(kStall, true, false));
  EXPECT_TRUE(cycle(true, true));
}

TEST_F(Congestion, CyclesWithoutARequestDoNotCount) {
  EXPECT_FALSE(cycles(40, true, false));
  EXPECT_FALSE(cycles(1000, false, false));
  EXPECT_FALSE(cycles(1000, false, true));
  EXPECT_FALSE(cycles(kStall - 40, true, false));
  EXPECT_TRUE(cycle(false, true));
}

TEST_F(Congestion, TransactionsTakenBeforeDoNotCount) {
  EXPECT_FALSE(cycles(20'000, true, true, true));
  EXPECT_FALSE(cycles(kStall, true, false, true));
  EXPECT_TRUE(cycle(true, true));
}

TEST_F(Congestion, LastsForSoManyGroupsHoweverLongTheyTake) {
  ASSERT_NO_FATAL_FAILURE(congest());
  for (unsigned group = 0; group < kGroups; ++group) {
    for (unsigned wait = group % 7; wait > 0; --wait) {
      ASSERT_TRUE(cycle(wait % 2 == 0, wait % 3 == 0)) << "group " << group;
    }
    ASSERT_TRUE(cycle(true, group % 2 == 0, true)) << "group " << group;
  }
  EXPECT_FALSE(cycles(kStall, true, false));
  EXPECT_TRUE(cycle(true, true));
}

TEST_F(Congestion, ResetEndsIt) {
  ASSERT_NO_FATAL_FAILURE(congest());
  ASSERT_TRUE(cycle(false, true));
  dut.reset();
  EXPECT_FALSE(cycles(kStall, true, false));
}

TEST_F(Congestion, AsTwoCountersSay) {
  bench::Rng rng(bench::seed());
  unsigned stalled = 0;
  unsigned groups = 0;  // left of a congestion
  unsigned changes = 0;
  for (int phase = 0; phase < 400; ++phase) {
    const unsigned room = phase % 3 == 0 ? 1 : 50;  // per cent
    for (int i = 0; i < 1'000; ++i) {
      const bool request = bench::chance(rng, 80);
      const bool has_room = bench::chance(rng, room);
      const bool taken = request && bench::chance(rng, 90);
      ASSERT_EQ(cycle(request, has_room, taken), groups > 0) << "phase " << phase;
      if (groups > 0) {
        groups -= taken ? 1 : 0;
        changes += groups == 0 ? 1 : 0;
      } else if (request) {
        stalled = has_room ? 0 : stalled + 1;
        if (stalled == kStall) {
          stalled = 0;
          groups = kGroups;
          ++changes;
        }
      }
    }
  }
  EXPECT_GT(changes, 10U);
}

}  // namespace
}  // namespace warpfold

// SPDX-License-Identifier: Apache-2.0
// The whole sub-core unit: which way a transaction goes, what the memory queue sees, and that every
// lane of every request arrives exactly once.

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "Varc_subcore.h"
#include "model/types.hpp"
#include "model/unit/fp32.hpp"
#include "tb/unit/bench.hpp"

namespace warpfold {
namespace {

struct Request {
  LaneMask mask = 0;
  std::array<Address, kLanes> addr{};
  Tag tag = 0;
};

using Lane = std::pair<Tag, unsigned>;

Fp32Bits register_value(const Lane& lane) {
  return 0x3f800000U + ((std::uint32_t{lane.first} * 37U + lane.second * 11U) % 2048U << 12);
}

class Subcore : public testing::Test {
 protected:
  struct Events {
    bool accepted = false;
    bool offered = false;
    bool reduced = false;
    bool read = false;
  };

  Subcore() {
    dut_->req_valid_i = 0;
    dut_->lsu_room_i = 0;
    dut_->rf_ready_i = 0;
    dut_->rf_data_i = 0;
    dut_.reset();
  }

  void drive(const Request& request) {
    dut_->req_mask_i = request.mask;
    dut_->req_tag_i = request.tag;
    for (std::size_t bit = 0; bit < kLanes * kAddrWidth; bit += 16) {
      const auto part =
          static_cast<std::uint32_t>(request.addr[bit / kAddrWidth] >> (bit % kAddrWidth)) &
          0xffffU;
      auto& word = dut_->req_addr_i[bit / 32];
      word = bit % 32 == 0 ? (word & 0xffff0000U) | part : (word & 0xffffU) | part << 16;
    }
  }

  // One cycle with every output checked. A new request is told by its tag, which no other request
  // in flight has.
  void step(const Request* request, bool lsu_room, bool rf_ready, Events* events = nullptr) {
    Events now;
    dut_->req_valid_i = request != nullptr ? 1 : 0;
    if (request != nullptr) {
      drive(*request);
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        if ((request->mask >> lane & 1U) != 0) {
          addresses_[{request->tag, lane}] = request->addr[lane];
        }
      }
    }
    dut_->lsu_room_i = lsu_room ? 1 : 0;
    dut_->rf_ready_i = rf_ready ? 1 : 0;
    dut_->rf_data_i = rf_data_;
    dut_.settle();

    now.offered = dut_->lsu_valid_o != 0;
    now.reduced = dut_->lsu_reduced_o != 0;
    now.accepted = request != nullptr && dut_->req_ready_o != 0;
    now.read = rf_ready && dut_->rf_valid_o != 0;

    if (!now.offered) {
      ASSERT_FALSE(now.reduced);
      ASSERT_EQ(dut_->lsu_addr_o, 0U);
      ASSERT_EQ(dut_->lsu_mask_o, 0U);
      ASSERT_EQ(dut_->lsu_tag_o, 0U);
      ASSERT_EQ(dut_->lsu_data_o, 0U);
    } else if (now.reduced) {
      check_reduced();
      if (lsu_room) {
        for (const Lane& lane : reads_) {
          ++arrived_[lane];
        }
        reads_.clear();
      }
    } else {
      ASSERT_TRUE(lsu_room) << "a plain RED is offered only in a cycle in which it is taken";
      ASSERT_NE(request, nullptr);
      ASSERT_EQ(dut_->lsu_data_o, 0U);
      ASSERT_EQ(dut_->lsu_tag_o, request->tag);
      ASSERT_NE(dut_->lsu_mask_o, 0U);
      LaneMask at_address = 0;
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        if ((dut_->lsu_mask_o >> lane & 1U) != 0) {
          at_address |= LaneMask{request->addr[lane] == dut_->lsu_addr_o} << lane;
          ++arrived_[{request->tag, lane}];
        }
      }
      if (at_address != dut_->lsu_mask_o) {
        ASSERT_EQ(dut_->lsu_addr_o, 0U);
        ASSERT_TRUE(now.accepted) << "a plain RED of several addresses takes all that is left";
      }
    }
    if (now.read) {
      ASSERT_TRUE(std::has_single_bit(dut_->rf_mask_o));
      reads_.push_back({dut_->rf_tag_o, static_cast<unsigned>(std::countr_zero(dut_->rf_mask_o))});
      rf_data_ = register_value(reads_.back());
    }
    dut_.edge();
    if (events != nullptr) {
      *events = now;
    }
  }

  // All lanes read and not yet delivered belong to the result at the port: nothing is read while it
  // waits, and a read granted in the cycle in which it is taken is noted after this check.
  void check_reduced() {
    ASSERT_FALSE(reads_.empty());
    Fp32Bits sum = kFp32MinusZero;
    for (const Lane& lane : reads_) {
      ASSERT_EQ(lane.first, dut_->lsu_tag_o);
      ASSERT_EQ(addresses_.at(lane), dut_->lsu_addr_o);
      sum = fp32_add_integer(sum, register_value(lane), true);
    }
    ASSERT_EQ(dut_->lsu_mask_o, 1U);
    ASSERT_EQ(dut_->lsu_data_o, sum);
  }

  void drain() {
    for (int i = 0; i < 200 && (i == 0 || dut_->busy_o != 0); ++i) {
      ASSERT_NO_FATAL_FAILURE(step(nullptr, true, true));
    }
    ASSERT_EQ(dut_->busy_o, 0);
  }

  // After drain(): each active lane of the request arrived once, the others never.
  void expect_arrived_once(const Request& request) {
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const auto found = arrived_.find({request.tag, lane});
      const int count = found == arrived_.end() ? 0 : found->second;
      ASSERT_EQ(count, static_cast<int>(request.mask >> lane & 1U)) << "lane " << lane;
    }
  }

  static Request one_address(LaneMask mask, Tag tag) {
    Request request{.mask = mask, .addr = {}, .tag = tag};
    request.addr.fill(0x1000U + tag * 4U);
    return request;
  }

  bench::ClockedDut<Varc_subcore> dut_;
  std::map<Lane, Address> addresses_;
  std::map<Lane, int> arrived_;
  std::vector<Lane> reads_;  // granted, not yet delivered as part of a sum
  Fp32Bits rf_data_ = 0;
};

TEST_F(Subcore, FreePathMeansPlainRed) {
  const Request request = one_address(0xffffffffU, 1);
  Events events;
  ASSERT_NO_FATAL_FAILURE(step(&request, true, true, &events));
  EXPECT_TRUE(events.accepted && events.offered && !events.reduced);
  ASSERT_NO_FATAL_FAILURE(step(nullptr, true, true, &events));
  EXPECT_FALSE(events.offered);
  EXPECT_EQ(dut_->busy_o, 0);
  expect_arrived_once(request);
}

TEST_F(Subcore, StalledPathMeansReduction) {
  const Request request = one_address(0x00000f00U, 1);
  Events events;
  ASSERT_NO_FATAL_FAILURE(step(&request, false, true, &events));
  EXPECT_TRUE(events.accepted && !events.offered);
  EXPECT_TRUE(events.read);
  for (int lane = 1; lane < 4; ++lane) {
    ASSERT_NO_FATAL_FAILURE(step(nullptr, true, true, &events));
    EXPECT_TRUE(events.read && !events.offered);
  }
  ASSERT_NO_FATAL_FAILURE(step(nullptr, false, true, &events));
  EXPECT_TRUE(events.offered && events.reduced);
  ASSERT_NO_FATAL_FAILURE(step(nullptr, true, true, &events));
  EXPECT_TRUE(events.offered && events.reduced);
  EXPECT_EQ(dut_->busy_o, 0);
  expect_arrived_once(request);
}

TEST_F(Subcore, GreedyAsEverAfterALongStall) {
  const Request first = one_address(0x00000f00U, 1);
  const Request second = one_address(0x000000ffU, 2);
  Events events;
  for (int cycle = 0; cycle < 300; ++cycle) {
    ASSERT_NO_FATAL_FAILURE(step(cycle == 0 ? &first : &second, false, true, &events));
    EXPECT_EQ(events.accepted, cycle == 0);
  }
  ASSERT_NO_FATAL_FAILURE(step(&second, true, true, &events));
  EXPECT_TRUE(events.accepted && events.offered && events.reduced);
  ASSERT_NO_FATAL_FAILURE(drain());
  const Request third = one_address(0xffffffffU, 3);
  ASSERT_NO_FATAL_FAILURE(step(&third, true, true, &events));
  EXPECT_TRUE(events.accepted && events.offered && !events.reduced);
  ASSERT_NO_FATAL_FAILURE(drain());
  expect_arrived_once(third);
}

TEST_F(Subcore, ScatteredLanesAreOnePlainRed) {
  Request request = one_address(0xf000000fU, 1);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    request.addr[lane] += 64 * lane;
  }
  Events events;
  ASSERT_NO_FATAL_FAILURE(step(&request, true, true, &events));
  EXPECT_FALSE(events.accepted || events.offered || events.read);
  EXPECT_EQ(dut_->busy_o, 1) << "a lane has been gathered";
  ASSERT_NO_FATAL_FAILURE(step(&request, true, true, &events));
  EXPECT_TRUE(events.accepted && events.offered && !events.reduced);
  EXPECT_EQ(dut_->busy_o, 0);
  expect_arrived_once(request);
}

TEST_F(Subcore, LoneLanesWaitForTheRed) {
  Request request = one_address(0x00000103U, 1);
  request.addr[0] = 0x40;
  request.addr[8] = 0x80;
  Events events;
  for (int i = 0; i < 5; ++i) {
    ASSERT_NO_FATAL_FAILURE(step(&request, false, true, &events));
    EXPECT_FALSE(events.accepted || events.offered || events.read);
  }
  ASSERT_NO_FATAL_FAILURE(step(&request, true, true, &events));
  EXPECT_TRUE(events.accepted && events.offered && !events.reduced);
  EXPECT_EQ(dut_->busy_o, 0);
  expect_arrived_once(request);
}

TEST_F(Subcore, GroupAmongLoneLanesIsReduced) {
  Request request = one_address(0x0000000fU, 1);
  request.addr[0] = 0x40;
  request.addr[3] = 0x80;
  Events events;
  ASSERT_NO_FATAL_FAILURE(step(&request, false, true, &events));
  EXPECT_FALSE(events.accepted || events.offered || events.read) << "lane 0 is gathered";
  for (int i = 0; i < 2; ++i) {
    ASSERT_NO_FATAL_FAILURE(step(&request, false, true, &events));
    EXPECT_TRUE(!events.accepted && !events.offered && events.read);
  }
  ASSERT_NO_FATAL_FAILURE(step(&request, true, true, &events));
  EXPECT_TRUE(!events.accepted && events.offered && events.reduced);
  ASSERT_NO_FATAL_FAILURE(step(&request, true, true, &events));
  EXPECT_TRUE(events.accepted && events.offered && !events.reduced);
  ASSERT_NO_FATAL_FAILURE(drain());
  expect_arrived_once(request);
}

TEST_F(Subcore, OneLoneLaneIsReducedLast) {
  Request request = one_address(0x0000000fU, 1);
  request.addr[0] = 0x40;
  Events events;
  ASSERT_NO_FATAL_FAILURE(step(&request, false, true, &events));
  EXPECT_FALSE(events.accepted || events.offered || events.read);
  for (int i = 0; i < 3; ++i) {
    ASSERT_NO_FATAL_FAILURE(step(&request, false, true, &events));
    EXPECT_TRUE(!events.accepted && !events.offered && events.read);
  }
  ASSERT_NO_FATAL_FAILURE(step(&request, false, true, &events));
  EXPECT_TRUE(!events.accepted && events.offered && events.reduced);
  ASSERT_NO_FATAL_FAILURE(step(&request, true, true, &events));
  EXPECT_TRUE(events.accepted && events.offered && events.reduced && events.read);
  ASSERT_NO_FATAL_FAILURE(drain());
  expect_arrived_once(request);
}

TEST_F(Subcore, PathStalledAndUnitBusyMeansWait) {
  const Request first = one_address(0x0000ffffU, 1);
  const Request second = one_address(0x00000003U, 2);
  Events events;
  ASSERT_NO_FATAL_FAILURE(step(&first, false, true, &events));
  ASSERT_TRUE(events.accepted);
  for (int i = 0; i < 5; ++i) {
    ASSERT_NO_FATAL_FAILURE(step(&second, false, true, &events));
    EXPECT_FALSE(events.accepted || events.offered);
  }
  ASSERT_NO_FATAL_FAILURE(step(&second, true, true, &events));
  EXPECT_TRUE(events.accepted && events.offered && !events.reduced) << "a RED overtakes";
  ASSERT_NO_FATAL_FAILURE(drain());
  expect_arrived_once(first);
  expect_arrived_once(second);
}

TEST_F(Subcore, WaitingSumMeansWait) {
  const Request first = one_address(0x00000005U, 1);
  const Request second = one_address(0x00000003U, 2);
  Events events;
  ASSERT_NO_FATAL_FAILURE(step(&first, false, true, &events));
  ASSERT_TRUE(events.accepted && events.read);
  ASSERT_NO_FATAL_FAILURE(step(&second, false, true, &events));
  EXPECT_TRUE(!events.accepted && events.read && !events.offered);
  for (int i = 0; i < 5; ++i) {
    ASSERT_NO_FATAL_FAILURE(step(&second, false, true, &events));
    EXPECT_TRUE(events.offered && events.reduced);
    EXPECT_FALSE(events.accepted || events.read);
  }
  ASSERT_NO_FATAL_FAILURE(step(&second, true, true, &events));
  EXPECT_TRUE(events.offered && events.reduced && events.accepted && events.read);
  ASSERT_NO_FATAL_FAILURE(drain());
  expect_arrived_once(first);
  expect_arrived_once(second);
}

TEST_F(Subcore, FinishedSumGoesBeforeRed) {
  const Request first = one_address(0x00000001U, 1);
  const Request second = one_address(0x00000003U, 2);
  Events events;
  ASSERT_NO_FATAL_FAILURE(step(&first, false, true, &events));
  ASSERT_TRUE(events.accepted && events.read);
  ASSERT_NO_FATAL_FAILURE(step(&second, true, true, &events));
  EXPECT_TRUE(events.offered && events.reduced);
  EXPECT_TRUE(events.accepted && events.read) << "the transaction it displaced is reduced";
  ASSERT_NO_FATAL_FAILURE(drain());
  expect_arrived_once(first);
  expect_arrived_once(second);
}

TEST_F(Subcore, EmptyRequestIsAcceptedAtOnceAndLeavesNoTrace) {
  Events events;
  const Request request{};
  for (const bool lsu_room : {false, true}) {
    ASSERT_NO_FATAL_FAILURE(step(&request, lsu_room, false, &events));
    EXPECT_TRUE(events.accepted && !events.offered);
    EXPECT_EQ(dut_->busy_o, 0);
  }
}

TEST_F(Subcore, RandomTraffic) {
  bench::Rng rng(bench::seed());
  std::int64_t plain = 0;
  std::int64_t reduced = 0;
  for (int phase = 0; phase < 60; ++phase) {
    const unsigned offer = 20 + static_cast<unsigned>(rng() % 81);
    const unsigned take = static_cast<unsigned>(rng() % 101);
    const unsigned grant = 10 + static_cast<unsigned>(rng() % 91);
    std::vector<Request> sent;
    Request request;
    bool held = false;
    Tag tag = 0;
    for (int cycle = 0; cycle < 1'000; ++cycle) {
      if (!held && bench::chance(rng, offer)) {
        held = true;
        request.tag = tag++;
        request.mask = static_cast<LaneMask>(rng());
        if (bench::chance(rng, 40)) {
          request.mask &= static_cast<LaneMask>(rng() & rng() & rng());
        }
        const std::uint64_t addresses = 1 + rng() % 5;
        for (auto& addr : request.addr) {
          addr = rng() % addresses * 0x40'0000'0004U;
        }
      }
      Events events;
      ASSERT_NO_FATAL_FAILURE(step(held ? &request : nullptr, bench::chance(rng, take),
                                   bench::chance(rng, grant), &events));
      plain += events.offered && !events.reduced ? 1 : 0;
      reduced += events.reduced ? 1 : 0;
      if (events.accepted) {
        sent.push_back(request);
        held = false;
      }
    }
    for (Events events; held; held = !events.accepted) {
      ASSERT_NO_FATAL_FAILURE(step(&request, true, true, &events));
      if (events.accepted) {
        sent.push_back(request);
      }
    }
    ASSERT_NO_FATAL_FAILURE(drain());
    for (const Request& done : sent) {
      ASSERT_NO_FATAL_FAILURE(expect_arrived_once(done));
    }
    addresses_.clear();
    arrived_.clear();
  }
  EXPECT_GT(plain, 1'000);
  EXPECT_GT(reduced, 1'000);
}

}  // namespace
}  // namespace warpfold

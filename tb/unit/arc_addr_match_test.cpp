// SPDX-License-Identifier: Apache-2.0
// The coalescer against a list of groups made by a plain C++ loop.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <set>
#include <vector>

#include "Varc_addr_match.h"
#include "model/types.hpp"
#include "tb/unit/bench.hpp"
#include "tb/unit/coalescer_request.hpp"

namespace warpfold {
namespace {

using bench::Request;

struct Group {
  Address addr = 0;
  LaneMask mask = 0;
};

// Groups in the order of their lowest lanes.
std::vector<Group> groups_of(const Request& request) {
  std::vector<Group> groups;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    if ((request.mask >> lane & 1U) == 0) {
      continue;
    }
    const auto same = [&](const Group& group) { return group.addr == request.addr[lane]; };
    auto found = std::find_if(groups.begin(), groups.end(), same);
    if (found == groups.end()) {
      found = groups.insert(groups.end(), Group{.addr = request.addr[lane], .mask = 0});
    }
    found->mask |= LaneMask{1} << lane;
  }
  return groups;
}

// Whether a sum of the group saves additions to its sector: more lanes than words of the lanes
// left.
bool pays(const Request& request, LaneMask left, const Group& group) {
  std::set<Address> words;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    if ((left >> lane & 1U) != 0 && request.addr[lane] / 32 == group.addr / 32) {
      words.insert(request.addr[lane] / 4);
    }
  }
  return static_cast<std::size_t>(std::popcount(group.mask)) > words.size();
}

class AddrMatch : public testing::Test {
 protected:
  AddrMatch() {
    idle();
    dut_.reset();
  }

  void idle() {
    dut_->req_valid_i = 0;
    dut_->txn_ready_i = 0;
    dut_->left_ready_i = 0;
  }

  // Sends one request; in each cycle the receivers of a transaction and of all lanes left are ready
  // with the given probabilities. Every cycle's outputs are checked. Leaves the bench in the cycle
  // after acceptance.
  void send(const Request& request, bench::Rng& rng, unsigned ready_percent,
            unsigned left_percent = 100) {
    const std::vector<Group> groups = groups_of(request);
    bench::drive(dut_, request);
    if (groups.empty()) {
      dut_->txn_ready_i = bench::chance(rng, ready_percent) ? 1 : 0;
      dut_->left_ready_i = bench::chance(rng, left_percent) ? 1 : 0;
      dut_.settle();
      ASSERT_EQ(dut_->txn_valid_o, 0);
      ASSERT_EQ(dut_->left_valid_o, 0);
      ASSERT_EQ(dut_->req_ready_o, 1) << "a request without lanes must be accepted at once";
      dut_.edge();
      return;
    }
    LaneMask left = request.mask;
    LaneMask lone = 0;
    std::size_t next = 0;
    for (bool accepted = false; !accepted;) {
      const bool pending = next < groups.size();
      const Group lead =
          pending ? groups[next]
                  : Group{.addr = request.addr[static_cast<std::size_t>(std::countr_zero(lone))],
                          .mask = lone};
      const bool last = lead.mask == left;
      const bool gather = pending && !last && !pays(request, left, lead);
      const bool scattered = std::popcount(lone | (gather ? lead.mask : 0)) > 1;
      const bool offered = !gather && (pending || std::has_single_bit(lone));
      const bool left_taken = scattered && bench::chance(rng, left_percent);
      const bool txn_taken = offered && !left_taken && bench::chance(rng, ready_percent);
      // Where nothing is offered, ready means nothing.
      dut_->left_ready_i = left_taken || (!scattered && bench::chance(rng, 50)) ? 1 : 0;
      dut_->txn_ready_i = txn_taken || (!offered && bench::chance(rng, 50)) ? 1 : 0;
      accepted = left_taken || (txn_taken && last);
      dut_.settle();
      ASSERT_EQ(dut_->busy_o, left != request.mask || lone != 0 ? 1 : 0);
      ASSERT_EQ(dut_->txn_valid_o, offered ? 1 : 0);
      if (offered) {
        ASSERT_EQ(dut_->txn_addr_o, lead.addr);
        ASSERT_EQ(dut_->txn_mask_o, lead.mask);
      }
      ASSERT_EQ(dut_->left_valid_o, scattered ? 1 : 0);
      ASSERT_EQ(dut_->left_mask_o, left);
      ASSERT_EQ(dut_->left_last_o, pending ? 0 : 1);
      ASSERT_EQ(dut_->req_ready_o, accepted ? 1 : 0);
      dut_.edge();
      if (txn_taken) {
        left &= ~lead.mask;
      } else if (gather) {
        lone |= lead.mask;
      }
      next += pending && (txn_taken || gather) ? 1 : 0;
    }
  }

  void gap() {
    dut_->req_valid_i = 0;
    dut_.settle();
    ASSERT_EQ(dut_->txn_valid_o, 0);
    ASSERT_EQ(dut_->left_valid_o, 0);
    ASSERT_EQ(dut_->req_ready_o, 0);
    ASSERT_EQ(dut_->busy_o, 0);
    dut_.edge();
  }

  bench::ClockedDut<Varc_addr_match> dut_;
};

TEST_F(AddrMatch, OneAddressIsOneTransaction) {
  bench::Rng rng(1);
  Request request{.mask = 0xffffffffU, .addr = {}};
  request.addr.fill(0xfedcba987654U);
  send(request, rng, 100);
  EXPECT_EQ(dut_.cycle(), 1U);
  gap();
}

TEST_F(AddrMatch, GroupsTakeOneCycleEach) {
  bench::Rng rng(1);
  Request request{.mask = 0xffffffffU, .addr = {}};
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    request.addr[lane] = 32 * (kLanes - lane % 16);
  }
  send(request, rng, 100);
  EXPECT_EQ(dut_.cycle(), 16U);
  gap();
}

TEST_F(AddrMatch, ScatteredLanesGoTogether) {
  bench::Rng rng(1);
  Request request{.mask = 0xffffffffU, .addr = {}};
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    request.addr[lane] = 4 * (kLanes - lane);
  }
  send(request, rng, 0);
  EXPECT_EQ(dut_.cycle(), 2U) << "one lane is gathered, with the second they are several";
  gap();
}

// Each word of two sectors by two lanes: two operations a sector, where sums would be eight.
TEST_F(AddrMatch, PairsOfAFullSectorGoTogether) {
  bench::Rng rng(1);
  Request request{.mask = 0xffffffffU, .addr = {}};
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    request.addr[lane] = 4 * (lane / 2);
  }
  send(request, rng, 100);
  EXPECT_EQ(dut_.cycle(), 1U);
  gap();
}

// Of words in a sector, groups with more lanes than it has words are transactions.
TEST_F(AddrMatch, GroupPaysByLanesAndWords) {
  bench::Rng rng(1);
  for (std::size_t lanes = 1; lanes <= 24; ++lanes) {
    for (std::size_t words = 1; words <= 8; ++words) {
      Request request{.mask = static_cast<LaneMask>((1U << (lanes + words - 1)) - 1), .addr = {}};
      for (std::size_t lane = lanes; lane < lanes + words - 1; ++lane) {
        request.addr[lane] = 4 * (lane - lanes + 1);
      }
      ASSERT_NO_FATAL_FAILURE(send(request, rng, 100, 20));
      ASSERT_NO_FATAL_FAILURE(send(request, rng, 100, 100));
    }
  }
}

TEST_F(AddrMatch, OneLoneLaneIsTheLastToGo) {
  bench::Rng rng(1);
  Request request{.mask = 0xfU, .addr = {}};
  request.addr[0] = 4;
  send(request, rng, 100, 0);
  EXPECT_EQ(dut_.cycle(), 3U) << "gathered, the others, the lone lane";
  gap();
}

TEST_F(AddrMatch, AddressesThatDifferInOneBitAreApart) {
  bench::Rng rng(1);
  for (int bit = 0; bit < kAddrWidth; ++bit) {
    Request request{.mask = 0x80000011U, .addr = {}};
    request.addr.fill(0x555555555555U);
    request.addr[4] ^= Address{1} << bit;
    ASSERT_NO_FATAL_FAILURE(send(request, rng, 100));
  }
  EXPECT_EQ(dut_.cycle(), 2U * kAddrWidth - 3U)
      << "two lanes of one address, then the last one, or all at once in one sector";
}

TEST_F(AddrMatch, EveryLaneComparesAndLeads) {
  bench::Rng rng(1);
  for (std::size_t a = 0; a < kLanes; ++a) {
    for (std::size_t b = 0; b < kLanes; ++b) {
      Request request{.mask = LaneMask{1} << a | LaneMask{1} << b, .addr = {}};
      request.addr[a] = 0x1000;
      request.addr[b] = 0x2000;
      ASSERT_NO_FATAL_FAILURE(send(request, rng, 100));
      request.addr.fill(0x3000);
      ASSERT_NO_FATAL_FAILURE(send(request, rng, 100));
    }
  }
}

TEST_F(AddrMatch, InactiveLanesNeverJoin) {
  bench::Rng rng(1);
  Request request{.mask = 0x00f0f000U, .addr = {}};
  request.addr.fill(0x40);
  send(request, rng, 100);
  EXPECT_EQ(dut_.cycle(), 1U);
}

TEST_F(AddrMatch, EmptyRequestLeavesNoTrace) {
  bench::Rng rng(1);
  send(Request{}, rng, 0);
  EXPECT_EQ(dut_.cycle(), 1U);
  gap();
}

// Requests of one to 32 addresses, back to back or with gaps, receivers from eager to slow.
TEST_F(AddrMatch, RandomRequestsAndBackPressure) {
  bench::Rng rng(bench::seed());
  for (int i = 0; i < 60'000; ++i) {
    const Request request = bench::random_request(rng);
    constexpr std::array<unsigned, 4> kReady = {100, 80, 50, 10};
    const unsigned left = 10 + static_cast<unsigned>(rng() % 91);
    ASSERT_NO_FATAL_FAILURE(send(request, rng, kReady[rng() % kReady.size()], left));
    if (bench::chance(rng, 20)) {
      ASSERT_NO_FATAL_FAILURE(gap());
    }
  }
}

}  // namespace
}  // namespace warpfold

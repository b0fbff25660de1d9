// SPDX-License-Identifier: Apache-2.0
// The staged coalescer against a list of groups made by a plain C++ loop: what it offers, in which
// order, and when it may.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "Varc_addr_match_staged.h"
#include "model/types.hpp"
#include "tb/unit/bench.hpp"
#include "tb/unit/coalescer_request.hpp"

namespace warpfold {
namespace {

using bench::Request;

struct Group {
  Address addr = 0;
  LaneMask mask = 0;
  bool offered = false;  // as a transaction, else gathered
};

constexpr Address kWordBits = 0x1c;  // of an address, which say the word in the sector

// Groups in the order of the sectors' lowest lanes and of the words in a sector; whether each has
// more lanes than its sector has words that were not offered before, or is all there is.
std::vector<Group> groups_of(const Request& request) {
  std::vector<Group> groups;
  std::vector<Address> places;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    const Address place = request.addr[lane] & ~kWordBits;
    if ((request.mask >> lane & 1U) == 0 ||
        std::find(places.begin(), places.end(), place) != places.end()) {
      continue;
    }
    places.push_back(place);
    const std::size_t first = groups.size();
    for (Address word = 0; word < 32; word += 4) {
      Group group{.addr = place | word, .mask = 0};
      for (std::size_t other = 0; other < kLanes; ++other) {
        const bool same = request.addr[other] == group.addr;
        group.mask |= LaneMask{same && (request.mask >> other & 1U) != 0} << other;
      }
      if (group.mask != 0) {
        groups.push_back(group);
      }
    }
    auto words = static_cast<int>(groups.size() - first);
    for (std::size_t i = first; i < groups.size(); ++i) {
      groups[i].offered = std::popcount(groups[i].mask) > words;
      words -= groups[i].offered ? 1 : 0;
    }
  }
  const bool gathers =
      std::any_of(groups.begin(), groups.end(), [](const Group& group) { return !group.offered; });
  if (gathers &&
      std::all_of(groups.begin(), groups.end() - 1, [](const Group& one) { return one.offered; })) {
    groups.back().offered = true;
  }
  return groups;
}

class AddrMatchStaged : public testing::Test {
 protected:
  AddrMatchStaged() {
    dut_->req_valid_i = 0;
    dut_->txn_ready_i = 0;
    dut_->left_ready_i = 0;
    dut_.reset();
  }

  // Sends one request; the receivers of a transaction and of all lanes left are ready with the
  // given probabilities. Gives the cycles, from the request's first, in which transactions were
  // taken.
  std::vector<std::uint64_t> send(const Request& request, bench::Rng& rng, unsigned ready_percent,
                                  unsigned left_percent) {
    std::vector<std::uint64_t> taken;
    check(request, rng, ready_percent, left_percent, taken);
    return taken;
  }

  void check(const Request& request, bench::Rng& rng, unsigned ready_percent, unsigned left_percent,
             std::vector<std::uint64_t>& taken) {
    const std::vector<Group> groups = groups_of(request);
    LaneMask gathered = 0;
    std::vector<Group> offered;
    for (const Group& group : groups) {
      gathered |= group.offered ? 0 : group.mask;
      if (group.offered) {
        offered.push_back(group);
      }
    }
    bench::drive(dut_, request);
    LaneMask left = request.mask;
    std::size_t next = 0;
    unsigned still = 0;  // cycles in which nothing could be taken
    const std::uint64_t begun = dut_.cycle();
    for (bool accepted = false; !accepted;) {
      // What is offered does not depend on the readies.
      dut_->txn_ready_i = 0;
      dut_->left_ready_i = 0;
      dut_.settle();
      const bool txn = dut_->txn_valid_o != 0;
      const bool all = dut_->left_valid_o != 0;
      ASSERT_EQ(dut_->left_mask_o, left);
      if (txn) {
        ASSERT_LT(next, offered.size());
        ASSERT_EQ(dut_->txn_addr_o, offered[next].addr);
        ASSERT_EQ(dut_->txn_mask_o, offered[next].mask);
      }
      const bool last = dut_->left_last_o != 0;
      ASSERT_TRUE(!last || (next == offered.size() && left == gathered));
      ASSERT_TRUE(!all || std::popcount(gathered) > 1 || (last && gathered != 0));
      still = txn || all ? 0 : still + 1;
      ASSERT_LE(still, 4 * kLanes + 5) << "nothing is offered any more";
      const bool left_taken = all && bench::chance(rng, left_percent);
      const bool txn_taken = txn && !left_taken && bench::chance(rng, ready_percent);
      dut_->left_ready_i = left_taken || (!all && bench::chance(rng, 50)) ? 1 : 0;
      dut_->txn_ready_i = txn_taken || (!txn && bench::chance(rng, 50)) ? 1 : 0;
      const LaneMask sent = left_taken ? left : txn_taken ? offered[next].mask : 0;
      accepted = (left & ~sent) == 0;
      dut_.settle();
      ASSERT_EQ(dut_->txn_valid_o, txn ? 1 : 0);
      ASSERT_EQ(dut_->left_valid_o, all ? 1 : 0);
      ASSERT_EQ(dut_->req_ready_o, accepted ? 1 : 0);
      if (txn_taken) {
        taken.push_back(dut_.cycle() - begun);
      }
      next += txn_taken ? 1 : 0;
      left &= ~sent;
      dut_.edge();
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

  bench::ClockedDut<Varc_addr_match_staged> dut_;
};

using Cycles = std::vector<std::uint64_t>;

TEST_F(AddrMatchStaged, OneAddressIsOfferedAfterFiveCycles) {
  bench::Rng rng(1);
  Request request{.mask = 0xffffffffU, .addr = {}};
  request.addr.fill(0xfedcba987654U);
  EXPECT_EQ(send(request, rng, 100, 100), Cycles{5});
  gap();
}

TEST_F(AddrMatchStaged, GroupsOfASectorComeEveryOtherCycle) {
  bench::Rng rng(1);
  Request request{.mask = 0xffffffffU, .addr = {}};
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    request.addr[lane] = 4 * (3 - lane % 4);
  }
  EXPECT_EQ(send(request, rng, 100, 100), (Cycles{5, 7, 9, 11}));
  gap();
}

TEST_F(AddrMatchStaged, SectorsOfOneGroupComeEveryFourthCycle) {
  bench::Rng rng(1);
  Request request{.mask = 0xffffffffU, .addr = {}};
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    request.addr[lane] = 32 * (kLanes - lane % 4);
  }
  EXPECT_EQ(send(request, rng, 100, 100), (Cycles{5, 9, 13, 17}));
  gap();
}

// Each word of two sectors by two lanes: the first pair that is gathered is several lanes.
TEST_F(AddrMatchStaged, PairsOfAFullSectorGoTogether) {
  bench::Rng rng(1);
  Request request{.mask = 0xffffffffU, .addr = {}};
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    request.addr[lane] = 4 * (lane / 2);
  }
  EXPECT_EQ(send(request, rng, 100, 100), Cycles{});
  EXPECT_EQ(dut_.cycle(), 6U);
  gap();
}

TEST_F(AddrMatchStaged, AddressesThatDifferInOneBitAreApart) {
  bench::Rng rng(1);
  for (int bit = 0; bit < kAddrWidth; ++bit) {
    Request request{.mask = 0x80000011U, .addr = {}};
    request.addr.fill(0x555555555555U);
    request.addr[4] ^= Address{1} << bit;
    send(request, rng, 100, 100);
  }
}

TEST_F(AddrMatchStaged, EveryLaneComparesAndLeads) {
  bench::Rng rng(1);
  for (std::size_t a = 0; a < kLanes; ++a) {
    for (std::size_t b = 0; b < kLanes; ++b) {
      Request request{.mask = LaneMask{1} << a | LaneMask{1} << b, .addr = {}};
      request.addr[a] = 0x1000;
      request.addr[b] = 0x2000;
      send(request, rng, 100, 100);
      request.addr.fill(0x3000);
      send(request, rng, 100, 100);
    }
  }
}

// Of words in a sector, groups with more lanes than it has words are transactions.
TEST_F(AddrMatchStaged, GroupPaysByLanesAndWords) {
  bench::Rng rng(1);
  for (std::size_t lanes = 1; lanes <= 24; ++lanes) {
    for (std::size_t words = 1; words <= 8; ++words) {
      Request request{.mask = static_cast<LaneMask>((1U << (lanes + words - 1)) - 1), .addr = {}};
      for (std::size_t lane = lanes; lane < lanes + words - 1; ++lane) {
        request.addr[lane] = 4 * (lane - lanes + 1);
      }
      send(request, rng, 100, 20);
      send(request, rng, 100, 100);
    }
  }
}

TEST_F(AddrMatchStaged, EmptyRequestLeavesNoTrace) {
  bench::Rng rng(1);
  send(Request{}, rng, 0, 0);
  EXPECT_EQ(dut_.cycle(), 1U);
  gap();
}

// Requests of one to 32 addresses, back to back or with gaps, receivers from eager to slow.
TEST_F(AddrMatchStaged, RandomRequestsAndBackPressure) {
  bench::Rng rng(bench::seed());
  for (int i = 0; i < 20'000 && !HasFatalFailure(); ++i) {
    const Request request = bench::random_request(rng);
    constexpr std::array<unsigned, 4> kReady = {100, 80, 50, 10};
    const unsigned left = 10 + static_cast<unsigned>(rng() % 91);
    send(request, rng, kReady[rng() % kReady.size()], left);
    if (bench::chance(rng, 20)) {
      gap();
    }
  }
}

}  // namespace
}  // namespace warpfold

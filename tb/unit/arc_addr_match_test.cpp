// SPDX-License-Identifier: Apache-2.0
// The coalescer against a list of groups made by a plain C++ loop.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "Varc_addr_match.h"
#include "model/types.hpp"
#include "tb/unit/bench.hpp"

namespace warpfold {
namespace {

struct Request {
  LaneMask mask = 0;
  std::array<Address, kLanes> addr{};
};

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

class AddrMatch : public testing::Test {
 protected:
  AddrMatch() {
    idle();
    dut_.reset();
  }

  void idle() {
    dut_->req_valid_i = 0;
    dut_->txn_ready_i = 0;
  }

  void drive(const Request& request) {
    dut_->req_valid_i = 1;
    dut_->req_mask_i = request.mask;
    for (std::size_t bit = 0; bit < kLanes * kAddrWidth; bit += 16) {
      const auto part =
          static_cast<std::uint32_t>(request.addr[bit / kAddrWidth] >> (bit % kAddrWidth)) &
          0xffffU;
      auto& word = dut_->req_addr_i[bit / 32];
      word = bit % 32 == 0 ? (word & 0xffff0000U) | part : (word & 0xffffU) | part << 16;
    }
  }

  // Sends one request; in each cycle the receiver is ready with the given probability. Every
  // cycle's outputs are checked. Leaves the bench in the cycle after acceptance.
  void send(const Request& request, bench::Rng& rng, unsigned ready_percent) {
    const std::vector<Group> groups = groups_of(request);
    drive(request);
    if (groups.empty()) {
      dut_->txn_ready_i = bench::chance(rng, ready_percent) ? 1 : 0;
      dut_.settle();
      ASSERT_EQ(dut_->txn_valid_o, 0);
      ASSERT_EQ(dut_->req_ready_o, 1) << "a request without lanes must be accepted at once";
      dut_.edge();
      return;
    }
    for (std::size_t next = 0; next < groups.size();) {
      const bool ready = bench::chance(rng, ready_percent);
      const bool last = next + 1 == groups.size();
      dut_->txn_ready_i = ready ? 1 : 0;
      dut_.settle();
      ASSERT_EQ(dut_->busy_o, next != 0 ? 1 : 0);
      ASSERT_EQ(dut_->txn_valid_o, 1);
      ASSERT_EQ(dut_->txn_addr_o, groups[next].addr);
      ASSERT_EQ(dut_->txn_mask_o, groups[next].mask);
      ASSERT_EQ(dut_->req_ready_o, ready && last ? 1 : 0);
      dut_.edge();
      next += ready ? 1 : 0;
    }
  }

  void gap() {
    dut_->req_valid_i = 0;
    dut_.settle();
    ASSERT_EQ(dut_->txn_valid_o, 0);
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

TEST_F(AddrMatch, DistinctAddressesTakeOneCycleEach) {
  bench::Rng rng(1);
  Request request{.mask = 0xffffffffU, .addr = {}};
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    request.addr[lane] = 4 * (kLanes - lane);
  }
  send(request, rng, 100);
  EXPECT_EQ(dut_.cycle(), 32U);
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
  EXPECT_EQ(dut_.cycle(), 2U * kAddrWidth);
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
    Request request;
    request.mask = static_cast<LaneMask>(rng());
    if (bench::chance(rng, 30)) {
      request.mask &= static_cast<LaneMask>(rng() & rng());
    }
    if (bench::chance(rng, 10)) {
      request.mask = bench::chance(rng, 50) ? 0 : 0xffffffffU;
    }
    const std::uint64_t addresses = 1 + rng() % (bench::chance(rng, 70) ? 4 : 32);
    const Address base = rng() & kAddrMask;
    const Address stride = Address{1} << rng() % 40;
    for (auto& addr : request.addr) {
      addr = (base + stride * (rng() % addresses)) & kAddrMask;
    }
    constexpr std::array<unsigned, 4> kReady = {100, 80, 50, 10};
    ASSERT_NO_FATAL_FAILURE(send(request, rng, kReady[rng() % kReady.size()]));
    if (bench::chance(rng, 20)) {
      ASSERT_NO_FATAL_FAILURE(gap());
    }
  }
}

}  // namespace
}  // namespace warpfold

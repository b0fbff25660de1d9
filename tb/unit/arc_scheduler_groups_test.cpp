// SPDX-License-Identifier: Apache-2.0
// The scheduler that reduces groups while the memory path is congested, and in the form that the
// vector unit has: every combination of valids and readies, for masks with none, one and more
// lanes.

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <string>

#include "Varc_scheduler_groups.h"
#include "Varc_scheduler_groups_by_request.h"
#include "tb/unit/bench.hpp"

namespace warpfold {
namespace {

struct Inputs {
  std::uint32_t mask;
  bool txn_valid, left_valid, lsu_room, result_valid, reduce_ready, congested, left_last;
};

struct Outputs {
  bool red_valid, reduce_valid, txn_ready, left_ready;

  friend bool operator==(const Outputs&, const Outputs&) = default;
};

constexpr unsigned kBits = 7;  // of Inputs beside the mask

Inputs inputs(std::uint32_t mask, unsigned bits) {
  return {mask,
          (bits & 1) != 0,
          (bits & 2) != 0,
          (bits & 4) != 0,
          (bits & 8) != 0,
          (bits & 16) != 0,
          (bits & 32) != 0,
          (bits & 64) != 0};
}

// As rtl/README.md has it, case by case. The readies are only looked at beside their valids.
struct WatchesThePath {
  using Module = Varc_scheduler_groups;
  static Outputs expected(const Inputs& in);
};
struct ByRequest {
  using Module = Varc_scheduler_groups_by_request;
  static Outputs expected(const Inputs& in);
};

Outputs WatchesThePath::expected(const Inputs& in) {
  const bool path_free = in.lsu_room && !in.result_valid;
  const bool group = std::popcount(in.mask) > 1;
  if (in.left_valid && path_free) {  // all lanes left leave as one RED
    return {true, false, false, true};
  }
  if (!in.txn_valid) {
    return {false, false, false, false};
  }
  if (in.congested ? !group : path_free) {  // a RED, or waits for the path
    return {path_free, false, path_free, false};
  }
  return {false, true, in.reduce_ready, false};
}

Outputs ByRequest::expected(const Inputs& in) {
  const bool path_free = in.lsu_room && !in.result_valid;
  const bool group = std::popcount(in.mask) > 1;
  if (in.txn_valid && group) {  // reduced, or waits for the reduction unit
    return {false, true, in.reduce_ready, false};
  }
  if (in.txn_valid) {  // one lane: a RED, or waits for the path
    return {path_free, false, path_free, false};
  }
  const bool gathered = in.left_valid && in.left_last;  // all lanes left are: the same
  return {gathered && path_free, false, false, gathered && path_free};
}

template <class Form>
class GroupsScheduler : public testing::Test {
 protected:
  void check_all_of(std::uint32_t mask) {
    for (unsigned bits = 0; bits < 1U << kBits; ++bits) {
      ASSERT_NO_FATAL_FAILURE(check(inputs(mask, bits)));
    }
  }

 private:
  void check(const Inputs& in) {
    dut_->txn_mask_i = in.mask;
    dut_->txn_valid_i = in.txn_valid;
    dut_->left_valid_i = in.left_valid;
    dut_->left_last_i = in.left_last;
    dut_->lsu_room_i = in.lsu_room;
    dut_->result_valid_i = in.result_valid;
    dut_->reduce_ready_i = in.reduce_ready;
    dut_->congested_i = in.congested;
    dut_.settle();
    const Outputs out{dut_->red_valid_o != 0, dut_->reduce_valid_o != 0,
                      in.txn_valid && dut_->txn_ready_o != 0,
                      in.left_valid && dut_->left_ready_o != 0};
    ASSERT_EQ(out, Form::expected(in))
        << "mask " << std::hex << in.mask << " txn " << in.txn_valid << " left " << in.left_valid
        << " room " << in.lsu_room << " result " << in.result_valid << " ready " << in.reduce_ready
        << " congested " << in.congested << " last " << in.left_last;
  }

  bench::Dut<typename Form::Module> dut_;
};

using Forms = testing::Types<WatchesThePath, ByRequest>;
TYPED_TEST_SUITE(GroupsScheduler, Forms);

TYPED_TEST(GroupsScheduler, NoLaneAndEachLane) {
  ASSERT_NO_FATAL_FAILURE(this->check_all_of(0));
  for (unsigned lane = 0; lane < 32; ++lane) {
    ASSERT_NO_FATAL_FAILURE(this->check_all_of(1U << lane));
  }
}

TYPED_TEST(GroupsScheduler, EachPairOfLanes) {
  for (unsigned one = 0; one < 32; ++one) {
    for (unsigned other = 0; other < one; ++other) {
      ASSERT_NO_FATAL_FAILURE(this->check_all_of(1U << one | 1U << other));
    }
  }
}

TYPED_TEST(GroupsScheduler, AnyLanes) {
  bench::Rng rng(bench::seed());
  for (int i = 0; i < 20'000; ++i) {
    ASSERT_NO_FATAL_FAILURE(this->check_all_of(static_cast<std::uint32_t>(rng())));
  }
}

}  // namespace
}  // namespace warpfold

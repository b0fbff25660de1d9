// SPDX-License-Identifier: Apache-2.0
// The prefix adder against the host's addition, at two widths.

#include <gtest/gtest.h>

#include <cstdint>

#include "Varc_fast_adder_17.h"
#include "Varc_fast_adder_50.h"
#include "tb/unit/bench.hpp"

namespace warpfold {
namespace {

struct Width17 {
  using Top = Varc_fast_adder_17;
  using Word = std::uint32_t;
  static constexpr unsigned kWidth = 17;
};
struct Width50 {
  using Top = Varc_fast_adder_50;
  using Word = std::uint64_t;
  static constexpr unsigned kWidth = 50;
};

template <typename Config>
class FastAdder : public testing::Test {
 protected:
  static constexpr std::uint64_t kMask = (std::uint64_t{1} << Config::kWidth) - 1;

  void check(std::uint64_t a, std::uint64_t b, unsigned carry) {
    a &= kMask;
    b &= kMask;
    dut_->a_i = static_cast<typename Config::Word>(a);
    dut_->b_i = static_cast<typename Config::Word>(b);
    dut_->carry_i = carry != 0 ? 1 : 0;
    dut_.settle();
    ASSERT_EQ(std::uint64_t{dut_->sum_o}, (a + b + carry) & kMask)
        << std::hex << a << " + " << b << " + " << carry;
  }

  bench::Dut<typename Config::Top> dut_;
};

using Widths = testing::Types<Width17, Width50>;
TYPED_TEST_SUITE(FastAdder, Widths);

// A carry that arises at each place runs to each other place, and no further.
TYPED_TEST(FastAdder, CarryRunsFromEachPlaceToEachOther) {
  for (unsigned from = 0; from < TypeParam::kWidth; ++from) {
    for (unsigned to = from; to < TypeParam::kWidth; ++to) {
      const std::uint64_t run = (std::uint64_t{2} << to) - (std::uint64_t{1} << from);
      ASSERT_NO_FATAL_FAILURE(this->check(run, std::uint64_t{1} << from, 0));
      ASSERT_NO_FATAL_FAILURE(this->check(std::uint64_t{1} << from, run, 1));
      ASSERT_NO_FATAL_FAILURE(this->check(~run, ~(std::uint64_t{1} << from), 1));
    }
    ASSERT_NO_FATAL_FAILURE(this->check((std::uint64_t{1} << from) - 1, 0, 1));
  }
  ASSERT_NO_FATAL_FAILURE(this->check(~std::uint64_t{0}, 0, 1));
  ASSERT_NO_FATAL_FAILURE(this->check(~std::uint64_t{0}, ~std::uint64_t{0}, 1));
}

TYPED_TEST(FastAdder, Random) {
  bench::Rng rng(bench::seed());
  for (int i = 0; i < 500'000; ++i) {
    std::uint64_t a = rng();
    std::uint64_t b = rng();
    switch (rng() % 4) {
      case 0:  // long runs of propagating places
        b = ~a ^ (std::uint64_t{1} << rng() % TypeParam::kWidth);
        break;
      case 1:
        a &= rng();
        b |= rng();
        break;
      case 2:  // a difference
        b = ~b;
        break;
      default:
        break;
    }
    ASSERT_NO_FATAL_FAILURE(this->check(a, b, static_cast<unsigned>(rng() & 1U)));
  }
}

}  // namespace
}  // namespace warpfold

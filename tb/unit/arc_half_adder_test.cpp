// SPDX-License-Identifier: Apache-2.0
// The adder in the width of binary16, both settings of FlushSubnormals, against whole numbers of
// 2^-24: every value with values of every kind.
//
// WARPFOLD_SEED=<n>   seed of the random vectors.

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "Varc_half_adder_flush.h"
#include "Varc_half_adder_gradual.h"
#include "tb/unit/bench.hpp"
#include "tb/unit/exact_half.hpp"

namespace warpfold {
namespace {

constexpr std::uint32_t kValues = 1U << 16;
// With coverage each takes many times as long, and the paths are the same.
#ifdef WARPFOLD_COVERAGE
constexpr std::uint32_t kStep = 61;
#else
constexpr std::uint32_t kStep = 1;
#endif
constexpr int kRandomPartners = 64;

struct Flush {
  using Top = Varc_half_adder_flush;
  static constexpr bool kFlush = true;
};
struct Gradual {
  using Top = Varc_half_adder_gradual;
  static constexpr bool kFlush = false;
};

template <typename Setting>
class HalfAdder : public testing::Test {
 protected:
  std::uint32_t add(std::uint32_t a, std::uint32_t b) {
    dut_->a_i = static_cast<HalfBits>(a);
    dut_->b_i = static_cast<HalfBits>(b);
    dut_.settle();
    return dut_->sum_o;
  }
  void check(std::uint32_t a, std::uint32_t b) {
    const HalfBits sum =
        exact_half_add(static_cast<HalfBits>(a), static_cast<HalfBits>(b), Setting::kFlush);
    ASSERT_EQ(add(a, b), sum) << std::hex << a << " + " << b;
    ASSERT_EQ(add(b, a), sum) << std::hex << b << " + " << a;
  }

  bench::Dut<typename Setting::Top> dut_;
};

using Settings = testing::Types<Flush, Gradual>;
TYPED_TEST_SUITE(HalfAdder, Settings);

// Written by hand: what the reference rests on.
TYPED_TEST(HalfAdder, KnownSums) {
  struct Row {
    HalfBits a, b, flushed, gradual;
  };
  constexpr Row kTable[] = {
      {0x3c00, 0x3c00, 0x4000, 0x4000},  // 1 + 1
      {0x6800, 0x3c00, 0x6800, 0x6800},  // 2048 + 1 is a tie, down
      {0x6801, 0x3c00, 0x6802, 0x6802},  // 2050 + 1 is a tie, up
      {0x6800, 0x3c01, 0x6801, 0x6801},  // a little more than a tie
      {0x7bff, 0x4bff, 0x7bff, 0x7bff},  // 65504 + 15.99
      {0x7bff, 0x4c00, 0x7c00, 0x7c00},  // 65504 + 16 rounds to infinity
      {0x0001, 0x0001, 0x0000, 0x0002}, {0x03ff, 0x0001, 0x0000, 0x0400},
      {0x0400, 0x8001, 0x0400, 0x03ff}, {0x0401, 0x8400, 0x0000, 0x0001},
      {0x8001, 0x8000, 0x8000, 0x8001}, {0x8000, 0x8000, 0x8000, 0x8000},
      {0x8000, 0x0000, 0x0000, 0x0000}, {0x3c00, 0xbc00, 0x0000, 0x0000},
      {0x7c00, 0xfc00, 0x7fff, 0x7fff}, {0xfc00, 0x3c00, 0xfc00, 0xfc00},
      {0x7d01, 0x3c00, 0x7fff, 0x7fff}, {0xfe00, 0x8000, 0x7fff, 0x7fff},
  };
  for (const Row& row : kTable) {
    EXPECT_EQ(this->add(row.a, row.b), TypeParam::kFlush ? row.flushed : row.gradual)
        << std::hex << row.a << " + " << row.b;
    this->check(row.a, row.b);
  }
}

TYPED_TEST(HalfAdder, EveryValueWithEveryKind) {
  std::vector<std::uint32_t> kinds;
  for (const std::uint32_t exponent : {0U, 1U, 2U, 9U, 10U, 11U, 12U, 15U, 20U, 29U, 30U, 31U}) {
    for (const std::uint32_t fraction : {0U, 1U, 0x200U, 0x3ffU}) {
      kinds.push_back(exponent << 10U | fraction);
      kinds.push_back(kHalfSign | exponent << 10U | fraction);
    }
  }
  bench::Rng rng(bench::seed());
  for (std::uint32_t a = 0; a < kValues; a += kStep) {
    for (const std::uint32_t b : kinds) {
      ASSERT_NO_FATAL_FAILURE(this->check(a, b));
    }
    for (int i = 0; i < kRandomPartners; ++i) {
      ASSERT_NO_FATAL_FAILURE(this->check(a, static_cast<std::uint32_t>(rng() % kValues)));
    }
  }
}

// Long cancellation: every value less those around it.
TYPED_TEST(HalfAdder, EveryValueLessItsNeighbours) {
  for (std::uint32_t a = 0; a < kValues; a += kStep) {
    for (std::uint32_t distance = 0; distance < 24; ++distance) {
      ASSERT_NO_FATAL_FAILURE(this->check(a, ((a + distance) % kValues) ^ kHalfSign));
    }
  }
}

TYPED_TEST(HalfAdder, MinusZeroIsNeutral) {
  for (std::uint32_t a = 0; a < kHalfInfinity; ++a) {
    if (!TypeParam::kFlush || a == 0 || a >= 0x400U) {
      ASSERT_EQ(this->add(kHalfSign, a), a);
      ASSERT_EQ(this->add(kHalfSign, a | kHalfSign), a | kHalfSign);
    }
  }
}

}  // namespace
}  // namespace warpfold

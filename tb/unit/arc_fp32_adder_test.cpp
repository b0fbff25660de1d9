// SPDX-License-Identifier: Apache-2.0
// The FP32 adder, both settings of FlushSubnormals, against two references that share nothing with
// it: integer arithmetic, and the host's own adder.
//
// WARPFOLD_SEED=<n>   seed of the random vectors. Vectors from files: fp32_vectors.cpp.

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <iomanip>
#include <vector>

#include "Varc_fp32_adder_flush.h"
#include "Varc_fp32_adder_gradual.h"
#include "model/unit/fp32.hpp"
#include "tb/unit/bench.hpp"

namespace warpfold {
namespace {

// With coverage each takes many times as long, and the paths are the same.
#ifdef WARPFOLD_COVERAGE
constexpr int kRandomVectors = 100'000;
#else
constexpr int kRandomVectors = 3'000'000;
#endif

constexpr Fp32Bits make(unsigned sign, unsigned exponent, unsigned fraction) {
  return (sign << 31) | (exponent << 23) | fraction;
}

// Any sign and fraction, an exponent of [first, first + count).
Fp32Bits random_fp32(bench::Rng& rng, unsigned first, unsigned count) {
  const auto bits = static_cast<std::uint32_t>(rng());
  const auto exponent = first + static_cast<unsigned>(rng() % count);
  return (bits & 0x807fffffU) | exponent << 23;
}

struct Flush {
  using Top = Varc_fp32_adder_flush;
  static constexpr bool kFlush = true;
};
struct Gradual {
  using Top = Varc_fp32_adder_gradual;
  static constexpr bool kFlush = false;
};

template <typename Setting>
class Fp32Adder : public testing::Test {
 protected:
  Fp32Bits add(Fp32Bits a, Fp32Bits b) {
    dut_->a_i = a;
    dut_->b_i = b;
    dut_.settle();
    return dut_->sum_o;
  }

  void expect(Fp32Bits a, Fp32Bits b, Fp32Bits expected, const char* by) {
    const Fp32Bits sum = add(a, b);
    ASSERT_EQ(sum, expected) << std::hex << std::setfill('0') << std::setw(8) << a << " + "
                             << std::setw(8) << b << " = " << std::setw(8) << sum << ", "
                             << std::setw(8) << expected << " " << by;
  }

  // One pair, both orders, both references.
  void check(Fp32Bits a, Fp32Bits b) {
    const Fp32Bits integer = fp32_add_integer(a, b, Setting::kFlush);
    ASSERT_NO_FATAL_FAILURE(expect(a, b, integer, "by the integer reference"));
    ASSERT_NO_FATAL_FAILURE(expect(b, a, integer, "by the integer reference, swapped"));
    ASSERT_NO_FATAL_FAILURE(
        expect(a, b, fp32_add_host(a, b, Setting::kFlush), "by the host's adder"));
  }

  bench::Dut<typename Setting::Top> dut_;
};

using Settings = testing::Types<Flush, Gradual>;

TYPED_TEST_SUITE(Fp32Adder, Settings);

// What an H200 answers to red.global.add.f32, and where gradual underflow differs.
TYPED_TEST(Fp32Adder, MeasuredTable) {
  struct Row {
    Fp32Bits memory, addend, flushed, gradual;
  };
  constexpr Row kTable[] = {
      {0x00000001, 0x00000001, 0x00000000, 0x00000002},
      {0x007fffff, 0x00000001, 0x00000000, 0x00800000},
      {0x00800000, 0x80000001, 0x00800000, 0x007fffff},
      {0x00800001, 0x80800000, 0x00000000, 0x00000001},
      {0x80000001, 0x80000000, 0x80000000, 0x80000001},
      {0x00400000, 0x00400000, 0x00000000, 0x00800000},
      {0x80000000, 0x80000000, 0x80000000, 0x80000000},
      {0x7f800000, 0xff800000, 0x7fffffff, 0x7fffffff},
      {0x7fc12345, 0x3f800000, 0x7fffffff, 0x7fffffff},
      {0x7f812345, 0x3f800000, 0x7fffffff, 0x7fffffff},
      {0x7f7fffff, 0x73000000, 0x7f800000, 0x7f800000},
      {0x3f800000, 0xbf800000, 0x00000000, 0x00000000},
      {0x80000000, 0x00000000, 0x00000000, 0x00000000},
      {0x7f7fffff, 0x7f7fffff, 0x7f800000, 0x7f800000},
  };
  for (const Row& row : kTable) {
    const Fp32Bits expected = TypeParam::kFlush ? row.flushed : row.gradual;
    this->expect(row.memory, row.addend, expected, "by the table");
    this->expect(row.addend, row.memory, expected, "by the table, swapped");
    this->check(row.memory, row.addend);
  }
}

TYPED_TEST(Fp32Adder, MinusZeroIsNeutral) {
  for (unsigned sign = 0; sign < 2; ++sign) {
    for (unsigned exponent = TypeParam::kFlush ? 1 : 0; exponent < 255; ++exponent) {
      for (const unsigned fraction : {0U, 1U, 0x2aaaaaU, 0x7fffffU}) {
        const Fp32Bits x = make(sign, exponent, fraction);
        ASSERT_NO_FATAL_FAILURE(this->expect(kFp32MinusZero, x, x, "because -0 is neutral"));
      }
    }
    this->expect(kFp32MinusZero, make(sign, 0, 0), make(sign, 0, 0), "because -0 is neutral");
  }
}

TYPED_TEST(Fp32Adder, SpecialsTimesSpecials) {
  std::vector<Fp32Bits> specials;
  for (unsigned sign = 0; sign < 2; ++sign) {
    for (const unsigned exponent :
         {0U,   1U,   2U,   3U,   22U,  23U,  24U,  25U,  26U,  102U, 103U, 125U,
          126U, 127U, 128U, 150U, 151U, 152U, 229U, 230U, 252U, 253U, 254U, 255U}) {
      for (const unsigned fraction :
           {0U, 1U, 2U, 3U, 0x3fffffU, 0x400000U, 0x400001U, 0x7ffffeU, 0x7fffffU}) {
        specials.push_back(make(sign, exponent, fraction));
      }
    }
  }
  for (const Fp32Bits a : specials) {
    for (const Fp32Bits b : specials) {
      ASSERT_NO_FATAL_FAILURE(this->check(a, b));
    }
  }
}

// Every alignment distance, with bits placed around the guard, round and sticky places.
TYPED_TEST(Fp32Adder, ExponentDifferenceSweep) {
  std::vector<unsigned> fractions = {0, 0x7fffff, 0x2aaaaa, 0x555555};
  for (unsigned bit = 0; bit < 23; ++bit) {
    fractions.push_back(1U << bit);
    fractions.push_back((1U << bit) - 1U);
    fractions.push_back(0x7fffffU ^ (1U << bit));
    fractions.push_back((1U << bit) | 1U);
    fractions.push_back((3U << bit) & 0x7fffffU);
  }
  for (const unsigned big_exponent : {1U, 2U, 24U, 27U, 40U, 127U, 253U, 254U}) {
    for (unsigned difference = 0; difference <= 70 && difference <= big_exponent; ++difference) {
      for (const unsigned big : {0U, 1U, 2U, 3U, 0x3fffffU, 0x400000U, 0x7ffffeU, 0x7fffffU}) {
        for (const unsigned little : fractions) {
          for (unsigned sign = 0; sign < 2; ++sign) {
            ASSERT_NO_FATAL_FAILURE(this->check(make(0, big_exponent, big),
                                                make(sign, big_exponent - difference, little)));
          }
        }
      }
    }
  }
}

// Sums with long cancellation: nearly equal operands of unlike sign.
TYPED_TEST(Fp32Adder, CancellationSweep) {
  for (const unsigned exponent : {1U, 2U, 3U, 10U, 23U, 24U, 25U, 26U, 127U, 254U}) {
    for (const unsigned fraction : {0U, 1U, 0x7fffffU, 0x400000U, 0x123456U}) {
      const Fp32Bits a = make(0, exponent, fraction);
      for (unsigned bit = 0; bit < 24; ++bit) {
        for (const unsigned step : {0U, 1U, 3U}) {
          const Fp32Bits distance = (1U << bit) - 1U + step;
          ASSERT_NO_FATAL_FAILURE(this->check(a, (a + distance) | kFp32Sign));
          if (a > distance) {
            ASSERT_NO_FATAL_FAILURE(this->check(a, (a - distance) | kFp32Sign));
          }
        }
      }
    }
  }
}

// Exponents close together around one: most sums are normal and need every stage.
TYPED_TEST(Fp32Adder, TameRandom) {
  bench::Rng rng(bench::seed());
  for (int i = 0; i < kRandomVectors; ++i) {
    const Fp32Bits a = random_fp32(rng, 112, 30);
    const Fp32Bits b = random_fp32(rng, 112, 30);
    ASSERT_NO_FATAL_FAILURE(this->check(a, b));
  }
}

// Exponents at the low end, where flushing and gradual underflow happen.
TYPED_TEST(Fp32Adder, TinyRandom) {
  bench::Rng rng(bench::seed() + 1);
  for (int i = 0; i < kRandomVectors; ++i) {
    const Fp32Bits a = random_fp32(rng, 0, 28);
    const Fp32Bits b = random_fp32(rng, 0, 28);
    ASSERT_NO_FATAL_FAILURE(this->check(a, b));
  }
}

TYPED_TEST(Fp32Adder, FullRandom) {
  bench::Rng rng(bench::seed() + 2);
  for (int i = 0; i < kRandomVectors; ++i) {
    const auto bits = rng();
    ASSERT_NO_FATAL_FAILURE(
        this->check(static_cast<Fp32Bits>(bits), static_cast<Fp32Bits>(bits >> 32)));
  }
}

}  // namespace
}  // namespace warpfold

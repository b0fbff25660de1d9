// SPDX-License-Identifier: Apache-2.0
// The three forms of the addition agree bit for bit with each other and with the measured GPU.
#include "model/unit/fp32.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "model/unit/lockstep.hpp"
#include "tb/lockstep/test_seed.hpp"

namespace warpfold {
namespace {

struct Vector {
  Fp32Bits a, b, sum;
};

// red.global.add.f32 on an H200: memory operand, register operand, result.
constexpr Vector kMeasured[] = {
    {0x00000001, 0x00000001, 0x00000000}, {0x007fffff, 0x00000001, 0x00000000},
    {0x00800000, 0x80000001, 0x00800000}, {0x00800001, 0x80800000, 0x00000000},
    {0x80000001, 0x80000000, 0x80000000}, {0x00400000, 0x00400000, 0x00000000},
    {0x80000000, 0x80000000, 0x80000000}, {0x7f800000, 0xff800000, 0x7fffffff},
    {0x7fc12345, 0x3f800000, 0x7fffffff}, {0x7f812345, 0x3f800000, 0x7fffffff},
    {0x7f7fffff, 0x73000000, 0x7f800000}, {0x3f800000, 0xbf800000, 0x00000000},
    {0x80000000, 0x00000000, 0x00000000}, {0x7f7fffff, 0x7f7fffff, 0x7f800000},
};

constexpr Fp32Bits kSpecials[] = {
    0x00000000, 0x00000001, 0x00000002, 0x003fffff, 0x00400000, 0x007ffffe, 0x007fffff, 0x00800000,
    0x00800001, 0x00ffffff, 0x01000000, 0x01000001, 0x017fffff, 0x0c000000, 0x33800000, 0x33800001,
    0x34000000, 0x3f7fffff, 0x3f800000, 0x3f800001, 0x3fffffff, 0x40000000, 0x4b7fffff, 0x4b800000,
    0x4b800001, 0x72ffffff, 0x73000000, 0x73000001, 0x7e7fffff, 0x7e800000, 0x7effffff, 0x7f000000,
    0x7f7ffffe, 0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fbfffff, 0x7fc00000, 0x7fffffff,
};

// Compares all forms and counts, so that a systematic fault does not print millions of lines.
class Comparison {
 public:
  void add(Fp32Bits a, Fp32Bits b) {
    ++additions_;
    const Fp32Bits flushed = fp32_add_integer(a, b, true);
    const Fp32Bits flushed_host = fp32_add_host(a, b, true);
    const Fp32Bits fast = fp32_add(a, b);
    const Fp32Bits gradual = fp32_add_integer(a, b, false);
    const Fp32Bits gradual_host = fp32_add_host(a, b, false);
    if (flushed == flushed_host && flushed == fast && gradual == gradual_host) {
      return;
    }
    if (++differences_ <= 10) {
      ADD_FAILURE() << std::hex << a << " + " << b << ": flush: integer " << flushed << " host "
                    << flushed_host << " fast " << fast << "; gradual: integer " << gradual
                    << " host " << gradual_host;
    }
  }
  // Sign bits of both operands in all four ways.
  void add_signs(Fp32Bits a, Fp32Bits b) {
    for (const Fp32Bits sign_a : {0U, kFp32Sign}) {
      for (const Fp32Bits sign_b : {0U, kFp32Sign}) {
        add(a ^ sign_a, b ^ sign_b);
      }
    }
  }
  ~Comparison() { EXPECT_EQ(differences_, 0U) << "of " << additions_ << " additions"; }

 private:
  std::uint64_t additions_ = 0;
  std::uint64_t differences_ = 0;
};

TEST(Fp32, MeasuredOnTheGpu) {
  for (const Vector& v : kMeasured) {
    EXPECT_EQ(fp32_add(v.a, v.b), v.sum) << std::hex << v.a << " + " << v.b;
    EXPECT_EQ(fp32_add_integer(v.a, v.b, true), v.sum) << std::hex << v.a << " + " << v.b;
    EXPECT_EQ(fp32_add_host(v.a, v.b, true), v.sum) << std::hex << v.a << " + " << v.b;
    EXPECT_EQ(fp32_add(v.b, v.a), v.sum) << std::hex << v.b << " + " << v.a;
  }
}

TEST(Fp32, GradualUnderflowKeepsSubnormals) {
  EXPECT_EQ(fp32_add_integer(1, 1, false), 2U);
  EXPECT_EQ(fp32_add_host(1, 1, false), 2U);
  EXPECT_EQ(fp32_add_integer(0x00800001, 0x80800000, false), 1U);
  EXPECT_EQ(fp32_add_host(0x00800001, 0x80800000, false), 1U);
}

TEST(Fp32, FlushedResultKeepsTheSignOfTheExactResult) {
  EXPECT_EQ(fp32_add(0x80800001, 0x00800000), 0x80000000U);
  EXPECT_EQ(fp32_add(0x00800000, 0x80800001), 0x80000000U);
  EXPECT_EQ(fp32_add(0x80000001, 0x00000001), 0x00000000U);
}

TEST(Fp32, SpecialsWithSpecials) {
  Comparison comparison;
  for (const Fp32Bits a : kSpecials) {
    for (const Fp32Bits b : kSpecials) {
      comparison.add_signs(a, b);
    }
  }
}

TEST(Fp32, ExponentSweep) {
  Comparison comparison;
  const std::vector<Fp32Bits> fractions = {0,        1,        2,        0x3fffff, 0x400000,
                                           0x400001, 0x7ffffe, 0x7fffff, 0x2aaaaa, 0x555555};
  for (Fp32Bits exponent_a = 0; exponent_a < 256; ++exponent_a) {
    for (Fp32Bits exponent_b = 0; exponent_b <= exponent_a; ++exponent_b) {
      // All fractions where the significands overlap or nearly do, a few where they are far apart.
      const std::size_t step = exponent_a - exponent_b <= 27 || exponent_b < 2 ? 1 : 3;
      for (std::size_t i = 0; i < fractions.size(); i += step) {
        for (std::size_t k = 0; k < fractions.size(); k += step) {
          comparison.add_signs(exponent_a << 23 | fractions[i], exponent_b << 23 | fractions[k]);
        }
      }
    }
  }
}

TEST(Fp32, RandomPatterns) {
  SplitMix64 random(test_seed());
  Comparison comparison;
  for (int i = 0; i < 2'000'000; ++i) {
    const std::uint64_t draw = random.next();
    comparison.add(static_cast<Fp32Bits>(draw), static_cast<Fp32Bits>(draw >> 32));
  }
}

TEST(Fp32, RandomNearExponents) {
  SplitMix64 random(test_seed() + 1);
  Comparison comparison;
  for (int i = 0; i < 2'500'000; ++i) {
    const std::uint64_t draw = random.next();
    const auto a = static_cast<Fp32Bits>(draw);
    const Fp32Bits exponent = ((a >> 23) + random.below(56) - 28) & 0xffU;
    const auto b = static_cast<Fp32Bits>(draw >> 32);
    comparison.add(a, (b & 0x807fffffU) | exponent << 23);
  }
}

TEST(Fp32, RandomAroundUnderflow) {
  SplitMix64 random(test_seed() + 2);
  Comparison comparison;
  for (int i = 0; i < 1'500'000; ++i) {
    const std::uint64_t draw = random.next();
    comparison.add(static_cast<Fp32Bits>(draw) & 0x81ffffffU,
                   static_cast<Fp32Bits>(draw >> 32) & 0x81ffffffU);
  }
}

TEST(Fp32, MinusZeroIsNeutral) {
  SplitMix64 random(test_seed() + 3);
  for (int i = 0; i < 100'000; ++i) {
    const auto a = static_cast<Fp32Bits>(random.next());
    EXPECT_EQ(fp32_add(kFp32MinusZero, a), fp32_add(a, kFp32MinusZero));
    if ((a & kFp32Infinity) != kFp32Infinity) {
      EXPECT_EQ(fp32_add(kFp32MinusZero, a), fp32_flush_subnormal(a));
    }
  }
}

// The word that says how the host's float unit rounds and flushes.
std::uint64_t host_state() {
#if defined(__x86_64__)
  return __builtin_ia32_stmxcsr();
#elif defined(__aarch64__)
  std::uint64_t state = 0;
  __asm__ volatile("mrs %0, fpcr" : "=r"(state));
  return state;
#endif
}

TEST(Fp32, HostFormRestoresItsState) {
  const std::uint64_t before = host_state();
  fp32_add_host(0x7f7fffff, 0x7f7fffff, true);
  fp32_add_host(1, 1, false);
  EXPECT_EQ(host_state(), before);
}

TEST(Fp32, ReductionGoesFromTheLowestLane) {
  std::array<Fp32Bits, kLanes> values{};
  // (2^24 + 1) + 1 stays at 2^24 because each 1 is lost; (1 + 1) + 2^24 does not.
  values[3] = 0x4b800000;
  values[7] = 0x3f800000;
  values[31] = 0x3f800000;
  EXPECT_EQ(reduction_reference(1U << 3 | 1U << 7 | 1U << 31, values), 0x4b800000U);
  std::swap(values[3], values[31]);
  EXPECT_EQ(reduction_reference(1U << 3 | 1U << 7 | 1U << 31, values), 0x4b800001U);
}

TEST(Fp32, ReductionBeginsWithMinusZero) {
  std::array<Fp32Bits, kLanes> values{};
  EXPECT_EQ(reduction_reference(0, values), 0x80000000U);
  EXPECT_EQ(reduction_reference(1, values), 0x00000000U);
  values.fill(0x80000000U);
  EXPECT_EQ(reduction_reference(0xffffffffU, values), 0x80000000U);
  values[9] = 0x80000001U;
  EXPECT_EQ(reduction_reference(1U << 9, values), 0x80000000U);
}

}  // namespace
}  // namespace warpfold

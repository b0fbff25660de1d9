// SPDX-License-Identifier: Apache-2.0
// Divider against the processor's own division.
#include "model/base/divider.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace warpfold::test {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

void expect_divides(std::uint64_t n, std::uint64_t divisor) {
  const Divider divider(divisor);
  EXPECT_EQ(divider.quotient(n), n / divisor) << n << " by " << divisor;
  EXPECT_EQ(divider.remainder(n), n % divisor) << n << " by " << divisor;
  EXPECT_EQ(divider.divisor(), divisor);
}

TEST(Divider, EveryDivisorUpTo512AroundItsMultiples) {
  for (std::uint64_t divisor = 1; divisor <= 512; ++divisor) {
    const std::uint64_t last = kMost / divisor * divisor;
    for (const std::uint64_t multiple : {divisor, 2 * divisor, 1'000'003 * divisor, last}) {
      expect_divides(multiple - 1, divisor);
      expect_divides(multiple, divisor);
      expect_divides(multiple < kMost ? multiple + 1 : multiple, divisor);
    }
    expect_divides(0, divisor);
    expect_divides(kMost, divisor);
  }
}

TEST(Divider, RandomNumbersOfEveryWidth) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 200'000; ++i) {
    const std::uint64_t n = random() >> (random() % 64);
    const std::uint64_t divisor = random() >> (random() % 64);
    expect_divides(n, divisor == 0 ? 1 : divisor);
  }
}

}  // namespace
}  // namespace warpfold::test

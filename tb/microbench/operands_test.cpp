// SPDX-License-Identifier: Apache-2.0
#include "traces/capture/microbench/operands.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <vector>

#include "model/unit/fp32.hpp"

namespace warpfold::microbench {
namespace {

constexpr bool is_nan(std::uint32_t bits) {
  return (bits & ~kFp32Sign) > kFp32Infinity;
}
constexpr bool is_infinite(std::uint32_t bits) {
  return (bits & ~kFp32Sign) == kFp32Infinity;
}
constexpr bool is_subnormal(std::uint32_t bits) {
  return (bits & kFp32Infinity) == 0 && (bits & ~kFp32Sign) != 0;
}

TEST(Operands, AreManyAndAlwaysTheSame) {
  const OperandSet set = operand_pairs();
  EXPECT_GE(set.pairs.size(), 100'000U);
  std::size_t sum = 0;
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const OperandClass& c : set.classes) {
    EXPECT_GT(c.count, 0U) << c.name;
    sum += c.count;
  }
  EXPECT_EQ(sum, set.pairs.size());
  for (const OperandPair& p : set.pairs) {
    for (const std::uint32_t word : {p.memory, p.operand}) {
      hash = (hash ^ word) * 0x100000001b3U;
    }
  }
  EXPECT_EQ(hash, 0x8edb6f5bf95df7afU) << std::hex << hash;
}

// Every kind of sum is there, with the kinds of operands on either side.
TEST(Operands, CoverEveryClass) {
  std::set<std::pair<int, int>> kinds;
  int ties = 0;
  int overflows = 0;
  int flushed_sums = 0;
  int exact_zeros = 0;
  int invalid = 0;
  const auto kind = [](std::uint32_t x) {
    const int magnitude = is_nan(x)               ? ((x & 0x400000U) != 0 ? 5 : 4)
                          : is_infinite(x)        ? 3
                          : is_subnormal(x)       ? 1
                          : (x & ~kFp32Sign) == 0 ? 0
                                                  : 2;
    return 2 * magnitude + static_cast<int>(x >> 31U);
  };
  for (const OperandPair& p : operand_pairs().pairs) {
    kinds.insert({kind(p.memory), kind(p.operand)});
    const std::uint32_t sum = fp32_add_integer(p.memory, p.operand, false);
    const bool finite = !is_nan(p.memory) && !is_infinite(p.memory) && !is_nan(p.operand) &&
                        !is_infinite(p.operand);
    overflows += finite && is_infinite(sum) ? 1 : 0;
    invalid += is_infinite(p.memory) && is_infinite(p.operand) && is_nan(sum) ? 1 : 0;
    flushed_sums +=
        !is_subnormal(p.memory) && !is_subnormal(p.operand) && is_subnormal(sum) ? 1 : 0;
    exact_zeros += (p.memory ^ p.operand) == kFp32Sign && finite ? 1 : 0;
    if (finite && !is_infinite(sum) && !is_subnormal(sum)) {
      // Exact in double precision unless the exponents are far apart.
      const double a = std::bit_cast<float>(p.memory);
      const double b = std::bit_cast<float>(p.operand);
      const auto bits = std::bit_cast<std::uint64_t>(a + b);
      ties += (a + b) - a == b && (bits & 0x1fffffffU) == 0x10000000U ? 1 : 0;
    }
  }
  EXPECT_EQ(kinds.size(), 144U);
  EXPECT_GT(ties, 3000);
  EXPECT_GT(overflows, 500);
  EXPECT_GT(flushed_sums, 1000);
  EXPECT_GT(exact_zeros, 100);
  EXPECT_GE(invalid, 2);
}

TEST(Operands, AreWrittenAsTestFloatDoes) {
  std::ostringstream out;
  const std::vector<OperandPair> pairs = {{0x3f800000, 0x1}, {0xdeadbeef, 0x80000000}};
  const std::vector<std::uint32_t> results = {0x3f800000, 0x7fffffff};
  write_vectors(out, pairs, results, {"who", "when"});
  EXPECT_EQ(out.str(),
            "# who\n# when\n3F800000 00000001 3F800000 00\nDEADBEEF 80000000 7FFFFFFF 00\n");
  EXPECT_THROW(write_vectors(out, pairs, {}, {}), std::invalid_argument);
}

}  // namespace
}  // namespace warpfold::microbench

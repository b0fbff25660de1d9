// SPDX-License-Identifier: Apache-2.0
// Operand pairs for the record of red.global.add.f32, and the text form of that record. Host only.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

namespace warpfold::microbench {

struct OperandPair {
  std::uint32_t memory = 0;   // bits of the float that lies in memory
  std::uint32_t operand = 0;  // bits of the float that the RED adds
};

// A kind of pairs, and how many of them operand_pairs() makes.
struct OperandClass {
  std::string name;
  std::size_t count = 0;
};

struct OperandSet {
  std::vector<OperandPair> pairs;
  std::vector<OperandClass> classes;  // in the order of the pairs
};

// Always the same pairs in the same order: special values with each other, alignment distances with
// bits around the rounding places, ties, cancellation, both ends of the range, NaNs with payloads,
// then random bits.
[[nodiscard]] OperandSet operand_pairs();

// Lines `A B result 00` in hex, as Berkeley TestFloat prints them: A the value in memory, B the
// operand. No flags are known; 00 stands for them. Each line of `about` goes in front behind "# ".
void write_vectors(std::ostream& out, std::span<const OperandPair> pairs,
                   std::span<const std::uint32_t> results, const std::vector<std::string>& about);

}  // namespace warpfold::microbench

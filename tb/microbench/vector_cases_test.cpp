// SPDX-License-Identifier: Apache-2.0
// Where the cases of vector REDs, bulk reductions and shared memory add.
#include "traces/capture/microbench/vector_cases.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <set>

#include "traces/capture/microbench/red.hpp"

namespace warpfold::microbench {
namespace {

// Bytes from the start of the buffer that iteration `i` of warp `w` begins at, for lane `l`.
std::uint64_t place(const VectorPattern& p, std::uint32_t w, std::uint32_t i, std::uint32_t l) {
  return std::uint64_t{(w * p.warp_step + i * p.step) & p.mask} * p.scale + p.lane[l];
}

std::uint32_t aligned_to(VectorForm form) {
  switch (form) {
    case VectorForm::kV4:
    case VectorForm::kV4x9:
      return 16;
    case VectorForm::kV2:
      return 8;
    default:
      return 4;
  }
}

// Every lane's place in the first iterations of the first and last warps, in every array.
template <class Case>
void expect_inside(const Case& one, std::uint32_t bytes, std::uint32_t alignment) {
  EXPECT_EQ(std::popcount(one.pattern.active), one.lanes) << one.name;
  EXPECT_GT(one.iterations, 0) << one.name;
  const auto warps = static_cast<std::uint32_t>(one.warps * (one.whole_gpu ? 132 : 1));
  for (const std::uint32_t w : {0U, 1U, warps - 1}) {
    for (std::uint32_t i = 0; i < 40; ++i) {
      for (std::uint32_t l = 0; l < 32; ++l) {
        if ((one.pattern.active >> l & 1U) == 0) {
          continue;
        }
        const std::uint64_t last =
            place(one.pattern, w, i, l) + std::uint64_t{kVectorArrays - 1} * one.pattern.array;
        ASSERT_LE(last + bytes, kRedBytes) << one.name;
        ASSERT_EQ(last % alignment, 0U) << one.name;
        ASSERT_EQ(place(one.pattern, w, i, l) % alignment, 0U) << one.name;
      }
    }
  }
}

VectorCase named(const std::string& name) {
  const auto all = vector_cases(132);
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const VectorCase& one) { return one.name == name; });
  EXPECT_NE(found, all.end()) << name;
  return found == all.end() ? VectorCase{} : *found;
}

TEST(VectorCases, StayInTheBufferAndAligned) {
  std::set<std::string> names;
  for (const VectorCase& one : vector_cases(132)) {
    EXPECT_TRUE(names.insert(one.name).second) << one.name;
    expect_inside(one, static_cast<std::uint32_t>(4 * words_of(one.form)), aligned_to(one.form));
  }
  EXPECT_GT(names.size(), 600U);
}

TEST(VectorCases, HaveScalarsBesideThem) {
  std::set<std::string> names;
  for (const VectorCase& one : vector_cases(132)) {
    names.insert(one.name);
  }
  for (const VectorCase& one : vector_cases(132)) {
    for (const char* form : {"/v2", "/v4"}) {
      const std::size_t at = one.name.find(form);
      if (at != std::string::npos && one.form != VectorForm::kV4x9 &&
          one.name.find("by_lanes") == std::string::npos) {
        std::string scalar = one.name;
        scalar.replace(at, 3, "/scalar");
        EXPECT_TRUE(names.contains(scalar)) << scalar;
      }
    }
  }
}

// Sums are counted by ones, which floats hold up to 2^24.
TEST(VectorCases, SumsThatAreCheckedAreExact) {
  int vectors = 0;
  for (const VectorCase& one : vector_cases(132)) {
    if (one.checked) {
      ++vectors;
      const double all = 132.0 * one.warps * one.lanes * one.iterations * kVectorArrays;
      EXPECT_LT(all, 1 << 24) << one.name;
    }
  }
  EXPECT_GE(vectors, 8);
  int bulks = 0;
  for (const BulkCase& one : bulk_cases()) {
    bulks += one.checked ? 1 : 0;
    EXPECT_LT(132.0 * one.warps * one.lanes * one.iterations * kVectorArrays, 1 << 24) << one.name;
  }
  EXPECT_GE(bulks, 8);
}

TEST(VectorCases, LieAsTheyAreNamed) {
  const VectorPattern packed = named("vector/packed/words=4/v4/lanes=32/warps=32/sm").pattern;
  const VectorPattern same = named("vector/same/words=2/v2/lanes=32/warps=32/gpu").pattern;
  const VectorPattern far = named("vector/struct_48/words=4/v4/lanes=32/warps=32/gpu").pattern;
  for (std::uint32_t l = 0; l < 32; ++l) {
    EXPECT_EQ(place(packed, 3, 5, l), place(packed, 3, 5, 0) + 16 * l);
    EXPECT_EQ(place(same, 3, 5, l), place(same, 3, 5, 0));
    EXPECT_EQ(place(far, 3, 5, l), place(far, 3, 5, 0) + 48 * l);
  }
  EXPECT_EQ(place(packed, 3, 5, 0) % 512, 0U);
  // Nine words of a struct by nine lanes: beside each other.
  const VectorCase nine = named("vector/struct_36_by_lanes/words=1/scalar/lanes=9/warps=32/gpu");
  EXPECT_EQ(place(nine.pattern, 7, 1, 8), place(nine.pattern, 7, 1, 0) + 32);
  // Two vectors of each of two sectors of a line; odd warps at another line.
  const VectorPattern hot =
      named("vector/hot_block/sectors=2/vectors=2/lines=2/words=4/v4/lanes=4").pattern;
  EXPECT_EQ(place(hot, 0, 9, 0), 0U);
  EXPECT_EQ(place(hot, 2, 9, 1), 16U);
  EXPECT_EQ(place(hot, 1, 9, 3), 512U + 48U);
}

TEST(BulkCases, StayInTheBufferAndAligned) {
  std::set<std::string> names;
  for (const BulkCase& one : bulk_cases()) {
    EXPECT_TRUE(names.insert(one.name).second) << one.name;
    EXPECT_EQ(one.bytes % 16, 0) << one.name;
    EXPECT_LE(one.bytes, 1024) << one.name;
    expect_inside(one, static_cast<std::uint32_t>(one.bytes), 16);
  }
}

TEST(SharedCases, StayInTheirWords) {
  std::set<std::string> names;
  for (const SharedCase& one : shared_cases()) {
    EXPECT_TRUE(names.insert(one.name).second) << one.name;
    EXPECT_EQ(std::popcount(one.pattern.active), one.lanes) << one.name;
    const std::uint32_t last = *std::max_element(one.pattern.lane, one.pattern.lane + 32);
    EXPECT_LT(static_cast<std::uint32_t>(one.warps - 1) * one.pattern.warp_words + last,
              kSharedWords);
  }
}

}  // namespace
}  // namespace warpfold::microbench

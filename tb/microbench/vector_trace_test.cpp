// SPDX-License-Identifier: Apache-2.0
// The cases of vector REDs as traces: to the same words in the same order, under the policy that
// has such REDs.
#include "traces/capture/microbench/vector_trace.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "traces/format/reader.hpp"

namespace warpfold::microbench {
namespace {

VectorCase named(const std::string& name, int sms = 132) {
  const std::vector<VectorCase> all = vector_cases(sms);
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const VectorCase& one) { return one.name == name; });
  EXPECT_NE(found, all.end()) << name;
  return *found;
}

// The words that warp 1 of the launch adds to, lane by lane, in order.
using Words = std::vector<std::uint64_t>;

Words in_trace(const VectorCase& one, int sms) {
  const std::filesystem::path path = std::filesystem::temp_directory_path() /
                                     ("warpfold-vector-" + std::to_string(getpid()) + ".wft");
  write_vector_trace(one, sms, path);
  trace::Reader reader(path);
  std::filesystem::remove(path);
  EXPECT_EQ(reader.cta_count(), static_cast<std::size_t>(one.whole_gpu ? sms : 1));
  const trace::CtaTrace cta = reader.read_cta(0);
  const trace::WarpTrace& warp = cta.warps.at(1);
  Words words;
  for (const trace::Record& record : warp.records) {
    if (record.kind != trace::RecordKind::kEvent) {
      continue;
    }
    EXPECT_EQ(record.mask, one.pattern.active);
    for (std::uint32_t l = 0; l < 32; ++l) {
      if ((record.mask >> l & 1U) == 0) {
        continue;
      }
      const std::uint32_t primitive = record.lane_primitives == trace::Record::kUniform
                                          ? record.primitive
                                          : warp.lane_primitives[record.lane_primitives + l];
      for (const trace::Parameter& p : reader.header().sites.at(record.site).parameters) {
        words.push_back(p.base + std::uint64_t{primitive} * p.stride_bytes);
      }
    }
  }
  return words;
}

// What vector_red of vector.cu does.
Words in_kernel(const VectorCase& one) {
  Words words;
  const VectorPattern& p = one.pattern;
  std::uint32_t place = p.warp_step;
  for (int i = 0; i < one.iterations; ++i, place += p.step) {
    for (std::uint64_t a = 0; a < kVectorArrays; ++a) {
      for (std::uint32_t l = 0; l < 32; ++l) {
        for (int w = 0; (p.active >> l & 1U) != 0 && w < words_of(one.form); ++w) {
          words.push_back((1ULL << 32U) + a * p.array + std::uint64_t{place & p.mask} * p.scale +
                          p.lane[l] + 4U * static_cast<std::uint32_t>(w));
        }
      }
    }
  }
  return words;
}

TEST(VectorTrace, AddsWhatTheKernelAdds) {
  for (const char* name : {"vector/same/words=4/v4/lanes=8/warps=32/sm",
                           "vector/packed/words=2/v2/lanes=32/warps=4/sm",
                           "vector/random/words=4/scalar/lanes=16/warps=32/sm",
                           "vector/struct_48/words=9/v4/lanes=32/warps=32/sm",
                           "vector/struct_36_by_lanes/words=1/scalar/lanes=9/warps=32/sm",
                           "vector/struct_64_by_lanes/words=4/v4/lanes=3/warps=32/sm",
                           "vector/hot_address/words=2/v2/lanes=8",
                           "vector/hot_block/sectors=4/vectors=2/lines=2/words=4/v4/lanes=8"}) {
    const VectorCase one = named(name, 2);
    EXPECT_EQ(in_trace(one, 2), in_kernel(one)) << name;
  }
}

TEST(VectorTrace, IsOfThePolicyThatHasSuchReds) {
  const VectorCase vector = named("vector/packed/words=4/v4/lanes=8/warps=32/gpu");
  EXPECT_STREQ(policy_of(vector), "vector");
  const trace::Header header = vector_trace_header(vector, 132);
  EXPECT_TRUE(header.costs.at("sm_90").contains("vector"));
  EXPECT_EQ(header.sites.size(), static_cast<std::size_t>(kVectorArrays));
  EXPECT_STREQ(policy_of(named("vector/packed/words=4/scalar/lanes=8/warps=32/gpu")), "baseline");
  EXPECT_EQ(vector_trace_header(named("vector/hot_address/words=2/v2/lanes=8"), 132).sites.size(),
            1U);
}

TEST(VectorTrace, HalvesHaveNone) {
  const VectorCase halves = named("vector/packed/words=1/half2/lanes=8/warps=32/gpu");
  EXPECT_FALSE(has_trace(halves));
  EXPECT_THROW(write_vector_trace(halves, 132, "none.wft"), trace::TraceError);
  EXPECT_FALSE(std::filesystem::exists("none.wft"));
}

}  // namespace
}  // namespace warpfold::microbench

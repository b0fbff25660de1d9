// SPDX-License-Identifier: Apache-2.0
// The cases of REDs as traces: as many REDs as the kernel does, to the same addresses.
#include "traces/capture/microbench/red_trace.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <set>
#include <string>

#include "traces/format/reader.hpp"

namespace warpfold::microbench {
namespace {

RedCase named(const std::string& name, int sms = 132) {
  const std::vector<RedCase> all = red_cases(sms, 64);
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const RedCase& one) { return one.name == name; });
  EXPECT_NE(found, all.end()) << name;
  return *found;
}

// Adds up what the trace of a case adds to: addresses in the order of warps, iterations, arrays.
struct Replay {
  std::uint64_t reds = 0;
  std::set<std::uint32_t> begins;        // by how much its CTAs begin later
  std::vector<std::uint64_t> addresses;  // of the first CTA's second warp
};

Replay replay(const RedCase& one, int sms) {
  const std::filesystem::path path = std::filesystem::temp_directory_path() /
                                     ("warpfold-red-" + std::to_string(getpid()) + ".wft");
  write_red_trace(one, sms, path);
  trace::Reader reader(path);
  std::filesystem::remove(path);
  Replay found;
  for (std::size_t c = 0; c < reader.cta_count(); ++c) {
    const trace::CtaTrace cta = reader.read_cta(c);
    for (std::size_t w = 0; w < cta.warps.size(); ++w) {
      const trace::WarpTrace& warp = cta.warps[w];
      const bool waits = warp.records.front().kind == trace::RecordKind::kWork;
      const std::uint32_t begins = waits ? warp.records.front().count : 0;
      EXPECT_TRUE(w == 0 || found.begins.contains(begins)) << "warps of a CTA begin together";
      found.begins.insert(begins);
      for (const trace::Record& record : warp.records) {
        if (waits && &record == &warp.records.front()) {
          continue;
        }
        EXPECT_EQ(record.kind, trace::RecordKind::kEvent);
        EXPECT_EQ(record.mask, one.pattern.active);
        found.reds += reader.header().sites[0].parameters.size();
        if (c != 0 || w != 1) {
          continue;
        }
        for (const trace::Parameter& p : reader.header().sites[0].parameters) {
          for (std::uint32_t l = 0; l < 32; ++l) {
            if ((record.mask >> l & 1U) != 0) {
              const std::uint32_t primitive =
                  record.lane_primitives == trace::Record::kUniform
                      ? record.primitive
                      : warp.lane_primitives[record.lane_primitives + l];
              found.addresses.push_back(p.base + std::uint64_t{primitive} * p.stride_bytes);
            }
          }
        }
      }
    }
  }
  return found;
}

// What red_loop of kernels_red.cuh does in warp 1.
std::vector<std::uint64_t> expected(const RedCase& one) {
  std::vector<std::uint64_t> addresses;
  const RedPattern& p = one.pattern;
  std::uint32_t place = p.warp_step;
  for (int i = 0; i < one.iterations; ++i) {
    for (int a = 0; a < kReds; ++a) {
      for (std::uint32_t l = 0; l < 32; ++l) {
        if ((p.active >> l & 1U) != 0) {
          addresses.push_back((1ULL << 32U) + p.offset[a] +
                              std::uint64_t{(place & p.mask) + p.lane[l]} * p.scale[a]);
        }
      }
    }
    place += p.step;
  }
  return addresses;
}

TEST(RedTrace, AddsWhatTheKernelAdds) {
  for (const char* name :
       {"red/same/lanes=8/warps=32/sm", "red/blocks_of_2/lanes=24/warps=32/sm",
        "red/gaussian_of_each_lane/lanes=32/warps=32/sm", "red/consecutive/lanes=8/warps=64/sm"}) {
    const RedCase one = named(name);
    const Replay found = replay(one, 132);
    EXPECT_EQ(found.reds, static_cast<std::uint64_t>(one.iterations * kReds * one.warps)) << name;
    EXPECT_EQ(found.addresses, expected(one)) << name;
  }
}

TEST(RedTrace, WalksAroundHotSectors) {
  const RedCase one = named("red/hot_walk/lanes=1/sectors=4", 2);
  const Replay found = replay(one, 2);
  EXPECT_EQ(found.addresses, expected(one));
  // Warp 1 begins with the second sector.
  for (std::uint64_t i = 0; i < 36; ++i) {
    EXPECT_EQ(found.addresses[i], (1ULL << 32U) + (1 + i / 9) % 4 * 32) << i;
  }
}

TEST(RedTrace, OneArrayWhereAllAreOne) {
  const RedCase one = named("red/hot_addresses/lanes=1/addresses=64/stride=128", 2);
  const Replay found = replay(one, 2);
  EXPECT_EQ(found.reds, static_cast<std::uint64_t>(2 * one.iterations * kReds * one.warps));
  EXPECT_EQ(found.addresses, expected(one));
}

// CTAs of all SMs do not begin in one cycle; that of one SM has none to wait for.
TEST(RedTrace, CtasBeginApart) {
  const Replay gpu = replay(named("red/hot_block/sectors=1/words=4/lines=2"), 132);
  EXPECT_GT(gpu.begins.size(), 20U);
  EXPECT_EQ(*gpu.begins.begin(), 0U);
  EXPECT_LE(*gpu.begins.rbegin() * 16, 400U);  // cycles
  EXPECT_EQ(replay(named("red/same/lanes=8/warps=32/sm"), 132).begins, std::set<std::uint32_t>{0});
}

TEST(RedTrace, WholeGpuHasACtaForEachSm) {
  EXPECT_EQ(red_trace_header(named("red/same/lanes=1/warps=32/gpu"), 132).grid[0], 132U);
  EXPECT_EQ(red_trace_header(named("red/same/lanes=1/warps=64/gpu"), 132).grid[0], 4U * 132U);
  EXPECT_EQ(red_trace_header(named("red/same/lanes=1/warps=64/sm"), 132).grid[0], 4U);
}

TEST(RedTrace, RefusesIdleSubcores) {
  EXPECT_THROW(write_red_trace(named("red/same/lanes=1/warps=8/subcores=1/sm"), 132, "none.wft"),
               trace::TraceError);
  EXPECT_FALSE(std::filesystem::exists("none.wft"));
}

TEST(RedCases, NamesDiffer) {
  std::set<std::string> names;
  for (const RedCase& one : red_cases(132, 64)) {
    EXPECT_TRUE(names.insert(one.name).second) << one.name;
    EXPECT_EQ(std::popcount(one.pattern.active), one.lanes) << one.name;
  }
}

// By the flits of a RED: 16 passes of one sector with two words are 32 cycles, and 24 lanes in
// three sectors 4.
TEST(RedCases, LastAboutAsLong) {
  EXPECT_EQ(named("red/distinct_2_consecutive/lanes=32/warps=32/sm").iterations,
            named("red/same/lanes=32/warps=32/sm").iterations);
  EXPECT_EQ(named("red/consecutive/lanes=24/warps=32/sm").iterations, 240'000 / (4 * 32 * 9));
  EXPECT_EQ(named("red/same/lanes=1/warps=32/sm").iterations, 240'000 / (2 * 32 * 9));
}

}  // namespace
}  // namespace warpfold::microbench

// SPDX-License-Identifier: Apache-2.0
// Which balancing thresholds are one and the same run, held against the steps that warps take.
#include "model/policy/group_sizes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/policy/program.hpp"
#include "tb/model/small_trace.hpp"

namespace warpfold::test {
namespace {

GroupSizes sizes_of(const SmallTrace& trace) {
  GroupSizes sizes;
  for (const trace::CtaTrace& cta : trace.ctas) {
    for (const trace::WarpTrace& warp : cta.warps) {
      sizes.add(warp);
    }
  }
  return sizes;
}

std::uint32_t lowest_alike(const SmallTrace& trace, const std::string& policy) {
  return sizes_of(trace).lowest_alike(parse_policy(policy)).threshold;
}

// What all warps issue, in words.
std::string steps_of(const SmallTrace& trace, Policy policy) {
  const PolicyTiming timing(trace.header, load_gpu("h200"), policy);
  std::string text;
  for (const trace::CtaTrace& cta : trace.ctas) {
    for (const trace::WarpTrace& warp : cta.warps) {
      WarpProgram program;
      program.start(timing, warp);
      Step step;
      for (program.next(step); step.kind != StepKind::kEnd; program.next(step)) {
        for (const std::uint64_t part :
             {std::uint64_t{static_cast<std::uint8_t>(step.kind)}, std::uint64_t{step.mask},
              std::uint64_t{step.parameter}, step.slots, step.min_cycles}) {
          text += std::to_string(part) + ' ';
        }
      }
    }
  }
  return text;
}

TEST(GroupSizes, OfEventsWithOnePrimitiveAreTheirLanes) {
  SmallTrace trace(1, 1, 1, 8, 4);
  trace.event(0, 0, 0x1f, 0);        // 5 lanes
  trace.event(0, 0, 0xfff, 1);       // 12
  trace.event(0, 0, 0xffffffff, 2);  // 32
  for (const std::string kind : {"sw-b:", "sw-s:"}) {
    const std::map<std::uint32_t, std::uint32_t> lowest = {{0, 0},  {1, 0},   {5, 0},   {6, 6},
                                                           {12, 6}, {13, 13}, {31, 13}, {32, 13}};
    for (const auto& [threshold, expected] : lowest) {
      EXPECT_EQ(lowest_alike(trace, kind + std::to_string(threshold)), expected)
          << kind << threshold;
    }
  }
}

TEST(GroupSizes, OfSeveralPrimitivesCountApartForTheSerialReductionOnly) {
  SmallTrace trace(1, 1, 1, 8, 4);
  std::vector<std::uint32_t> primitives(32, 0);
  for (std::size_t lane = 20; lane < 32; ++lane) {
    primitives[lane] = 1;
  }
  trace.event(0, 0, 0xffffffff, primitives);      // 20 and 12 lanes
  EXPECT_EQ(lowest_alike(trace, "sw-b:32"), 0U);  // all 32 are enough to look at
  EXPECT_EQ(lowest_alike(trace, "sw-s:12"), 0U);
  EXPECT_EQ(lowest_alike(trace, "sw-s:20"), 13U);
  EXPECT_EQ(lowest_alike(trace, "sw-s:32"), 21U);
}

TEST(GroupSizes, PoliciesWithoutAThresholdStayWhatTheyAre) {
  SmallTrace trace(1, 1, 1, 8, 4);
  trace.event(0, 0, 0x1f, 0);
  for (const std::string name : {"baseline", "skip", "cccl", "arc-hw", "lab"}) {
    EXPECT_EQ(sizes_of(trace).lowest_alike(parse_policy(name)), parse_policy(name));
  }
}

// Two thresholds are called alike exactly where every warp issues the same.
TEST(GroupSizes, TellApartWhatWarpsIssue) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    SmallTrace trace = random_trace(seed, 1, 2, 2, 0.6, false);
    for (trace::WarpTrace& warp : trace.ctas[0].warps) {
      warp.records.resize(std::min<std::size_t>(warp.records.size(), 12));
    }
    for (const std::string segment : {"check", "agree", "plain", "setup", "leader", "per_lane"}) {
      trace.reduce_cost(segment, {.alu = static_cast<std::uint32_t>(10 + segment.size())});
    }
    trace.reduce_cost("butterfly", {.alu = 7});
    const GroupSizes sizes = sizes_of(trace);
    for (const std::string kind : {"sw-b:", "sw-s:"}) {
      std::map<std::uint32_t, std::string> issued;
      std::size_t shared = 0;
      for (std::uint32_t threshold = 0; threshold <= 32; ++threshold) {
        const Policy policy = parse_policy(kind + std::to_string(threshold));
        const std::string steps = steps_of(trace, policy);
        const auto [known, first] = issued.emplace(sizes.lowest_alike(policy).threshold, steps);
        EXPECT_EQ(known->second, steps) << policy.name();
        shared += first ? 0 : 1;
      }
      for (auto a = issued.begin(); a != issued.end(); ++a) {
        for (auto b = std::next(a); b != issued.end(); ++b) {
          EXPECT_NE(a->second, b->second) << a->first << " and " << b->first;
        }
      }
      EXPECT_GT(shared, 0U);
    }
  }
}

}  // namespace
}  // namespace warpfold::test

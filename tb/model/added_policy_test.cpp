// SPDX-License-Identifier: Apache-2.0
// The policy that docs/extend.md adds, built from the page: one file, and one line in rules.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "model/gpu/run/reference_sums.hpp"
#include "model/gpu/run/simulate.hpp"
#include "model/policy/policy.hpp"
#include "tb/model/small_trace.hpp"

namespace warpfold::test {
namespace {

TEST(AddedPolicy, IsListedBesideTheOthers) {
  const std::vector<PolicyInfo> infos = policy_infos();
  EXPECT_EQ(std::ranges::count(infos, "largest", &PolicyInfo::pattern), 1);
  EXPECT_EQ(std::ranges::count(infos, "baseline", &PolicyInfo::pattern), 1);
  EXPECT_EQ(parse_policies("all,none,vector,skip-vector,shared-slot,arc-merge,arc-merge-l2").size(),
            infos.size());
  EXPECT_EQ(parse_policy("largest").name(), "largest");
}

TEST(AddedPolicy, Runs) {
  SmallTrace trace(1, 1, 1, 8, 4);
  std::vector<std::uint32_t> primitives = {1, 2, 2, 2, 1, 2, 3, 4};  // four lanes add to 2
  primitives.resize(kLanes);
  trace.event(0, 0, 0xff, primitives);
  trace.event(0, 0, 0x1f, 5);
  const trace::Reader reader = trace.read();
  const RunResult result = simulate({.gpu = small_h200(1),
                                     .policy = parse_policy("largest"),
                                     .unit = {.model = UnitModel::kGolden},
                                     .timeline_detail = {},
                                     .progress = {}},
                                    reader, ReferenceSums::compute(reader));
  EXPECT_EQ(result.failure, "");
  EXPECT_TRUE(result.sums_match);
  const auto counter = [&](const std::string& name) {
    const auto found = std::ranges::find(
        result.activity, name, [](const auto& entry) { return std::string(entry.first); });
    return found == result.activity.end() ? ~std::uint64_t{0} : found->second;
  };
  EXPECT_EQ(counter("lanes_in_software"), 4U + 5);
  EXPECT_EQ(counter("lanes_as_red"), 4U);
}

}  // namespace
}  // namespace warpfold::test

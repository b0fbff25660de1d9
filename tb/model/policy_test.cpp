// SPDX-License-Identifier: Apache-2.0
// Names of policies: what is accepted, what is refused, and with which words.
#include "model/policy/policy.hpp"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "model/policy/rule.hpp"
#include "model/policy/rules.hpp"

namespace warpfold {
namespace {

std::string error_of(const std::string& list) {
  try {
    parse_policies(list);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(Policy, NameReadsBackAsTheSamePolicy) {
  for (const std::string name : {"baseline", "sw-s:0", "sw-s:8", "sw-b:16", "sw-b:32", "skip",
                                 "cccl", "arc-hw", "lab", "lab-ideal", "phi"}) {
    EXPECT_EQ(parse_policy(name).name(), name);
  }
  const Policy policy = parse_policy("sw-b:7");
  EXPECT_EQ(policy.rule->facts().name, "sw-b");
  EXPECT_EQ(policy.threshold, 7U);
  EXPECT_EQ(policy, parse_policy("sw-b:7"));
  EXPECT_NE(policy, parse_policy("sw-b:8"));
  EXPECT_NE(policy, parse_policy("sw-s:7"));
}

TEST(Policy, IsTheBaselineIfNothingElseIsSaid) {
  EXPECT_EQ(Policy().name(), "baseline");
}

TEST(Policy, LanesGoToAUnitToABufferOrToTheRops) {
  for (const Policy& policy : default_policies()) {
    const std::string name = policy.name();
    EXPECT_EQ(policy.has_unit(), name == "arc-hw") << name;
    EXPECT_EQ(policy.has_buffer(), name == "lab" || name == "lab-ideal" || name == "phi") << name;
  }
}

// A name is written into lists and in front of a threshold.
TEST(Policy, NamesAreOnesThatCanBeTold) {
  std::set<std::string_view> names;
  for (const rules::RuleGetter rule : rules::all()) {
    const std::string_view name = rule().facts().name;
    EXPECT_TRUE(names.insert(name).second) << name;
    EXPECT_EQ(name.find_first_of(":, "), std::string_view::npos) << name;
    EXPECT_NE(name, "all");
    EXPECT_EQ(&rule(), &rule());
  }
}

TEST(Policy, EveryThresholdIsAccepted) {
  for (std::uint32_t threshold = 0; threshold <= 32; ++threshold) {
    EXPECT_EQ(parse_policy("sw-s:" + std::to_string(threshold)).threshold, threshold);
  }
}

TEST(Policy, VariantIsTheKernelWhoseCodeRuns) {
  EXPECT_EQ(parse_policy("baseline").variant(), "baseline");
  EXPECT_EQ(parse_policy("sw-s:4").variant(), "sw-s");
  EXPECT_EQ(parse_policy("sw-b:4").variant(), "sw-b");
  EXPECT_EQ(parse_policy("skip").variant(), "skip");
  EXPECT_EQ(parse_policy("cccl").variant(), "cccl");
  for (const std::string hardware : {"arc-hw", "lab", "lab-ideal", "phi"}) {
    EXPECT_EQ(parse_policy(hardware).variant(), "baseline");
  }
}

TEST(Policy, ListKeepsItsOrderAndDropsDuplicates) {
  const std::vector<Policy> policies = parse_policies("arc-hw,sw-b:8,baseline,sw-b:8,sw-b:08");
  ASSERT_EQ(policies.size(), 3U);
  EXPECT_EQ(policies[0].name(), "arc-hw");
  EXPECT_EQ(policies[1].name(), "sw-b:8");
  EXPECT_EQ(policies[2].name(), "baseline");
}

TEST(Policy, AllIsTheComparison) {
  std::vector<std::string> names;
  for (const Policy& policy : parse_policies("all")) {
    names.push_back(policy.name());
  }
  EXPECT_EQ(names, (std::vector<std::string>{"baseline", "sw-s:16", "sw-b:16", "skip", "cccl",
                                             "arc-hw", "lab", "lab-ideal", "phi"}));
  EXPECT_EQ(parse_policies("all"), default_policies());
  EXPECT_EQ(parse_policies("all,sw-b:8,skip").size(), 10U);
}

TEST(Policy, ThatAddsNothingIsOnlyThereIfItIsNamed) {
  for (const Policy& policy : default_policies()) {
    EXPECT_TRUE(policy.adds()) << policy.name();
  }
  EXPECT_FALSE(parse_policy("none").adds());
  EXPECT_EQ(parse_policies("all,none").size(), default_policies().size() + 1);
}

TEST(Policy, OfFewTracesIsOnlyThereIfItIsNamed) {
  EXPECT_EQ(parse_policies("all,vector,skip-vector,shared-slot").size(),
            default_policies().size() + 3);
  EXPECT_EQ(parse_policy("vector").variant(), "vector");
  EXPECT_EQ(parse_policy("skip-vector").variant(), "skip-vector");
  EXPECT_EQ(parse_policy("shared-slot").variant(), "shared-slot");
}

TEST(Policy, UnknownNameListsTheKnownOnes) {
  for (const std::string name :
       {"", "Baseline", "arc", "sw-x:3", "baseline,,skip", "skip,", " baseline", "LAB"}) {
    const std::string error = error_of(name);
    EXPECT_NE(error.find("unknown policy"), std::string::npos) << name;
    EXPECT_NE(error.find("baseline, sw-s:X, sw-b:X, skip, cccl, arc-hw"), std::string::npos)
        << name;
  }
}

TEST(Policy, ThresholdOutOfRangeIsRefused) {
  for (const std::string threshold :
       {"33", "-1", "99999999999", "", "x", "8x", "8.5", "+8", " 8"}) {
    const std::string error = error_of("sw-b:" + threshold);
    EXPECT_EQ(error,
              "policy 'sw-b:" + threshold + "': the threshold must be a number from 0 to 32");
  }
}

TEST(Policy, ThresholdMustBeThereOrNotAsThePolicyHasIt) {
  EXPECT_EQ(error_of("sw-s"), "policy 'sw-s' needs a balancing threshold: sw-s:X, X from 0 to 32");
  EXPECT_EQ(error_of("arc-hw:4"), "policy 'arc-hw:4': arc-hw takes no threshold");
  EXPECT_EQ(error_of("baseline:"), "policy 'baseline:': baseline takes no threshold");
}

TEST(Policy, EveryKindIsListed) {
  const std::vector<PolicyInfo> infos = policy_infos();
  ASSERT_EQ(infos.size(), rules::all().size());
  for (const PolicyInfo& info : infos) {
    EXPECT_FALSE(info.pattern.empty());
    EXPECT_GT(info.description.size(), 20U);
  }
}

}  // namespace
}  // namespace warpfold

// SPDX-License-Identifier: Apache-2.0
#include "model/policy/policy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <stdexcept>

#include "model/policy/rule.hpp"
#include "model/policy/rules.hpp"

namespace warpfold {
namespace {

constexpr std::uint32_t kMaxThreshold = 32;
constexpr std::uint32_t kDefaultThreshold = 16;

std::string pattern_of(const PolicyRule::Facts& facts) {
  return facts.has_threshold ? fmt::format("{}:X", facts.name) : std::string(facts.name);
}

std::string known_patterns() {
  std::vector<std::string> patterns;
  for (const rules::RuleGetter rule : rules::all()) {
    patterns.push_back(pattern_of(rule().facts()));
  }
  return fmt::format("{}", fmt::join(patterns, ", "));
}

// Null where there is none.
const PolicyRule* find_rule(std::string_view name) {
  for (const rules::RuleGetter rule : rules::all()) {
    if (rule().facts().name == name) {
      return &rule();
    }
  }
  return nullptr;
}

std::optional<std::uint32_t> parse_threshold(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value > kMaxThreshold) {
    return std::nullopt;
  }
  return value;
}

}  // namespace

const PolicyRule& baseline_rule() {
  return rules::all().front()();
}

std::string Policy::name() const {
  const PolicyRule::Facts& facts = rule->facts();
  return facts.has_threshold ? fmt::format("{}:{}", facts.name, threshold)
                             : std::string(facts.name);
}

std::string Policy::variant() const {
  return std::string(rule->facts().variant);
}

bool Policy::has_unit() const {
  return rule->facts().path == AdditionPath::kUnit;
}

bool Policy::has_buffer() const {
  return rule->facts().path == AdditionPath::kBuffer;
}

bool Policy::adds() const {
  return rule->facts().path != AdditionPath::kNowhere;
}

Policy parse_policy(std::string_view name) {
  const std::size_t colon = name.find(':');
  const PolicyRule* rule = find_rule(name.substr(0, colon));
  if (rule == nullptr) {
    throw std::invalid_argument(fmt::format("unknown policy '{}': known are {} (X from 0 to {})",
                                            name, known_patterns(), kMaxThreshold));
  }
  const PolicyRule::Facts& facts = rule->facts();
  if (!facts.has_threshold) {
    if (colon != std::string_view::npos) {
      throw std::invalid_argument(
          fmt::format("policy '{}': {} takes no threshold", name, facts.name));
    }
    return Policy{.rule = rule};
  }
  if (colon == std::string_view::npos) {
    throw std::invalid_argument(
        fmt::format("policy '{}' needs a balancing threshold: {}, X from 0 to {}", name,
                    pattern_of(facts), kMaxThreshold));
  }
  const auto threshold = parse_threshold(name.substr(colon + 1));
  if (!threshold) {
    throw std::invalid_argument(fmt::format(
        "policy '{}': the threshold must be a number from 0 to {}", name, kMaxThreshold));
  }
  return Policy{.rule = rule, .threshold = *threshold};
}

std::vector<Policy> parse_policies(std::string_view list) {
  std::vector<Policy> policies;
  const auto add = [&policies](const Policy& policy) {
    if (std::find(policies.begin(), policies.end(), policy) == policies.end()) {
      policies.push_back(policy);
    }
  };
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    const std::string_view name = list.substr(begin, end - begin);
    if (name == "all") {
      for (const Policy& policy : default_policies()) {
        add(policy);
      }
    } else {
      add(parse_policy(name));
    }
    begin = end + 1;
  }
  return policies;
}

std::vector<Policy> default_policies() {
  std::vector<Policy> policies;
  for (const rules::RuleGetter rule : rules::all()) {
    const PolicyRule::Facts& facts = rule().facts();
    if (facts.compared) {
      policies.push_back(
          Policy{.rule = &rule(), .threshold = facts.has_threshold ? kDefaultThreshold : 0});
    }
  }
  return policies;
}

std::vector<PolicyInfo> policy_infos() {
  std::vector<PolicyInfo> infos;
  for (const rules::RuleGetter rule : rules::all()) {
    const PolicyRule::Facts& facts = rule().facts();
    infos.push_back({.pattern = pattern_of(facts),
                     .source = std::string(facts.source),
                     .description = std::string(facts.description)});
  }
  return infos;
}

}  // namespace warpfold

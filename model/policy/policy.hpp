// SPDX-License-Identifier: Apache-2.0
// A policy says what becomes of one event (a reduce call of a warp). Names are those of the papers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace warpfold {

class PolicyRule;

// The rule that a policy is if nothing else is said.
const PolicyRule& baseline_rule();

struct Policy {
  const PolicyRule* rule = &baseline_rule();  // one of rules.hpp, or anybody's own; never null
  std::uint32_t threshold = 0;                // balancing threshold X, 0..32, of a rule with one

  // "baseline", "sw-s:8", ...
  [[nodiscard]] std::string name() const;
  // Key of Header::costs, such as "baseline".
  [[nodiscard]] std::string variant() const;
  // Whether lanes go through the ARC scheduler and unit.
  [[nodiscard]] bool has_unit() const;
  // Whether REDs sum up in an atomic buffer of the SM.
  [[nodiscard]] bool has_buffer() const;
  // Whether lanes are added at all.
  [[nodiscard]] bool adds() const;
  friend bool operator==(const Policy&, const Policy&) = default;
};

// One policy by name; throws std::invalid_argument with one line that lists the known ones.
Policy parse_policy(std::string_view name);
// Comma-separated list, or "all" for default_policies(). Duplicates are dropped.
std::vector<Policy> parse_policies(std::string_view list);
// Those that a comparison runs: each once, at 16 if it has a threshold.
std::vector<Policy> default_policies();
// Name pattern, source and one sentence for each, for `warpfold policies`.
struct PolicyInfo {
  std::string pattern;
  std::string source;
  std::string description;
};
std::vector<PolicyInfo> policy_infos();

}  // namespace warpfold

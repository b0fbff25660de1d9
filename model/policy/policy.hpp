// SPDX-License-Identifier: Apache-2.0
// A policy says what becomes of one event (a reduce call of a warp). Names are those of the papers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace warpfold {

enum class PolicyKind : std::uint8_t {
  kBaseline,  // every active lane's RED goes to the ROPs
  kSwS,       // ARC-SW, serialized reduction at or above the balancing threshold (ARC 5.5.1)
  kSwB,       // ARC-SW, butterfly reduction at or above the balancing threshold (ARC 5.5.2)
  kSkip,      // butterfly always, warps without an active lane skipped (Atomic Aggregation, fig. 8)
  kArcHw,     // atomred through the ARC scheduler and reduction unit (ARC 5.1)
};

struct Policy {
  PolicyKind kind = PolicyKind::kBaseline;
  std::uint32_t threshold = 0;  // balancing threshold X of kSwS and kSwB, 0..32

  // "baseline", "sw-s:8", ...
  [[nodiscard]] std::string name() const;
  // Key of Header::costs: "baseline", "sw-s", "sw-b", "skip"; arc-hw runs the baseline's code.
  [[nodiscard]] std::string variant() const;
  friend bool operator==(const Policy&, const Policy&) = default;
};

// One policy by name; throws std::invalid_argument with one line that lists the known ones.
Policy parse_policy(std::string_view name);
// Comma-separated list, or "all" for default_policies(). Duplicates are dropped.
std::vector<Policy> parse_policies(std::string_view list);
// The five that a comparison runs: baseline, sw-s:16, sw-b:16, skip, arc-hw.
std::vector<Policy> default_policies();
// Name pattern and one sentence for each kind, for `warpfold policies`.
struct PolicyInfo {
  std::string pattern;
  std::string description;
};
std::vector<PolicyInfo> policy_infos();

}  // namespace warpfold

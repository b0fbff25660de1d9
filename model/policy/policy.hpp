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
  kCccl,      // CUB's warp reduction with all lanes made active, always (ARC 7.2)
  kArcHw,     // atomred through the ARC scheduler and reduction unit (ARC 5.1)
  kLab,       // REDs sum up in a part of the L1 SRAM (LAB, as ARC 6 has it)
  kLabIdeal,  // in an SRAM of their own without contention (ARC 6)
  kPhi,       // in lines of the L1 cache, a look-up each (PHI, as ARC 6 has it)
};

struct Policy {
  PolicyKind kind = PolicyKind::kBaseline;
  std::uint32_t threshold = 0;  // balancing threshold X of kSwS and kSwB, 0..32

  // "baseline", "sw-s:8", ...
  [[nodiscard]] std::string name() const;
  // Key of Header::costs: "baseline", "sw-s", "sw-b", "skip", "cccl". What is done in hardware runs
  // the baseline's code.
  [[nodiscard]] std::string variant() const;
  // Whether REDs sum up in an atomic buffer of the SM.
  [[nodiscard]] bool has_buffer() const {
    return kind == PolicyKind::kLab || kind == PolicyKind::kLabIdeal || kind == PolicyKind::kPhi;
  }
  friend bool operator==(const Policy&, const Policy&) = default;
};

// One policy by name; throws std::invalid_argument with one line that lists the known ones.
Policy parse_policy(std::string_view name);
// Comma-separated list, or "all" for default_policies(). Duplicates are dropped.
std::vector<Policy> parse_policies(std::string_view list);
// Those that a comparison runs: one of each kind, sw-s and sw-b at 16.
std::vector<Policy> default_policies();
// Name pattern, source and one sentence for each kind, for `warpfold policies`.
struct PolicyInfo {
  std::string pattern;
  std::string source;
  std::string description;
};
std::vector<PolicyInfo> policy_infos();

}  // namespace warpfold

// SPDX-License-Identifier: Apache-2.0
#include "model/policy/policy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <stdexcept>

namespace warpfold {
namespace {

constexpr std::uint32_t kMaxThreshold = 32;
constexpr std::uint32_t kDefaultThreshold = 16;

struct KindEntry {
  PolicyKind kind;
  std::string_view name;
  bool has_threshold;
  std::string_view source;
  std::string_view description;
};

// In the order in which they are listed and compared.
constexpr std::array kKinds{
    KindEntry{PolicyKind::kBaseline, "baseline", false, "all papers",
              "Every active lane's addition goes to the ROP units at the L2 as a plain RED."},
    KindEntry{PolicyKind::kSwS, "sw-s", true, "ARC 5.5.1",
              "ARC-SW serialized: lanes of one address are summed one after the other in software "
              "where at least X of them are active, else baseline."},
    KindEntry{PolicyKind::kSwB, "sw-b", true, "ARC 5.5.2",
              "ARC-SW butterfly: shuffles sum the warp where all lanes share the primitive and at "
              "least X are active, else baseline."},
    KindEntry{PolicyKind::kSkip, "skip", false, "Atomic Aggregation, fig. 8",
              "Atomic Aggregation: butterfly reduction always; warps without an active lane skip "
              "it."},
    KindEntry{PolicyKind::kCccl, "cccl", false, "ARC 7.2",
              "NVIDIA's CCCL: cub::WarpReduce with all lanes made active, in every pass of every "
              "warp."},
    KindEntry{PolicyKind::kArcHw, "arc-hw", false, "ARC 5.1",
              "ARC-HW: atomred through the ARC scheduler to the reduction unit of the sub-core "
              "where the memory path is stalled, else plain REDs."},
    KindEntry{PolicyKind::kLab, "lab", false, "LAB (HPCA '22), ARC 6",
              "LAB: REDs sum up in a local atomic buffer, a part of each SM's L1 and shared-memory "
              "SRAM."},
    KindEntry{PolicyKind::kLabIdeal, "lab-ideal", false, "ARC 6",
              "LAB in an SRAM of its own as large as the L1, without tags, queues for misses or "
              "contention."},
    KindEntry{PolicyKind::kPhi, "phi", false, "PHI (MICRO '19), ARC 6",
              "PHI: REDs sum up in lines of the L1 cache, with a look-up for each lane."},
};

const KindEntry& entry_of(PolicyKind kind) {
  return *std::find_if(kKinds.begin(), kKinds.end(),
                       [kind](const KindEntry& entry) { return entry.kind == kind; });
}

std::string pattern_of(const KindEntry& entry) {
  return entry.has_threshold ? fmt::format("{}:X", entry.name) : std::string(entry.name);
}

std::string known_patterns() {
  std::vector<std::string> patterns;
  for (const KindEntry& entry : kKinds) {
    patterns.push_back(pattern_of(entry));
  }
  return fmt::format("{}", fmt::join(patterns, ", "));
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

std::string Policy::name() const {
  const KindEntry& entry = entry_of(kind);
  return entry.has_threshold ? fmt::format("{}:{}", entry.name, threshold)
                             : std::string(entry.name);
}

std::string Policy::variant() const {
  switch (kind) {
    case PolicyKind::kArcHw:
    case PolicyKind::kLab:
    case PolicyKind::kLabIdeal:
    case PolicyKind::kPhi:
      return std::string(entry_of(PolicyKind::kBaseline).name);
    default:
      return std::string(entry_of(kind).name);
  }
}

Policy parse_policy(std::string_view name) {
  const std::size_t colon = name.find(':');
  const std::string_view kind_name = name.substr(0, colon);
  const auto entry =
      std::find_if(kKinds.begin(), kKinds.end(),
                   [kind_name](const KindEntry& known) { return known.name == kind_name; });
  if (entry == kKinds.end()) {
    throw std::invalid_argument(fmt::format("unknown policy '{}': known are {} (X from 0 to {})",
                                            name, known_patterns(), kMaxThreshold));
  }
  if (!entry->has_threshold) {
    if (colon != std::string_view::npos) {
      throw std::invalid_argument(
          fmt::format("policy '{}': {} takes no threshold", name, entry->name));
    }
    return Policy{.kind = entry->kind};
  }
  if (colon == std::string_view::npos) {
    throw std::invalid_argument(
        fmt::format("policy '{}' needs a balancing threshold: {}, X from 0 to {}", name,
                    pattern_of(*entry), kMaxThreshold));
  }
  const auto threshold = parse_threshold(name.substr(colon + 1));
  if (!threshold) {
    throw std::invalid_argument(fmt::format(
        "policy '{}': the threshold must be a number from 0 to {}", name, kMaxThreshold));
  }
  return Policy{.kind = entry->kind, .threshold = *threshold};
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
  for (const KindEntry& entry : kKinds) {
    policies.push_back(
        Policy{.kind = entry.kind, .threshold = entry.has_threshold ? kDefaultThreshold : 0});
  }
  return policies;
}

std::vector<PolicyInfo> policy_infos() {
  std::vector<PolicyInfo> infos;
  for (const KindEntry& entry : kKinds) {
    infos.push_back({.pattern = pattern_of(entry),
                     .source = std::string(entry.source),
                     .description = std::string(entry.description)});
  }
  return infos;
}

}  // namespace warpfold

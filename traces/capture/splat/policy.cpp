// SPDX-License-Identifier: Apache-2.0
#include "traces/capture/splat/policy.hpp"

#include <array>
#include <charconv>

#include "traces/capture/common/input.hpp"

namespace warpfold::capture {
namespace {

struct Name {
  Variant variant;
  std::string_view name;
  bool has_threshold;
};
constexpr std::array<Name, 7> kNames = {{{Variant::kBaseline, "baseline", false},
                                         {Variant::kSwS, "sw-s", true},
                                         {Variant::kSwB, "sw-b", true},
                                         {Variant::kSkip, "skip", false},
                                         {Variant::kSwBUniform, "sw-b-uniform", true},
                                         {Variant::kCccl, "cccl", false},
                                         {Variant::kNone, "none", false}}};

}  // namespace

std::string Policy::name() const {
  for (const Name& entry : kNames) {
    if (entry.variant == variant) {
      std::string text(entry.name);
      if (entry.has_threshold) {
        text += ':';
        text += std::to_string(threshold);
      }
      return text;
    }
  }
  return "?";
}

Policy parse_policy(std::string_view name) {
  const std::size_t colon = name.find(':');
  for (const Name& entry : kNames) {
    if (name.substr(0, colon) != entry.name ||
        entry.has_threshold != (colon != std::string_view::npos)) {
      continue;
    }
    Policy policy{entry.variant, 0};
    if (entry.has_threshold) {
      const std::string_view digits = name.substr(colon + 1);
      const char* end = digits.data() + digits.size();
      const auto result = std::from_chars(digits.data(), end, policy.threshold);
      if (result.ec != std::errc{} || result.ptr != end || policy.threshold < 0 ||
          policy.threshold > 32) {
        break;
      }
    }
    return policy;
  }
  throw InputError(
      "unknown policy \"" + std::string(name) +
      "\"; there are baseline, skip, cccl, none, sw-s:X, sw-b:X and sw-b-uniform:X with X = 0..32");
}

std::vector<Policy> timed_policies() {
  std::vector<Policy> policies = {
      {Variant::kBaseline, 0}, {Variant::kSkip, 0}, {Variant::kCccl, 0}, {Variant::kNone, 0}};
  for (const Variant variant : {Variant::kSwB, Variant::kSwS, Variant::kSwBUniform}) {
    for (int threshold = 0; threshold <= 32; threshold += 4) {
      policies.push_back({variant, threshold});
    }
  }
  return policies;
}

std::vector<Policy> profiled_policies() {
  return {{Variant::kBaseline, 0}, {Variant::kSwS, 16}, {Variant::kSwB, 16},
          {Variant::kSkip, 0},     {Variant::kCccl, 0}, {Variant::kNone, 0}};
}

}  // namespace warpfold::capture

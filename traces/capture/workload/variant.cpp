// SPDX-License-Identifier: Apache-2.0
#include "traces/capture/workload/variant.hpp"

#include <charconv>
#include <initializer_list>
#include <span>

#include "traces/capture/common/input.hpp"
#include "traces/format/trace.hpp"

namespace warpfold::capture::workload {
namespace {

std::vector<Policy> policies(const Kernels& kernels, std::span<const int> thresholds) {
  std::vector<Policy> result;
  for (const VariantName& entry : kVariantNames) {
    if (kernels.of(entry.variant) == nullptr) {
      continue;
    }
    for (const int threshold : thresholds) {
      result.push_back({entry.variant, entry.has_threshold ? threshold : 0});
      if (!entry.has_threshold) {
        break;
      }
    }
  }
  return result;
}

}  // namespace

std::string Policy::name() const {
  const VariantName& entry = kVariantNames[static_cast<std::size_t>(variant)];
  std::string text(entry.name);
  if (entry.has_threshold) {
    text += ':';
    text += std::to_string(threshold);
  }
  return text;
}

Policy parse_policy(std::string_view name, const Kernels& kernels) {
  const std::size_t colon = name.find(':');
  std::string known;
  for (const VariantName& entry : kVariantNames) {
    if (kernels.of(entry.variant) == nullptr) {
      continue;
    }
    known += std::string(known.empty() ? "" : ", ") + std::string(entry.name) +
             (entry.has_threshold ? ":X" : "");
    if (name.substr(0, colon) != entry.name ||
        entry.has_threshold != (colon != std::string_view::npos)) {
      continue;
    }
    Policy policy{entry.variant, 0};
    if (!entry.has_threshold) {
      return policy;
    }
    const std::string_view digits = name.substr(colon + 1);
    const char* end = digits.data() + digits.size();
    const auto result = std::from_chars(digits.data(), end, policy.threshold);
    if (result.ec == std::errc{} && result.ptr == end && policy.threshold >= 0 &&
        policy.threshold <= trace::kWarpLanes) {
      return policy;
    }
  }
  throw InputError("no policy \"" + std::string(name) + "\" here; there are " + known +
                   " with X = 0..32");
}

std::vector<Policy> timed_policies(const Kernels& kernels) {
  constexpr std::array kThresholds = {0, 4, 8, 12, 16, 20, 24, 28, 32};
  return policies(kernels, kThresholds);
}

std::vector<Policy> profiled_policies(const Kernels& kernels) {
  constexpr std::array kThresholds = {16};
  return policies(kernels, kThresholds);
}

std::vector<Policy> checked_policies(const Kernels& kernels) {
  constexpr std::array kThresholds = {0, 12, 32};
  std::vector<Policy> result = policies(kernels, kThresholds);
  std::erase_if(result, [](const Policy& policy) { return policy.variant == Variant::kNone; });
  return result;
}

}  // namespace warpfold::capture::workload

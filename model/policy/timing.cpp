// SPDX-License-Identifier: Apache-2.0
#include "model/policy/timing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>

#include "model/policy/rule.hpp"
#include "model/policy/segment_cost.hpp"

namespace warpfold {

namespace {

// Costs of one architecture's code.
struct Code {
  const trace::VariantCost& own;       // that the policy runs
  const trace::VariantCost* baseline;  // null where the trace has none
  std::string where;                   // which code it is, in words
};

Code code_of(const trace::Header& header, const GpuConfig& gpu, const Policy& policy) {
  const auto arch = header.costs.find(gpu.sass_arch);
  if (arch == header.costs.end()) {
    throw std::invalid_argument(
        fmt::format("the trace has no instruction costs for {} ({})", gpu.sass_arch, gpu.name));
  }
  const std::string where = fmt::format("{} code of variant {}", gpu.sass_arch, policy.variant());
  const auto own = arch->second.find(policy.variant());
  if (own == arch->second.end()) {
    throw std::invalid_argument(
        fmt::format("the trace has no {}, which {} needs", where, policy.name()));
  }
  const auto baseline = arch->second.find("baseline");
  return {.own = own->second,
          .baseline = baseline == arch->second.end() ? nullptr : &baseline->second,
          .where = where};
}

// Whether a pass takes longer with some numbers of lanes than with others.
bool lanes_matter(const trace::VariantCost& variant) {
  return std::any_of(variant.paths.begin(), variant.paths.end(), reads_on) ||
         std::any_of(variant.reduce.begin(), variant.reduce.end(),
                     [](const auto& part) { return reads_on(part.second); });
}

trace::InstructionCost cost_of(const CodePart& part, const Code& code) {
  const std::string name(part.name);
  if (part.of_baseline) {
    return code.baseline != nullptr && code.baseline->reduce.contains(name)
               ? code.baseline->reduce.at(name)
               : trace::InstructionCost{};
  }
  const auto found = code.own.reduce.find(name);
  if (found == code.own.reduce.end()) {
    throw std::invalid_argument(
        fmt::format("the trace's {} lacks its '{}' part", code.where, name));
  }
  trace::InstructionCost cost = found->second;
  const bool waited =
      std::any_of(part.behind.begin(), part.behind.end(), [&](std::string_view ahead) {
        const auto other = code.own.reduce.find(std::string(ahead));
        return other != code.own.reduce.end() && reads_on(other->second);
      });
  if (waited) {
    std::erase_if(cost.waits, [](const trace::ResultWait& wait) {
      return wait.kind == trace::ResultClass::kNextWord;
    });
  }
  return cost;
}

}  // namespace

bool PolicyTiming::has_code(const trace::Header& header, const GpuConfig& gpu, Policy policy) {
  const auto arch = header.costs.find(gpu.sass_arch);
  return arch == header.costs.end() || arch->second.contains(policy.variant());
}

PolicyTiming::PolicyTiming(const trace::Header& header, const GpuConfig& gpu, Policy which)
    : policy(which),
      parameters(static_cast<std::uint32_t>(header.parameters.size())),
      match_group(gpu.latency.match_group),
      match_group_ticks(to_ticks(gpu.lsu.match_unit)) {
  const Code code = code_of(header, gpu, which);
  // An atomic buffer holds up no load: they go by where its REDs come from (docs/fidelity.md).
  const SegmentSetting setting{.gpu = gpu, .loads_apart = !which.has_buffer()};
  // A pass without an event has no lanes that read on.
  for (const trace::InstructionCost& cost : code.own.paths) {
    paths_.push_back(segment_of(cost, setting, kLanes, kAsWaits));
  }
  const auto taken = static_cast<std::size_t>(
      std::find(header.paths.begin(), header.paths.end(), header.taken_path) -
      header.paths.begin());
  const std::vector<CodePart> parts = which.rule->parts();
  std::vector<trace::InstructionCost> costs;
  for (const CodePart& part : parts) {
    costs.push_back(cost_of(part, code));
  }
  const bool each =
      lanes_matter(code.own) || (code.baseline != nullptr && lanes_matter(*code.baseline));
  for (std::uint32_t lanes = each ? 1 : kLanes; lanes <= kLanes; ++lanes) {
    Pass pass{.taken = segment_of(code.own.paths[taken], setting, lanes, kAsWaits), .parts = {}};
    for (std::size_t i = 0; i < parts.size(); ++i) {
      pass.parts.push_back(segment_of(costs[i], setting, lanes, parts[i].shuffles));
    }
    passes_.push_back(std::move(pass));
  }
}

}  // namespace warpfold

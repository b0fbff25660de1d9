// SPDX-License-Identifier: Apache-2.0
#include "model/policy/timing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "model/policy/rule.hpp"
#include "model/policy/segment_cost.hpp"
#include "traces/format/header.hpp"

namespace warpfold {

namespace {

// Of one instruction: a line.
constexpr std::uint32_t kMostWords = 32;

// Costs of one architecture's code.
struct Code {
  const trace::VariantCost& own;       // that the policy runs
  const trace::VariantCost* baseline;  // null where the trace has none
  std::string where;                   // which code it is, in words
};

// The baseline's REDs may take nothing beside them; other variants have code or have none.
bool has_code_at_any_site(const std::string& name, const trace::VariantCost& variant) {
  return name == "baseline" || std::any_of(variant.reduce.begin(), variant.reduce.end(),
                                           [](const auto& site) { return !site.empty(); });
}

Code find_code(const trace::Header& header, const GpuConfig& gpu, const Policy& policy) {
  const auto arch = header.costs.find(PolicyTiming::code_of(header, gpu));
  if (arch == header.costs.end()) {
    throw std::invalid_argument(
        fmt::format("the trace has no instruction costs for {} ({})", gpu.sass_arch, gpu.name));
  }
  const std::string where = fmt::format("{} code of variant {}", arch->first, policy.variant());
  const auto own = arch->second.find(policy.variant());
  if (own == arch->second.end() || !has_code_at_any_site(own->first, own->second)) {
    throw std::invalid_argument(
        fmt::format("the trace has no {}, which {} needs", where, policy.name()));
  }
  const auto baseline = arch->second.find("baseline");
  return {.own = own->second,
          .baseline = baseline == arch->second.end() ? nullptr : &baseline->second,
          .where = where};
}

bool has_shuffles(const trace::InstructionCost& cost) {
  return cost.shuffle + cost.shuffle_index > 0;
}

// Whether a pass takes longer with some numbers of lanes than with others.
bool lanes_matter(const trace::VariantCost& variant) {
  return std::any_of(variant.paths.begin(), variant.paths.end(), reads_on) ||
         std::any_of(variant.reduce.begin(), variant.reduce.end(), [](const auto& site) {
           return std::any_of(site.begin(), site.end(),
                              [](const auto& part) { return reads_on(part.second); });
         });
}

using Segments = std::map<std::string, trace::InstructionCost>;

trace::InstructionCost cost_of_baseline(const std::string& name, const Code& code,
                                        std::size_t site) {
  if (code.baseline == nullptr || site >= code.baseline->reduce.size()) {
    return {};
  }
  const Segments& segments = code.baseline->reduce[site];
  const auto found = segments.find(name);
  return found == segments.end() ? trace::InstructionCost{} : found->second;
}

trace::InstructionCost cost_of(const CodePart& part, const Code& code, std::size_t site) {
  const std::string name(part.name);
  if (part.of_baseline) {
    return cost_of_baseline(name, code, site);
  }
  const Segments& segments = code.own.reduce.at(site);
  if (segments.empty()) {
    return {};  // the baseline's
  }
  const auto found = segments.find(name);
  if (found == segments.end()) {
    throw std::invalid_argument(
        fmt::format("the trace's {} lacks its '{}' part", code.where, name));
  }
  trace::InstructionCost cost = found->second;
  const bool waited =
      std::any_of(part.behind.begin(), part.behind.end(), [&](std::string_view ahead) {
        const auto other = segments.find(std::string(ahead));
        return other != segments.end() && reads_on(other->second);
      });
  if (waited) {
    std::erase_if(cost.waits, [](const trace::ResultWait& wait) {
      return wait.kind == trace::ResultClass::kNextWord;
    });
  }
  return cost;
}

// 0 for what is no architecture.
long number_of(const std::string& arch) {
  long number = 0;
  const std::size_t first = std::min(arch.find_first_of("0123456789"), arch.size());
  std::from_chars(arch.data() + first, arch.data() + arch.size(), number);
  return number;
}

// The parts that an event of a site may run: those of the policy or, where its variant has no code
// there, of the baseline.
struct SiteCode {
  SiteCode(const Policy& policy, const Code& code, std::size_t site) {
    const bool own = policy.variant() == "baseline" || !code.own.reduce.at(site).empty();
    rule = own ? policy.rule : &baseline_rule();
    parts = rule->parts();
    for (CodePart& part : parts) {
      part.of_baseline = part.of_baseline || !own;
      costs.push_back(cost_of(part, code, site));
    }
  }
  const PolicyRule* rule;
  std::vector<CodePart> parts;
  std::vector<trace::InstructionCost> costs;
};

// Whether hardware for words of that type adds what the site does. Halves that meet another type at
// their addresses are left to the L2, and FP32 is not.
bool adds(WordType type, const std::vector<trace::Site>& sites, std::size_t site) {
  if (sites[site].kind != trace::SiteKind::kRed) {
    return false;  // somebody waits for the sum, or it does not come from registers
  }
  if (type == WordType::kFp32) {
    return sites[site].type == trace::ValueType::kF32;
  }
  return sites[site].type == trace::ValueType::kF16x2 &&
         !trace::shares_with_other_type(sites, site);
}

}  // namespace

std::string PolicyTiming::code_of(const trace::Header& header, const GpuConfig& gpu) {
  if (header.costs.contains(gpu.sass_arch)) {
    return gpu.sass_arch;
  }
  const long wanted = number_of(gpu.sass_arch);
  std::string nearest;
  for (const auto& [arch, variants] : header.costs) {
    const auto key = [wanted](const std::string& name) {
      return std::pair(std::abs(number_of(name) - wanted), number_of(name));
    };
    if (nearest.empty() || key(arch) < key(nearest)) {
      nearest = arch;
    }
  }
  return nearest;
}

bool PolicyTiming::has_code(const trace::Header& header, const GpuConfig& gpu, Policy policy) {
  const auto arch = header.costs.find(code_of(header, gpu));
  if (arch == header.costs.end()) {
    return true;
  }
  const auto variant = arch->second.find(policy.variant());
  return variant != arch->second.end() && has_code_at_any_site(variant->first, variant->second);
}

PolicyTiming::PolicyTiming(const trace::Header& header, const GpuConfig& gpu, Policy which,
                           const StructLayout& structs, WordType hardware)
    : policy(which),
      costs_of(code_of(header, gpu)),
      match_group(gpu.latency.match_group),
      match_group_ticks(to_ticks(gpu.lsu.match_unit)) {
  memory = header.memory;
  loads_pass = !which.has_buffer() && which.rule->facts().merge == MergePlace::kNowhere;
  const Code code = find_code(header, gpu, which);
  registers = code.own.registers > 0 ? code.own.registers : header.registers_per_thread;
  // An atomic buffer holds up no load: they go by where its REDs come from (docs/fidelity.md).
  const SegmentSetting setting{.gpu = gpu, .loads_apart = !which.has_buffer()};
  // A pass without an event has no lanes that read on.
  for (std::size_t p = 0; p < code.own.paths.size(); ++p) {
    paths_.push_back(segment_of(code.own.paths[p], setting, kLanes, kAsWaits));
    if (which.rule->facts().every_pass && code.baseline != nullptr &&
        !has_shuffles(code.baseline->paths.at(p))) {
      for (Share& share : paths_.back().shares) {
        share.access.of_zeros = share.access.kind == AccessKind::kShuffle;
      }
    }
  }
  const bool each =
      lanes_matter(code.own) || (code.baseline != nullptr && lanes_matter(*code.baseline));
  const bool reduces = which.has_unit() || which.has_buffer();
  std::size_t parameters = 0;
  for (std::size_t s = 0; s < header.sites.size(); ++s) {
    const trace::Site& site = header.sites[s];
    const auto taken = static_cast<std::size_t>(
        std::find(header.paths.begin(), header.paths.end(), site.taken_path) -
        header.paths.begin());
    SiteCode own(which, code, s);
    OfSite& made = sites_.emplace_back();
    made.rule = own.rule;
    made.first_parameter = static_cast<std::uint16_t>(parameters);
    parameters += site.parameters.size();
    made.end_parameter = static_cast<std::uint16_t>(parameters);
    made.wide = trace::words_of(site.type) == 2;
    made.waits = site.kind == trace::SiteKind::kAtom;
    any_waits = any_waits || made.waits;
    // Those of the program are as wide as they are; a unit takes them if it is, too.
    const bool vector = site.words > 1 && !made.wide;
    const bool takes_vector = which.has_unit() && structs.most_words() >= site.words;
    made.passed_on = reduces && (!adds(hardware, header.sites, s) || (vector && !takes_vector));
    if (vector) {
      made.words = static_cast<std::uint8_t>(std::min(site.words, kMostWords));
    } else if (structs.has(s)) {
      made.words = static_cast<std::uint8_t>(
          std::min<std::size_t>(structs.most_words(), site.parameters.size()));
      if (structs.moved(s)) {
        own.costs.assign(own.costs.size(), StructLayout::address_cost());
      }
    }
    for (std::uint32_t lanes = each ? 1 : kLanes; lanes <= kLanes; ++lanes) {
      Pass pass;
      if (!site.taken_path.empty()) {
        pass.taken = segment_of(code.own.paths.at(taken), setting, lanes, kAsWaits);
      }
      for (std::size_t i = 0; i < own.parts.size(); ++i) {
        pass.parts.push_back(segment_of(own.costs[i], setting, lanes, own.parts[i].shuffles));
      }
      made.passes.push_back(std::move(pass));
    }
  }
}

}  // namespace warpfold

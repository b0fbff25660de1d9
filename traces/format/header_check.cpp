// SPDX-License-Identifier: Apache-2.0
// What is refused in a header.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "traces/format/header.hpp"
#include "traces/format/header_fields.hpp"

namespace warpfold::trace {

namespace {

constexpr std::uint64_t kMaxThreads = 1024;
constexpr std::array<std::uint64_t, 3> kMaxGrid = {0x7fffffffU, 65535, 65535};
constexpr std::array<std::uint64_t, 3> kMaxBlock = {1024, 1024, 64};
constexpr std::uint32_t kMaxRegisters = 255;
constexpr std::uint32_t kMaxSharedBytes = 256U << 10U;
constexpr std::uint64_t kMaxPrimitives = std::uint64_t{1} << 32U;
constexpr std::size_t kMaxSites = 4096;
constexpr std::size_t kMaxMemorySites = 4096;
constexpr std::size_t kMaxParameters = 256;       // of one site
constexpr std::size_t kMaxAllParameters = 65535;  // of all
constexpr std::size_t kMaxArrays = 4096;
constexpr std::size_t kMaxOmissions = 4096;
constexpr std::size_t kMaxRemarks = 64;
constexpr std::size_t kMaxPaths = 65535;
constexpr std::uint32_t kMaxCost = 1'000'000;  // of one pass
constexpr std::size_t kMaxWaits = 4096;        // of one pass

constexpr std::array<std::string_view, 1> kBaselineSegments = {"plain"};
constexpr std::array<std::string_view, 5> kSerialSegments = {"check", "plain", "setup", "per_lane",
                                                             "leader"};
constexpr std::array<std::string_view, 5> kButterflySegments = {"check", "agree", "plain",
                                                                "butterfly", "leader"};
constexpr std::array<std::string_view, 3> kSkipSegments = {"check", "butterfly", "leader"};
constexpr std::array<std::string_view, 2> kCcclSegments = {"butterfly", "leader"};
constexpr std::array<std::string_view, 5> kSlotSegments = {"check", "plain", "setup", "turn",
                                                           "leader"};

void check_range(std::string_view field, std::uint64_t value, std::uint64_t least,
                 std::uint64_t most) {
  if (value < least || value > most) {
    refuse_field(field, fmt::format("{} is not in {}..{}", value, least, most));
  }
}

// Line breaks and the like would break the one-line messages that these texts end up in.
void check_text(std::string_view field, std::string_view text) {
  if (std::any_of(text.begin(), text.end(),
                  [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; })) {
    refuse_field(field, "holds a control character");
  }
}

void check_name(std::string_view field, std::string_view text) {
  if (text.empty()) {
    refuse_field(field, "is empty");
  }
  check_text(field, text);
}

// Names that must all be different.
class Names {
 public:
  void add(const std::string& field, const std::string& name) {
    check_name(field, name);
    if (!names_.insert(name).second) {
      refuse_field(field, fmt::format("\"{}\" comes twice", name));
    }
  }
  [[nodiscard]] bool contains(const std::string& name) const { return names_.contains(name); }

 private:
  std::set<std::string> names_;
};

void check_cost(const std::string& field, const InstructionCost& cost) {
  for (const CostField& entry : kCostFields) {
    check_range(fmt::format("{}.{}", field, entry.name), cost.*entry.member, 0, kMaxCost);
  }
  check_range(field + ".waits", cost.waits.size(), 0, kMaxWaits);
  std::uint32_t last = 0;
  for (std::size_t i = 0; i < cost.waits.size(); ++i) {
    const ResultWait& wait = cost.waits[i];
    const std::string where = fmt::format("{}.waits[{}]", field, i);
    if (static_cast<std::size_t>(wait.kind) >= kResults.size()) {
      refuse_field(where, "unknown class");
    }
    check_range(where, wait.wanted, 0, kMaxCost);
    if (wait.asked > wait.wanted || wait.wanted < last) {
      refuse_field(where, fmt::format("asked for at {} and wanted at {}, behind a wait at {}",
                                      wait.asked, wait.wanted, last));
    }
    last = wait.wanted;
  }
}

// The variant's code at one site: all of its segments, or none.
void check_segments(const std::string& field, std::span<const std::string_view> segments,
                    const std::map<std::string, InstructionCost>& reduce) {
  for (const auto& [segment, cost] : reduce) {
    if (std::find(segments.begin(), segments.end(), segment) == segments.end()) {
      refuse_field(field, fmt::format("unknown segment \"{}\"", segment));
    }
    check_cost(fmt::format("{}.{}", field, segment), cost);
  }
  for (const std::string_view segment : segments) {
    if (!reduce.empty() && !reduce.contains(std::string(segment))) {
      refuse_field(field, fmt::format("segment \"{}\" is missing", segment));
    }
  }
}

void check_variant(const std::string& field, const std::string& name, const VariantCost& variant,
                   const Header& header) {
  const auto segments = reduce_segments(name);
  if (segments.empty()) {
    refuse_field(field,
                 "unknown variant: known are baseline, sw-s, sw-b, skip, cccl, vector, "
                 "skip-vector, shared-slot");
  }
  if (variant.paths.size() != header.paths.size()) {
    refuse_field(field + ".paths",
                 fmt::format("{} entries for {} paths", variant.paths.size(), header.paths.size()));
  }
  for (std::size_t i = 0; i < variant.paths.size(); ++i) {
    check_cost(fmt::format("{}.paths[{}]", field, i), variant.paths[i]);
  }
  if (variant.reduce.size() != header.sites.size()) {
    refuse_field(field + ".reduce", fmt::format("{} entries for {} sites", variant.reduce.size(),
                                                header.sites.size()));
  }
  for (std::size_t i = 0; i < variant.reduce.size(); ++i) {
    check_segments(fmt::format("{}.reduce[{}]", field, i), segments, variant.reduce[i]);
  }
  check_range(field + ".registers", variant.registers, 1, kMaxRegisters);
}

void check_time(const std::string& field, const VariantTime& time) {
  if (!std::isfinite(time.min_ms) || !std::isfinite(time.median_ms) ||
      !std::isfinite(time.max_ms) || time.min_ms <= 0 || time.median_ms < time.min_ms ||
      time.max_ms < time.median_ms) {
    refuse_field(field, fmt::format("times {}, {}, {} ms are not 0 < min <= median <= max",
                                    time.min_ms, time.median_ms, time.max_ms));
  }
  check_range(field + ".runs", time.runs, 1, UINT32_MAX);
  if (!std::isfinite(time.sm_clock_mhz) || time.sm_clock_mhz < 0 || time.sm_clock_mhz > 10'000) {
    refuse_field(field + ".sm_clock_mhz", fmt::format("{} is not in 0..10000", time.sm_clock_mhz));
  }
}

// Bytes from the first byte of primitive 0 on to the last of the last primitive, less one.
std::uint64_t last_byte(const Site& site, const Parameter& parameter) {
  return (site.primitive_count - 1) * parameter.stride_bytes + bytes_of(site.type) - 1;
}

void check_parameter(const std::string& field, const Site& site, const Parameter& parameter,
                     const std::vector<Array>& arrays) {
  const std::uint32_t bytes = bytes_of(site.type);
  if (parameter.stride_bytes == 0 || parameter.stride_bytes % bytes != 0) {
    refuse_field(field + ".stride_bytes",
                 fmt::format("{} is not a multiple of {} above 0", parameter.stride_bytes, bytes));
  }
  if (parameter.base % bytes != 0) {
    refuse_field(field + ".base",
                 fmt::format("{:#x} is not a multiple of {}", parameter.base, bytes));
  }
  const std::uint64_t span = last_byte(site, parameter);
  if (parameter.base > UINT64_MAX - span) {
    refuse_field(
        field + ".base",
        fmt::format("{:#x}: the last primitive lies beyond the address space", parameter.base));
  }
  const bool lies = std::any_of(arrays.begin(), arrays.end(), [&](const Array& array) {
    return parameter.base >= array.base && parameter.base + span <= array.base + array.bytes - 1;
  });
  if (!arrays.empty() && !lies) {
    refuse_field(field, fmt::format("\"{}\" lies within none of the arrays", parameter.name));
  }
}

// Parameters of one instruction lie one behind the other.
void check_words(const std::string& field, const Site& site) {
  check_range(field + ".words", site.words, 1, site.parameters.size());
  for (std::size_t p = 0; p < site.parameters.size(); ++p) {
    const Parameter& own = site.parameters[p];
    if (p % site.words == 0) {
      continue;
    }
    const Parameter& before = site.parameters[p - 1];
    if (own.base != before.base + bytes_of(site.type) || own.stride_bytes != before.stride_bytes) {
      refuse_field(fmt::format("{}.parameters[{}]", field, p),
                   fmt::format("\"{}\" is not right behind \"{}\", which the same instruction of "
                               "{} words adds to",
                               own.name, before.name, site.words));
    }
  }
}

void check_site(const std::string& field, const Site& site, const Header& header) {
  if (static_cast<std::size_t>(site.kind) >= kSiteKinds.size()) {
    refuse_field(field + ".kind", "unknown kind");
  }
  if (static_cast<std::size_t>(site.type) >= kValueTypes.size()) {
    refuse_field(field + ".type", "unknown type");
  }
  check_range(field + ".primitives", site.primitive_count, 1, kMaxPrimitives);
  check_range(field + ".parameters", site.parameters.size(), 1, kMaxParameters);
  Names names;
  for (std::size_t i = 0; i < site.parameters.size(); ++i) {
    const Parameter& parameter = site.parameters[i];
    const std::string where = fmt::format("{}.parameters[{}]", field, i);
    names.add(where + ".name", parameter.name);
    check_parameter(where, site, parameter, header.arrays);
    for (std::size_t j = 0; j < i; ++j) {
      if (may_share_address(site, site.parameters[j], site, parameter)) {
        refuse_field(where, fmt::format("\"{}\" overlaps \"{}\" in memory", parameter.name,
                                        site.parameters[j].name));
      }
    }
  }
  check_words(field, site);
  if (!site.taken_path.empty() &&
      std::find(header.paths.begin(), header.paths.end(), site.taken_path) == header.paths.end()) {
    check_text(field + ".taken_path", site.taken_path);
    refuse_field(field + ".taken_path",
                 fmt::format("\"{}\" is not one of the paths", site.taken_path));
  }
}

void check_sites(const Header& header) {
  check_range("sites", header.sites.size(), 1, kMaxSites);
  Names names;
  std::size_t parameters = 0;
  for (std::size_t i = 0; i < header.sites.size(); ++i) {
    const std::string field = fmt::format("sites[{}]", i);
    names.add(field + ".name", header.sites[i].name);
    check_site(field, header.sites[i], header);
    parameters += header.sites[i].parameters.size();
  }
  if (parameters > kMaxAllParameters) {
    refuse_field("sites",
                 fmt::format("{} parameters in all, at most {}", parameters, kMaxAllParameters));
  }
}

void check_arrays(const Header& header) {
  check_range("arrays", header.arrays.size(), 0, kMaxArrays);
  Names names;
  for (std::size_t i = 0; i < header.arrays.size(); ++i) {
    const Array& array = header.arrays[i];
    const std::string field = fmt::format("arrays[{}]", i);
    names.add(field + ".name", array.name);
    if (array.bytes == 0 || array.base > UINT64_MAX - (array.bytes - 1)) {
      refuse_field(field + ".bytes", fmt::format("{} bytes at {:#x} are none, or lie beyond the "
                                                 "address space",
                                                 array.bytes, array.base));
    }
  }
  check_range("omissions", header.omissions.size(), 0, kMaxOmissions);
  Names omitted;
  for (std::size_t i = 0; i < header.omissions.size(); ++i) {
    const std::string field = fmt::format("omissions[{}]", i);
    omitted.add(field + ".what", header.omissions[i].what);
    check_range(field + ".count", header.omissions[i].count, 1, UINT64_MAX);
  }
  check_range("remarks", header.remarks.size(), 0, kMaxRemarks);
  Names remarked;
  for (std::size_t i = 0; i < header.remarks.size(); ++i) {
    remarked.add(fmt::format("remarks[{}]", i), header.remarks[i]);
  }
}

void check_launch(const Header& header) {
  std::uint64_t ctas = 1;
  std::uint64_t threads = 1;
  for (std::size_t i = 0; i < 3; ++i) {
    check_range(fmt::format("grid[{}]", i), header.grid[i], 1, kMaxGrid[i]);
    check_range(fmt::format("block[{}]", i), header.block[i], 1, kMaxBlock[i]);
    ctas *= header.grid[i];
    threads *= header.block[i];
  }
  if (threads > kMaxThreads) {
    refuse_field("block", fmt::format("{} threads, at most {}", threads, kMaxThreads));
  }
  if (header.total_ctas != ctas) {
    refuse_field("total_ctas", fmt::format("{}, the grid has {} CTAs", header.total_ctas, ctas));
  }
  if (header.sample_every == 0 || header.sample_every > ctas) {
    refuse_field("sample_every", fmt::format("{} of {} CTAs", header.sample_every, ctas));
  }
  if (header.sample_every > 1 && header.sampling.empty()) {
    refuse_field("sample_every", fmt::format("{}, but \"sampling\" is empty", header.sample_every));
  }
  check_range("registers_per_thread", header.registers_per_thread, 1, kMaxRegisters);
  check_range("shared_bytes_per_cta", header.shared_bytes_per_cta, 0, kMaxSharedBytes);
}

void check_costs(const Header& header) {
  for (const auto& [machine, variants] : header.costs) {
    check_name("costs", machine);
    if (machine.size() < 4 || machine.size() > 9 || !machine.starts_with("sm_") ||
        machine.find_first_not_of("0123456789", 3) != std::string::npos) {
      refuse_field("costs", fmt::format("\"{}\" is not an architecture such as sm_89", machine));
    }
    for (const auto& [name, variant] : variants) {
      check_name(fmt::format("costs.{}", machine), name);
      check_variant(fmt::format("costs.{}.{}", machine, name), name, variant, header);
    }
  }
}

void check_times(const Header& header) {
  std::map<std::pair<std::string, TimeState>, Names> timed;  // by GPU and state
  for (std::size_t i = 0; i < header.times.size(); ++i) {
    const VariantTime& time = header.times[i];
    const std::string field = fmt::format("times[{}]", i);
    if (!time.gpu.empty()) {
      check_name(field + ".gpu", time.gpu);
    }
    if (static_cast<std::size_t>(time.state) >= kTimeStates.size()) {
      refuse_field(field + ".state", "unknown state");
    }
    timed[{time.gpu.empty() ? header.gpu : time.gpu, time.state}].add(field + ".policy",
                                                                      time.policy);
    check_time(field, time);
  }
}

}  // namespace

void refuse_field(std::string_view field, std::string_view why) {
  throw TraceError(fmt::format("header: {}: {}", field, why));
}

std::span<const std::string_view> reduce_segments(std::string_view variant) {
  if (variant == "baseline" || variant == "vector") {
    return kBaselineSegments;
  }
  if (variant == "sw-s") {
    return kSerialSegments;
  }
  if (variant == "sw-b") {
    return kButterflySegments;
  }
  if (variant == "skip" || variant == "skip-vector") {
    return kSkipSegments;
  }
  if (variant == "cccl") {
    return kCcclSegments;
  }
  if (variant == "shared-slot") {
    return kSlotSegments;
  }
  return {};
}

bool may_share_address(const Site& site_a, const Parameter& a, const Site& site_b,
                       const Parameter& b) {
  const bool a_is_low = a.base <= b.base;
  const Parameter& low = a_is_low ? a : b;
  const std::uint64_t distance = (a_is_low ? b.base : a.base) - low.base;
  if (distance > last_byte(a_is_low ? site_a : site_b, low)) {
    return false;
  }
  // Interleaved elements of one stride must lie apart within it, others must lie apart altogether.
  const std::uint64_t phase = distance % low.stride_bytes;
  const std::uint32_t bytes_low = bytes_of((a_is_low ? site_a : site_b).type);
  const std::uint32_t bytes_high = bytes_of((a_is_low ? site_b : site_a).type);
  return a.stride_bytes != b.stride_bytes || phase < bytes_low ||
         phase + bytes_high > low.stride_bytes;
}

bool shares_with_other_type(const std::vector<Site>& sites, std::size_t site) {
  const Site& own = sites[site];
  return std::any_of(sites.begin(), sites.end(), [&](const Site& other) {
    return other.type != own.type &&
           std::any_of(own.parameters.begin(), own.parameters.end(), [&](const Parameter& a) {
             return std::any_of(
                 other.parameters.begin(), other.parameters.end(),
                 [&](const Parameter& b) { return may_share_address(own, a, other, b); });
           });
  });
}

namespace {

void check_memory(const Header& header) {
  check_range("memory", header.memory.size(), 0, kMaxMemorySites);
  Names names;
  for (std::size_t i = 0; i < header.memory.size(); ++i) {
    const MemorySite& site = header.memory[i];
    const std::string where = fmt::format("memory[{}]", i);
    names.add(where, site.name);
    if (site.bytes == 0 || site.bytes > 16 || std::popcount(site.bytes) != 1) {
      refuse_field(where, fmt::format("{} bytes of a lane, not 1, 2, 4, 8 or 16", site.bytes));
    }
    if (static_cast<std::size_t>(site.kind) >= kAccessKinds.size() ||
        static_cast<std::size_t>(site.cache) >= kCacheUses.size()) {
      refuse_field(where, "unknown kind or use of the caches");
    }
  }
}

}  // namespace

void validate_header(const Header& header) {
  check_text("workload", header.workload);
  check_text("scene", header.scene);
  check_text("kernel", header.kernel);
  check_text("gpu", header.gpu);
  check_text("driver", header.driver);
  check_text("cuda", header.cuda);
  check_text("sampling", header.sampling);
  check_launch(header);

  check_range("paths", header.paths.size(), 1, kMaxPaths);
  Names paths;
  for (std::size_t i = 0; i < header.paths.size(); ++i) {
    paths.add(fmt::format("paths[{}]", i), header.paths[i]);
  }
  check_arrays(header);
  check_sites(header);
  check_memory(header);
  check_costs(header);
  check_times(header);
  if (static_cast<std::size_t>(header.costs_from) >= kCostSources.size()) {
    refuse_field("costs_from", "unknown source");
  }
  const InstructionBounds& bounds = header.instructions;
  if (bounds.least > bounds.taken || bounds.taken > bounds.most) {
    refuse_field("instructions", fmt::format("{}, {}, {} are not least <= taken <= most",
                                             bounds.least, bounds.taken, bounds.most));
  }
  if (header.values != ValueMode::kNone && header.values != ValueMode::kOperands) {
    refuse_field("values", fmt::format("unknown mode {}", static_cast<unsigned>(header.values)));
  }
  for (const auto& [key, text] : header.provenance) {
    check_name("provenance", key);
    check_text(fmt::format("provenance.{}", key), text);
  }
}

std::string address_warning(const Header& header) {
  for (const Site& site : header.sites) {
    for (const Parameter& parameter : site.parameters) {
      const std::uint64_t last = parameter.base + last_byte(site, parameter);
      if (is_impossible_address(parameter.base) || is_impossible_address(last)) {
        return fmt::format(
            "\"{}\" adds at {:#x}, where no GPU has memory: results of this trace mean nothing",
            site.name, is_impossible_address(parameter.base) ? parameter.base : last);
      }
    }
  }
  return "";
}

std::string sampling_error(const Header& header, std::size_t ctas) {
  if (header.sampling.empty() && ctas != header.total_ctas) {
    return fmt::format("{} of {} CTAs, but the header names no sampling", ctas, header.total_ctas);
  }
  const std::uint64_t sampled = sampled_below(header.total_ctas, header.sample_every);
  if (header.sample_every > 1 && ctas != sampled) {
    return fmt::format("{} of {} CTAs, a sample of 1 in {} has {}", ctas, header.total_ctas,
                       header.sample_every, sampled);
  }
  return "";
}

std::uint64_t sampled_below(std::uint64_t index, std::uint64_t every) {
  return (index + every - 1 - every / 2) / every;
}

}  // namespace warpfold::trace

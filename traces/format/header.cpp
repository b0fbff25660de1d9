// SPDX-License-Identifier: Apache-2.0
#include "traces/format/header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

namespace warpfold::trace {

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::uint64_t kMaxThreads = 1024;
constexpr std::array<std::uint64_t, 3> kMaxGrid = {0x7fffffffU, 65535, 65535};
constexpr std::array<std::uint64_t, 3> kMaxBlock = {1024, 1024, 64};
constexpr std::uint32_t kMaxRegisters = 255;
constexpr std::uint32_t kMaxSharedBytes = 256U << 10U;
constexpr std::uint64_t kMaxPrimitives = std::uint64_t{1} << 32U;
constexpr std::size_t kMaxParameters = 256;
constexpr std::size_t kMaxPaths = 256;
constexpr std::uint32_t kMaxCost = 1'000'000;  // of one pass
constexpr std::size_t kMaxWaits = 4096;        // of one pass
constexpr std::uint32_t kValueBytes = 4;       // an FP32

constexpr std::array<std::string_view, 1> kBaselineSegments = {"plain"};
constexpr std::array<std::string_view, 5> kSerialSegments = {"check", "plain", "setup", "per_lane",
                                                             "leader"};
constexpr std::array<std::string_view, 5> kButterflySegments = {"check", "agree", "plain",
                                                                "butterfly", "leader"};
constexpr std::array<std::string_view, 3> kSkipSegments = {"check", "butterfly", "leader"};
constexpr std::array<std::string_view, 2> kCcclSegments = {"butterfly", "leader"};

// Name of a field of InstructionCost in JSON, and where it lives.
struct CostField {
  const char* name;
  std::uint32_t InstructionCost::*member;
};
constexpr std::array<CostField, 12> kCostFields = {{
    {"alu", &InstructionCost::alu},
    {"integer", &InstructionCost::integer},
    {"sfu", &InstructionCost::sfu},
    {"shared", &InstructionCost::shared},
    {"shared_wide", &InstructionCost::shared_wide},
    {"global_load", &InstructionCost::global_load},
    {"shuffle", &InstructionCost::shuffle},
    {"shuffle_index", &InstructionCost::shuffle_index},
    {"match", &InstructionCost::match},
    {"redux", &InstructionCost::redux},
    {"stall_cycles", &InstructionCost::stall_cycles},
    {"branches", &InstructionCost::branches},
}};

// By ResultClass.
constexpr std::array<std::string_view, static_cast<std::size_t>(ResultClass::kCount)> kResults = {
    "sfu",   "shared",  "global_load", "shuffle",  "shuffle_index", "match",
    "redux", "special", "uniform",     "constant", "next_word"};

[[noreturn]] void refuse(std::string_view field, std::string_view why) {
  throw TraceError(fmt::format("header: {}: {}", field, why));
}

void check_range(std::string_view field, std::uint64_t value, std::uint64_t least,
                 std::uint64_t most) {
  if (value < least || value > most) {
    refuse(field, fmt::format("{} is not in {}..{}", value, least, most));
  }
}

// Line breaks and the like would break the one-line messages that these texts end up in.
void check_text(std::string_view field, std::string_view text) {
  if (std::any_of(text.begin(), text.end(),
                  [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; })) {
    refuse(field, "holds a control character");
  }
}

void check_name(std::string_view field, std::string_view text) {
  if (text.empty()) {
    refuse(field, "is empty");
  }
  check_text(field, text);
}

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
      refuse(where, "unknown class");
    }
    check_range(where, wait.wanted, 0, kMaxCost);
    if (wait.asked > wait.wanted || wait.wanted < last) {
      refuse(where, fmt::format("asked for at {} and wanted at {}, behind a wait at {}", wait.asked,
                                wait.wanted, last));
    }
    last = wait.wanted;
  }
}

void check_variant(const std::string& field, const std::string& name, const VariantCost& variant,
                   const Header& header) {
  const auto segments = reduce_segments(name);
  if (segments.empty()) {
    refuse(field, "unknown variant: baseline, sw-s, sw-b, skip and cccl are known");
  }
  if (variant.paths.size() != header.paths.size()) {
    refuse(field + ".paths",
           fmt::format("{} entries for {} paths", variant.paths.size(), header.paths.size()));
  }
  for (std::size_t i = 0; i < variant.paths.size(); ++i) {
    check_cost(fmt::format("{}.paths[{}]", field, i), variant.paths[i]);
  }
  for (const std::string_view segment : segments) {
    if (!variant.reduce.contains(std::string(segment))) {
      refuse(field + ".reduce", fmt::format("segment \"{}\" is missing", segment));
    }
  }
  for (const auto& [segment, cost] : variant.reduce) {
    if (std::find(segments.begin(), segments.end(), segment) == segments.end()) {
      refuse(field + ".reduce", fmt::format("unknown segment \"{}\"", segment));
    }
    check_cost(fmt::format("{}.reduce.{}", field, segment), cost);
  }
  check_range(field + ".registers", variant.registers, 1, kMaxRegisters);
}

void check_time(const std::string& field, const VariantTime& time) {
  check_name(field + ".policy", time.policy);
  if (!std::isfinite(time.min_ms) || !std::isfinite(time.median_ms) ||
      !std::isfinite(time.max_ms) || time.min_ms <= 0 || time.median_ms < time.min_ms ||
      time.max_ms < time.median_ms) {
    refuse(field, fmt::format("times {}, {}, {} ms are not 0 < min <= median <= max", time.min_ms,
                              time.median_ms, time.max_ms));
  }
  check_range(field + ".runs", time.runs, 1, UINT32_MAX);
  if (!std::isfinite(time.sm_clock_mhz) || time.sm_clock_mhz < 0 || time.sm_clock_mhz > 10'000) {
    refuse(field + ".sm_clock_mhz", fmt::format("{} is not in 0..10000", time.sm_clock_mhz));
  }
}

// One JSON object of the header: hands out its members by key and knows which it did not.
class Object {
 public:
  Object(const json& value, std::string where) : value_(value), where_(std::move(where)) {
    if (!value_.is_object()) {
      refuse(where_, fmt::format("is {}, not an object", value_.type_name()));
    }
  }

  const json& at(const std::string& key) {
    const auto found = value_.find(key);
    if (found == value_.end()) {
      refuse(where_, fmt::format("\"{}\" is missing", key));
    }
    seen_.insert(key);
    return *found;
  }

  [[nodiscard]] std::string name_of(std::string_view key) const {
    return where_ == "the header" ? std::string(key) : fmt::format("{}.{}", where_, key);
  }

  std::string text(const std::string& key) {
    const json& value = at(key);
    if (!value.is_string()) {
      refuse(name_of(key), fmt::format("is {}, not a text", value.type_name()));
    }
    return value.get<std::string>();
  }

  std::uint64_t u64(const std::string& key) { return number(at(key), name_of(key), UINT64_MAX); }

  std::uint32_t u32(const std::string& key) {
    return static_cast<std::uint32_t>(number(at(key), name_of(key), UINT32_MAX));
  }

  double real(const std::string& key) {
    const json& value = at(key);
    if (!value.is_number()) {
      refuse(name_of(key), fmt::format("is {}, not a number", value.type_name()));
    }
    return value.get<double>();
  }

  const json& array(const std::string& key) {
    const json& value = at(key);
    if (!value.is_array()) {
      refuse(name_of(key), fmt::format("is {}, not an array", value.type_name()));
    }
    return value;
  }

  void dimensions(const std::string& key, std::uint32_t (&out)[3]) {
    const json& value = array(key);
    if (value.size() != 3) {
      refuse(name_of(key), fmt::format("has {} entries, not 3", value.size()));
    }
    for (std::size_t i = 0; i < 3; ++i) {
      out[i] = static_cast<std::uint32_t>(
          number(value[i], fmt::format("{}[{}]", name_of(key), i), UINT32_MAX));
    }
  }

  // Every key must have been asked for.
  void finish() const {
    for (const auto& item : value_.items()) {
      if (!seen_.contains(item.key())) {
        refuse(where_, fmt::format("unknown key {}", quoted(item.key())));
      }
    }
  }

  static std::uint32_t u32_of(const json& value, const std::string& where) {
    return static_cast<std::uint32_t>(number(value, where, UINT32_MAX));
  }

  static std::string quoted(const std::string& key) {
    return json(key).dump(-1, ' ', true, json::error_handler_t::replace);
  }

 private:
  static std::uint64_t number(const json& value, const std::string& where, std::uint64_t most) {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > most) {
      refuse(where, fmt::format("{} is not an integer in 0..{}",
                                value.is_number() ? value.dump() : value.type_name(), most));
    }
    return value.get<std::uint64_t>();
  }

  const json& value_;
  std::string where_;
  std::set<std::string> seen_;
};

ordered_json cost_to_json(const InstructionCost& cost) {
  ordered_json out = ordered_json::object();
  for (const CostField& entry : kCostFields) {
    out[entry.name] = cost.*entry.member;
  }
  out["waits"] = ordered_json::array();
  for (const ResultWait& wait : cost.waits) {
    out["waits"].push_back(
        {kResults[static_cast<std::size_t>(wait.kind)], wait.asked, wait.wanted});
  }
  return out;
}

ResultWait wait_from_json(const json& value, const std::string& where) {
  if (!value.is_array() || value.size() != 3 || !value[0].is_string()) {
    refuse(where, "is not [class, asked, wanted]");
  }
  const auto* const found =
      std::find(kResults.begin(), kResults.end(), value[0].get<std::string_view>());
  if (found == kResults.end()) {
    refuse(where, fmt::format("unknown class {}", Object::quoted(value[0].get<std::string>())));
  }
  return {.kind = static_cast<ResultClass>(found - kResults.begin()),
          .asked = Object::u32_of(value[1], where),
          .wanted = Object::u32_of(value[2], where)};
}

InstructionCost cost_from_json(const json& value, const std::string& where) {
  Object object(value, where);
  InstructionCost cost;
  for (const CostField& entry : kCostFields) {
    cost.*entry.member = object.u32(entry.name);
  }
  const json& waits = object.array("waits");
  for (std::size_t i = 0; i < waits.size(); ++i) {
    cost.waits.push_back(wait_from_json(waits[i], fmt::format("{}.waits[{}]", where, i)));
  }
  object.finish();
  return cost;
}

VariantCost variant_from_json(const json& value, const std::string& where) {
  Object object(value, where);
  VariantCost variant;
  const json& paths = object.array("paths");
  for (std::size_t i = 0; i < paths.size(); ++i) {
    variant.paths.push_back(cost_from_json(paths[i], fmt::format("{}.paths[{}]", where, i)));
  }
  const json& reduce = object.at("reduce");
  if (!reduce.is_object()) {
    refuse(where + ".reduce", fmt::format("is {}, not an object", reduce.type_name()));
  }
  for (const auto& item : reduce.items()) {
    const std::string name = fmt::format("{}.reduce[{}]", where, Object::quoted(item.key()));
    variant.reduce[item.key()] = cost_from_json(item.value(), name);
  }
  variant.registers = object.u32("registers");
  object.finish();
  return variant;
}

using Costs = std::map<std::string, std::map<std::string, VariantCost>>;

Costs costs_from(const json& costs) {
  if (!costs.is_object()) {
    refuse("costs", fmt::format("is {}, not an object", costs.type_name()));
  }
  Costs all;
  for (const auto& machine : costs.items()) {
    const std::string where = fmt::format("costs[{}]", Object::quoted(machine.key()));
    if (!machine.value().is_object()) {
      refuse(where, fmt::format("is {}, not an object", machine.value().type_name()));
    }
    auto& variants = all[machine.key()];
    for (const auto& variant : machine.value().items()) {
      variants[variant.key()] = variant_from_json(
          variant.value(), fmt::format("{}[{}]", where, Object::quoted(variant.key())));
    }
  }
  return all;
}

VariantTime time_from_json(const json& value, const std::string& where) {
  Object object(value, where);
  VariantTime time;
  time.policy = object.text("policy");
  time.median_ms = object.real("median_ms");
  time.min_ms = object.real("min_ms");
  time.max_ms = object.real("max_ms");
  time.runs = object.u32("runs");
  time.sm_clock_mhz = object.real("sm_clock_mhz");
  object.finish();
  return time;
}

std::vector<VariantTime> times_from(const json& times) {
  if (!times.is_array()) {
    refuse("times", fmt::format("is {}, not an array", times.type_name()));
  }
  std::vector<VariantTime> all;
  for (std::size_t i = 0; i < times.size(); ++i) {
    all.push_back(time_from_json(times[i], fmt::format("times[{}]", i)));
  }
  return all;
}

// As json::parse, but a key that comes twice in an object is an error rather than the last one's
// value.
json parse(std::string_view text) {
  std::vector<std::set<std::string>> keys;
  const auto watch = [&keys](int, json::parse_event_t event, json& parsed) {
    if (event == json::parse_event_t::object_start) {
      keys.emplace_back();
    } else if (event == json::parse_event_t::object_end) {
      keys.pop_back();
    } else if (event == json::parse_event_t::key &&
               !keys.back().insert(parsed.get<std::string>()).second) {
      throw TraceError(
          fmt::format("header: key {} comes twice", Object::quoted(parsed.get<std::string>())));
    }
    return true;
  };
  try {
    return json::parse(text.begin(), text.end(), watch);
  } catch (const json::exception& error) {
    throw TraceError(fmt::format("header: not JSON: {}", error.what()));
  }
}

// Whether the two may share an address: interleaved elements of one stride must differ in phase,
// others must lie apart.
bool overlap(const Parameter& a, const Parameter& b, std::uint64_t primitives) {
  const Parameter& low = a.base <= b.base ? a : b;
  const Parameter& high = a.base <= b.base ? b : a;
  const std::uint64_t distance = high.base - low.base;
  if (distance > (primitives - 1) * low.stride_bytes) {
    return false;
  }
  return low.stride_bytes != high.stride_bytes || distance % low.stride_bytes == 0;
}

}  // namespace

std::span<const std::string_view> reduce_segments(std::string_view variant) {
  if (variant == "baseline") {
    return kBaselineSegments;
  }
  if (variant == "sw-s") {
    return kSerialSegments;
  }
  if (variant == "sw-b") {
    return kButterflySegments;
  }
  if (variant == "skip") {
    return kSkipSegments;
  }
  if (variant == "cccl") {
    return kCcclSegments;
  }
  return {};
}

void validate_header(const Header& header) {
  check_text("workload", header.workload);
  check_text("scene", header.scene);
  check_text("kernel", header.kernel);
  check_text("gpu", header.gpu);
  check_text("driver", header.driver);
  check_text("cuda", header.cuda);
  check_text("sampling", header.sampling);

  std::uint64_t ctas = 1;
  std::uint64_t threads = 1;
  for (std::size_t i = 0; i < 3; ++i) {
    check_range(fmt::format("grid[{}]", i), header.grid[i], 1, kMaxGrid[i]);
    check_range(fmt::format("block[{}]", i), header.block[i], 1, kMaxBlock[i]);
    ctas *= header.grid[i];
    threads *= header.block[i];
  }
  if (threads > kMaxThreads) {
    refuse("block", fmt::format("{} threads, at most {}", threads, kMaxThreads));
  }
  if (header.total_ctas != ctas) {
    refuse("total_ctas", fmt::format("{}, the grid has {} CTAs", header.total_ctas, ctas));
  }
  if (header.sample_every == 0 || header.sample_every > ctas) {
    refuse("sample_every", fmt::format("{} of {} CTAs", header.sample_every, ctas));
  }
  if (header.sample_every > 1 && header.sampling.empty()) {
    refuse("sample_every", fmt::format("{}, but \"sampling\" is empty", header.sample_every));
  }
  check_range("registers_per_thread", header.registers_per_thread, 1, kMaxRegisters);
  check_range("shared_bytes_per_cta", header.shared_bytes_per_cta, 0, kMaxSharedBytes);

  check_range("primitive_count", header.primitive_count, 1, kMaxPrimitives);
  check_range("parameters", header.parameters.size(), 1, kMaxParameters);
  std::set<std::string> names;
  for (std::size_t i = 0; i < header.parameters.size(); ++i) {
    const Parameter& parameter = header.parameters[i];
    const std::string field = fmt::format("parameters[{}]", i);
    check_name(field + ".name", parameter.name);
    if (!names.insert(parameter.name).second) {
      refuse(field + ".name", fmt::format("\"{}\" comes twice", parameter.name));
    }
    if (parameter.stride_bytes == 0 || parameter.stride_bytes % kValueBytes != 0) {
      refuse(field + ".stride_bytes", fmt::format("{} is not a multiple of {} above 0",
                                                  parameter.stride_bytes, kValueBytes));
    }
    if (parameter.base % kValueBytes != 0) {
      refuse(field + ".base",
             fmt::format("{:#x} is not a multiple of {}", parameter.base, kValueBytes));
    }
    const std::uint64_t span = (header.primitive_count - 1) * parameter.stride_bytes;
    if (parameter.base > UINT64_MAX - span) {
      refuse(field + ".base", fmt::format("{:#x}: the last primitive lies beyond the address space",
                                          parameter.base));
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (overlap(header.parameters[j], parameter, header.primitive_count)) {
        refuse(field, fmt::format("\"{}\" overlaps \"{}\" in memory", parameter.name,
                                  header.parameters[j].name));
      }
    }
  }

  check_range("paths", header.paths.size(), 1, kMaxPaths);
  names.clear();
  for (std::size_t i = 0; i < header.paths.size(); ++i) {
    const std::string field = fmt::format("paths[{}]", i);
    check_name(field, header.paths[i]);
    if (!names.insert(header.paths[i]).second) {
      refuse(field, fmt::format("\"{}\" comes twice", header.paths[i]));
    }
  }
  if (!names.contains(header.taken_path)) {
    check_text("taken_path", header.taken_path);
    refuse("taken_path", fmt::format("\"{}\" is not one of the paths", header.taken_path));
  }

  for (const auto& [machine, variants] : header.costs) {
    check_name("costs", machine);
    if (machine.size() < 4 || !machine.starts_with("sm_") ||
        machine.find_first_not_of("0123456789", 3) != std::string::npos) {
      refuse("costs", fmt::format("\"{}\" is not an architecture such as sm_89", machine));
    }
    for (const auto& [name, variant] : variants) {
      check_name(fmt::format("costs.{}", machine), name);
      check_variant(fmt::format("costs.{}.{}", machine, name), name, variant, header);
    }
  }
  names.clear();
  for (std::size_t i = 0; i < header.times.size(); ++i) {
    const std::string field = fmt::format("times[{}]", i);
    check_time(field, header.times[i]);
    if (!names.insert(header.times[i].policy).second) {
      refuse(field + ".policy", fmt::format("\"{}\" comes twice", header.times[i].policy));
    }
  }
  if (header.values != ValueMode::kNone && header.values != ValueMode::kFp32) {
    refuse("values", fmt::format("unknown mode {}", static_cast<unsigned>(header.values)));
  }
  for (const auto& [key, text] : header.provenance) {
    check_name("provenance", key);
    check_text(fmt::format("provenance.{}", key), text);
  }
}

std::string header_to_json(const Header& header, int indent) {
  ordered_json out;
  out["workload"] = header.workload;
  out["scene"] = header.scene;
  out["kernel"] = header.kernel;
  out["gpu"] = header.gpu;
  out["driver"] = header.driver;
  out["cuda"] = header.cuda;
  out["grid"] = header.grid;
  out["block"] = header.block;
  out["registers_per_thread"] = header.registers_per_thread;
  out["shared_bytes_per_cta"] = header.shared_bytes_per_cta;
  out["primitive_count"] = header.primitive_count;
  out["parameters"] = ordered_json::array();
  for (const Parameter& parameter : header.parameters) {
    out["parameters"].push_back({{"name", parameter.name},
                                 {"base", parameter.base},
                                 {"stride_bytes", parameter.stride_bytes}});
  }
  out["paths"] = header.paths;
  out["taken_path"] = header.taken_path;
  out["costs"] = ordered_json::object();
  for (const auto& [machine, variants] : header.costs) {
    ordered_json& machine_json = out["costs"][machine] = ordered_json::object();
    for (const auto& [name, variant] : variants) {
      ordered_json entry;
      entry["paths"] = ordered_json::array();
      for (const InstructionCost& cost : variant.paths) {
        entry["paths"].push_back(cost_to_json(cost));
      }
      entry["reduce"] = ordered_json::object();
      for (const auto& [segment, cost] : variant.reduce) {
        entry["reduce"][segment] = cost_to_json(cost);
      }
      entry["registers"] = variant.registers;
      machine_json[name] = std::move(entry);
    }
  }
  out["times"] = ordered_json::array();
  for (const VariantTime& time : header.times) {
    out["times"].push_back({{"policy", time.policy},
                            {"median_ms", time.median_ms},
                            {"min_ms", time.min_ms},
                            {"max_ms", time.max_ms},
                            {"runs", time.runs},
                            {"sm_clock_mhz", time.sm_clock_mhz}});
  }
  out["values"] = header.values == ValueMode::kFp32 ? "fp32" : "none";
  out["sampling"] = header.sampling;
  out["sample_every"] = header.sample_every;
  out["total_ctas"] = header.total_ctas;
  out["provenance"] = ordered_json::object();
  for (const auto& [key, text] : header.provenance) {
    out["provenance"][key] = text;
  }
  try {
    return out.dump(indent);
  } catch (const json::exception&) {
    throw TraceError("header: a text is not UTF-8");
  }
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

void replace_costs(Header& header, std::string_view text) {
  const json parsed = parse(text);
  if (!parsed.is_object() || parsed.value("schema", json()) != kCostsSchema) {
    throw TraceError(fmt::format("is not {}", kCostsSchema));
  }
  if (parsed.value("paths", json()) != json(header.paths)) {
    throw TraceError("its paths are not those of the trace");
  }
  header.costs = costs_from(parsed.value("costs", json()));
  const json compiler = parsed.value("compiler", json("unknown"));
  header.provenance["compiler"] =
      compiler.is_string() ? compiler.get<std::string>() : std::string("unknown");
  validate_header(header);
}

void replace_times(Header& header, std::string_view text) {
  const json parsed = parse(text);
  if (!parsed.is_object() || parsed.value("schema", json()) != kTimesSchema) {
    throw TraceError(fmt::format("is not {}", kTimesSchema));
  }
  if (parsed.value("gpu", json()) != json(header.gpu) ||
      parsed.value("scene", json()) != json(header.scene)) {
    throw TraceError("is of another GPU or scene than the trace");
  }
  Header changed = header;
  changed.times = times_from(parsed.value("times", json()));
  validate_header(changed);
  header = std::move(changed);
}

Header header_from_json(std::string_view text, bool with_costs) {
  const json parsed = parse(text);
  Object object(parsed, "the header");
  Header header;
  header.workload = object.text("workload");
  header.scene = object.text("scene");
  header.kernel = object.text("kernel");
  header.gpu = object.text("gpu");
  header.driver = object.text("driver");
  header.cuda = object.text("cuda");
  object.dimensions("grid", header.grid);
  object.dimensions("block", header.block);
  header.registers_per_thread = object.u32("registers_per_thread");
  header.shared_bytes_per_cta = object.u32("shared_bytes_per_cta");
  header.primitive_count = object.u64("primitive_count");

  const json& parameters = object.array("parameters");
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    Object entry(parameters[i], fmt::format("parameters[{}]", i));
    header.parameters.push_back({.name = entry.text("name"),
                                 .base = entry.u64("base"),
                                 .stride_bytes = entry.u32("stride_bytes")});
    entry.finish();
  }
  const json& paths = object.array("paths");
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (!paths[i].is_string()) {
      refuse(fmt::format("paths[{}]", i), fmt::format("is {}, not a text", paths[i].type_name()));
    }
    header.paths.push_back(paths[i].get<std::string>());
  }
  header.taken_path = object.text("taken_path");

  const json& costs = object.at("costs");
  if (with_costs) {
    header.costs = costs_from(costs);
  }
  header.times = times_from(object.at("times"));

  const std::string values = object.text("values");
  if (values != "none" && values != "fp32") {
    refuse("values", fmt::format("{} is neither \"none\" nor \"fp32\"", Object::quoted(values)));
  }
  header.values = values == "fp32" ? ValueMode::kFp32 : ValueMode::kNone;
  header.sampling = object.text("sampling");
  if (with_costs || parsed.contains("sample_every")) {  // version 1 has none
    header.sample_every = object.u32("sample_every");
  }
  header.total_ctas = object.u64("total_ctas");
  Object provenance(object.at("provenance"), "provenance");
  for (const auto& item : object.at("provenance").items()) {
    header.provenance[item.key()] = provenance.text(item.key());
  }
  object.finish();
  validate_header(header);
  return header;
}

}  // namespace warpfold::trace

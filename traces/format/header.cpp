// SPDX-License-Identifier: Apache-2.0
#include "traces/format/header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <utility>

#include "traces/format/header_fields.hpp"
#include "traces/format/header_object.hpp"

namespace warpfold::trace {

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

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
  if (cost.estimated) {
    out["estimated"] = true;
  }
  return out;
}

ResultWait wait_from_json(const json& value, const std::string& where) {
  if (!value.is_array() || value.size() != 3 || !value[0].is_string()) {
    refuse_field(where, "is not [class, asked, wanted]");
  }
  const auto* const found =
      std::find(kResults.begin(), kResults.end(), value[0].get<std::string_view>());
  if (found == kResults.end()) {
    refuse_field(where,
                 fmt::format("unknown class {}", Object::quoted(value[0].get<std::string>())));
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
  if (value.contains("estimated")) {
    if (object.at("estimated") != json(true)) {
      refuse_field(where + ".estimated", "is not true, which is all that it may be");
    }
    cost.estimated = true;
  }
  object.finish();
  return cost;
}

std::map<std::string, InstructionCost> segments_from_json(const json& value,
                                                          const std::string& where) {
  if (!value.is_object()) {
    refuse_field(where, fmt::format("is {}, not an object", value.type_name()));
  }
  std::map<std::string, InstructionCost> segments;
  for (const auto& item : value.items()) {
    segments[item.key()] =
        cost_from_json(item.value(), fmt::format("{}[{}]", where, Object::quoted(item.key())));
  }
  return segments;
}

VariantCost variant_from_json(const json& value, const std::string& where) {
  Object object(value, where);
  VariantCost variant;
  const json& paths = object.array("paths");
  for (std::size_t i = 0; i < paths.size(); ++i) {
    variant.paths.push_back(cost_from_json(paths[i], fmt::format("{}.paths[{}]", where, i)));
  }
  const json& reduce = object.array("reduce");
  for (std::size_t i = 0; i < reduce.size(); ++i) {
    variant.reduce.push_back(segments_from_json(reduce[i], fmt::format("{}.reduce[{}]", where, i)));
  }
  variant.registers = object.u32("registers");
  object.finish();
  return variant;
}

using Costs = std::map<std::string, std::map<std::string, VariantCost>>;

Costs costs_from(const json& costs) {
  if (!costs.is_object()) {
    refuse_field("costs", fmt::format("is {}, not an object", costs.type_name()));
  }
  Costs all;
  for (const auto& machine : costs.items()) {
    const std::string where = fmt::format("costs[{}]", Object::quoted(machine.key()));
    if (!machine.value().is_object()) {
      refuse_field(where, fmt::format("is {}, not an object", machine.value().type_name()));
    }
    auto& variants = all[machine.key()];
    for (const auto& variant : machine.value().items()) {
      variants[variant.key()] = variant_from_json(
          variant.value(), fmt::format("{}[{}]", where, Object::quoted(variant.key())));
    }
  }
  return all;
}

ordered_json costs_to_json(const Costs& costs) {
  ordered_json out = ordered_json::object();
  for (const auto& [machine, variants] : costs) {
    ordered_json& machine_json = out[machine] = ordered_json::object();
    for (const auto& [name, variant] : variants) {
      ordered_json entry;
      entry["paths"] = ordered_json::array();
      for (const InstructionCost& cost : variant.paths) {
        entry["paths"].push_back(cost_to_json(cost));
      }
      entry["reduce"] = ordered_json::array();
      for (const auto& segments : variant.reduce) {
        ordered_json site = ordered_json::object();
        for (const auto& [segment, cost] : segments) {
          site[segment] = cost_to_json(cost);
        }
        entry["reduce"].push_back(std::move(site));
      }
      entry["registers"] = variant.registers;
      machine_json[name] = std::move(entry);
    }
  }
  return out;
}

ordered_json sites_to_json(const std::vector<Site>& sites) {
  ordered_json out = ordered_json::array();
  for (const Site& site : sites) {
    ordered_json entry;
    entry["name"] = site.name;
    entry["kind"] = kSiteKinds.at(static_cast<std::size_t>(site.kind));
    entry["type"] = kValueTypes.at(static_cast<std::size_t>(site.type));
    entry["words"] = site.words;
    entry["primitives"] = site.primitive_count;
    entry["parameters"] = ordered_json::array();
    for (const Parameter& parameter : site.parameters) {
      entry["parameters"].push_back({{"name", parameter.name},
                                     {"base", parameter.base},
                                     {"stride_bytes", parameter.stride_bytes}});
    }
    entry["taken_path"] = site.taken_path;
    out.push_back(std::move(entry));
  }
  return out;
}

// The value of an enumeration by its name.
template <typename Value>
Value named(Object& object, const std::string& key, std::span<const std::string_view> names) {
  const std::string name = object.text(key);
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    refuse_field(object.name_of(key),
                 fmt::format("{} is none of {}", Object::quoted(name), fmt::join(names, ", ")));
  }
  return static_cast<Value>(found - names.begin());
}

Site site_from_json(const json& value, const std::string& where, std::uint32_t version) {
  Object object(value, where);
  Site site;
  site.name = object.text("name");
  if (version == kEarlierVersion) {
    site.type = named<ValueType>(object, "type", std::span(kValueTypes).first(kEarlierTypes));
  } else {
    site.kind = named<SiteKind>(object, "kind", kSiteKinds);
    site.type = named<ValueType>(object, "type", kValueTypes);
    site.words = object.u32("words");
  }
  site.primitive_count = object.u64("primitives");
  const json& parameters = object.array("parameters");
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    Object entry(parameters[i], fmt::format("{}.parameters[{}]", where, i));
    site.parameters.push_back({.name = entry.text("name"),
                               .base = entry.u64("base"),
                               .stride_bytes = entry.u32("stride_bytes")});
    entry.finish();
  }
  site.taken_path = object.text("taken_path");
  object.finish();
  return site;
}

// What the events add to and what the file lacks.
void sites_from(Object& object, Header& header, std::uint32_t version) {
  const json& sites = object.array("sites");
  for (std::size_t i = 0; i < sites.size(); ++i) {
    header.sites.push_back(site_from_json(sites[i], fmt::format("sites[{}]", i), version));
  }
  const json& arrays = object.array("arrays");
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    Object entry(arrays[i], fmt::format("arrays[{}]", i));
    header.arrays.push_back(
        {.name = entry.text("name"), .base = entry.u64("base"), .bytes = entry.u64("bytes")});
    entry.finish();
  }
  const json& omissions = object.array("omissions");
  for (std::size_t i = 0; i < omissions.size(); ++i) {
    Object entry(omissions[i], fmt::format("omissions[{}]", i));
    header.omissions.push_back({.what = entry.text("what"), .count = entry.u64("count")});
    entry.finish();
  }
}

// A file without loads does not have the key.
std::vector<MemorySite> memory_from(Object& object) {
  const json& array = object.array("memory");
  if (array.empty()) {
    refuse_field("memory", "is empty");
  }
  std::vector<MemorySite> memory;
  for (std::size_t i = 0; i < array.size(); ++i) {
    Object entry(array[i], fmt::format("memory[{}]", i));
    memory.push_back({.name = entry.text("name"),
                      .kind = named<AccessKind>(entry, "kind", kAccessKinds),
                      .bytes = entry.u32("bytes"),
                      .cache = named<CacheUse>(entry, "cache", kCacheUses)});
    entry.finish();
  }
  return memory;
}

// Texts of an array.
std::vector<std::string> texts_from(Object& object, const std::string& key) {
  const json& array = object.array(key);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < array.size(); ++i) {
    if (!array[i].is_string()) {
      refuse_field(fmt::format("{}[{}]", key, i),
                   fmt::format("is {}, not a text", array[i].type_name()));
    }
    texts.push_back(array[i].get<std::string>());
  }
  return texts;
}

InstructionBounds bounds_from(const json& value) {
  Object object(value, "instructions");
  const InstructionBounds bounds{
      .least = object.u64("least"), .taken = object.u64("taken"), .most = object.u64("most")};
  object.finish();
  return bounds;
}

VariantTime time_from_json(const json& value, const std::string& where, std::uint32_t version) {
  Object object(value, where);
  VariantTime time;
  time.policy = object.text("policy");
  time.median_ms = object.real("median_ms");
  time.min_ms = object.real("min_ms");
  time.max_ms = object.real("max_ms");
  time.runs = object.u32("runs");
  time.sm_clock_mhz = object.real("sm_clock_mhz");
  if (value.contains("gpu")) {
    time.gpu = object.text("gpu");
  }
  if (version != kEarlierVersion && value.contains("state")) {
    time.state = named<TimeState>(object, "state", kTimeStates);
  }
  object.finish();
  return time;
}

std::vector<VariantTime> times_from(const json& times, std::uint32_t version = kFormatVersion) {
  if (!times.is_array()) {
    refuse_field("times", fmt::format("is {}, not an array", times.type_name()));
  }
  std::vector<VariantTime> all;
  for (std::size_t i = 0; i < times.size(); ++i) {
    all.push_back(time_from_json(times[i], fmt::format("times[{}]", i), version));
  }
  return all;
}

}  // namespace

json parse_header_text(std::string_view text) {
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
  out["sites"] = sites_to_json(header.sites);
  out["arrays"] = ordered_json::array();
  for (const Array& array : header.arrays) {
    out["arrays"].push_back({{"name", array.name}, {"base", array.base}, {"bytes", array.bytes}});
  }
  for (const MemorySite& site : header.memory) {
    out["memory"].push_back({{"name", site.name},
                             {"kind", kAccessKinds.at(static_cast<std::size_t>(site.kind))},
                             {"bytes", site.bytes},
                             {"cache", kCacheUses.at(static_cast<std::size_t>(site.cache))}});
  }
  out["omissions"] = ordered_json::array();
  for (const Omission& omission : header.omissions) {
    out["omissions"].push_back({{"what", omission.what}, {"count", omission.count}});
  }
  out["remarks"] = header.remarks;
  out["paths"] = header.paths;
  out["costs"] = costs_to_json(header.costs);
  out["costs_from"] = kCostSources.at(static_cast<std::size_t>(header.costs_from));
  out["instructions"] = {{"least", header.instructions.least},
                         {"taken", header.instructions.taken},
                         {"most", header.instructions.most}};
  out["times"] = ordered_json::array();
  for (const VariantTime& time : header.times) {
    out["times"].push_back({{"policy", time.policy},
                            {"median_ms", time.median_ms},
                            {"min_ms", time.min_ms},
                            {"max_ms", time.max_ms},
                            {"runs", time.runs},
                            {"sm_clock_mhz", time.sm_clock_mhz}});
    if (!time.gpu.empty()) {
      out["times"].back()["gpu"] = time.gpu;
    }
    if (time.state != TimeState::kUnknown) {
      out["times"].back()["state"] = kTimeStates.at(static_cast<std::size_t>(time.state));
    }
  }
  out["values"] = header.values == ValueMode::kOperands ? "operands" : "none";
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

namespace {

// Costs of a file of one site have an object where those of several have an array of them.
json by_site(json costs, std::size_t sites) {
  if (!costs.is_object()) {
    return costs;
  }
  for (json& machine : costs) {
    if (!machine.is_object()) {
      continue;
    }
    for (json& variant : machine) {
      if (!variant.is_object() || !variant.contains("reduce") || !variant["reduce"].is_object()) {
        continue;
      }
      if (sites != 1) {
        throw TraceError(fmt::format("its costs are of one site, the trace has {}", sites));
      }
      json array = json::array();
      array.push_back(std::move(variant["reduce"]));
      variant["reduce"] = std::move(array);
    }
  }
  return costs;
}

}  // namespace

void replace_costs(Header& header, std::string_view text) {
  const json parsed = parse_header_text(text);
  if (!parsed.is_object() || parsed.value("schema", json()) != kCostsSchema) {
    throw TraceError(fmt::format("is not {}", kCostsSchema));
  }
  if (parsed.value("paths", json()) != json(header.paths)) {
    throw TraceError("its paths are not those of the trace");
  }
  header.costs = costs_from(by_site(parsed.value("costs", json()), header.sites.size()));
  const json compiler = parsed.value("compiler", json("unknown"));
  header.provenance["compiler"] =
      compiler.is_string() ? compiler.get<std::string>() : std::string("unknown");
  validate_header(header);
}

void replace_times(Header& header, std::string_view text) {
  const json parsed = parse_header_text(text);
  if (!parsed.is_object() || parsed.value("schema", json()) != kTimesSchema) {
    throw TraceError(fmt::format("is not {}", kTimesSchema));
  }
  if (parsed.value("scene", json()) != json(header.scene)) {
    throw TraceError("is of another scene than the trace");
  }
  const json gpu = parsed.value("gpu", json());
  if (!gpu.is_string()) {
    throw TraceError("does not say of which GPU it is");
  }
  const std::string of = gpu == json(header.gpu) ? "" : gpu.get<std::string>();
  Header changed = header;
  std::erase_if(changed.times, [&](const VariantTime& time) { return time.gpu == of; });
  for (VariantTime& time : times_from(parsed.value("times", json()))) {
    time.gpu = of;
    changed.times.push_back(std::move(time));
  }
  std::stable_sort(changed.times.begin(), changed.times.end(),
                   [](const VariantTime& a, const VariantTime& b) { return a.gpu < b.gpu; });
  validate_header(changed);
  header = std::move(changed);
}

Header header_from_json(std::string_view text, std::uint32_t version) {
  const json parsed = parse_header_text(text);
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
  sites_from(object, header, version);
  header.paths = texts_from(object, "paths");
  header.costs = costs_from(object.at("costs"));
  header.times = times_from(object.at("times"), version);
  if (version != kEarlierVersion) {
    header.remarks = texts_from(object, "remarks");
    header.costs_from = named<CostSource>(object, "costs_from", kCostSources);
    header.instructions = bounds_from(object.at("instructions"));
    if (parsed.contains("memory")) {
      header.memory = memory_from(object);
    }
  }

  const std::string values = object.text("values");
  if (values != "none" && values != "operands") {
    refuse_field("values",
                 fmt::format("{} is neither \"none\" nor \"operands\"", Object::quoted(values)));
  }
  header.values = values == "operands" ? ValueMode::kOperands : ValueMode::kNone;
  header.sampling = object.text("sampling");
  header.sample_every = object.u32("sample_every");
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

// SPDX-License-Identifier: Apache-2.0
#include "model/report/report_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "model/outcome/result_fields.hpp"
#include "model/report/json_file.hpp"

namespace warpfold::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kResultsSchema = "warpfold.sim/1";
constexpr const char* kTimelineSchema = "warpfold.timeline/1";
constexpr const char* kTimelineSchema2 = "warpfold.timeline/2";
constexpr const char* kAreaSchema = "warpfold.synth/1";

// The file name of a path, without what traces end in.
std::string short_name(const std::string& path) {
  std::string name = path.substr(path.find_last_of('/') + 1);
  if (name.ends_with(".wft") && name.size() > 4) {
    name.erase(name.size() - 4);
  }
  return name.empty() ? path : name;
}

Json bounds_of(const JsonPart& bounds) {
  Json out;
  out["cycles"] = bounds.at("cycles").numbers();
  out["even_cycles"] = bounds.at("even_cycles").numbers();
  out["tightest"] = bounds.at("tightest").text();
  out["achieved"] = bounds.at("achieved").number();
  return out;
}

Json measured_of(const JsonPart& measured) {
  Json out;
  out["gpu"] = measured.at("gpu").text();
  for (const char* key : {"ms", "clock_mhz", "cycles"}) {
    out[key] = measured.at(key).number();
  }
  if (measured.has("state")) {
    out["state"] = measured.at("state").text();
  }
  out["ratio"] = measured.has("ratio") ? Json(measured.at("ratio").number()) : Json(nullptr);
  return out;
}

// Sections of numbers and words, no deeper.
Json config_of(const JsonPart& config) {
  for (const auto& [key, section] : config.object().items()) {
    if (section.is_object()) {
      for (const auto& [name, value] : section.items()) {
        if (!value.is_primitive()) {
          config.fail(fmt::format("'{}.{}' is no value", key, name));
        }
      }
    } else if (!section.is_primitive()) {
      config.fail(fmt::format("'{}' is no value", key));
    }
  }
  return config.value();
}

// Takes what visit_result shows from a results file, of the type that RunResult has it in.
struct RunReader {
  const JsonPart& run;
  Json& out;

  void operator()(std::string_view key, const std::string& /*of*/) {
    place(key) = part(key).text();
  }
  void operator()(std::string_view key, std::uint64_t /*of*/) { place(key) = part(key).count(); }
  void operator()(std::string_view key, std::uint32_t /*of*/) { place(key) = part(key).count(); }
  void operator()(std::string_view key, double /*of*/) { place(key) = part(key).number(); }
  void operator()(std::string_view key, bool /*of*/) { place(key) = part(key).flag(); }
  void operator()(std::string_view key, const Counters& /*of*/) {
    place(key) = part(key).numbers();
  }
  void operator()(std::string_view key, const Fractions& /*of*/) {
    place(key) = part(key).numbers();
  }
  void if_any(std::string_view key, std::uint64_t /*of*/) {
    if (run.has(key)) {
      out[std::string(key)] = run.at(key).count();
    }
  }
  void if_any(std::string_view key, const std::string& /*of*/) {
    if (run.has(key)) {
      out[std::string(key)] = run.at(key).text();
    }
  }
  void if_any(std::string_view key, const std::vector<std::string>& /*of*/) {
    if (run.has(key)) {
      const JsonPart texts = run.at(key);
      for (const auto& item : texts.array()) {
        if (!item.is_string()) {
          texts.fail("has something else than texts");
        }
      }
      out[std::string(key)] = texts.value();
    }
  }
  void derived(std::string_view key) {
    if (key == "speedup") {
      out["speedup"] = run.has(key) ? Json(run.at(key).number()) : Json(nullptr);
      if (constexpr const char* kDoubt = "speedup_is_doubtful"; run.has(kDoubt)) {
        out[kDoubt] = run.at(kDoubt).flag();
      }
    } else if (key == "bounds") {
      out["bounds"] = run.has(key) ? bounds_of(run.at(key)) : Json(nullptr);
    } else if (key == "energy_nj") {
      out["energy_nj"] = run.at(key).numbers();
    } else if (key == "measured") {
      out["measured"] = run.has(key) ? measured_of(run.at(key)) : Json(nullptr);
    }
  }

 private:
  JsonPart part(std::string_view key) const {
    const std::size_t slash = key.find('/');
    return slash == std::string_view::npos ? run.at(key)
                                           : run.at(key.substr(0, slash)).at(key.substr(slash + 1));
  }
  Json& place(std::string_view key) {
    const std::size_t slash = key.find('/');
    return slash == std::string_view::npos
               ? out[std::string(key)]
               : out[std::string(key.substr(0, slash))][std::string(key.substr(slash + 1))];
  }
};

Json run_of(const JsonPart& run) {
  Json out;
  visit_result(RunReader{.run = run, .out = out}, RunResult());
  if (out["cycles"] == 0) {
    run.fail("has no cycles");
  }
  return out;
}

void refuse_twice(const std::vector<std::string>& paths) {
  for (std::size_t i = 0; i < paths.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      std::error_code error;
      if (paths[i] == paths[j]) {
        throw ReportError(fmt::format("{}: given twice", paths[i]));
      }
      if (std::filesystem::equivalent(paths[i], paths[j], error)) {
        throw ReportError(fmt::format("{}: the same file as {}", paths[i], paths[j]));
      }
    }
  }
}

// Adds the runs of one file. `configs`: those that were there before, by their text.
void add_results(const std::string& path, std::size_t file, Json& document,
                 std::map<std::string, std::size_t>& configs) {
  const Json results = read_json_file(path);
  require_schema(results, path, kResultsSchema);
  const JsonPart runs = JsonPart(results, path).at("runs");
  if (runs.array().empty()) {
    throw ReportError(fmt::format("{}: has no runs", path));
  }
  std::size_t number = 0;
  for (const Json& value : runs.value()) {
    const JsonPart run(value, fmt::format("{}: run {}", path, ++number));
    Json out = run_of(run);
    const Json config = config_of(run.at("config"));
    const auto [place, added] = configs.emplace(config.dump(), configs.size());
    if (added) {
      document["configs"].push_back(config);
    }
    out["config"] = place->second;
    out["file"] = file;
    document["runs"].push_back(std::move(out));
  }
}

// The run that a timeline is of, by what both say of it.
std::size_t run_of_timeline(const JsonPart& timeline, const Json& runs) {
  const std::string name = short_name(timeline.at("trace").text());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Json& run = runs[i];
    if (short_name(run.at("trace").get<std::string>()) == name &&
        run.at("gpu") == timeline.at("gpu").text() &&
        run.at("policy") == timeline.at("policy").text() &&
        run.at("unit_kind") == timeline.at("unit_kind").text() &&
        run.at("cycles") == timeline.at("cycles").count()) {
      return i;
    }
  }
  timeline.fail(fmt::format("{} on {} under {}, {} cycles, is none of the results", name,
                            timeline.at("gpu").text(), timeline.at("policy").text(),
                            timeline.at("cycles").count()));
}

// More than a figure can show are joined.
constexpr std::size_t kMostIntervals = 600;

Json join_intervals(const Json& values, std::size_t joined) {
  Json out = Json::array();
  for (std::size_t begin = 0; begin < values.size(); begin += joined) {
    double sum = 0;
    for (std::size_t i = begin; i < std::min(begin + joined, values.size()); ++i) {
      sum += values[i].get<double>();
    }
    if (sum == std::floor(sum) && sum < 1e15) {
      out.push_back(static_cast<std::uint64_t>(sum));
    } else {
      out.push_back(sum);
    }
  }
  return out;
}

Json timeline_of(const JsonPart& timeline, const Json& runs) {
  Json out;
  out["run"] = run_of_timeline(timeline, runs);
  out["interval"] = timeline.at("interval").count();
  if (out["interval"] == 0) {
    timeline.fail("has an interval of 0 cycles");
  }
  out["units"] = timeline.at("units").numbers();
  const JsonPart busy = timeline.at("busy");
  std::size_t most = 0;
  for (const auto& [kind, values] : busy.object().items()) {
    const JsonPart list = busy.at(kind);
    if (!out["units"].contains(kind) ||
        !std::all_of(list.array().begin(), list.array().end(), [](const Json& value) {
          return value.is_number() && value.get<double>() >= 0;
        })) {
      list.fail("is no list of busy cycles of units");
    }
    most = std::max(most, values.size());
  }
  const std::size_t joined = std::max<std::size_t>(1, (most + kMostIntervals - 1) / kMostIntervals);
  out["interval"] = timeline.at("interval").count() * joined;
  for (const auto& [kind, values] : busy.value().items()) {
    out["busy"][kind] = join_intervals(values, joined);
  }
  return out;
}

// The document stands at the top, or under "warpfold" in a file for a trace viewer.
void add_timelines(const std::string& path, Json& document) {
  const Json file = read_json_file(path, "traceEvents");
  const bool for_viewer = file.is_object() && file.contains("warpfold");
  const Json& timelines = for_viewer ? file.at("warpfold") : file;
  // The second adds what queues hold, which no figure shows.
  const bool second =
      timelines.is_object() && timelines.value("schema", Json()) == kTimelineSchema2;
  require_schema(timelines, path, second ? kTimelineSchema2 : kTimelineSchema);
  const JsonPart runs = JsonPart(timelines, path).at("runs");
  if (runs.array().empty()) {
    throw ReportError(fmt::format("{}: has no runs", path));
  }
  std::size_t number = 0;
  for (const Json& value : runs.value()) {
    const JsonPart timeline(value, fmt::format("{}: run {}", path, ++number));
    document["timelines"].push_back(timeline_of(timeline, document.at("runs")));
  }
}

Json area_of(const std::string& path) {
  const Json file = read_json_file(path);
  require_schema(file, path, kAreaSchema);
  const JsonPart rows = JsonPart(file, path).at("rows");
  Json out;
  out["rows"] = Json::array();
  std::size_t number = 0;
  for (const Json& value : rows.array()) {
    const JsonPart row(value, fmt::format("{}: row {}", path, ++number));
    Json kept;
    kept["top"] = row.at("top").text();
    kept["transistors"] = row.at("transistors").count();
    for (const char* key : {"module", "unit", "scheduler"}) {
      if (row.has(key)) {
        kept[key] = row.at(key).text();
      }
    }
    for (const char* key : {"flops", "area", "path_ns"}) {
      if (row.has(key)) {
        kept[key] = row.at(key).number();
      }
    }
    out["rows"].push_back(std::move(kept));
  }
  if (out["rows"].empty()) {
    throw ReportError(fmt::format("{}: has no rows", path));
  }
  const JsonPart top(file, path);
  if (top.has("liberty") && top.at("liberty").has("library")) {
    out["library"] = top.at("liberty").at("library").text();
  }
  return out;
}

// "truck, kitchen and 3 more".
std::string name_some(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 3;
  if (names.size() <= kShown) {
    return fmt::format("{}", fmt::join(names, ", "));
  }
  return fmt::format("{}, {} and {} more", names[0], names[1], names.size() - 2);
}

std::string title_of(const Json& runs) {
  std::vector<std::string> traces;
  std::vector<std::string> gpus;
  const auto add = [](std::vector<std::string>& names, const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(name);
    }
  };
  for (const Json& run : runs) {
    add(traces, short_name(run.at("trace").get<std::string>()));
    add(gpus, run.at("gpu").get<std::string>());
  }
  return fmt::format("{} on {}", name_some(traces), name_some(gpus));
}

}  // namespace

ReportData read_report(const ReportFiles& files) {
  std::vector<std::string> inputs = files.results;
  for (const std::string& other : {files.timeline, files.area}) {
    if (!other.empty()) {
      inputs.push_back(other);
    }
  }
  refuse_twice(inputs);
  ReportData data;
  Json& document = data.document;
  document["files"] = files.results;
  document["configs"] = Json::array();
  document["runs"] = Json::array();
  document["timelines"] = Json::array();
  std::map<std::string, std::size_t> configs;
  for (std::size_t i = 0; i < files.results.size(); ++i) {
    add_results(files.results[i], i, document, configs);
  }
  if (!files.timeline.empty()) {
    add_timelines(files.timeline, document);
  }
  document["area"] = files.area.empty() ? Json(nullptr) : area_of(files.area);
  const Json& runs = document.at("runs");
  data.runs = runs.size();
  data.failed =
      static_cast<std::size_t>(std::count_if(runs.begin(), runs.end(), [](const Json& run) {
        return run.at("sums_match") == false || run.at("conserved") == false;
      }));
  data.title = title_of(runs);
  return data;
}

}  // namespace warpfold::report

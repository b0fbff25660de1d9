// SPDX-License-Identifier: Apache-2.0
#include "traces/record/host/recorded_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "traces/format/header.hpp"
#include "traces/format/reader.hpp"
#include "traces/format/whole_file.hpp"
#include "traces/format/writer.hpp"
#include "traces/record/host/tool.hpp"
#include "traces/record/host/variant_costs.hpp"

namespace warpfold::record {

namespace {

namespace fs = std::filesystem;

// A name as a regular expression that finds it alone.
std::string expression_of(const std::string& name) {
  std::string text;
  for (const char c : name) {
    if (std::string("$.^()[]{}|*+?\\").find(c) != std::string::npos) {
      text += '\\';
    }
    text += c;
  }
  return text;
}

// What ncu says in place of counts; empty where it has some.
std::string refusal_of(const fs::path& counts) {
  std::ifstream file(counts);
  std::string said = "ncu counted nothing";
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('"')) {
      return {};
    }
    if (line.starts_with("==ERROR==")) {
      said = "ncu: " + line.substr(std::min(line.size(), std::size_t{10}));
    }
  }
  return said;
}

// Writes the trace anew with other costs of its ways.
void replace_way_costs(const RecordedTrace& trace) {
  const trace::Reader reader(trace.path);
  nlohmann::json json = nlohmann::json::parse(trace::header_to_json(reader.header()));
  const nlohmann::json paths = path_costs(trace.costs);
  for (auto& [variant, costs] : json["costs"][trace.arch].items()) {
    costs["paths"] = paths;
  }
  json["provenance"]["costs"] = "held to the instructions that ncu counted";
  trace::Writer writer(trace.path, trace::header_from_json(json.dump()));
  for (std::size_t i = 0; i < reader.cta_count(); ++i) {
    writer.add(reader.read_cta(i));
  }
  writer.finish();
}

}  // namespace

std::uint64_t RecordedTrace::warp_instructions() const {
  std::uint64_t total = beside;
  for (std::size_t i = 0; i < costs.size(); ++i) {
    if (costs[i].is_null()) {
      continue;
    }
    std::uint64_t slots = 0;
    for (const char* kind : kIssued) {
      slots += costs[i].at(kind).get<std::uint64_t>();
    }
    total += slots * ways.passes[i];
  }
  return total;
}

bool RecordedTrace::has_costs() const {
  return std::any_of(costs.begin(), costs.end(),
                     [](const nlohmann::json& cost) { return !cost.is_null(); });
}

void refine(RecordedTrace& trace, const std::vector<std::string>& command, const CodeReader& reader,
            const fs::path& scratch) {
  const fs::path counts = scratch / "ncu.csv";
  fs::remove(counts);
  std::vector<std::string> words = {
      "ncu",
      "--clock-control",
      "none",
      "--kernel-name-base",
      "mangled",
      "--print-kernel-base",
      "mangled",
      "--kernel-id",
      fmt::format("::regex:^{}$:{}", expression_of(trace.function), trace.ordinal),
      "--metrics",
      "inst_executed",
      "--print-metric-instances",
      "values",
      "--csv",
      "--log-file",
      counts.string()};
  words.insert(words.end(), command.begin(), command.end());
  const ToolResult result = run_tool(words, scratch, "");
  if (result.status == 127 || !fs::exists(counts)) {
    throw CannotCount("ncu cannot be run");
  }
  if (const std::string why = refusal_of(counts); !why.empty()) {
    throw CannotCount(why);
  }
  trace.costs = reader.refined(trace.cubin, trace.function, trace.ways, counts, trace.every);
  replace_way_costs(trace);
}

void keep_code(const RecordedTrace& trace) {
  nlohmann::json json = trace.ways.to_json();
  json["function"] = trace.function;
  json["costs"] = trace.costs;
  fs::path base = trace.path;
  trace::write_whole(base.replace_extension("ways.json"), json.dump() + "\n");
  std::ifstream cubin(trace.cubin, std::ios::binary);
  std::ostringstream text;
  text << cubin.rdbuf();
  base = trace.path;
  trace::write_whole(base.replace_extension("cubin"), text.str());
}

}  // namespace warpfold::record

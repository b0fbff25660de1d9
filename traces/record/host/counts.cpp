// SPDX-License-Identifier: Apache-2.0
#include "traces/record/host/counts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>

#include "traces/record/host/tool.hpp"

namespace warpfold::record {

namespace {

namespace fs = std::filesystem;

// A name as a regular expression that finds it alone.
std::string expression_of(const std::string& name) {
  std::string text;
  for (const char c : name) {
    if (std::string_view("$.^()[]{}|*+?\\").find(c) != std::string_view::npos) {
      text += '\\';
    }
    text += c;
  }
  return text;
}

// What ncu says in place of counts; empty where it has some.
std::string refusal_in(const std::string& text) {
  std::string said = "ncu counted nothing";
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('"')) {
      return {};
    }
    if (line.starts_with("==ERROR==")) {
      said = "ncu: " + line.substr(std::min(line.size(), std::size_t{10}));
    }
  }
  return said;
}

// The fields of a line of CSV, all in quotes.
std::vector<std::string> fields_of(std::string_view line) {
  std::vector<std::string> fields;
  bool inside = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '"') {
      if (inside) {
        fields.back() += line[i];
      }
    } else if (!inside) {
      fields.emplace_back();
      inside = true;
    } else if (i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += line[++i];
    } else {
      inside = false;
    }
  }
  return fields;
}

std::uint64_t number_in(std::string_view text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// "(64, 1, 1)"
Dimensions dimensions_in(std::string_view text) {
  Dimensions result{};
  for (std::uint32_t& dimension : result) {
    const std::size_t digit = std::min(text.find_first_of("0123456789"), text.size());
    text.remove_prefix(digit);
    dimension = static_cast<std::uint32_t>(number_in(text));
    text.remove_prefix(std::min(text.find_first_not_of("0123456789"), text.size()));
  }
  return result;
}

// Of the heads of the columns.
std::size_t column(const std::vector<std::string>& heads, std::string_view name) {
  const auto found = std::find(heads.begin(), heads.end(), name);
  if (found == heads.end()) {
    throw trace::TraceError(fmt::format("ncu's CSV has no column \"{}\"", name));
  }
  return static_cast<std::size_t>(found - heads.begin());
}

}  // namespace

LaunchCounts LaunchCounts::from_csv(const std::string& text) {
  LaunchCounts counts;
  std::vector<std::string> heads;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with('"')) {
      continue;
    }
    std::vector<std::string> fields = fields_of(line);
    if (heads.empty()) {
      heads = std::move(fields);
      counts.head_ = line;
      continue;
    }
    if (fields.size() != heads.size()) {
      throw trace::TraceError(fmt::format("ncu's CSV has a line of {} fields under {} heads",
                                          fields.size(), heads.size()));
    }
    const std::string& function = fields[column(heads, "Kernel Name")];
    counts.processes_[number_in(fields[column(heads, "Process ID")])][function].push_back(
        {.key = {.function = function,
                 .grid = dimensions_in(fields[column(heads, "Grid Size")]),
                 .block = dimensions_in(fields[column(heads, "Block Size")])},
         .line = line});
  }
  return counts;
}

std::string LaunchCounts::csv_of(const CountPlace& place, std::string& why) const {
  const auto differs = [&](std::string what) {
    why = "under ncu " + std::move(what);
    return std::string();
  };
  if (processes_.size() != place.processes) {
    return differs(fmt::format("{} processes launched what was recorded, not {}", processes_.size(),
                               place.processes));
  }
  const auto& launches =
      std::next(processes_.begin(), static_cast<std::ptrdiff_t>(place.rank))->second;
  const auto found = launches.find(place.key.function);
  const std::size_t count = found == launches.end() ? 0 : found->second.size();
  if (count != place.of) {
    return differs(fmt::format("the kernel had {} such launches, not {}", count, place.of));
  }
  const Counted& counted = found->second[place.number];
  if (counted.key != place.key) {
    return differs("the launch has another grid or block");
  }
  return head_ + "\n" + counted.line + "\n";
}

// "12,086,018 (3; 4; ...)", of all instructions and of each.
std::uint64_t counted_instructions(const std::string& csv) {
  std::istringstream lines(csv);
  std::string heads, launch;
  std::getline(lines, heads);
  std::getline(lines, launch);
  std::string value = fields_of(launch).at(column(fields_of(heads), "Metric Value"));
  value.resize(std::min(value.find('('), value.size()));
  std::erase(value, ',');
  return number_in(value);
}

LaunchCounts count_launches(const CountRequest& request, const std::vector<std::string>& command,
                            const fs::path& scratch, const std::string& input) {
  const fs::path log = scratch / "ncu.csv";
  fs::remove(log);
  std::vector<std::string> names;
  for (const std::string& function : request.functions) {
    names.push_back(expression_of(function));
  }
  const std::string which = fmt::format(
      "::regex:^({})$:{}", fmt::join(names, "|"),
      request.ordinals.empty() ? ".*" : fmt::format("{}", fmt::join(request.ordinals, "|")));
  std::vector<std::string> words = {"ncu",           "--target-processes",
                                    "all",           "--clock-control",
                                    "none",          "--kernel-name-base",
                                    "mangled",       "--print-kernel-base",
                                    "mangled",       "--kernel-id",
                                    which,           "--metrics",
                                    "inst_executed", "--print-metric-instances",
                                    "values",        "--csv",
                                    "--log-file",    log.string()};
  words.insert(words.end(), command.begin(), command.end());
  const ToolResult result = run_tool(words, scratch, input);
  if (result.status == 127 || !fs::exists(log)) {
    throw CannotCount("ncu cannot be run");
  }
  std::ifstream file(log, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (const std::string why = refusal_in(text.str()); !why.empty()) {
    throw CannotCount(why);
  }
  return LaunchCounts::from_csv(text.str());
}

}  // namespace warpfold::record

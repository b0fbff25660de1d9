// SPDX-License-Identifier: Apache-2.0
// The results file of the microbenchmarks: what a result holds, its JSON, and a check of the whole
// file. README.md beside this describes the file. Host only.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "traces/capture/microbench/statistics.hpp"

namespace warpfold::microbench {

inline constexpr const char* kSchema = "warpfold.microbench/1";

using Json = nlohmann::ordered_json;

struct Result {
  std::string group;  // such as "red"
  std::string name;   // unique in the file
  Json parameters;    // object: what tells this case from its neighbours
  std::string unit;   // of `value`
  Summary value;      // over the repetitions
  int grid = 0;       // CTAs launched
  int block = 0;      // threads of a CTA
  double mhz = 0;     // SM clock: clock64 over globaltimer; 0 where the kernel is too short
  Json extra;         // object: further figures of the case
};

[[nodiscard]] Json to_json(const Result& result);

class Report {
 public:
  explicit Report(bool verbose) : verbose_(verbose) {}

  void add(const Result& result);
  // A part of the file that is no list of results, such as "gpu".
  void set(const std::string& key, Json value) { parts_[key] = std::move(value); }
  [[nodiscard]] std::size_t size() const { return results_.size(); }
  [[nodiscard]] Json json() const;
  // Appears whole or not at all. Throws std::runtime_error.
  void write(const std::filesystem::path& file) const;

 private:
  bool verbose_;
  std::vector<Result> results_;
  Json parts_ = Json::object();
};

// What is wrong with a results file, one line each; empty if nothing is.
[[nodiscard]] std::vector<std::string> check_report(const Json& json);

}  // namespace warpfold::microbench

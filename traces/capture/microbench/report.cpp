// SPDX-License-Identifier: Apache-2.0
#include "traces/capture/microbench/report.hpp"

#include <cmath>
#include <cstdio>
#include <set>
#include <stdexcept>

#include "traces/format/whole_file.hpp"

namespace warpfold::microbench {

Json to_json(const Result& result) {
  Json json;
  json["group"] = result.group;
  json["name"] = result.name;
  json["parameters"] = result.parameters.is_null() ? Json::object() : result.parameters;
  json["unit"] = result.unit;
  json["median"] = result.value.median;
  json["min"] = result.value.min;
  json["max"] = result.value.max;
  json["quartiles"] = {result.value.quartile_low, result.value.quartile_high};
  json["repetitions"] = result.value.count;
  json["grid"] = result.grid;
  json["block"] = result.block;
  json["sm_clock_mhz"] = result.mhz > 0 ? Json(std::round(result.mhz * 10) / 10) : Json(nullptr);
  json["extra"] = result.extra.is_null() ? Json::object() : result.extra;
  return json;
}

void Report::add(const Result& result) {
  if (verbose_) {
    std::printf("  %-60s %12.4f (%.4f to %.4f) %s\n", result.name.c_str(), result.value.median,
                result.value.min, result.value.max, result.unit.c_str());
    std::fflush(stdout);
  }
  results_.push_back(result);
}

Json Report::json() const {
  Json json;
  json["schema"] = kSchema;
  for (const auto& [key, value] : parts_.items()) {
    json[key] = value;
  }
  json["results"] = Json::array();
  for (const Result& result : results_) {
    json["results"].push_back(to_json(result));
  }
  return json;
}

void Report::write(const std::filesystem::path& file) const {
  trace::write_whole(file, json().dump(1) + "\n");
}

std::vector<std::string> check_report(const Json& json) {
  std::vector<std::string> wrong;
  const auto has = [&](const Json& object, const char* key, Json::value_t type,
                       const std::string& where) {
    if (!object.contains(key)) {
      wrong.push_back(where + ": no " + key);
      return false;
    }
    const Json& value = object[key];
    const bool number = type == Json::value_t::number_float;
    if (number ? !value.is_number() : value.type() != type) {
      wrong.push_back(where + ": " + key + " is a " + value.type_name());
      return false;
    }
    return true;
  };
  using enum nlohmann::detail::value_t;
  if (!json.is_object() || json.value("schema", "") != kSchema) {
    return {std::string("not a ") + kSchema + " file"};
  }
  if (has(json, "gpu", object, "file")) {
    for (const char* key : {"name", "driver", "cuda"}) {
      has(json["gpu"], key, string, "gpu");
    }
    for (const char* key : {"sms", "compute_capability"}) {
      has(json["gpu"], key, number_float, "gpu");
    }
  }
  if (!has(json, "results", array, "file")) {
    return wrong;
  }
  std::set<std::string> names;
  for (const Json& result : json["results"]) {
    if (!result.is_object() || !has(result, "name", string, "a result")) {
      continue;
    }
    const std::string name = result["name"];
    if (!names.insert(name).second) {
      wrong.push_back(name + ": twice");
    }
    for (const char* key : {"group", "unit"}) {
      has(result, key, string, name);
    }
    for (const char* key : {"parameters", "extra"}) {
      has(result, key, object, name);
    }
    bool numbers = has(result, "quartiles", array, name);
    for (const char* key : {"median", "min", "max", "repetitions", "grid", "block"}) {
      numbers = has(result, key, number_float, name) && numbers;
    }
    if (!numbers) {
      continue;
    }
    const double median = result["median"];
    if (!(result["min"] <= median && median <= result["max"])) {
      wrong.push_back(name + ": the median lies outside of the range");
    }
    if (result["repetitions"] < 1) {
      wrong.push_back(name + ": no repetitions");
    }
  }
  return wrong;
}

}  // namespace warpfold::microbench

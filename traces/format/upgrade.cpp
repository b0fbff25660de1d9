// SPDX-License-Identifier: Apache-2.0
#include "traces/format/upgrade.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "traces/format/header.hpp"
#include "traces/format/header_fields.hpp"

namespace warpfold::trace {

namespace {

using nlohmann::json;

json take(json& header, const std::string& key) {
  const auto found = header.find(key);
  if (found == header.end()) {
    refuse_field("the header", fmt::format("\"{}\" is missing", key));
  }
  json value = std::move(*found);
  header.erase(found);
  return value;
}

// What a header of the one version has must not stand in one of the other.
void refuse_newer(const json& header) {
  for (const char* const key : {"sites", "arrays", "omissions"}) {
    if (header.contains(key)) {
      refuse_field("the header", fmt::format("unknown key \"{}\"", key));
    }
  }
}

// Codes by architecture and variant, each with its segments, all of which are needed.
void put_sites_into_costs(json& costs) {
  if (!costs.is_object()) {
    return;
  }
  for (json& machine : costs) {
    for (json& variant : machine) {
      if (!variant.is_object() || !variant.contains("reduce")) {
        continue;
      }
      json& reduce = variant["reduce"];
      if (!reduce.is_object() || reduce.empty()) {
        refuse_field("costs", "a variant's \"reduce\" is not an object with its segments");
      }
      json array = json::array();
      array.push_back(std::move(reduce));
      reduce = std::move(array);
    }
  }
}

}  // namespace

Header header_from_version_3(std::string_view text) {
  json header = parse_header_text(text);
  if (!header.is_object()) {
    refuse_field("the header", fmt::format("is {}, not an object", header.type_name()));
  }
  refuse_newer(header);
  const json kernel = header.value("kernel", json());
  json site;
  site["name"] = kernel.is_string() && !kernel.get<std::string>().empty() ? kernel : json("kernel");
  site["type"] = "f32";
  site["primitives"] = take(header, "primitive_count");
  site["parameters"] = take(header, "parameters");
  site["taken_path"] = take(header, "taken_path");
  if (site["taken_path"] == json("")) {
    refuse_field("taken_path", "\"\" is not one of the paths");
  }
  header["sites"] = json::array();
  header["sites"].push_back(std::move(site));
  header["arrays"] = json::array();
  header["omissions"] = json::array();
  if (header.contains("costs")) {
    put_sites_into_costs(header["costs"]);
  }
  const json values = take(header, "values");
  if (values != json("none") && values != json("fp32")) {
    refuse_field("values", "is neither \"none\" nor \"fp32\"");
  }
  header["values"] = values == json("fp32") ? "operands" : "none";
  return header_from_json(header.dump(), kEarlierVersion);
}

}  // namespace warpfold::trace

// SPDX-License-Identifier: Apache-2.0
#include "model/report/json_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "model/report/report_data.hpp"

namespace warpfold::report {

using Json = nlohmann::ordered_json;

JsonPart::JsonPart(const Json& value, std::string place)
    : value_(&value), place_(std::move(place)) {}

void JsonPart::fail(std::string_view what) const {
  throw ReportError(fmt::format("{}: {}", place_, what));
}

JsonPart JsonPart::at(std::string_view key) const {
  const Json& members = object();
  const auto found = members.find(std::string(key));
  if (found == members.end()) {
    fail(fmt::format("has no '{}'", key));
  }
  return {*found, fmt::format("{}: {}", place_, key)};
}

bool JsonPart::has(std::string_view key) const {
  const Json& members = object();
  const auto found = members.find(std::string(key));
  return found != members.end() && !found->is_null();
}

const std::string& JsonPart::text() const {
  if (!value_->is_string()) {
    fail("is no text");
  }
  return value_->get_ref<const std::string&>();
}

double JsonPart::number() const {
  const double number = value_->is_number() ? value_->get<double>() : -1;
  if (!(number >= 0) || !std::isfinite(number)) {
    fail("is no number of 0 or more");
  }
  return number;
}

std::uint64_t JsonPart::count() const {
  if (!value_->is_number_unsigned()) {
    fail("is no count");
  }
  return value_->get<std::uint64_t>();
}

bool JsonPart::flag() const {
  if (!value_->is_boolean()) {
    fail("is neither true nor false");
  }
  return value_->get<bool>();
}

const Json& JsonPart::numbers() const {
  for (const auto& [key, member] : object().items()) {
    if (!member.is_number() || !std::isfinite(member.get<double>())) {
      fail(fmt::format("'{}' is no number", key));
    }
  }
  return *value_;
}

const Json& JsonPart::object() const {
  if (!value_->is_object()) {
    fail("is no object");
  }
  return *value_;
}

const Json& JsonPart::array() const {
  if (!value_->is_array()) {
    fail("is no list");
  }
  return *value_;
}

Json read_json_file(const std::string& path, std::string_view skipped) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    throw ReportError(fmt::format("{}: is a directory", path));
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw ReportError(fmt::format("{}: cannot be read: {}", path, std::strerror(errno)));
  }
  const Json::parser_callback_t keep = [skipped](int depth, Json::parse_event_t event,
                                                 Json& parsed) {
    return skipped.empty() || depth != 1 || event != Json::parse_event_t::key ||
           parsed != std::string(skipped);
  };
  try {
    return Json::parse(file, keep);
  } catch (const Json::parse_error& problem) {
    throw ReportError(fmt::format("{}: is no JSON: error at byte {}", path, problem.byte));
  } catch (const Json::out_of_range&) {
    throw ReportError(fmt::format("{}: has a number beyond all bounds", path));
  }
}

void require_schema(const Json& document, const std::string& path, std::string_view schema) {
  const JsonPart top(document, path);
  if (!document.is_object() || !top.has("schema")) {
    top.fail(fmt::format("has no schema; {} is needed", schema));
  }
  const std::string found = top.at("schema").text();
  if (found != schema) {
    top.fail(fmt::format("has schema '{}'; {} is needed", found, schema));
  }
}

}  // namespace warpfold::report

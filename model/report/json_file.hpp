// SPDX-License-Identifier: Apache-2.0
// Reading a JSON file and taking values of known types from it. Every complaint is a ReportError
// that begins with the path and says where in the file.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace warpfold::report {

// An object or a part of one, with the words for where it is: "a.json: run 3".
class JsonPart {
 public:
  JsonPart(const nlohmann::ordered_json& value, std::string place);

  // The member of that name; ReportError where there is none.
  [[nodiscard]] JsonPart at(std::string_view key) const;
  // Whether there is a member of that name that is not null.
  [[nodiscard]] bool has(std::string_view key) const;

  [[nodiscard]] const std::string& text() const;
  [[nodiscard]] double number() const;  // finite, 0 or more
  [[nodiscard]] std::uint64_t count() const;
  [[nodiscard]] bool flag() const;
  // An object of finite numbers, as it is.
  [[nodiscard]] const nlohmann::ordered_json& numbers() const;
  [[nodiscard]] const nlohmann::ordered_json& object() const;
  [[nodiscard]] const nlohmann::ordered_json& array() const;

  [[nodiscard]] const nlohmann::ordered_json& value() const { return *value_; }
  [[nodiscard]] const std::string& place() const { return place_; }
  [[noreturn]] void fail(std::string_view what) const;

 private:
  const nlohmann::ordered_json* value_;
  std::string place_;
};

// The document of a file. The member `skipped` of its top level is left out, however large it is.
nlohmann::ordered_json read_json_file(const std::string& path, std::string_view skipped = "");

// ReportError where the document is no object, or its schema is another.
void require_schema(const nlohmann::ordered_json& document, const std::string& path,
                    std::string_view schema);

}  // namespace warpfold::report

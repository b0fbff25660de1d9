// SPDX-License-Identifier: Apache-2.0
// Reads a JSON object of the header key by key. Not for use outside this folder.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "traces/format/header_fields.hpp"

namespace warpfold::trace {

// One JSON object of the header: hands out its members by key and knows which it did not.
class Object {
 public:
  Object(const nlohmann::json& value, std::string where) : value_(value), where_(std::move(where)) {
    if (!value_.is_object()) {
      refuse_field(where_, fmt::format("is {}, not an object", value_.type_name()));
    }
  }

  const nlohmann::json& at(const std::string& key) {
    const auto found = value_.find(key);
    if (found == value_.end()) {
      refuse_field(where_, fmt::format("\"{}\" is missing", key));
    }
    seen_.insert(key);
    return *found;
  }

  [[nodiscard]] std::string name_of(std::string_view key) const {
    return where_ == "the header" ? std::string(key) : fmt::format("{}.{}", where_, key);
  }

  std::string text(const std::string& key) {
    const nlohmann::json& value = at(key);
    if (!value.is_string()) {
      refuse_field(name_of(key), fmt::format("is {}, not a text", value.type_name()));
    }
    return value.get<std::string>();
  }

  std::uint64_t u64(const std::string& key) { return number(at(key), name_of(key), UINT64_MAX); }

  std::uint32_t u32(const std::string& key) {
    return static_cast<std::uint32_t>(number(at(key), name_of(key), UINT32_MAX));
  }

  double real(const std::string& key) {
    const nlohmann::json& value = at(key);
    if (!value.is_number()) {
      refuse_field(name_of(key), fmt::format("is {}, not a number", value.type_name()));
    }
    return value.get<double>();
  }

  const nlohmann::json& array(const std::string& key) {
    const nlohmann::json& value = at(key);
    if (!value.is_array()) {
      refuse_field(name_of(key), fmt::format("is {}, not an array", value.type_name()));
    }
    return value;
  }

  void dimensions(const std::string& key, std::uint32_t (&out)[3]) {
    const nlohmann::json& value = array(key);
    if (value.size() != 3) {
      refuse_field(name_of(key), fmt::format("has {} entries, not 3", value.size()));
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
        refuse_field(where_, fmt::format("unknown key {}", quoted(item.key())));
      }
    }
  }

  static std::uint32_t u32_of(const nlohmann::json& value, const std::string& where) {
    return static_cast<std::uint32_t>(number(value, where, UINT32_MAX));
  }

  static std::string quoted(const std::string& key) {
    return nlohmann::json(key).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  }

 private:
  static std::uint64_t number(const nlohmann::json& value, const std::string& where,
                              std::uint64_t most) {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > most) {
      refuse_field(where, fmt::format("{} is not an integer in 0..{}",
                                      value.is_number() ? value.dump() : value.type_name(), most));
    }
    return value.get<std::uint64_t>();
  }

  const nlohmann::json& value_;
  std::string where_;
  std::set<std::string> seen_;
};

}  // namespace warpfold::trace

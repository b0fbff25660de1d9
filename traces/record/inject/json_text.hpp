// SPDX-License-Identifier: Apache-2.0
// JSON for `warpfold record`, written as text: what is built on a machine with a GPU needs the CUDA
// toolkit and nothing else.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <type_traits>

namespace warpfold::record {

// A JSON string. Bytes that are no ASCII come out as they are: names of kernels are UTF-8.
inline std::string json_string(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      std::array<char, 8> code{};
      std::snprintf(code.data(), code.size(), "\\u%04x", static_cast<unsigned char>(c));
      result += code.data();
    } else {
      result += c;
    }
  }
  return result + '"';
}

// {"key": value, ...} or [value, ...], put together from the front.
class JsonText {
 public:
  static JsonText object() { return JsonText('{', '}'); }
  static JsonText array() { return JsonText('[', ']'); }

  // `json` is JSON already.
  JsonText& raw(std::string_view key, std::string_view json) {
    return item(json_string(key) + ":" + std::string(json));
  }
  JsonText& text(std::string_view key, std::string_view value) {
    return raw(key, json_string(value));
  }
  template <typename Number>
  JsonText& number(std::string_view key, Number value) {
    static_assert(std::is_arithmetic_v<Number>);
    return raw(key, std::to_string(value));
  }
  JsonText& item(std::string_view json) {
    if (text_.size() > 1) {
      text_ += ',';
    }
    text_ += json;
    return *this;
  }
  template <typename Number>
  JsonText& item_number(Number value) {
    static_assert(std::is_arithmetic_v<Number>);
    return item(std::to_string(value));
  }
  [[nodiscard]] std::string dump() const { return text_ + end_; }

 private:
  JsonText(char begin, char end) : text_(1, begin), end_(end) {}
  std::string text_;
  char end_;
};

}  // namespace warpfold::record

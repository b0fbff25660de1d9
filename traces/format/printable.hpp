// SPDX-License-Identifier: Apache-2.0
// Text from outside in a message, which is to be one line that a person reads.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>

namespace warpfold::trace {

// The text with a question mark for each control character, and without the middle of what is
// longer than two kilobytes: a library quotes all that it could not read.
[[nodiscard]] inline std::string printable(std::string_view text) {
  constexpr std::size_t kMost = 2048;
  std::string out(text);
  if (out.size() > kMost) {
    out.replace(kMost / 2, out.size() - kMost, " [...] ");
  }
  std::replace_if(
      out.begin(), out.end(), [](unsigned char c) { return std::iscntrl(c) != 0; }, '?');
  return out;
}

// Bytes at the front of a text that are one character of UTF-8; 0 where they are none.
[[nodiscard]] inline std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const unsigned first = byte(0);
  const std::size_t length = first < 0x80U                      ? 1
                             : first >= 0xc2U && first <= 0xdfU ? 2
                             : first >= 0xe0U && first <= 0xefU ? 3
                             : first >= 0xf0U && first <= 0xf4U ? 4
                                                                : 0;
  // Neither longer than need be, nor a surrogate, nor beyond the last character.
  const unsigned least = first == 0xe0U ? 0xa0U : first == 0xf0U ? 0x90U : 0x80U;
  const unsigned most = first == 0xedU ? 0x9fU : first == 0xf4U ? 0x8fU : 0xbfU;
  for (std::size_t i = 1; i < length; ++i) {
    if (byte(i) < (i == 1 ? least : 0x80U) || byte(i) > (i == 1 ? most : 0xbfU)) {
      return 0;
    }
  }
  return text.empty() ? 0 : length;
}

[[nodiscard]] inline bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) {
      return false;
    }
    text.remove_prefix(length);
  }
  return true;
}

// The text with U+FFFD for each byte that is not of UTF-8: a name of a file may be any.
[[nodiscard]] inline std::string as_utf8(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    out += length > 0 ? text.substr(0, length) : "\xef\xbf\xbd";
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

}  // namespace warpfold::trace

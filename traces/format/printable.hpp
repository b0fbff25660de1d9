// SPDX-License-Identifier: Apache-2.0
// Text from outside in a message, which is to be one line.
#pragma once

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

namespace warpfold::trace {

// The text with a question mark for each control character.
[[nodiscard]] inline std::string printable(std::string_view text) {
  std::string out(text);
  std::replace_if(
      out.begin(), out.end(), [](unsigned char c) { return std::iscntrl(c) != 0; }, '?');
  return out;
}

}  // namespace warpfold::trace

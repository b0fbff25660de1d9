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

}  // namespace warpfold::trace

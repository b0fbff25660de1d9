// SPDX-License-Identifier: Apache-2.0
// Whether a regular expression of the user is found in a name that a file brings.
#pragma once

#include <cstddef>
#include <regex>
#include <string>

namespace warpfold::trace {

// std::regex takes a frame of the stack for each character that it goes through: of longer names
// the front alone is looked at.
inline constexpr std::size_t kMostMatched = 4096;

inline bool is_found_in(const std::string& name, const std::regex& expression) {
  return std::regex_search(name.substr(0, kMostMatched), expression);
}

}  // namespace warpfold::trace

// SPDX-License-Identifier: Apache-2.0
// What comes from outside: the error that all readers throw, and checks that many of them need.
// Host only.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <stdexcept>
#include <string>
#include <string_view>

#include "traces/format/printable.hpp"

namespace warpfold::capture {

// Bad input from outside (file, option): one clear line.
class InputError : public std::runtime_error {
 public:
  explicit InputError(std::string_view what) : std::runtime_error(trace::printable(what)) {}
};

inline constexpr int kMaxSide = 16384;  // of a picture, pixels

// A whole number of a JSON document, which takes no fractions and nothing out of range for it.
// Throws InputError.
[[nodiscard]] std::uint64_t whole_number(const nlohmann::json& json, const char* key,
                                         std::uint64_t least, std::uint64_t most);
// So many bytes, or those that there are: memory is set aside for what comes, not for what a header
// says will.
[[nodiscard]] std::string read_up_to(std::istream& in, std::uint64_t bytes);
// A name that something read from outside gives to a file: it must stay in its folder. Throws
// InputError.
void check_file_name(const std::string& name);

}  // namespace warpfold::capture

// SPDX-License-Identifier: Apache-2.0
#include "traces/capture/common/input.hpp"

#include <algorithm>
#include <cstddef>
#include <istream>
#include <nlohmann/json.hpp>

namespace warpfold::capture {

std::uint64_t whole_number(const nlohmann::json& json, const char* key, std::uint64_t least,
                           std::uint64_t most) {
  const nlohmann::json& number = json.at(key);
  const bool whole = number.is_number_unsigned() ||
                     (number.is_number_integer() && number.get<std::int64_t>() >= 0);
  if (!whole || number.get<std::uint64_t>() < least || number.get<std::uint64_t>() > most) {
    throw InputError(std::string("\"") + key + "\" is " + number.dump().substr(0, 40) +
                     ", must be a whole number from " + std::to_string(least) + " to " +
                     std::to_string(most));
  }
  return number.get<std::uint64_t>();
}

std::string read_up_to(std::istream& in, std::uint64_t bytes) {
  constexpr std::uint64_t kPieceBytes = 1U << 20U;
  std::string out;
  while (out.size() < bytes && in) {
    const std::size_t before = out.size();
    out.resize(before + static_cast<std::size_t>(std::min(kPieceBytes, bytes - before)));
    in.read(out.data() + before, static_cast<std::streamsize>(out.size() - before));
    out.resize(before + static_cast<std::size_t>(in.gcount()));
  }
  return out;
}

void check_file_name(const std::string& name) {
  constexpr std::size_t kMost = 200;
  const bool plain = !name.empty() && name.size() <= kMost && name != "." && name != ".." &&
                     std::none_of(name.begin(), name.end(), [](unsigned char c) {
                       return c == '/' || c == '\\' || c < ' ' || c == 0x7f;
                     });
  if (!plain) {
    throw InputError(
        "\"" + nlohmann::json(name).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) +
        "\" cannot be the name of a file");
  }
}

}  // namespace warpfold::capture

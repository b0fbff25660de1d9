// SPDX-License-Identifier: Apache-2.0
// The date for a trace's provenance.
#pragma once

#include <fmt/format.h>

#include <ctime>
#include <string>

namespace warpfold::record {

[[nodiscard]] inline std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  return fmt::format("{:04}-{:02}-{:02}", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday);
}

}  // namespace warpfold::record

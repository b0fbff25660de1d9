// SPDX-License-Identifier: Apache-2.0
// Numbers of JSON that came from outside: the library's own conversion takes a part of 1.5 and of
// 2^32 + 1, and has no meaning for 1e300.
#pragma once

#include <concepts>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "traces/format/trace.hpp"

namespace warpfold::record {

// The value as it is. Throws nlohmann::json::exception where it is no whole number from 0 on, and
// trace::TraceError where T cannot hold it.
template <std::unsigned_integral T>
[[nodiscard]] T whole_number(const nlohmann::json& json) {
  const auto& value = json.get_ref<const nlohmann::json::number_unsigned_t&>();
  if (value > std::numeric_limits<T>::max()) {
    throw trace::TraceError(std::to_string(value) + " is too large a number");
  }
  return static_cast<T>(value);
}

}  // namespace warpfold::record

// SPDX-License-Identifier: Apache-2.0
// Who a process of the program is, as `warpfold record` is told first.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "traces/record/inject/json_text.hpp"

namespace warpfold::record {

// When this process began, in clock ticks of the kernel; 0 where that cannot be read.
inline std::uint64_t process_start() {
  std::ifstream file("/proc/self/stat");
  std::string line;
  std::getline(file, line);
  // The name, in parentheses, may have any character. Behind it come the fields from the third on.
  std::istringstream fields(line.substr(std::min(line.rfind(')'), line.size() - 1) + 1));
  constexpr int kStart = 22;
  std::string field;
  for (int at = 3; at <= kStart && fields >> field; ++at) {
  }
  return std::strtoull(field.c_str(), nullptr, 10);
}

inline std::string hello(const char* library) {
  return JsonText::object()
      .text("library", library)
      .number("pid", static_cast<std::int64_t>(getpid()))
      .number("started", process_start())
      .dump();
}

}  // namespace warpfold::record

// SPDX-License-Identifier: Apache-2.0
// Runs a program for its output.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace warpfold::record {

struct ToolResult {
  int status = 0;  // exit status; 127 if it cannot be started, 128 + the signal that ended it
  std::string output;
  std::string errors;
};

// `input` is its standard input. `scratch`: a folder for its files. Throws trace::TraceError where
// these cannot be written.
[[nodiscard]] ToolResult run_tool(const std::vector<std::string>& command,
                                  const std::filesystem::path& scratch, const std::string& input);

}  // namespace warpfold::record

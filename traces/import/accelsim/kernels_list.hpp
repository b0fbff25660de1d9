// SPDX-License-Identifier: Apache-2.0
// The list of what a traced program did, one line each: launches, each by the name of its file, and
// copies, which are passed over. trace_parser::parse_commandlist_file of Accel-Sim reads it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace warpfold::accelsim {

struct KernelsList {
  // The files of the launches in order, beside the list. A name of a file that is not grouped by
  // thread block (kernel-1.trace) stands for the grouped one (kernel-1.traceg, kernel-1.tracez).
  std::vector<std::filesystem::path> launches;
  std::vector<std::string> refused;      // a line on each launch whose file lies elsewhere
  std::vector<std::string> passed_over;  // a line on each command that is not known, or on many
};

// Throws trace::TraceError where it cannot be read or lists no launch.
[[nodiscard]] KernelsList read_kernels_list(const std::filesystem::path& path);

}  // namespace warpfold::accelsim

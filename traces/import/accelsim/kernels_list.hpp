// SPDX-License-Identifier: Apache-2.0
// The list of what a traced program did, one line each: launches, each by the name of its file, and
// copies, which are passed over.
#pragma once

#include <filesystem>
#include <vector>

namespace warpfold::accelsim {

// The files of the launches in order, beside the list. A name of a file that is not grouped by
// thread block (kernel-1.trace) stands for the grouped one (kernel-1.traceg). Throws
// trace::TraceError.
[[nodiscard]] std::vector<std::filesystem::path> read_kernels_list(
    const std::filesystem::path& path);

}  // namespace warpfold::accelsim

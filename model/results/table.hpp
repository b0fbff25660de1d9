// SPDX-License-Identifier: Apache-2.0
// Results as a table for people. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/outcome/run_result.hpp"

namespace warpfold {

// Right-aligned columns but for the first, two spaces apart, with a rule under the header row.
// Each row has as many cells as the header.
std::string align_columns(const std::vector<std::string>& header,
                          const std::vector<std::vector<std::string>>& rows);

// 6829596 -> "6,829,596".
std::string with_separators(std::uint64_t value);

// All runs: for each trace and GPU one table of cycles, traffic and checks, and one of where the
// sub-cores' cycles went and how busy the units were; with `bounds` also one of the lower bounds.
std::string results_table(const std::vector<RunResult>& runs, bool bounds = false);

}  // namespace warpfold

// SPDX-License-Identifier: Apache-2.0
// From the files that a program writes with <warpfold/record.cuh> to traces.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace warpfold::record {

struct HeaderLogOptions {
  std::vector<std::filesystem::path> files;
  std::filesystem::path out;
  std::string workload;  // for the traces' headers; empty: the kernel's name
  std::string scene;
};

// Makes `out`/STEM.wft of each file STEM.wfrec. `reductions`: as read_reduction_costs() gives them.
// `say` gets one line for each thing that the user wants to know. Throws trace::TraceError with one
// line for a file that is not whole; traces that were made before stay.
void traces_of_logs(const HeaderLogOptions& options, const nlohmann::json& reductions,
                    const std::function<void(const std::string&)>& say);

}  // namespace warpfold::record

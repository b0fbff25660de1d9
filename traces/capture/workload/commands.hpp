// SPDX-License-Identifier: Apache-2.0
// What can be done with a loaded workload. Each returns whether all was well.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "traces/capture/workload/workload.hpp"

namespace warpfold::capture::workload {

// Every variant against the CPU reference; the recorded values against what the baseline adds up
// to.
[[nodiscard]] bool check_command(Workload& workload);

struct TimeOptions {
  std::string scene;
  std::filesystem::path json;  // result, if not empty
  int warmup = 3;
  int runs = 200;
};
[[nodiscard]] bool time_command(Workload& workload, const TimeOptions& options);

struct EnergyOptions {
  std::string scene;
  std::filesystem::path json;  // result, if not empty
  double seconds = 2.5;        // of each loop
};
// Joules of a launch of each variant, sw-s and sw-b at their fastest threshold, beyond what the
// idle GPU takes. The gradients are cleared once in 100 ms. Throws CudaError where NVML does not
// read any.
[[nodiscard]] bool energy_command(Workload& workload, const EnergyOptions& options);

// Launches each policy once: to be run under a profiler. None: one of each variant.
[[nodiscard]] bool launch_command(Workload& workload, const std::vector<std::string>& policies);

struct RecordOptions {
  std::string label;  // workload in the header: "PR-WS"
  std::string scene;  // in the header, and name of the output
  std::filesystem::path out = ".";
  std::filesystem::path costs;     // from sass_cost.py, if not empty
  std::filesystem::path times;     // from the time command, if not empty
  std::filesystem::path manifest;  // gets or renews the traces' entries, if not empty
  std::string command;             // that is running
  std::uint64_t ctas = 0;          // at most so many in SCENE.wft; 0: all
  std::uint64_t value_bytes = 1'600'000;
};
// Writes SCENE.wft, SCENE-values.wft and SCENE-counts.json, reads both traces back and compares.
[[nodiscard]] bool record_command(Workload& workload, const RecordOptions& options);

}  // namespace warpfold::capture::workload

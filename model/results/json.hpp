// SPDX-License-Identifier: Apache-2.0
// Results as JSON, schema "warpfold.sim/1". Keys keep their order and numbers read back as exactly
// the same, so that two runs of one simulation differ in wall time only. Pure functions.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "model/machine/config.hpp"
#include "model/outcome/run_result.hpp"

namespace warpfold {

// An object of what (name, value) pairs name, in their order.
template <typename Values>
nlohmann::ordered_json named_values(const Values& values) {
  nlohmann::ordered_json out = nlohmann::ordered_json::object();
  for (const auto& [name, value] : values) {
    out[name] = value;
  }
  return out;
}

// Every parameter under its section, as in a GPU file.
nlohmann::ordered_json config_to_json(const GpuConfig& gpu);

struct Speedup {
  // Cycles of the baseline run of the same trace, GPU and unit over those of the run; nothing where
  // that baseline was not run.
  std::optional<double> factor;
  // One of the two takes other than its measured time, by more than kMostDeviation of that.
  bool is_doubtful = false;
};
constexpr double kMostDeviation = 0.15;
std::vector<Speedup> speedups(const std::vector<RunResult>& runs);

// The kind of unit whose lower bound of the run's cycles is the highest, the first of equals, and
// that bound over the cycles; nothing if the run has no bounds.
struct TightestBound {
  std::string unit;
  std::uint64_t cycles = 0;
  double achieved = 0;
  friend bool operator==(const TightestBound&, const TightestBound&) = default;
};
std::optional<TightestBound> tightest_bound(const RunResult& run);

// True where `gpu` is the machine on which the kernel was timed: "h200" and "NVIDIA H200".
bool is_measured_gpu(const std::string& gpu, const std::string& measured_gpu);

// Measured time of the run's kernel variant in SM cycles; nothing if it was not measured.
std::optional<double> measured_cycles(const RunResult& run);
// Simulated over measured cycles, with what the launch itself takes where it is in the measured
// time (latency.launch); nothing if it was not measured or on another GPU.
std::optional<double> measured_ratio(const RunResult& run);

// {"schema": "warpfold.sim/1", "runs": [...]}, indented, with a newline at its end. `partial`: runs
// are missing since somebody has stopped them; "partial": true says so.
std::string results_to_json(const std::vector<RunResult>& runs, bool partial = false);

// {"schema": "warpfold.energy-model/1", "runs": [...]}: what each run's energy is made of.
std::string energies_to_json(const std::vector<RunResult>& runs, bool partial = false);

}  // namespace warpfold

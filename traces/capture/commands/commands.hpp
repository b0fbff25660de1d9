// SPDX-License-Identifier: Apache-2.0
// The subcommands of warpfold_capture. Each returns an exit code: 0 done, 1 a check failed. Bad
// input throws InputError or trace::TraceError, a failing GPU throws CudaError.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "traces/capture/splat/output.hpp"
#include "traces/capture/splat/scene.hpp"

namespace warpfold::capture {

struct SceneOptions {
  std::filesystem::path scene;
  std::filesystem::path cameras;
  std::string name;  // of the view in `cameras`
  TileRule tiles = TileRule::kBox;
};

struct CheckOptions {
  SceneOptions scene;  // without a path only the random scene is checked
  std::uint64_t seed = 1;
};
// GPU against CPU: projection, picture, gradients under every policy, recording and values.
int check_command(const CheckOptions& options);

struct TimeOptions {
  SceneOptions scene;
  std::filesystem::path json;  // result, if not empty
  int warmup = 3;
  int runs = 200;
};
int time_command(const TimeOptions& options);

struct EnergyOptions {
  SceneOptions scene;
  std::filesystem::path json;         // result, if not empty
  double seconds = 2.5;               // of each loop
  std::vector<std::string> policies;  // beside those that are always measured
};
// Joules of a launch: baseline, the fastest sw-b and sw-s, skip, and other policies; what the idle
// GPU takes is also given, and subtracted.
int energy_command(const EnergyOptions& options);

struct LaunchOptions {
  SceneOptions scene;
  std::vector<std::string> policies;  // empty: one launch of each variant
};
// Launches the backward kernels once each and nothing else: to be run under a profiler.
int launch_command(const LaunchOptions& options);

using CaptureOptions = OutputOptions;
// Writes NAME.wft, NAME-values.wft and NAME-counts.json, reads both traces back and compares.
int capture_command(const CaptureOptions& options);

}  // namespace warpfold::capture

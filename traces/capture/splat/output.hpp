// SPDX-License-Identifier: Apache-2.0
// From a recorded frame to its files, whoever recorded it: GPU or host. Host only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>

#include "traces/capture/splat/recording.hpp"
#include "traces/capture/splat/scene_file.hpp"
#include "traces/format/trace.hpp"

namespace warpfold::capture {

struct OutputOptions {
  std::filesystem::path scene;    // file of the Gaussians
  std::filesystem::path cameras;  // file of the viewpoints, for a .splat file
  std::string name;  // of the output, and of the view for a .splat file; if empty the scene's
  TileRule tiles = TileRule::kBox;
  std::string workload;
  std::filesystem::path out = ".";  // folder
  std::filesystem::path costs;      // from sass_cost.py, if not empty
  std::filesystem::path times;      // from time_command, if not empty
  std::filesystem::path manifest;   // gets or renews the traces' entries, if not empty
  std::uint64_t value_bytes = 1'600'000;
};

// Who recorded the frame. Registers of 0 are taken from the costs: those of sm_90's baseline.
struct Recorder {
  std::string program;
  std::string gpu, driver, cuda;
  std::uint32_t registers = 0;
  std::uint32_t shared_bytes = 0;
  std::uint64_t addresses[kParameters] = {};
  std::map<std::string, std::string> provenance;
};

// Addresses where no GPU gave any: the gradient arrays one behind the other, each at a multiple of
// 512 bytes as CUDA's allocator gives them.
void choose_addresses(std::uint64_t gaussians, std::uint64_t (&addresses)[kParameters]);

struct RecordedFrame {
  const TileLists& lists;
  const Recording& recording;
  std::uint64_t gaussians = 0;
  std::uint64_t visible = 0;
  std::function<void(SampledValues&)> values;  // fills SampledValues::values
};

// Prints the statistics, writes NAME.wft, NAME-values.wft and NAME-counts.json, reads both traces
// back and compares. Returns whether they hold what was recorded. Throws InputError and
// trace::TraceError.
[[nodiscard]] bool write_output(const OutputOptions& options, const Recorder& recorder,
                                const Scene& scene, const RecordedFrame& frame);

}  // namespace warpfold::capture

// SPDX-License-Identifier: Apache-2.0
// The options that both recorders take.
#pragma once

#include <CLI/CLI.hpp>

#include "traces/capture/splat/output.hpp"
#include "traces/capture/splat/tiles_option.hpp"

namespace warpfold::capture {

inline void add_output_options(CLI::App& command, OutputOptions& options) {
  command.add_option("--scene", options.scene, "Gaussians, a .splat or .gaussians file")
      ->required();
  command.add_option("--camera", options.cameras, "viewpoints for a .splat file, a cameras.json");
  command.add_option("--name", options.name,
                     "which viewpoint of a .splat file; also the name of the output");
  add_tiles_option(command, options.tiles);
  command.add_option("--workload", options.workload, "name of the workload")->capture_default_str();
  command.add_option("--out", options.out, "folder for the output")->capture_default_str();
  command.add_option("--costs", options.costs, "instruction costs, from sass_cost.py");
  command.add_option("--manifest", options.manifest,
                     "a MANIFEST.json that gets entries of the traces");
  command.add_option("--value-bytes", options.value_bytes, "raw size of the sampled values")
      ->capture_default_str();
}

}  // namespace warpfold::capture

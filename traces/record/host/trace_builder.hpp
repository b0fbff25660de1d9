// SPDX-License-Identifier: Apache-2.0
// A followed launch becomes a trace file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "traces/format/trace.hpp"
#include "traces/record/host/kernel_code.hpp"
#include "traces/record/host/launch_tracker.hpp"
#include "traces/record/host/sites.hpp"

namespace warpfold::record {

// A launch as the program made it.
struct LaunchInfo {
  std::string function;       // name of the kernel in the cubin
  std::uint32_t ordinal = 0;  // how many launches of it there were up to this one
  std::uint32_t grid[3] = {1, 1, 1};
  std::uint32_t block[3] = {1, 1, 1};
  std::uint32_t registers = 0;
  std::uint32_t cluster[3] = {0, 0, 0};  // 0: not launched in clusters
  std::uint32_t shared_bytes = 0;        // static and dynamic
  bool in_graph = false;
  bool cooperative = false;  // its CTAs may wait for each other
  std::string parameters;    // their bytes in hexadecimal digits; empty where they are not known
  std::string gpu, driver, cuda;
  std::map<std::uint64_t, std::uint64_t> allocations;  // address -> bytes
  std::set<std::uint64_t> managed;                     // addresses of those that are managed memory
  std::map<std::uint64_t, std::string> array_names;    // of those that have one

  [[nodiscard]] LaunchShape shape(std::uint32_t every) const;
};

struct BuildInputs {
  const LaunchInfo& launch;
  const KernelCode& code;
  const LaunchTracker& tracker;
  // For each of ways_gone(), as CodeReader::ways() gives them.
  const WayCosts& way_costs;
  const nlohmann::json& reductions;  // reduction_costs.json
  std::vector<trace::VariantTime> times;
  trace::CostSource costs_from = trace::CostSource::kUnsaid;
  std::map<std::string, std::string> provenance;
  std::string workload, scene;
  std::function<bool()> stop = {};  // asked at each CTA: true ends it
};

struct BuiltTrace {
  std::uint64_t events = 0;
  std::uint64_t lane_additions = 0;
  // Of the recorded CTAs, by the costs in the trace: what ncu counts as smsp__inst_executed.sum.
  trace::InstructionBounds instructions;
  // Of these, atomics, barriers, loads and stores that have records, which are in no cost.
  std::uint64_t instructions_beside = 0;
  std::uint64_t accesses = 0;     // loads and stores
  std::uint64_t sectors = 0;      // that they touch
  double estimated = 0;           // share of them on ways that are estimated
  std::uint64_t lost_passes = 0;  // passes by ways that the machine code does not have
  std::size_t sites = 0;
};

// Writes the trace. Throws trace::TraceError with one line, and leaves no file, where it cannot or
// is stopped.
BuiltTrace build_trace(const BuildInputs& inputs, const LaunchShape& shape,
                       const std::filesystem::path& path);

}  // namespace warpfold::record

// SPDX-License-Identifier: Apache-2.0
// A trace that was written, and what its costs rest on: to hold them to ncu's counts afterwards.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "traces/format/trace.hpp"
#include "traces/record/host/kernel_code.hpp"
#include "traces/record/host/launch_key.hpp"

namespace warpfold::record {

struct RecordedTrace {
  std::filesystem::path path, cubin;
  std::string arch, function;
  std::size_t process = 0;  // among those of the run
  LaunchKey key;
  std::size_t of_key = 0;     // launches of the key in the process ahead of it
  std::uint32_t of_name = 1;  // so many of its name in the process, this one among them
  std::uint32_t every = 1;    // one CTA in so many was recorded
  WayPasses ways;
  WayCosts costs;
  std::uint64_t beside = 0;       // warp instructions that are in no cost
  bool counted = false;           // costs are held to counts
  std::uint64_t ncu_counted = 0;  // then: warp instructions that ncu counted in what was recorded
  std::uint64_t by_code = 0;      // and those by the machine code alone

  // Warp instructions by the costs.
  [[nodiscard]] std::uint64_t warp_instructions() const;
  // Whether any way has a cost.
  [[nodiscard]] bool has_costs() const;
};

// Gives the trace costs that agree with ncu's counts of its launch, a CSV. Throws trace::TraceError
// with one line where the counts and the ways do not go together; all stays as it was.
void hold_to(RecordedTrace& trace, const std::string& csv, const CodeReader& reader,
             const std::filesystem::path& scratch);

// Writes the file anew with these times, what else is known of its making, and the costs that the
// trace has now.
void settle(const RecordedTrace& trace, std::vector<trace::VariantTime> times,
            const std::map<std::string, std::string>& provenance);

// Leaves NAME.cubin and NAME.ways.json beside the trace: what `kernel_code.py check` holds against
// ncu.
void keep_code(const RecordedTrace& trace);

}  // namespace warpfold::record

// SPDX-License-Identifier: Apache-2.0
// What was read of a launch is written as a trace.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "traces/format/progress.hpp"
#include "traces/format/trace.hpp"
#include "traces/import/accelsim/launch_header.hpp"
#include "traces/import/accelsim/runs.hpp"
#include "traces/import/accelsim/spill.hpp"
#include "traces/import/accelsim/warp_reader.hpp"
#include "traces/import/accelsim/ways.hpp"

namespace warpfold::accelsim {

struct LaunchParts {
  const LaunchHeader& header;
  const Ways& ways;
  const Runs& runs;
  const InstructionCounts& counts;
  const std::vector<trace::MemorySite>& memory;
  std::uint64_t ctas = 0;  // in the file
};

struct TraceNames {
  std::string workload, scene;
  std::filesystem::path source;  // the launch's file
};

// `complete`, if it is not empty, may add to the header. Returns the number of events. Throws
// FileError for what a trace cannot hold of the launch, else trace::TraceError.
std::uint64_t write_trace_file(const std::filesystem::path& path, const TraceNames& names,
                               const LaunchParts& parts, Spill& spill, const trace::Step& step,
                               const std::function<void(trace::Header&)>& complete);

}  // namespace warpfold::accelsim

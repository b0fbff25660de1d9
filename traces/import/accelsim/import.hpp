// SPDX-License-Identifier: Apache-2.0
// Instruction traces of Accel-Sim's tracer become traces of atomics.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <string>

#include "traces/format/progress.hpp"
#include "traces/format/trace.hpp"

namespace warpfold::accelsim {

struct ImportOptions {
  std::filesystem::path list = {};  // kernelslist.g
  std::string kernel = {};          // regular expression of names of kernels; empty for all
  std::uint32_t launch = 1;         // of each kernel, from 1 on; 0 for all
  std::filesystem::path out = ".";
  std::string workload = "accel-sim";
  std::string scene = {};
  bool loads = true;  // with memory instructions and what they touch
  // Given the header of each trace, which has the costs of the baseline; may add to it.
  std::function<void(trace::Header&)> complete = nullptr;
  // Told what is wrong with a launch that cannot be read, and of what is passed over: one line.
  std::function<void(const std::string&)> complain = nullptr;
};

struct ImportOutcome {
  std::size_t launches = 0;  // that were asked for and read
  std::size_t traces = 0;    // that were written: those that add floats
  std::size_t refused = 0;   // launches that cannot be read, of those that may be asked for
};

// One trace in `out` for each launch that is asked for, named as its file, and a line to `printed`.
// Launches that add no floats have none. A launch that cannot be read is told of, and the next one
// taken. Throws trace::TraceError for a list that cannot be read or a trace that cannot be written,
// or where `step` gives the work up; traces that were finished before stay.
ImportOutcome import_accelsim(const ImportOptions& options, std::ostream& printed,
                              const trace::Step& step = nullptr);

}  // namespace warpfold::accelsim

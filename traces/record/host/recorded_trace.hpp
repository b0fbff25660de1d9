// SPDX-License-Identifier: Apache-2.0
// A trace that was written, and what its costs rest on: to hold them to ncu's counts afterwards.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "traces/format/trace.hpp"
#include "traces/record/host/kernel_code.hpp"

namespace warpfold::record {

struct RecordedTrace {
  std::filesystem::path path, cubin;
  std::string arch, function;
  std::uint32_t ordinal = 1;  // launch of the kernel, from 1 on
  std::uint32_t every = 1;    // one CTA in so many was recorded
  WayPasses ways;
  nlohmann::json costs;      // of each way
  std::uint64_t beside = 0;  // warp instructions that are in no cost: atomics and barriers

  // Warp instructions by the costs.
  [[nodiscard]] std::uint64_t warp_instructions() const;
  // Whether any way has a cost.
  [[nodiscard]] bool has_costs() const;
};

// ncu is missing or may not count.
class CannotCount : public trace::TraceError {
 public:
  using trace::TraceError::TraceError;
};

// Runs the program under ncu, which counts each instruction of the launch, and gives the trace
// costs that agree with the counts. Throws CannotCount, or trace::TraceError where the counts and
// the ways do not go together, with one line; the trace stays as it was.
void refine(RecordedTrace& trace, const std::vector<std::string>& command, const CodeReader& reader,
            const std::filesystem::path& scratch);

// Leaves NAME.cubin and NAME.ways.json beside the trace: what `kernel_code.py check` holds against
// ncu.
void keep_code(const RecordedTrace& trace);

}  // namespace warpfold::record

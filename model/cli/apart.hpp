// SPDX-License-Identifier: Apache-2.0
// Work with units of somebody else in a process of its own, so that whatever they do to it is a
// verdict: end it, crash it, never come back, take all memory, or leave processes behind.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "model/results/output_file.hpp"
#include "model/unit/unit_pulse.hpp"

namespace CLI {
class App;
}

namespace warpfold::cli {

struct ApartLimits {
  std::uint32_t seconds = 60;       // of one call of a unit's code
  std::uint64_t memory_mib = 4096;  // of each process
  std::size_t processes = 64;       // at once
  std::string unit;                 // what the verdict calls it
};

// What the work is given.
class Apart {
 public:
  // In this process.
  Apart() = default;
  Apart(UnitPulse* pulse, int socket) : pulse_(pulse), socket_(socket) {}
  // For UnitLibrary.
  [[nodiscard]] UnitPulse* pulse() const { return pulse_; }
  // For OutputFile: the file is written when the process has ended, and with it all that it began.
  [[nodiscard]] Deliver deliver() const;

 private:
  UnitPulse* pulse_ = nullptr;
  int socket_ = -1;
};

struct ApartResult {
  int code = 0;         // of the work, if there is no verdict
  std::string verdict;  // one line: how the unit ended the work; empty if it did not
  std::vector<std::pair<std::string, std::string>> outputs;  // path and text
};

// The work returns the command's exit code; what it throws is told on stderr, as the command does
// it. Returns when nothing of it runs any more. A signal that asks the command to end is passed on.
[[nodiscard]] ApartResult run_apart(const ApartLimits& limits,
                                    const std::function<int(const Apart&)>& work);

// Writes what the work delivered, and returns the command's exit code. A verdict goes to stderr;
// nothing is written then.
int finish_apart(const ApartResult& result);

// --unit-seconds and --unit-memory.
void add_apart_options(CLI::App& app, ApartLimits& limits);

}  // namespace warpfold::cli

// SPDX-License-Identifier: Apache-2.0
// Records launches of a program that stays as it is.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "traces/record/host/recorder_build.hpp"

namespace warpfold::record {

struct RecordOptions {
  std::vector<std::string> command;
  std::string kernel;           // regular expression that is found in the kernel's name; empty: any
  std::uint32_t launch = 1;     // of each kernel, the so-manieth launch; 0: all
  std::uint32_t every = 1;      // of each so many CTAs the middle one
  std::uint32_t time_runs = 3;  // runs before that only measure times
  std::uint32_t patience = 300;  // seconds that the recorder waits for something that stands still
  bool loads = true;             // with what ordinary loads and stores touch
  bool profile = true;           // hold the costs of each trace to the counts of a run under ncu
  bool keep_code = false;        // leave each kernel's machine code and ways beside its trace
  std::filesystem::path out = ".";
  std::string workload;  // for the traces' headers; empty: the program's name
  std::string scene;
};

// What recording needs: the injected libraries and the patches, the folder of the Python package,
// and the table of costs.
struct RecordTools {
  Recorder recorder;
  std::filesystem::path costs, reductions;
  std::filesystem::path listings;  // folder that keeps those of machine code
};

// Of this build or installation, by where the running program lies, and of the CUDA toolkit that is
// there; `say` tells if the recorder is built first. Throws trace::TraceError that says what is
// missing.
[[nodiscard]] RecordTools find_tools(const std::function<void(const std::string&)>& say);

// Makes a folder for traces where there is none. Throws trace::TraceError where it cannot be
// written.
void check_folder(const std::filesystem::path& out);

struct RecordOutcome {
  std::size_t traces = 0;
  std::size_t failed = 0;  // launches that were to be recorded and could not be
  int program_status = 0;
  int interrupted = 0;  // SIGINT or SIGTERM, if it came
  bool loaded = false;  // the program has loaded the recorder
  bool stuck = false;   // it was ended because the recorder waited in vain
};

// `say` gets one line for each thing that the user wants to know. Throws trace::TraceError where
// recording cannot go on; traces that were finished before are whole.
RecordOutcome record(const RecordOptions& options, const RecordTools& tools,
                     const std::function<void(const std::string&)>& say);

}  // namespace warpfold::record

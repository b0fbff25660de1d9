// SPDX-License-Identifier: Apache-2.0
// How often each instruction was issued in launches of the program: one run of it under ncu.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "traces/format/trace.hpp"
#include "traces/record/host/launch_key.hpp"

namespace warpfold::record {

// What is to be counted.
struct CountRequest {
  std::set<std::string> functions;
  std::set<std::uint32_t> ordinals;  // of each, from 1 on; empty: all
};

// Where a launch is to be found among those that were counted.
struct CountPlace {
  LaunchKey key;
  std::size_t processes = 0;  // that have launches that are counted
  std::size_t rank = 0;       // of the launch's among them
  std::size_t number = 0;     // of the launch among those of its kernel that are counted
  std::size_t of = 0;         // these
};

class LaunchCounts {
 public:
  // What ncu wrote. Throws trace::TraceError where it is no such CSV.
  [[nodiscard]] static LaunchCounts from_csv(const std::string& text);
  // The lines of the CSV that kernel_code.py reads of a launch: the heads of the columns and its
  // own. Empty where the run was not like the one that was recorded; `why` says what differs.
  [[nodiscard]] std::string csv_of(const CountPlace& place, std::string& why) const;

 private:
  struct Counted {
    LaunchKey key;
    std::string line;
  };
  std::string head_;
  // By the process's number, by kernel, in their order.
  std::map<std::uint64_t, std::map<std::string, std::vector<Counted>>> processes_;
};

// All warp instructions of the launch of such lines; 0 where they do not say.
[[nodiscard]] std::uint64_t counted_instructions(const std::string& csv);

// ncu is missing or may not count.
class CannotCount : public trace::TraceError {
 public:
  using trace::TraceError::TraceError;
};

// Runs the program under ncu. `input`: its standard input. Throws CannotCount.
[[nodiscard]] LaunchCounts count_launches(const CountRequest& request,
                                          const std::vector<std::string>& command,
                                          const std::filesystem::path& scratch,
                                          const std::string& input);

}  // namespace warpfold::record

// SPDX-License-Identifier: Apache-2.0
// One run of the user's program with the recording library in it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "traces/record/host/kernel_code.hpp"
#include "traces/record/host/launch_times.hpp"
#include "traces/record/host/launch_tracker.hpp"
#include "traces/record/host/program.hpp"
#include "traces/record/host/record.hpp"
#include "traces/record/host/recorded_trace.hpp"
#include "traces/record/host/trace_builder.hpp"

namespace warpfold::record {

using Say = std::function<void(const std::string&)>;

// What is known of one process of the program.
struct Process {
  std::map<std::uint64_t, std::filesystem::path> cubins;
  std::map<std::string, std::uint32_t> launches;  // of each kernel, so far
  // Of the launch at hand.
  std::optional<LaunchInfo> launch;
  const KernelCode* code = nullptr;
  std::filesystem::path cubin;
  std::unique_ptr<LaunchTracker> tracker;
};

// Decides which launches are recorded, and makes the traces of these, as their processes tell of
// them.
class Recording {
 public:
  // What it is given must outlive it.
  Recording(const RecordOptions& options, const RecordTools& tools,
            const std::filesystem::path& scratch, const Say& say);

  void on_message(Peer peer, Message kind, const std::string& bytes);
  void on_end(Peer peer);
  LaunchTimes times;
  RecordOutcome outcome;
  std::vector<RecordedTrace> traces;

 private:
  void on_launch(Peer peer, const nlohmann::json& json);
  void on_launch_end(Process& process, const std::string& error);
  void keep_cubin(Process& process, const std::string& bytes);
  const KernelCode* wanted_code(Process& process, const std::string& function,
                                std::uint64_t module);
  void finish(Process& process);
  [[nodiscard]] nlohmann::json costs_of(const Process& process, const WayPasses& ways) const;
  [[nodiscard]] WayPasses passes_of(const Process& process) const;
  void fail(const LaunchInfo& launch, const std::string& why);
  [[nodiscard]] std::filesystem::path path_of(const LaunchInfo& launch);

  const RecordOptions& options_;
  const std::filesystem::path scratch_;
  const Say& say_;
  const CodeReader reader_;
  const std::regex wanted_;
  nlohmann::json reductions_;
  std::map<Peer, Process> processes_;
  std::map<std::pair<std::filesystem::path, std::string>, std::optional<KernelCode>> code_;
  std::set<std::filesystem::path> written_;
  std::uint64_t cubins_ = 0;
};

}  // namespace warpfold::record

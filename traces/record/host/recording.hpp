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

#include "traces/record/host/counts.hpp"
#include "traces/record/host/kernel_code.hpp"
#include "traces/record/host/launch_key.hpp"
#include "traces/record/host/launch_tracker.hpp"
#include "traces/record/host/program.hpp"
#include "traces/record/host/record.hpp"
#include "traces/record/host/recorded_trace.hpp"
#include "traces/record/host/trace_builder.hpp"

namespace warpfold::record {

using Say = std::function<void(const std::string&)>;

// A launch that is being recorded.
struct ActiveLaunch {
  LaunchInfo info;
  std::size_t of_key = 0;     // launches of its key ahead of it in its process
  std::uint32_t of_name = 0;  // so many of its name, this one among them
  const KernelCode* code = nullptr;
  std::filesystem::path cubin;
  std::unique_ptr<LaunchTracker> tracker;  // null once it has failed
};

// What is known of one process of the program.
struct Process {
  std::size_t place = 0;  // among the run's
  std::map<std::uint64_t, std::filesystem::path> cubins;
  // Launches so far: of each kernel, which is code, and of each name, which several may share.
  std::map<std::pair<std::filesystem::path, std::string>, std::uint32_t> launches;
  std::map<std::string, std::uint32_t> by_name;
  std::map<std::uint32_t, ActiveLaunch> active;  // by slot
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
  // Whether the recorder has said that it waits in vain: the program is to end.
  [[nodiscard]] bool is_stuck() const { return outcome.stuck; }
  // Where a trace's launch is to be found in another run; once all processes have ended.
  [[nodiscard]] LaunchPlace place_of(const RecordedTrace& trace) const;
  // The same among launches that ncu counts.
  [[nodiscard]] CountPlace counted_place(const RecordedTrace& trace,
                                         const CountRequest& request) const;

  RecordOutcome outcome;
  std::vector<RecordedTrace> traces;

 private:
  struct Seen {};
  Process& process_of(Peer peer);
  void on_hello(Peer peer, const nlohmann::json& json);
  void on_launch(Peer peer, const nlohmann::json& json);
  void on_records(Process& process, const std::string& bytes);
  void on_allocations(Process& process, const nlohmann::json& json);
  void on_launch_end(Process& process, const nlohmann::json& json);
  void keep_cubin(Process& process, const std::string& bytes);
  std::size_t count(Process& process, const LaunchKey& key);
  const KernelCode* wanted_code(const std::filesystem::path& cubin, const std::string& function);
  LaunchAnswer::Verdict verdict(Process& process, const nlohmann::json& json, LaunchInfo& launch,
                                const KernelCode*& code);
  void finish(Process& process, ActiveLaunch& launch);
  [[nodiscard]] WayCosts costs_of(const ActiveLaunch& launch, const WayPasses& ways) const;
  [[nodiscard]] WayPasses passes_of(const ActiveLaunch& launch) const;
  void fail(const LaunchInfo& launch, const std::string& why);
  [[nodiscard]] std::filesystem::path path_of(const LaunchInfo& launch);

  const RecordOptions& options_;
  const std::filesystem::path scratch_;
  const Say& say_;
  const CodeReader reader_;
  const std::regex wanted_;
  nlohmann::json reductions_;
  std::map<Peer, Process> processes_;
  RunLaunches<Seen> run_;
  std::map<std::pair<std::filesystem::path, std::string>, std::optional<KernelCode>> code_;
  std::map<std::string, std::filesystem::path> cubins_;  // by what is in them
  std::set<std::filesystem::path> written_;
  std::set<std::string> noted_;
};

}  // namespace warpfold::record

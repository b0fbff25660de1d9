// SPDX-License-Identifier: Apache-2.0
#include "traces/record/host/record.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "traces/format/trace.hpp"
#include "traces/record/host/counts.hpp"
#include "traces/record/host/launch_times.hpp"
#include "traces/record/host/recording.hpp"
#include "traces/record/host/scratch.hpp"

namespace warpfold::record {

namespace {

namespace fs = std::filesystem;

constexpr const char* kUnconfirmed = "costs stay as the machine code has them, unconfirmed";

// What is asked of ncu: all launches that were recorded, in one run.
CountRequest request_for(const Recording& recording, const RecordOptions& options) {
  CountRequest request;
  for (const RecordedTrace& trace : recording.traces) {
    if (trace.has_costs()) {
      request.functions.insert(trace.function);
      if (options.launch != 0) {
        request.ordinals.insert(trace.of_name);
      }
    }
  }
  return request;
}

void hold_all(Recording& recording, const RecordOptions& options, const CodeReader& reader,
              const fs::path& scratch, const std::string& input, const Say& say) {
  const CountRequest request = request_for(recording, options);
  if (request.functions.empty()) {
    return;
  }
  try {
    const LaunchCounts counts = count_launches(request, options.command, scratch, input);
    for (RecordedTrace& trace : recording.traces) {
      if (!trace.has_costs()) {
        continue;
      }
      try {
        std::string why;
        const std::string csv = counts.csv_of(recording.counted_place(trace, request), why);
        if (csv.empty()) {
          throw trace::TraceError(why);
        }
        hold_to(trace, csv, reader, scratch);
        say(fmt::format(
            "{}: held to ncu's counts: {} warp instructions of {}; the machine code alone says {}",
            trace.path.string(), trace.warp_instructions(), trace.ncu_counted, trace.by_code));
      } catch (const trace::TraceError& error) {
        say(fmt::format("{}: {}: {}", trace.path.string(), kUnconfirmed, error.what()));
      }
    }
  } catch (const trace::TraceError& error) {
    say(fmt::format("{}: {}", kUnconfirmed, error.what()));
  }
}

// Times and costs go into the traces.
void settle_all(const Recording& recording, const LaunchTimes& times, bool timed, const Say& say) {
  for (const RecordedTrace& trace : recording.traces) {
    try {
      std::string why = "the launch took no time";
      std::vector<trace::VariantTime> found;
      const LaunchPlace place = recording.place_of(trace);
      std::map<std::string, std::string> provenance;
      if (place.processes > 1) {
        provenance["process"] = fmt::format("{} of {}", place.rank + 1, place.processes);
      }
      if (timed) {
        found = times.of(place, why);
        if (found.empty()) {
          say(fmt::format("{}: no time: the runs differ: {}", trace.path.string(), why));
        }
      }
      if (trace.counted || !found.empty() || !provenance.empty()) {
        settle(trace, std::move(found), provenance);
      }
    } catch (const std::runtime_error& error) {
      say(fmt::format("{}: {}", trace.path.string(), error.what()));
    }
  }
}

// Seconds that each part of the work took.
class Laps {
 public:
  void end(const char* what) {
    const auto now = Clock::now();
    const double seconds = std::chrono::duration<double>(now - began_).count();
    began_ = now;
    total_ += seconds;
    parts_ += fmt::format("{}{:.1f} {}", parts_.empty() ? "" : ", ", seconds, what);
  }
  [[nodiscard]] std::string text() const {
    return fmt::format("took {:.1f} s: {}", total_, parts_);
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point began_ = Clock::now();
  double total_ = 0;
  std::string parts_;
};

}  // namespace

void check_folder(const fs::path& out) {
  std::error_code failed;
  fs::create_directories(out, failed);
  if (failed || access(out.c_str(), W_OK) != 0) {
    throw trace::TraceError(out.string() + ": is no folder that can be written to");
  }
}

RecordOutcome record(const RecordOptions& options, const RecordTools& tools,
                     const std::function<void(const std::string&)>& say) {
  check_folder(options.out);
  const Scratch scratch;
  Recording recording(options, tools, scratch.path(), say);
  LaunchTimes times;
  bool timing = true;
  Program* running = nullptr;
  Program program(scratch.path(), {.on_message =
                                       [&](Peer peer, Message kind, const std::string& bytes) {
                                         if (!timing) {
                                           recording.on_message(peer, kind, bytes);
                                         } else if (kind == Message::kHello) {
                                           times.add_process(peer,
                                                             age_of(nlohmann::json::parse(bytes)));
                                         } else if (kind == Message::kTimes) {
                                           times.add(peer, bytes);
                                         }
                                         if (recording.is_stuck()) {
                                           running->end();
                                         }
                                       },
                                   .on_end =
                                       [&](Peer peer) {
                                         if (timing) {
                                           times.end_process(peer);
                                         } else {
                                           recording.on_end(peer);
                                         }
                                       }});
  running = &program;
  Laps laps;
  ProgramResult result;
  for (std::uint32_t run = 0;
       run < options.time_runs && result.status == 0 && result.interrupted == 0; ++run) {
    times.begin_run();
    result = program.run(options.command,
                         {.library = tools.recorder.time_library, .patches = {}, .patience = 0});
  }
  laps.end("to measure times");
  if (result.status == 0 && result.interrupted == 0) {
    timing = false;
    result = program.run(options.command, {.library = tools.recorder.record_library,
                                           .patches = tools.recorder.patches,
                                           .patience = options.patience});
  }
  laps.end("to record");
  if (options.profile && result.interrupted == 0 && !result.ended) {
    hold_all(recording, options,
             CodeReader(tools.costs, scratch.path(), tools.listings, tools.recorder.reports_rows),
             scratch.path(), program.input(), say);
  }
  laps.end("to count under ncu");
  settle_all(recording, times, options.time_runs > 0, say);
  if (options.keep_code) {
    for (const RecordedTrace& trace : recording.traces) {
      keep_code(trace);
    }
  }
  laps.end("to write");
  if (recording.outcome.traces > 0) {
    say(laps.text());
  }
  recording.outcome.program_status = result.status;
  recording.outcome.interrupted = result.interrupted;
  recording.outcome.loaded = result.heard;
  return recording.outcome;
}

RecordTools find_tools(const std::function<void(const std::string&)>& say) {
  const fs::path program = fs::read_symlink("/proc/self/exe");
  // It lies alike in a build and in an installation.
  const fs::path root = program.parent_path().parent_path() / "lib/warpfold";
  RecordTools tools{.recorder = {},
                    .costs = root / "python",
                    .reductions = root / "reduction_costs.json",
                    .listings = {}};
  for (const fs::path& file : {tools.costs / "__main__.py", tools.reductions, root / "recorder"}) {
    if (!fs::exists(file)) {
      throw trace::TraceError(file.string() + ": is missing");
    }
  }
  const Scratch scratch;
  tools.listings = cache_folder() / "listings";
  tools.recorder = recorder_for(find_toolkit(scratch.path()), root / "recorder", cache_folder(),
                                scratch.path(), say);
  return tools;
}

}  // namespace warpfold::record

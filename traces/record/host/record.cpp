// SPDX-License-Identifier: Apache-2.0
#include "traces/record/host/record.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "traces/format/trace.hpp"
#include "traces/record/host/recording.hpp"
#include "traces/record/host/scratch.hpp"

namespace warpfold::record {

namespace {

namespace fs = std::filesystem;

// Once it is clear that ncu cannot count, it is not asked again.
void refine_all(Recording& recording, const RecordOptions& options, const CodeReader& reader,
                const fs::path& scratch, const Say& say) {
  constexpr const char* kUnconfirmed = "costs stay as the machine code has them, unconfirmed";
  for (RecordedTrace& trace : recording.traces) {
    if (!trace.has_costs()) {
      continue;
    }
    try {
      refine(trace, options.command, reader, scratch);
      say(fmt::format("{}: held to ncu's counts: {} warp instructions", trace.path.string(),
                      trace.warp_instructions()));
    } catch (const CannotCount& error) {
      say(fmt::format("{}: {}", kUnconfirmed, error.what()));
      return;
    } catch (const trace::TraceError& error) {
      say(fmt::format("{}: {}: {}", trace.path.string(), kUnconfirmed, error.what()));
    }
  }
}

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
  Program program(scratch.path(), {.on_message =
                                       [&](Peer peer, Message kind, const std::string& bytes) {
                                         recording.on_message(peer, kind, bytes);
                                       },
                                   .on_end = [&](Peer peer) { recording.on_end(peer); }});
  ProgramResult result;
  for (std::uint32_t run = 0;
       run < options.time_runs && result.status == 0 && result.interrupted == 0; ++run) {
    result = program.run(options.command, tools.time_library, {});
  }
  if (result.status == 0 && result.interrupted == 0) {
    result = program.run(options.command, tools.record_library, tools.patches);
  }
  if (options.profile && result.interrupted == 0) {
    refine_all(recording, options, CodeReader(tools.costs, scratch.path()), scratch.path(), say);
  }
  if (options.keep_code) {
    for (const RecordedTrace& trace : recording.traces) {
      keep_code(trace);
    }
  }
  recording.outcome.program_status = result.status;
  recording.outcome.interrupted = result.interrupted;
  recording.outcome.loaded = result.heard;
  return recording.outcome;
}

std::optional<RecordTools> find_tools(std::string& missing) {
  const fs::path program = fs::read_symlink("/proc/self/exe");
  // It lies alike in a build and in an installation.
  const fs::path root = program.parent_path().parent_path() / "lib/warpfold";
  const RecordTools tools{.record_library = root / "libwarpfold_record.so",
                          .time_library = root / "libwarpfold_time.so",
                          .patches = root / "patches.fatbin",
                          .costs = root / "python",
                          .reductions = root / "reduction_costs.json"};
  for (const fs::path& file : {tools.record_library, tools.time_library, tools.patches,
                               tools.costs / "__main__.py", tools.reductions}) {
    if (!fs::exists(file)) {
      missing = file.string();
      return std::nullopt;
    }
  }
  return tools;
}

}  // namespace warpfold::record

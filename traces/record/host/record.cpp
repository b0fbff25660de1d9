// SPDX-License-Identifier: Apache-2.0
#include "traces/record/host/record.hpp"

#include <cxxabi.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <fstream>
#include <map>
#include <memory>
#include <regex>
#include <set>
#include <sstream>

#include "traces/format/trace.hpp"
#include "traces/format/whole_file.hpp"
#include "traces/record/host/launch_times.hpp"
#include "traces/record/host/program.hpp"
#include "traces/record/host/trace_builder.hpp"

namespace warpfold::record {

namespace {

namespace fs = std::filesystem;

std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && text ? text.get() : name;
}

// The name of a kernel without its namespaces and parameters, fit for a file.
std::string short_name(const std::string& function) {
  std::string name = demangled(function);
  if (name.starts_with("void ")) {
    name.erase(0, 5);
  }
  const std::string nameless = "(anonymous namespace)::";
  for (std::size_t at = name.find(nameless); at != std::string::npos; at = name.find(nameless)) {
    name.erase(at, nameless.size());
  }
  name.resize(std::min(name.find_first_of("<("), name.size()));
  if (const std::size_t colon = name.rfind("::"); colon != std::string::npos) {
    name.erase(0, colon + 2);
  }
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_') {
      c = '_';
    }
  }
  return name.empty() ? "kernel" : name.substr(0, 80);
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  return fmt::format("{:04}-{:02}-{:02}", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday);
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : " ") + word;
  }
  return text;
}

// A folder that is gone when this is.
class Scratch {
 public:
  Scratch() {
    const char* root = std::getenv("TMPDIR");
    std::string name = fmt::format("{}/warpfold-XXXXXX", root != nullptr && *root != 0 ? root : "/tmp");
    if (mkdtemp(name.data()) == nullptr) {
      throw trace::TraceError(name + ": a folder for temporary files cannot be made");
    }
    path_ = name;
  }
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

using Say = std::function<void(const std::string&)>;

// What is known of one process of the program.
class Process {
 public:
  std::map<std::uint64_t, fs::path> cubins;
  std::map<std::string, std::uint32_t> launches;  // of each kernel, so far
  // Of the launch at hand.
  std::optional<LaunchInfo> launch;
  const KernelCode* code = nullptr;
  fs::path cubin;
  std::unique_ptr<LaunchTracker> tracker;
};

class Recording {
 public:
  Recording(const RecordOptions& options, const RecordTools& tools, const fs::path& scratch, Say say)
      : options_(options),
        scratch_(scratch),
        say_(std::move(say)),
        reader_(tools.costs, scratch),
        wanted_(options.kernel.empty() ? ".*" : options.kernel) {
    std::ifstream file(tools.reductions);
    reductions_ = nlohmann::json::parse(file, nullptr, false).value("costs", nlohmann::json());
  }

  void on_message(Peer peer, Message kind, const std::string& bytes);
  void on_end(Peer peer);
  LaunchTimes times;
  RecordOutcome outcome;

 private:
  void on_launch(Peer peer, const nlohmann::json& json);
  void on_launch_end(Process& process, const std::string& error);
  void keep_cubin(Process& process, const std::string& bytes);
  const KernelCode* wanted_code(Process& process, const std::string& function, std::uint64_t module);
  void finish(Process& process);
  [[nodiscard]] nlohmann::json costs_of(
      const Process& process, const std::vector<std::vector<InstructionNumber>>& ways) const;
  void keep(const Process& process, const std::vector<std::vector<InstructionNumber>>& ways,
            const fs::path& trace) const;
  void fail(const LaunchInfo& launch, const std::string& why);
  [[nodiscard]] fs::path path_of(const LaunchInfo& launch);

  const RecordOptions& options_;
  const fs::path scratch_;
  const Say say_;
  const CodeReader reader_;
  const std::regex wanted_;
  nlohmann::json reductions_;
  std::map<Peer, Process> processes_;
  std::map<std::pair<fs::path, std::string>, std::optional<KernelCode>> code_;
  std::set<std::string> passed_over_;
  std::set<fs::path> written_;
  std::uint64_t cubins_ = 0;
};

void Recording::on_message(Peer peer, Message kind, const std::string& bytes) {
  Process& process = processes_[peer];
  switch (kind) {
    case Message::kHello:
      break;
    case Message::kModule:
      keep_cubin(process, bytes);
      break;
    case Message::kLaunch:
      on_launch(peer, nlohmann::json::parse(bytes));
      break;
    case Message::kRecords:
      if (process.tracker) {
        try {
          process.tracker->add({reinterpret_cast<const std::uint32_t*>(bytes.data()),
                                bytes.size() / sizeof(std::uint32_t)});
        } catch (const trace::TraceError& error) {
          fail(*process.launch, error.what());
          process.tracker.reset();
        }
      }
      break;
    case Message::kLaunchEnd:
      on_launch_end(process, nlohmann::json::parse(bytes).value("error", ""));
      break;
    case Message::kTimes:
      times.add(bytes);
      break;
  }
}

void Recording::on_end(Peer peer) {
  Process& process = processes_[peer];
  if (process.tracker) {
    fail(*process.launch, "the program ended while it ran");
  }
  processes_.erase(peer);
}

void Recording::keep_cubin(Process& process, const std::string& bytes) {
  std::uint64_t number = 0;
  if (bytes.size() < sizeof number) {
    throw trace::TraceError("the recorded program sends a module without a number");
  }
  bytes.copy(reinterpret_cast<char*>(&number), sizeof number);
  const fs::path path = scratch_ / fmt::format("module-{}.cubin", ++cubins_);
  trace::write_whole(path, bytes.substr(sizeof number));
  process.cubins[number] = path;
}

// The code of a kernel with additions; null, having said why, for others.
const KernelCode* Recording::wanted_code(Process& process, const std::string& function,
                                         std::uint64_t module) {
  const fs::path& cubin = process.cubins[module];
  auto [found, is_new] = code_.try_emplace({cubin, function});
  if (is_new) {
    try {
      found->second = reader_.describe(cubin, function);
    } catch (const trace::TraceError& error) {
      say_(fmt::format("{}: not recorded: {}", demangled(function), error.what()));
      if (!options_.kernel.empty()) {
        ++outcome.failed;
      }
    }
    if (found->second && !found->second->has_additions() && !options_.kernel.empty()) {
      say_(fmt::format("{}: not recorded: it adds no floats to global memory by atomics whose "
                       "result is not used",
                       demangled(function)));
    }
  }
  process.cubin = cubin;
  return found->second && found->second->has_additions() ? &*found->second : nullptr;
}

void Recording::on_launch(Peer peer, const nlohmann::json& json) {
  Process& process = processes_[peer];
  LaunchInfo launch;
  launch.function = json.at("function");
  launch.ordinal = ++process.launches[launch.function];
  for (std::size_t i = 0; i < 3; ++i) {
    launch.grid[i] = json.at("grid").at(i);
    launch.block[i] = json.at("block").at(i);
  }
  launch.registers = std::max(json.at("registers").get<std::uint32_t>(), 1U);
  launch.shared_bytes = json.at("static_shared").get<std::uint32_t>() +
                        json.at("dynamic_shared").get<std::uint32_t>();
  launch.gpu = json.at("gpu");
  launch.driver = json.at("driver");
  launch.cuda = json.at("cuda");
  for (const nlohmann::json& allocation : json.at("allocations")) {
    launch.allocations[allocation.at(0)] = allocation.at(1);
  }
  const bool chosen = (options_.launch == 0 || launch.ordinal == options_.launch) &&
                      (std::regex_search(launch.function, wanted_) ||
                       std::regex_search(demangled(launch.function), wanted_));
  process.code = chosen ? wanted_code(process, launch.function, json.at("module")) : nullptr;
  std::string additions;
  if (process.code != nullptr) {
    for (const Instruction& instruction : process.code->instructions) {
      additions.push_back(instruction.atomic && instruction.atomic->is_addition() ? 1 : 0);
    }
    const LaunchShape shape = launch.shape(options_.every);
    process.tracker = std::make_unique<LaunchTracker>(*process.code, shape);
    process.launch = std::move(launch);
  }
  const LaunchAnswer answer{.record = process.code != nullptr ? 1U : 0U,
                            .every = options_.every,
                            .instructions = additions.size()};
  Program::send(peer, &answer, sizeof answer);
  if (process.code != nullptr) {
    Program::send(peer, additions.data(), additions.size());
  }
}

void Recording::fail(const LaunchInfo& launch, const std::string& why) {
  ++outcome.failed;
  say_(fmt::format("{}, launch {}: no trace: {}", demangled(launch.function), launch.ordinal, why));
}

void Recording::on_launch_end(Process& process, const std::string& error) {
  if (!process.launch) {
    if (!error.empty()) {
      throw trace::TraceError("the recorder cannot start in the program: " + error);
    }
    return;
  }
  if (process.tracker && !error.empty()) {
    fail(*process.launch, error);
  } else if (process.tracker) {
    try {
      finish(process);
    } catch (const trace::TraceError& failure) {
      fail(*process.launch, failure.what());
    }
  }
  process.tracker.reset();
  process.launch.reset();
}

fs::path Recording::path_of(const LaunchInfo& launch) {
  const std::string base = short_name(launch.function);
  const std::string number = options_.launch == 1 ? "" : fmt::format("-{}", launch.ordinal);
  fs::path path = options_.out / (base + number + ".wft");
  for (int i = 2; written_.contains(path); ++i) {
    path = options_.out / fmt::format("{}{}.{}.wft", base, number, i);
  }
  written_.insert(path);
  return path;
}

// Of ways; nothing for each where the kernel's code is not understood.
nlohmann::json Recording::costs_of(const Process& process,
                                   const std::vector<std::vector<InstructionNumber>>& ways) const {
  try {
    return reader_.ways(process.cubin, process.launch->function, ways);
  } catch (const UnknownCode& error) {
    say_(fmt::format("{}: recorded without the work between its additions: {}",
                     demangled(process.launch->function), error.what()));
    return std::vector<nlohmann::json>(ways.size());
  }
}

// What `kernel_code.py check` holds against ncu.
void Recording::keep(const Process& process, const std::vector<std::vector<InstructionNumber>>& ways,
                     const fs::path& trace) const {
  const LaunchTracker& tracker = *process.tracker;
  std::map<WayIndex, std::uint64_t> passes;
  const LaunchShape shape = process.launch->shape(options_.every);
  for (std::uint64_t place = 0; place < shape.recorded_ctas(); ++place) {
    for (std::uint32_t warp = 0; warp < shape.warps_per_cta; ++warp) {
      for (const LogRecord& record : tracker.warp(place, warp)) {
        if (record.kind == LogRecord::Kind::kWay) {
          passes[record.index] += record.count;
        }
      }
    }
  }
  nlohmann::json counts = {{"schema", "warpfold.ways/1"},
                           {"function", process.launch->function},
                           {"ways", nlohmann::json::array()},
                           {"passes", nlohmann::json::array()}};
  for (const std::vector<InstructionNumber>& way : ways) {
    counts["ways"].push_back(offsets_of(way));
  }
  for (const auto& [way, count] : passes) {
    counts["passes"].push_back(count);
  }
  fs::path base = trace;
  trace::write_whole(base.replace_extension("ways.json"), counts.dump() + "\n");
  std::ifstream cubin(process.cubin, std::ios::binary);
  std::ostringstream text;
  text << cubin.rdbuf();
  trace::write_whole(base.replace_extension().replace_extension("cubin"), text.str());
}

void Recording::finish(Process& process) {
  const LaunchInfo& launch = *process.launch;
  process.tracker->finish();
  std::vector<std::vector<InstructionNumber>> ways;
  for (const WayIndex way : process.tracker->ways_gone()) {
    ways.push_back(process.tracker->ways().markers(way));
  }
  const nlohmann::json costs = costs_of(process, ways);
  const fs::path path = path_of(launch);
  const std::string program = fs::path(options_.command.front()).filename().string();
  const BuiltTrace built = build_trace(
      {.launch = launch,
       .code = *process.code,
       .tracker = *process.tracker,
       .way_costs = costs,
       .reductions = reductions_,
       .times = times.of(launch.function, launch.ordinal),
       .provenance = {{"date", today()},
                      {"command", joined(options_.command)},
                      {"kernel", demangled(launch.function)},
                      {"launch", std::to_string(launch.ordinal)},
                      {"recorder", "warpfold record"}},
       .workload = options_.workload.empty() ? program : options_.workload,
       .scene = options_.scene},
      launch.shape(options_.every), path);
  if (options_.keep_code) {
    keep(process, ways, path);
  }
  ++outcome.traces;
  say_(fmt::format("{}, launch {}: {} events at {} sites, {} lane additions, {} warp instructions",
                   demangled(launch.function), launch.ordinal, built.events, built.sites,
                   built.lane_additions, built.warp_instructions));
  if (built.estimated > 0.001) {
    say_(fmt::format("  {:.1f} % of the warp instructions are estimated", 100 * built.estimated));
  }
  if (built.lost_passes > 0) {
    say_(fmt::format("  {} passes by ways that the machine code does not have count as nothing",
                     built.lost_passes));
  }
  say_("  " + path.string());
}

void check_folder(const fs::path& out) {
  std::error_code failed;
  fs::create_directories(out, failed);
  if (failed || access(out.c_str(), W_OK) != 0) {
    throw trace::TraceError(out.string() + ": is no folder that can be written to");
  }
}

}  // namespace

RecordOutcome record(const RecordOptions& options, const RecordTools& tools,
                     const std::function<void(const std::string&)>& say) {
  check_folder(options.out);
  const Scratch scratch;
  Recording recording(options, tools, scratch.path(), say);
  Program program(scratch.path(),
                  {.on_message = [&](Peer peer, Message kind,
                                     const std::string& bytes) { recording.on_message(peer, kind, bytes); },
                   .on_end = [&](Peer peer) { recording.on_end(peer); }});
  ProgramResult result;
  for (std::uint32_t run = 0; run < options.time_runs && result.status == 0; ++run) {
    result = program.run(options.command, tools.time_library, {});
  }
  if (result.status == 0 && !result.interrupted) {
    result = program.run(options.command, tools.record_library, tools.patches);
  }
  recording.outcome.program_status = result.status;
  recording.outcome.interrupted = result.interrupted;
  return recording.outcome;
}

std::optional<RecordTools> find_tools(std::string& missing) {
  const fs::path program = fs::read_symlink("/proc/self/exe");
  // It lies alike in a build and in an installation.
  const fs::path root = program.parent_path().parent_path() / "lib/warpfold";
  const RecordTools tools{.record_library = root / "libwarpfold_record.so",
                          .time_library = root / "libwarpfold_time.so",
                          .patches = root / "patches.fatbin",
                          .costs = root / "costs",
                          .reductions = root / "reduction_costs.json"};
  for (const fs::path& file : {tools.record_library, tools.time_library, tools.patches,
                               tools.costs / "kernel_code.py", tools.reductions}) {
    if (!fs::exists(file)) {
      missing = file.string();
      return std::nullopt;
    }
  }
  return tools;
}

}  // namespace warpfold::record

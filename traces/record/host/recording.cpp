// SPDX-License-Identifier: Apache-2.0
#include "traces/record/host/recording.hpp"

#include <fmt/format.h>

#include <fstream>

#include "traces/format/name_match.hpp"
#include "traces/format/whole_file.hpp"
#include "traces/record/host/date.hpp"
#include "traces/record/host/json_number.hpp"
#include "traces/record/host/names.hpp"

namespace warpfold::record {

namespace fs = std::filesystem;

namespace {

constexpr double kLittle = 0.001;  // of estimated instructions nothing is said

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : " ") + word;
  }
  return text;
}

}  // namespace

Recording::Recording(const RecordOptions& options, const RecordTools& tools,
                     const fs::path& scratch, const Say& say)
    : options_(options),
      scratch_(scratch),
      say_(say),
      reader_(tools.costs, scratch),
      wanted_(options.kernel.empty() ? ".*" : options.kernel) {
  std::ifstream file(tools.reductions);
  const nlohmann::json json = nlohmann::json::parse(file, nullptr, false);
  if (!json.is_object()) {
    throw trace::TraceError(tools.reductions.string() + ": is no table of costs");
  }
  reductions_ = json.value("costs", nlohmann::json::object());
}

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
      say_(
          fmt::format("{}: not recorded: it adds no floats to global memory by atomics whose "
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
    launch.grid[i] = whole_number<std::uint32_t>(json.at("grid").at(i));
    launch.block[i] = whole_number<std::uint32_t>(json.at("block").at(i));
  }
  launch.registers = std::max(whole_number<std::uint32_t>(json.at("registers")), 1U);
  launch.shared_bytes = whole_number<std::uint32_t>(json.at("static_shared")) +
                        whole_number<std::uint32_t>(json.at("dynamic_shared"));
  launch.gpu = json.at("gpu");
  launch.driver = json.at("driver");
  launch.cuda = json.at("cuda");
  for (const nlohmann::json& allocation : json.at("allocations")) {
    launch.allocations[whole_number<std::uint64_t>(allocation.at(0))] =
        whole_number<std::uint64_t>(allocation.at(1));
  }
  const bool chosen = (options_.launch == 0 || launch.ordinal == options_.launch) &&
                      (trace::is_found_in(launch.function, wanted_) ||
                       trace::is_found_in(demangled(launch.function), wanted_));
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
nlohmann::json Recording::costs_of(const Process& process, const WayPasses& ways) const {
  try {
    nlohmann::json costs = reader_.ways(process.cubin, process.launch->function, ways);
    std::size_t at = 0;
    for (const WayIndex way : process.tracker->ways_gone()) {
      if (nlohmann::json& cost = costs[at++]; process.tracker->parted(way) && !cost.is_null()) {
        cost["estimated"] = true;
      }
    }
    return costs;
  } catch (const UnknownCode& error) {
    say_(fmt::format("{}: recorded without the work between its additions: {}",
                     demangled(process.launch->function), error.what()));
    return std::vector<nlohmann::json>(ways.ways.size());
  }
}

WayPasses Recording::passes_of(const Process& process) const {
  const LaunchTracker& tracker = *process.tracker;
  const LaunchShape shape = process.launch->shape(options_.every);
  std::map<WayIndex, std::uint64_t> passes;
  for (const WayIndex way : tracker.ways_gone()) {
    passes[way] = 0;
  }
  for (std::uint64_t place = 0; place < shape.recorded_ctas(); ++place) {
    for (std::uint32_t warp = 0; warp < shape.warps_per_cta; ++warp) {
      for (const LogRecord& record : tracker.warp(place, warp)) {
        if (record.kind == LogRecord::Kind::kWay) {
          passes[record.index] += record.count;
        }
      }
    }
  }
  WayPasses result;
  for (const auto& [way, count] : passes) {
    result.ways.push_back(tracker.ways().markers(way));
    result.passes.push_back(count);
  }
  return result;
}

void Recording::finish(Process& process) {
  const LaunchInfo& launch = *process.launch;
  process.tracker->finish();
  WayPasses ways = passes_of(process);
  nlohmann::json costs = costs_of(process, ways);
  const fs::path path = path_of(launch);
  const std::string program = fs::path(options_.command.front()).filename().string();
  const BuiltTrace built =
      build_trace({.launch = launch,
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
                   .scene = options_.scene,
                   .stop = Program::interrupted},
                  launch.shape(options_.every), path);
  ++outcome.traces;
  say_(fmt::format("{}, launch {}: {} events at {} sites, {} lane additions, {} warp instructions",
                   demangled(launch.function), launch.ordinal, built.events, built.sites,
                   built.lane_additions, built.warp_instructions));
  if (built.estimated > kLittle) {
    say_(fmt::format("  {:.1f} % of the warp instructions are estimated", 100 * built.estimated));
  }
  if (built.lost_passes > 0) {
    say_(fmt::format("  {} passes by ways that the machine code does not have count as nothing",
                     built.lost_passes));
  }
  say_("  " + path.string());
  traces.push_back({.path = path,
                    .cubin = process.cubin,
                    .arch = process.code->arch,
                    .function = launch.function,
                    .ordinal = launch.ordinal,
                    .every = options_.every,
                    .ways = std::move(ways),
                    .costs = std::move(costs),
                    .beside = built.instructions_beside});
}

}  // namespace warpfold::record

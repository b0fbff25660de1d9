// SPDX-License-Identifier: Apache-2.0
#include "traces/record/host/recording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <fstream>
#include <limits>
#include <span>
#include <string_view>

#include "traces/format/container.hpp"
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

void take_dimensions(const nlohmann::json& json, std::uint32_t (&to)[3]) {
  for (std::size_t i = 0; i < 3; ++i) {
    to[i] = whole_number<std::uint32_t>(json.at(i));
  }
}

// A launch as the recorder tells of it, still without its ordinal.
LaunchInfo described_launch(const nlohmann::json& json) {
  LaunchInfo launch;
  launch.function = json.at("function");
  take_dimensions(json.at("grid"), launch.grid);
  take_dimensions(json.at("block"), launch.block);
  take_dimensions(json.at("cluster"), launch.cluster);
  launch.in_graph = json.at("in_graph");
  launch.cooperative = json.at("cooperative");
  launch.registers = std::max(whole_number<std::uint32_t>(json.at("registers")), 1U);
  launch.shared_bytes = whole_number<std::uint32_t>(json.at("static_shared")) +
                        whole_number<std::uint32_t>(json.at("dynamic_shared"));
  launch.parameters = json.at("parameters");
  launch.gpu = json.at("gpu");
  launch.driver = json.at("driver");
  launch.cuda = json.at("cuda");
  return launch;
}

LaunchKey key_of(const LaunchInfo& launch) {
  return {.function = launch.function,
          .grid = std::to_array(launch.grid),
          .block = std::to_array(launch.block)};
}

}  // namespace

Recording::Recording(const RecordOptions& options, const RecordTools& tools,
                     const fs::path& scratch, const Say& say)
    : options_(options),
      scratch_(scratch),
      say_(say),
      reader_(tools.costs, scratch, tools.listings, tools.recorder.reports_rows),
      wanted_(options.kernel.empty() ? ".*" : options.kernel) {
  std::ifstream file(tools.reductions);
  const nlohmann::json json = nlohmann::json::parse(file, nullptr, false);
  if (!json.is_object()) {
    throw trace::TraceError(tools.reductions.string() + ": is no table of costs");
  }
  reductions_ = json.value("costs", nlohmann::json::object());
}

Process& Recording::process_of(Peer peer) {
  const auto [found, is_new] = processes_.try_emplace(peer);
  if (is_new) {
    found->second.place = run_.add_process({});
  }
  return found->second;
}

void Recording::on_message(Peer peer, Message kind, const std::string& bytes) {
  Process& process = process_of(peer);
  switch (kind) {
    case Message::kHello:
      on_hello(peer, nlohmann::json::parse(bytes));
      break;
    case Message::kModule:
      keep_cubin(process, bytes);
      break;
    case Message::kLaunch:
      on_launch(peer, nlohmann::json::parse(bytes));
      break;
    case Message::kSeen: {
      LaunchInfo launch = described_launch(nlohmann::json::parse(bytes));
      ++process.by_name[launch.function];
      count(process, key_of(launch));
      break;
    }
    case Message::kAllocations:
      on_allocations(process, nlohmann::json::parse(bytes));
      break;
    case Message::kRecords:
      on_records(process, bytes);
      break;
    case Message::kLaunchEnd:
      on_launch_end(process, nlohmann::json::parse(bytes));
      break;
    case Message::kTimes:
      break;
    case Message::kNote:
      if (const std::string text = nlohmann::json::parse(bytes).at("text");
          noted_.insert(text).second) {
        // It may begin with the name of a kernel.
        const std::size_t name = std::min(text.find(": "), text.size());
        say_(demangled(text.substr(0, name)) + text.substr(name));
      }
      break;
    case Message::kStuck: {
      const nlohmann::json json = nlohmann::json::parse(bytes);
      say_(fmt::format("the recorder has waited {} s for {}: the program is ended",
                       json.at("seconds").get<std::uint64_t>(),
                       json.at("what").get<std::string>()));
      outcome.stuck = true;
      break;
    }
  }
}

void Recording::on_end(Peer peer) {
  for (const auto& [slot, launch] : process_of(peer).active) {
    if (launch.tracker) {
      fail(launch.info, "the program ended while it ran");
    }
  }
  processes_.erase(peer);
}

void Recording::on_hello(Peer peer, const nlohmann::json& json) {
  run_.process(process_of(peer).place).age = age_of(json);
}

void Recording::keep_cubin(Process& process, const std::string& bytes) {
  std::uint64_t number = 0;
  if (bytes.size() < sizeof number) {
    throw trace::TraceError("the recorded program sends a module without a number");
  }
  bytes.copy(reinterpret_cast<char*>(&number), sizeof number);
  const std::string_view cubin = std::string_view(bytes).substr(sizeof number);
  const std::string hash =
      fmt::format("{:016x}-{}",
                  trace::container::xxh64(
                      {reinterpret_cast<const std::uint8_t*>(cubin.data()), cubin.size()}, 0),
                  cubin.size());
  const auto [found, is_new] = cubins_.try_emplace(hash, scratch_ / (hash + ".cubin"));
  if (is_new) {
    trace::write_whole(found->second, cubin);
  }
  process.cubins[number] = found->second;
}

// The launches of that key in the process, this one not among them.
std::size_t Recording::count(Process& process, const LaunchKey& key) {
  auto& launches = run_.process(process.place).launches[key];
  launches.emplace_back();
  return launches.size() - 1;
}

// The code of a kernel that is recorded; null, having said why where the user has named it, for
// others.
const KernelCode* Recording::wanted_code(const fs::path& cubin, const std::string& function) {
  auto [found, is_new] = code_.try_emplace({cubin, function});
  const bool named = !options_.kernel.empty();
  if (is_new) {
    try {
      found->second = reader_.describe(cubin, function);
    } catch (const trace::TraceError& error) {
      say_(fmt::format("{}: not recorded: {}", demangled(function), error.what()));
      outcome.failed += named ? 1U : 0U;
    }
    if (found->second && !found->second->has_atomics() && named) {
      say_(fmt::format("{}: not recorded: it has no atomics on global memory that can be seen",
                       demangled(function)));
    }
  }
  const bool wanted =
      found->second && found->second->has_atomics() && (named || found->second->adds_floats());
  return wanted ? &*found->second : nullptr;
}

// Sets `code` where the answer is kYes.
LaunchAnswer::Verdict Recording::verdict(Process& process, const nlohmann::json& json,
                                         LaunchInfo& launch, const KernelCode*& code) {
  if (!trace::is_found_in(launch.function, wanted_) &&
      !trace::is_found_in(demangled(launch.function), wanted_)) {
    return LaunchAnswer::kNever;
  }
  const fs::path& cubin = process.cubins[whole_number<std::uint64_t>(json.at("module"))];
  const KernelCode* found = wanted_code(cubin, launch.function);
  if (found == nullptr) {
    return LaunchAnswer::kNever;
  }
  launch.ordinal = ++process.launches[{cubin, launch.function}];
  const std::uint32_t of_name = ++process.by_name[launch.function];
  const std::size_t of_key = count(process, key_of(launch));
  if (options_.launch != 0 && launch.ordinal != options_.launch) {
    return launch.ordinal > options_.launch ? LaunchAnswer::kNoMore : LaunchAnswer::kNo;
  }
  code = found;
  const auto slot = whole_number<std::uint32_t>(json.at("slot"));
  ActiveLaunch& active = process.active[slot];
  active = {.info = launch,
            .of_key = of_key,
            .of_name = of_name,
            .code = code,
            .cubin = cubin,
            .tracker = {}};
  active.tracker = std::make_unique<LaunchTracker>(*code, active.info.shape(options_.every));
  return LaunchAnswer::kYes;
}

void Recording::on_launch(Peer peer, const nlohmann::json& json) {
  LaunchInfo launch = described_launch(json);
  const KernelCode* code = nullptr;
  const LaunchAnswer::Verdict answer = verdict(process_of(peer), json, launch, code);
  std::string wanted;
  if (code != nullptr) {
    for (const Instruction& instruction : code->instructions) {
      wanted.push_back(static_cast<char>(instruction.atomic                     ? kLaneAddresses
                                         : options_.loads && instruction.access ? kLines
                                                                                : kNothing));
    }
  }
  const LaunchAnswer message{
      .record = answer, .every = options_.every, .instructions = wanted.size()};
  Program::send(peer, &message, sizeof message);
  Program::send(peer, wanted.data(), wanted.size());
}

void Recording::on_allocations(Process& process, const nlohmann::json& json) {
  const auto found = process.active.find(whole_number<std::uint32_t>(json.at("slot")));
  if (found == process.active.end()) {
    return;
  }
  LaunchInfo& launch = found->second.info;
  for (const nlohmann::json& allocation : json.at("allocations")) {
    const auto address = whole_number<std::uint64_t>(allocation.at(0));
    launch.allocations[address] = whole_number<std::uint64_t>(allocation.at(1));
    if (allocation.at(2).get<bool>()) {
      launch.managed.insert(address);
    }
  }
}

// Records of several launches may come mixed; what stands together goes to its tracker together.
void Recording::on_records(Process& process, const std::string& bytes) {
  std::span<const std::uint32_t> words{reinterpret_cast<const std::uint32_t*>(bytes.data()),
                                       bytes.size() / sizeof(std::uint32_t)};
  while (!words.empty()) {
    const std::uint32_t slot = slot_of(words[0]);
    std::size_t length = 0;
    while (length + kHeadWords <= words.size() && slot_of(words[length]) == slot) {
      length +=
          record_words(words[length], static_cast<std::uint32_t>(std::popcount(words[length + 3])));
    }
    const auto found = process.active.find(slot);
    if (length == 0 || length > words.size() || found == process.active.end()) {
      throw trace::TraceError("the recorded program sends records of no launch");
    }
    if (ActiveLaunch& launch = found->second; launch.tracker) {
      try {
        launch.tracker->add(words.first(length));
      } catch (const trace::TraceError& error) {
        fail(launch.info, error.what());
        launch.tracker.reset();
      }
    }
    words = words.subspan(length);
  }
}

void Recording::fail(const LaunchInfo& launch, const std::string& why) {
  ++outcome.failed;
  say_(fmt::format("{}, launch {}: no trace: {}", demangled(launch.function), launch.ordinal, why));
}

void Recording::on_launch_end(Process& process, const nlohmann::json& json) {
  const std::string error = json.value("error", "");
  const auto found = process.active.find(whole_number<std::uint32_t>(json.at("slot")));
  if (found == process.active.end()) {
    if (!error.empty()) {
      throw trace::TraceError("the recorder cannot start in the program: " + error);
    }
    return;
  }
  ActiveLaunch launch = std::move(found->second);
  process.active.erase(found);
  if (launch.tracker && !error.empty()) {
    fail(launch.info, error);
  } else if (launch.tracker) {
    try {
      finish(process, launch);
    } catch (const trace::TraceError& failure) {
      fail(launch.info, failure.what());
    }
  }
}

LaunchPlace Recording::place_of(const RecordedTrace& trace) const {
  const auto& process = run_.process(trace.process);
  return {.key = trace.key,
          .processes = run_.processes(),
          .rank = run_.rank(trace.process),
          .number = trace.of_key,
          .of = process.launches.at(trace.key).size()};
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

CountPlace Recording::counted_place(const RecordedTrace& trace, const CountRequest& request) const {
  // Launches of a kernel in a process that are counted, up to one of an ordinal.
  const auto counted = [&](std::size_t process, const std::string& function,
                           std::size_t ordinal) -> std::size_t {
    std::size_t made = 0;
    for (const auto& [key, launches] : run_.process(process).launches) {
      made += key.function == function ? launches.size() : 0;
    }
    const std::size_t most = std::min(made, ordinal);
    return request.ordinals.empty() ? most
                                    : static_cast<std::size_t>(std::count_if(
                                          request.ordinals.begin(), request.ordinals.end(),
                                          [&](std::uint32_t one) { return one <= most; }));
  };
  constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
  CountPlace place{.key = trace.key,
                   .number = counted(trace.process, trace.function, trace.of_name) - 1,
                   .of = counted(trace.process, trace.function, kAll)};
  for (std::size_t process = 0; process < run_.processes(); ++process) {
    const bool any =
        std::any_of(request.functions.begin(), request.functions.end(),
                    [&](const std::string& f) { return counted(process, f, kAll) > 0; });
    place.processes += any ? 1U : 0U;
    place.rank += any && run_.rank(process) < run_.rank(trace.process) ? 1U : 0U;
  }
  return place;
}

// Of ways; nothing for each where the kernel's code is not understood.
WayCosts Recording::costs_of(const ActiveLaunch& launch, const WayPasses& ways) const {
  try {
    WayCosts costs = reader_.ways(launch.cubin, launch.info.function, ways);
    std::size_t at = 0;
    for (const WayIndex way : launch.tracker->ways_gone()) {
      const std::size_t number = at++;
      if (!launch.tracker->parted(way) || costs.whole[number].is_null()) {
        continue;
      }
      costs.whole[number]["estimated"] = true;
      if (ways.apart) {
        for (nlohmann::json& part : costs.parts[number]) {
          if (!part["cost"].is_null()) {
            part["cost"]["estimated"] = true;
          }
        }
      }
    }
    return costs;
  } catch (const UnknownCode& error) {
    say_(fmt::format("{}: recorded without the work between its additions: {}",
                     demangled(launch.info.function), error.what()));
    return {.whole = std::vector<nlohmann::json>(ways.ways.size()), .parts = nullptr};
  }
}

WayPasses Recording::passes_of(const ActiveLaunch& launch) const {
  const LaunchTracker& tracker = *launch.tracker;
  const LaunchShape shape = launch.info.shape(options_.every);
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
  result.apart = options_.loads;
  result.warps = shape.recorded_ctas() * shape.warps_per_cta;
  if (const LaunchInfo& info = launch.info; !info.parameters.empty()) {
    result.launch = {{"block", info.block}, {"grid", info.grid}, {"parameters", info.parameters}};
  }
  return result;
}

void Recording::finish(Process& process, ActiveLaunch& active) {
  const LaunchInfo& launch = active.info;
  active.tracker->finish();
  WayPasses ways = passes_of(active);
  WayCosts costs = costs_of(active, ways);
  const bool any_cost = std::any_of(costs.whole.begin(), costs.whole.end(),
                                    [](const nlohmann::json& cost) { return !cost.is_null(); });
  const fs::path path = path_of(launch);
  const std::string program = fs::path(options_.command.front()).filename().string();
  const BuiltTrace built =
      build_trace({.launch = launch,
                   .code = *active.code,
                   .tracker = *active.tracker,
                   .way_costs = costs,
                   .reductions = reductions_,
                   .times = {},
                   .costs_from = any_cost ? trace::CostSource::kCode : trace::CostSource::kUnsaid,
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
  say_(fmt::format("{}, launch {}: {} events at {} site{}, {} lane additions, {} warp instructions",
                   demangled(launch.function), launch.ordinal, built.events, built.sites,
                   built.sites == 1 ? "" : "s", built.lane_additions, built.instructions.taken));
  if (built.accesses > 0) {
    say_(fmt::format("  {} loads and stores of {} sectors", built.accesses, built.sectors));
  }
  if (built.estimated > kLittle) {
    say_(fmt::format("  {:.1f} % of the warp instructions are estimated: {} at least, {} at most",
                     100 * built.estimated, built.instructions.least, built.instructions.most));
  }
  if (built.lost_passes > 0) {
    say_(fmt::format("  {} passes by ways that the machine code does not have count as nothing",
                     built.lost_passes));
  }
  say_("  " + path.string());
  traces.push_back({.path = path,
                    .cubin = active.cubin,
                    .arch = active.code->arch,
                    .function = launch.function,
                    .process = process.place,
                    .key = key_of(launch),
                    .of_key = active.of_key,
                    .of_name = active.of_name,
                    .every = options_.every,
                    .ways = std::move(ways),
                    .costs = std::move(costs),
                    .beside = built.instructions_beside});
}

}  // namespace warpfold::record

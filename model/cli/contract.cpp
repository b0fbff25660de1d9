// SPDX-License-Identifier: Apache-2.0
// warpfold contract.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/cli/apart.hpp"
#include "model/cli/command.hpp"
#include "model/cli/progress_line.hpp"
#include "model/results/output_file.hpp"
#include "model/results/table.hpp"
#include "model/unit/contract_run.hpp"
#include "model/unit/unit_library.hpp"
#include "model/unit/wave_file.hpp"
#include "traces/format/reader.hpp"

namespace warpfold::cli {
namespace {

struct ContractArguments {
  std::vector<std::string> traces;
  std::string library;
  std::string unit = "rtl";
  std::string unit_kind = "serial";
  std::uint64_t seed = 1;
  std::uint64_t requests = ContractOptions{}.random_requests;
  std::uint64_t recorded = ContractOptions{}.recorded_requests;
  std::string replay;
  std::string save;
  std::string wave;
  std::string json;
  ApartLimits limits;
};

// Cycles up to the failure that are written.
constexpr std::size_t kCyclesToFailure = 2000;

// The last cycles of a replay as waves.
class LastCycles {
 public:
  void add(Cycle cycle, const UnitInputs& inputs, const UnitOutputs& outputs) {
    if (cycles_.size() == kCyclesToFailure) {
      cycles_.pop_front();
    }
    cycles_.emplace_back(cycle, PortValues{inputs, outputs});
  }
  [[nodiscard]] std::string file(const ArcUnit::Ports& ports) const {
    WaveFile file(ports, {"unit"});
    for (const auto& [cycle, values] : cycles_) {
      file.add(cycle, {&values});
    }
    return file.finish();
  }

 private:
  std::deque<std::pair<Cycle, PortValues>> cycles_;
};

std::unique_ptr<ContractFailure> replay_with_wave(const ContractOptions& options,
                                                  const Replay& replay, const OutputFile* wave) {
  LastCycles last;
  Scoreboard::Watch watch;
  if (wave != nullptr) {
    watch = [&last](Cycle cycle, const UnitInputs& inputs, const UnitOutputs& outputs) {
      last.add(cycle, inputs, outputs);
    };
  }
  std::unique_ptr<ContractFailure> failure = run_replay(options, replay, watch);
  if (wave != nullptr) {
    wave->write(last.file(options.declaration.ports));
  }
  return failure;
}

nlohmann::ordered_json to_json(std::string_view unit, const ContractResult& result) {
  nlohmann::ordered_json out;
  out["schema"] = "warpfold.contract/1";
  out["unit"] = unit;
  out["kept"] = result.failure == nullptr;
  if (result.failure) {
    out["rule"] = result.failure->rule;
    out["message"] = result.failure->message;
    out["replay_requests"] = result.failure->replay.requests();
    out["replay_cycles"] = result.failure->replay.cycles();
  }
  out["parts"] = nlohmann::ordered_json::array();
  for (const ContractPart& part : result.parts) {
    out["parts"].push_back({{"name", part.name},
                            {"requests", part.counts.requests},
                            {"lanes", part.counts.lanes},
                            {"cycles", part.counts.cycles},
                            {"sums", part.counts.sums},
                            {"summed_lanes", part.counts.summed_lanes},
                            {"reds", part.counts.reds}});
  }
  return out;
}

std::string text_of(const nlohmann::ordered_json& json) {
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

void print_parts(const ContractResult& result) {
  for (const ContractPart& part : result.parts) {
    std::cout << fmt::format("{}: {} requests, {} cycles, {} lanes in {} sums, {} REDs\n",
                             part.name, with_separators(part.counts.requests),
                             with_separators(part.counts.cycles),
                             with_separators(part.counts.summed_lanes),
                             with_separators(part.counts.sums), with_separators(part.counts.reds));
  }
}

void complain_of(const std::string& unit, const ContractFailure& failure) {
  complain(fmt::format("{}: {}: {}", unit, failure.rule, failure.message));
}

Replay read_replay(const std::string& path) {
  std::ifstream file(path);
  if (!file) {
    throw UsageError(fmt::format("{}: cannot be read", path));
  }
  try {
    return Replay::read(file);
  } catch (const std::invalid_argument& error) {
    throw UsageError(fmt::format("{}: {}", path, error.what()));
  }
}

std::optional<OutputFile> output(const std::string& path, const Apart& apart) {
  return path.empty() ? std::nullopt
                      : std::optional<OutputFile>(std::in_place, path, apart.deliver());
}

ContractOptions contract_options(const ContractArguments& arguments, const UnitLibrary* library) {
  ContractOptions options;
  options.seed = arguments.seed;
  options.random_requests = arguments.requests;
  options.recorded_requests = arguments.recorded;
  if (library != nullptr) {
    options.declaration = library->declaration();
    options.make_unit = [library] { return library->make(); };
  } else {
    const UnitModel model = parse_unit_model(arguments.unit);
    const UnitKind kind = parse_unit_kind(arguments.unit_kind);
    options.declaration = unit_declaration(kind);
    options.make_unit = [model, kind] { return make_unit(model, kind); };
  }
  return options;
}

int run_again(const ContractArguments& arguments, const ContractOptions& options,
              const Apart& apart) {
  const std::optional<OutputFile> wave = output(arguments.wave, apart);
  const Replay replay = read_replay(arguments.replay);
  const auto failure = replay_with_wave(options, replay, wave ? &*wave : nullptr);
  if (failure) {
    complain_of(arguments.replay, *failure);
    return kCheckFailed;
  }
  std::cout << fmt::format("{}: the unit keeps the contract: {} requests, {} cycles\n",
                           arguments.replay, with_separators(replay.requests()),
                           with_separators(replay.cycles()));
  return kDone;
}

int hold_to_contract(const ContractArguments& arguments, const Apart& apart) {
  std::optional<UnitLibrary> library;
  if (!arguments.library.empty()) {
    library.emplace(arguments.library, apart.pulse());
  }
  ContractOptions options = contract_options(arguments, library ? &*library : nullptr);
  if (!arguments.replay.empty()) {
    return run_again(arguments, options, apart);
  }
  const std::optional<OutputFile> json = output(arguments.json, apart);
  const std::optional<OutputFile> save = output(arguments.save, apart);
  const std::optional<OutputFile> wave = output(arguments.wave, apart);
  const std::vector<trace::Reader> traces = open_traces(arguments.traces);
  for (const trace::Reader& trace : traces) {
    options.traces.push_back(&trace);
  }
  ProgressLine line;
  if (line.enabled()) {
    options.progress = [&line](double share) { line.show(share, "random requests"); };
  }
  const ContractResult result = run_contract(options);
  line.wipe();
  print_parts(result);
  if (json) {
    json->write(text_of(to_json(options.declaration.name, result)));
  }
  if (!result.failure) {
    std::cout << fmt::format("{}: the unit keeps the contract\n", options.declaration.name);
    return kDone;
  }
  if (save) {
    save->write(result.failure->replay.text());
  }
  if (wave) {
    replay_with_wave(options, result.failure->replay, &*wave);
  }
  complain_of(std::string(options.declaration.name), *result.failure);
  return kCheckFailed;
}

int run_contract_command(const ContractArguments& arguments) {
  if (arguments.library.empty()) {
    return hold_to_contract(arguments, Apart());
  }
  ApartLimits limits = arguments.limits;
  limits.unit = arguments.library;
  const ApartResult result =
      run_apart(limits, [&](const Apart& apart) { return hold_to_contract(arguments, apart); });
  if (!result.verdict.empty() && !arguments.json.empty() && arguments.replay.empty()) {
    ContractResult ended;
    ended.failure = std::make_unique<ContractFailure>();
    ended.failure->rule = kKeepsRunning;
    ended.failure->message = result.verdict;
    OutputFile(arguments.json)
        .write(text_of(to_json(std::filesystem::path(arguments.library).stem().string(), ended)));
  }
  return finish_apart(result);
}

void add_outputs(CLI::App& contract, ContractArguments& arguments) {
  contract
      .add_option("--save-replay", arguments.save,
                  "Write what led to the first broken rule to this file")
      ->type_name("FILE")
      ->check(refuse_empty);
  contract
      .add_option("--wave", arguments.wave,
                  fmt::format("Write the ports up to the first broken rule, the last {} cycles\n"
                              "of the replay, to this file, an FST for GTKWave or Surfer",
                              kCyclesToFailure))
      ->type_name("FILE")
      ->check(refuse_empty);
  contract.add_option("--json", arguments.json, "Also write the result to this file")
      ->type_name("FILE")
      ->check(refuse_empty);
  contract
      .add_option("--replay", arguments.replay, "Do what this file of --save-replay says, alone")
      ->type_name("FILE")
      ->check(refuse_empty);
}

}  // namespace

void add_contract(CLI::App& app, Command& command) {
  auto arguments = std::make_shared<ContractArguments>();
  CLI::App* contract = app.add_subcommand(
      "contract", "Hold any unit to the contract of its ports, whatever its timing");
  contract->add_option("TRACE", arguments->traces,
                       "Warp atomic traces (.wft) whose requests it gets beside random ones");
  contract->add_option("--unit-library", arguments->library, kUnitLibraryHelp)->type_name("FILE");
  contract->add_option("--unit", arguments->unit, "Else a unit that is built in: rtl or golden")
      ->type_name("rtl|golden")
      ->capture_default_str();
  contract->add_option("--unit-kind", arguments->unit_kind, kUnitKindHelp)
      ->type_name(unit_kind_list("|", "|"))
      ->capture_default_str();
  contract
      ->add_option("--requests", arguments->requests,
                   "Random requests, over all sorts of\nback-pressure")
      ->type_name("N")
      ->check(refuse_negative)
      ->capture_default_str();
  contract->add_option("--recorded", arguments->recorded, "Requests of each trace at most")
      ->type_name("N")
      ->check(refuse_negative)
      ->capture_default_str();
  contract->add_option("--seed", arguments->seed, "Of requests and back-pressure")
      ->type_name("N")
      ->check(refuse_negative)
      ->capture_default_str();
  add_apart_options(*contract, arguments->limits);
  add_outputs(*contract, *arguments);
  std::string footer = "Sorts of back-pressure:\n";
  for (const Pressure& pressure : pressures()) {
    footer += fmt::format("  {:16} {}\n", pressure.name, pressure.description);
  }
  contract->footer(footer +
                   "\nStops at the first broken rule and says which; exit code 1.\n\n"
                   "Example:\n  warpfold contract truck-values.wft --unit-kind fused");
  contract->callback([arguments, &command] {
    command = [arguments] { return run_contract_command(*arguments); };
  });
}

}  // namespace warpfold::cli

// SPDX-License-Identifier: Apache-2.0
// warpfold sim.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "model/cli/apart.hpp"
#include "model/cli/command.hpp"
#include "model/cli/progress_line.hpp"
#include "model/cli/stop.hpp"
#include "model/machine/config.hpp"
#include "model/policy/policy.hpp"
#include "model/results/json.hpp"
#include "model/results/output_file.hpp"
#include "model/results/runner.hpp"
#include "model/results/table.hpp"
#include "model/results/timeline_json.hpp"
#include "model/unit/arc_unit.hpp"
#include "model/unit/unit_library.hpp"
#include "traces/format/whole_file.hpp"

namespace warpfold::cli {
namespace {

struct SimArguments {
  std::vector<std::string> traces;
  std::string gpus = "rtx4090";
  std::string policies = "all";
  std::string unit = "rtl";
  std::string unit_kind = "serial";
  std::string unit_library;
  std::uint32_t unit_divider = 1;
  Overrides overrides;
  std::string json;
  std::string energy;
  std::string timeline;
  std::uint64_t timeline_interval = 10000;
  std::string timeline_window = "0:5000";
  std::string timeline_sm = "0";
  std::string timeline_l2 = "0";
  std::string wave;
  std::string wave_cycles = "0:10000";
  std::uint32_t wave_sm = 0;
  std::uint32_t wave_subcore = 0;
  std::size_t jobs = std::max(1U, std::thread::hardware_concurrency());
  std::size_t threads = 0;
  bool reference = false;
  bool bounds = false;
  bool whole_gpu = false;
  std::string l2 = "measured";
  ApartLimits limits;
};

// Cycles, times blocks that are shown in detail, of one run.
constexpr std::uint64_t kMostDetail = 100'000;

TimelineDetail timeline_detail(const SimArguments& arguments) {
  const auto blocks = [](const char* option, const std::string& list) {
    return list == "none" ? std::vector<std::uint32_t>() : parse_numbers(option, list);
  };
  TimelineDetail detail{
      .window = parse_cycles("--timeline-window", arguments.timeline_window, kMostDetail),
      .sms = blocks("--timeline-sm", arguments.timeline_sm),
      .l2_ports = blocks("--timeline-l2", arguments.timeline_l2)};
  const std::uint64_t cycles = detail.window.end - detail.window.begin;
  const std::uint64_t count = detail.sms.size() + detail.l2_ports.size();
  if (cycles * count > kMostDetail) {
    throw UsageError(
        fmt::format("--timeline-window {}: {} cycles of {} SMs and L2 ports are more than {}",
                    arguments.timeline_window, cycles, count, kMostDetail));
  }
  return detail;
}

WavePlan wave_plan(const SimArguments& arguments, const SimulationPlan& plan,
                   const OutputFile& file) {
  if (plan.traces.size() != 1 || plan.gpus.size() != 1 || plan.policies.size() != 1 ||
      !plan.policies.front().has_unit()) {
    throw UsageError("--wave is of one run: one trace, one GPU and --policy arc-hw");
  }
  return {.window = parse_cycles("--wave-cycles", arguments.wave_cycles, kMostWaveCycles),
          .sm = arguments.wave_sm,
          .subcore = arguments.wave_subcore,
          .file = &file};
}

// The files that a run writes: each opened before it and written whole after it. JSON for standard
// output has none.
class Outputs {
 public:
  Outputs(const SimArguments& arguments, const Apart& apart)
      : arguments_(arguments), deliver_(apart.deliver()) {
    add("--json", arguments.json, results_to_json);
    add("--energy", arguments.energy, energies_to_json);
    add("--timeline", arguments.timeline, timelines_to_json);
  }
  [[nodiscard]] bool json_to_stdout() const { return arguments_.json == "-"; }
  // That of --wave, which is written while the run goes on.
  OutputFile& add_wave() {
    const std::string& path = arguments_.wave;
    refuse_inputs("--wave", path);
    for (const Output& other : outputs_) {
      if (other.path == path) {
        throw UsageError(fmt::format("--wave {}: is the file of {}", path, other.option));
      }
    }
    return wave_.emplace(path, deliver_);
  }
  // A file of results is complete or absent, or says that it is partial.
  void write(const SimulationReport& report, bool partial) {
    for (const Output& output : outputs_) {
      if (report.missing != 0 && !(partial && !report.runs.empty())) {
        complain(fmt::format("{}: not written: {} of {} runs gave no result", output.path,
                             report.missing, report.missing + report.runs.size()));
      } else if (output.file) {
        output.file->write(output.text(report.runs, partial));
      }
    }
  }

 private:
  using Text = std::string (*)(const std::vector<RunResult>&, bool);
  struct Output {
    std::string option;
    std::string path;
    Text text;
    std::optional<OutputFile> file;
  };

  void refuse_inputs(const char* option, const std::string& path) const {
    refuse_input_as_output(option, path, arguments_.traces);
    refuse_input_as_output(option, path, split_list(arguments_.gpus));
  }
  void add(const char* option, const std::string& path, Text text) {
    if (path.empty()) {
      return;
    }
    refuse_inputs(option, path);
    for (const Output& other : outputs_) {
      const bool stdout_too = json_to_stdout() && other.path == arguments_.json;
      if (trace::same_file(stdout_too ? "/dev/stdout" : other.path, path)) {
        throw UsageError(fmt::format("{} {}: is the file of {}", option, path, other.option));
      }
    }
    outputs_.push_back({option, path, text, std::nullopt});
    if (!json_to_stdout() || path != arguments_.json) {
      outputs_.back().file.emplace(path, deliver_);
    }
  }

  const SimArguments& arguments_;
  Deliver deliver_;
  std::vector<Output> outputs_;
  std::optional<OutputFile> wave_;
};

std::vector<GpuConfig> load_gpus(const SimArguments& arguments) {
  std::vector<GpuConfig> gpus;
  for (const std::string& name : split_list(arguments.gpus)) {
    GpuConfig gpu = load_gpu(name, arguments.overrides);
    for (const GpuConfig& other : gpus) {
      if (other.name == gpu.name) {
        throw UsageError(fmt::format("{}: another GPU is named '{}' too", name, gpu.name));
      }
    }
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

SimulationPlan make_plan(const SimArguments& arguments) {
  SimulationPlan plan;
  plan.policies = parse_policies(arguments.policies);
  plan.unit.model = parse_unit_model(arguments.unit);
  plan.unit.kind = parse_unit_kind(arguments.unit_kind);
  plan.reference = arguments.reference;
  plan.whole_gpu = arguments.whole_gpu;
  if (arguments.l2 != "measured") {
    plan.warm_l2 = arguments.l2 == "warm";
  }
  plan.jobs = arguments.jobs;
  plan.threads = arguments.threads;
  plan.gpus = load_gpus(arguments);
  plan.traces = open_traces(arguments.traces);
  return plan;
}

int simulate_apart(const SimArguments& arguments, const Apart& apart) {
  SimulationPlan plan = make_plan(arguments);
  std::optional<UnitLibrary> library;
  if (!arguments.unit_library.empty()) {
    library.emplace(arguments.unit_library, apart.pulse());
    plan.unit.library = &*library;
  }
  if (arguments.unit_divider == 0) {
    throw UsageError("--unit-divider is 0, must be at least 1");
  }
  plan.unit.divider = arguments.unit_divider;
  Outputs outputs(arguments, apart);
  if (!arguments.timeline.empty()) {
    plan.timeline_interval = arguments.timeline_interval;
    plan.timeline_detail = timeline_detail(arguments);
  }
  if (!arguments.wave.empty()) {
    plan.wave = wave_plan(arguments, plan, outputs.add_wave());
  }

  ProgressLine line;
  if (line.enabled()) {
    plan.progress = [&line](const PoolProgress& progress) {
      line.show(progress.done, fmt::format("{} of {} runs done, running: {}", progress.finished,
                                           progress.tasks, progress.running));
    };
  }
  note_stops();
  plan.stopped = is_stopped;
  const SimulationReport report = run_simulations(plan);
  line.wipe();
  const bool partial = is_stopped() && report.missing != 0;

  for (const std::string& note : report.left_out) {
    complain(note);
  }
  for (const std::string& failure : report.failures) {
    if (!partial || !failure.ends_with(": interrupted")) {
      complain(failure);
    }
  }
  if (partial) {
    complain(fmt::format("interrupted: {} of {} runs have ended", report.runs.size(),
                         report.runs.size() + report.missing));
  }
  outputs.write(report, partial);
  if (!outputs.json_to_stdout()) {
    std::cout << results_table(report.runs, arguments.bounds);
  } else if (report.missing == 0 || (partial && !report.runs.empty())) {
    std::cout << results_to_json(report.runs, partial);
  }
  if (partial) {
    std::cout.flush();
    end_by_signal();
  }
  return report.failures.empty() ? kDone : kCheckFailed;
}

int run_sim(const SimArguments& arguments) {
  if (arguments.unit_library.empty()) {
    return simulate_apart(arguments, Apart());
  }
  ApartLimits limits = arguments.limits;
  limits.unit = arguments.unit_library;
  limits.processes += arguments.jobs;
  return finish_apart(
      run_apart(limits, [&](const Apart& apart) { return simulate_apart(arguments, apart); }));
}

// A script gives its defaults first and what its user wants behind them.
constexpr auto kTakeLast = CLI::MultiOptionPolicy::TakeLast;

void add_unit_options(CLI::App& sim, SimArguments& arguments) {
  sim.add_option("--unit-library", arguments.unit_library, kUnitLibraryHelp)
      ->type_name("FILE")
      ->multi_option_policy(kTakeLast)
      ->check(refuse_empty);
  sim.add_option("--unit-divider", arguments.unit_divider,
                 "Cycles of the SM in one cycle of the unit")
      ->type_name("N")
      ->multi_option_policy(kTakeLast)
      ->check(refuse_negative)
      ->capture_default_str();
  add_apart_options(sim, arguments.limits);
}

void add_detail_options(CLI::App& sim, CLI::Option& timeline, SimArguments& arguments) {
  sim.add_option("--timeline-window", arguments.timeline_window,
                 fmt::format("Cycles of which --timeline shows some blocks in detail, from A on\n"
                             "before B; cycles times blocks at most {}",
                             kMostDetail))
      ->type_name("A:B")
      ->multi_option_policy(kTakeLast)
      ->capture_default_str()
      ->needs(&timeline);
  sim.add_option("--timeline-sm", arguments.timeline_sm,
                 "Numbers of the SMs that it shows in detail, comma-separated, or none")
      ->type_name("LIST|none")
      ->multi_option_policy(kTakeLast)
      ->capture_default_str()
      ->needs(&timeline);
  sim.add_option("--timeline-l2", arguments.timeline_l2,
                 "And of the ports of the L2, with their slices")
      ->type_name("LIST|none")
      ->multi_option_policy(kTakeLast)
      ->capture_default_str()
      ->needs(&timeline);
}

void add_wave_options(CLI::App& sim, SimArguments& arguments) {
  CLI::Option* const wave =
      sim.add_option("--wave", arguments.wave,
                     "Write the ports of one reduction unit to this file, an FST for GTKWave\n"
                     "or Surfer in which 1 ns is a cycle. Of one run under arc-hw")
          ->type_name("FILE")
          ->multi_option_policy(kTakeLast)
          ->check(refuse_empty);
  sim.add_option("--wave-cycles", arguments.wave_cycles,
                 fmt::format("Cycles of --wave, from A on before B, at most {}", kMostWaveCycles))
      ->type_name("A:B")
      ->multi_option_policy(kTakeLast)
      ->capture_default_str()
      ->needs(wave);
  sim.add_option("--wave-sm", arguments.wave_sm, "The SM whose unit it is")
      ->type_name("N")
      ->multi_option_policy(kTakeLast)
      ->check(refuse_negative)
      ->capture_default_str()
      ->needs(wave);
  sim.add_option("--wave-subcore", arguments.wave_subcore, "And the sub-core")
      ->type_name("N")
      ->multi_option_policy(kTakeLast)
      ->check(refuse_negative)
      ->capture_default_str()
      ->needs(wave);
}

}  // namespace

void add_sim(CLI::App& app, Command& command) {
  auto arguments = std::make_shared<SimArguments>();
  CLI::App* sim = app.add_subcommand("sim", "Simulate traces on a GPU, one run for each policy");
  sim->add_option("TRACE", arguments->traces, "Warp atomic traces (.wft)")->required();
  sim->add_option("--gpu", arguments->gpus,
                  "GPUs, comma-separated: built-in names ('warpfold gpus'), or files\n"
                  "that end in .toml")
      ->type_name("LIST")
      ->multi_option_policy(kTakeLast)
      ->capture_default_str();
  sim->add_option("--policy", arguments->policies,
                  "Policies, comma-separated ('warpfold policies'), or all")
      ->type_name("LIST|all")
      ->multi_option_policy(kTakeLast)
      ->capture_default_str();
  sim->add_option("--unit", arguments->unit,
                  "Reduction unit: rtl (Verilated SystemVerilog) or golden (C++ model,\n"
                  "faster); both give the same results")
      ->type_name("rtl|golden")
      ->multi_option_policy(kTakeLast)
      ->capture_default_str();
  sim->add_option("--unit-kind", arguments->unit_kind, kUnitKindHelp)
      ->type_name(unit_kind_list("|", "|"))
      ->multi_option_policy(kTakeLast)
      ->capture_default_str();
  add_unit_options(*sim, *arguments);
  sim->add_option("--set", arguments->overrides,
                  "Another value for a parameter of every GPU, named as in its file:\n"
                  "lab.bytes=65536. May be given many times")
      ->type_name("KEY=VALUE")
      ->take_all()
      ->allow_extra_args(false);
  sim->add_option("--json", arguments->json,
                  "Also write the results to this file; - is stdout, instead of\n"
                  "the table")
      ->type_name("FILE")
      ->multi_option_policy(kTakeLast)
      ->check(refuse_empty);
  sim->add_option("--energy", arguments->energy,
                  "Write to this file what the energy of each run is made of")
      ->type_name("FILE")
      ->multi_option_policy(kTakeLast)
      ->check(refuse_empty);
  CLI::Option* const timeline =
      sim->add_option("--timeline", arguments->timeline,
                      "Write to this file how busy the units of each kind were over time, and\n"
                      "what some did in a window: for Perfetto and chrome://tracing. 1 us is\n"
                      "one SM clock cycle")
          ->type_name("FILE")
          ->multi_option_policy(kTakeLast)
          ->check(refuse_empty);
  sim->add_option("--timeline-interval", arguments->timeline_interval,
                  "Cycles between two samples of --timeline; a run with more than 16383\n"
                  "has twice as many between them, or four times, and so on")
      ->type_name("N")
      ->multi_option_policy(kTakeLast)
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000'000}))
      ->capture_default_str()
      ->needs(timeline);
  add_detail_options(*sim, *timeline, *arguments);
  add_wave_options(*sim, *arguments);
  sim->add_option("--jobs", arguments->jobs,
                  "Simulations at once; the results do not depend on it\n"
                  "[one for each processor]")
      ->type_name("N")
      ->multi_option_policy(kTakeLast)
      ->check(CLI::Range(1, 1024));
  sim->add_option("--threads", arguments->threads,
                  "Host threads of each simulation; the results do not depend on it\n"
                  "[--jobs shared out where there are fewer simulations, up to 8]")
      ->type_name("N")
      ->multi_option_policy(kTakeLast)
      ->check(CLI::Range(1, 1024));
  sim->add_flag("--bounds", arguments->bounds,
                "Also show how many cycles each kind of unit needs at least");
  sim->add_option("--l2", arguments->l2,
                  "What loads find in the L2 when the launch begins, of a trace that says what\n"
                  "they touch: what a launch like it has left (warm), or but the arrays that are\n"
                  "added to (cold); measured: warm where the trace has a time of warm launches")
      ->type_name("warm|cold|measured")
      ->multi_option_policy(kTakeLast)
      ->check(CLI::IsMember({"warm", "cold", "measured"}))
      ->capture_default_str();
  sim->add_flag("--whole-gpu", arguments->whole_gpu,
                "Simulate all of a GPU for a trace of one CTA in N, too, not an Nth of it");
  sim->add_flag("--reference", arguments->reference,
                "Have SystemC clock every block in every cycle: slow, same results");
  sim->footer(
      "Each run ends with a check of every sum. The table goes to stdout. Of an option that is\n"
      "given twice the last counts.\n\n"
      "Example: what ARC-HW gains over plain atomics on an RTX 4090\n"
      "  warpfold sim truck.wft --gpu rtx4090 --policy baseline,arc-hw --json truck.json\n"
      "What SMs 0 and 5 do in 2000 cycles under both, to be opened at ui.perfetto.dev\n"
      "  warpfold sim truck.wft --policy baseline,arc-hw --timeline truck-time.json \\\n"
      "      --timeline-window 40000:42000 --timeline-sm 0,5\n"
      "The ports of a reduction unit in 1000 cycles, for GTKWave or Surfer\n"
      "  warpfold sim truck.wft --policy arc-hw --wave truck.fst --wave-cycles 40000:41000\n\n"
      "Exit code: 0 done, 1 a check failed, 2 bad usage or bad input.");
  sim->callback([arguments, &command] { command = [arguments] { return run_sim(*arguments); }; });
}

}  // namespace warpfold::cli

// SPDX-License-Identifier: Apache-2.0
// warpfold_capture_workloads: runs the gradient kernels of several programs on a GPU and records
// their atomics.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "traces/capture/common/gpu_info.hpp"
#include "traces/capture/workload/commands.hpp"
#include "traces/capture/workload/launches.hpp"

namespace {

using namespace warpfold::capture;
using namespace warpfold::capture::workload;

constexpr int kBadInput = 2;

// The command as it was given, with the names of the files and without their folders.
std::string command_line(int argc, char** argv) {
  std::string text = "warpfold_capture_workloads";
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const std::size_t slash = word.rfind('/');
    text += ' ' + (slash == std::string::npos ? word : word.substr(slash + 1));
  }
  return text;
}

struct Commands {
  CLI::App* app = nullptr;
  CLI::App* check = nullptr;
  CLI::App* time = nullptr;
  CLI::App* energy = nullptr;
  CLI::App* launch = nullptr;
  CLI::App* record = nullptr;
};

int run(int argc, char** argv) {
  CLI::App app("Captures warp atomic traces of gradient kernels");
  app.require_subcommand(1);
  TimeOptions time;
  EnergyOptions energy;
  RecordOptions record;
  record.command = command_line(argc, argv);
  std::vector<std::string> policies;
  const auto workloads = all_workloads();
  std::vector<Commands> commands;
  for (const auto& workload : workloads) {
    Commands c;
    c.app = app.add_subcommand(workload->name(), workload->kernel());
    c.app->add_option("--name", record.scene, "of the input, and of the output")->required();
    c.app->require_subcommand(1, 0);  // several run one after the other on what was loaded once
    workload->add_options(*c.app);
    c.check = c.app->add_subcommand("check", "compare the GPU with the CPU reference");
    c.time = c.app->add_subcommand("time", "time the kernel in every variant");
    c.time->add_option("--json", time.json, "write the times there");
    c.time->add_option("--warmup", time.warmup, "launches before those timed")
        ->capture_default_str();
    c.time->add_option("--runs", time.runs, "launches timed")->capture_default_str();
    c.energy = c.app->add_subcommand("energy", "joules of a launch in every variant, by NVML");
    c.energy->add_option("--json", energy.json, "write the result there");
    c.energy->add_option("--seconds", energy.seconds, "length of each loop")->capture_default_str();
    c.launch = c.app->add_subcommand("launch", "launch each variant once, for a profiler");
    c.launch->add_option("--policy", policies, "which, such as sw-b:16");
    c.record = c.app->add_subcommand("record", "write the traces");
    c.record->add_option("--label", record.label, "name of the workload in the trace")->required();
    c.record->add_option("--out", record.out, "folder for the output")->capture_default_str();
    c.record->add_option("--costs", record.costs, "instruction costs, from sass_cost.py");
    c.record->add_option("--times", record.times, "times, from the time command");
    c.record->add_option("--manifest", record.manifest,
                         "a MANIFEST.json that gets entries of the traces");
    c.record->add_option("--ctas", record.ctas, "at most so many CTAs in the trace; 0: all")
        ->capture_default_str();
    c.record->add_option("--value-bytes", record.value_bytes, "raw size of the sampled values")
        ->capture_default_str();
    for (CLI::App* sub : {c.check, c.time, c.energy, c.launch, c.record}) {
      sub->fallthrough();
    }
    commands.push_back(c);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kBadInput;
  }
  (void)gpu_info();  // no GPU is told before anything is loaded
  time.scene = energy.scene = record.scene;
  bool good = true;
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const Commands& c = commands[i];
    if (!c.app->parsed()) {
      continue;
    }
    Workload& workload = *workloads[i];
    workload.load();
    find_scales(workload);
    if (c.check->parsed()) {
      good = check_command(workload) && good;
    }
    if (c.time->parsed()) {
      good = time_command(workload, time) && good;
    }
    if (c.energy->parsed()) {
      good = energy_command(workload, energy) && good;
    }
    if (c.launch->parsed()) {
      good = launch_command(workload, policies) && good;
    }
    if (c.record->parsed()) {
      good = record_command(workload, record) && good;
    }
  }
  return good ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "warpfold_capture_workloads: %s\n", error.what());
    return kBadInput;
  }
}

// SPDX-License-Identifier: Apache-2.0
// warpfold record: traces of a program that stays as it is.
#include "traces/record/host/record.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <iostream>
#include <memory>
#include <string>

#include "model/cli/command.hpp"
#include "traces/record/host/header_log.hpp"
#include "traces/record/host/software_variants.hpp"

namespace warpfold::cli {
namespace {

void say(const std::string& line) {
  std::cout << line << std::endl;
}

// Files of programs that include <warpfold/record.cuh>.
int run_from(const record::RecordOptions& options,
             const std::vector<std::filesystem::path>& files) {
  record::check_folder(options.out);
  record::traces_of_logs(
      {.files = files, .out = options.out, .workload = options.workload, .scene = options.scene},
      record::read_reduction_costs(), say);
  return kDone;
}

int run_record(const record::RecordOptions& options) {
  const record::RecordTools tools = record::find_tools(say);
  if (options.command.empty()) {
    say(fmt::format("the recorder is in {}", tools.recorder.patches.parent_path().string()));
    return kDone;
  }
  const record::RecordOutcome outcome = record::record(options, tools, say);
  if (outcome.interrupted != 0) {
    complain(fmt::format("record: interrupted; {} traces were finished before", outcome.traces));
    std::signal(outcome.interrupted, SIG_DFL);
    std::raise(outcome.interrupted);
  }
  if (outcome.stuck) {
    complain(fmt::format("record: {} was ended; {} traces were finished before",
                         options.command.front(), outcome.traces));
    return kCheckFailed;
  }
  if (outcome.program_status != 0) {
    complain(fmt::format("record: {} ended with {}; {} traces were finished before",
                         options.command.front(), outcome.program_status, outcome.traces));
    return kCheckFailed;
  }
  if (!outcome.loaded) {
    complain(fmt::format(
        "record: {} did not load the recorder: it starts no CUDA, or a library is not found that "
        "ldd {} names",
        options.command.front(), tools.recorder.record_library.string()));
    return kCheckFailed;
  }
  if (outcome.traces == 0) {
    complain(outcome.failed > 0
                 ? "record: no trace could be made"
                 : "record: no launch of a kernel that adds floats to global memory matched");
    return kCheckFailed;
  }
  return outcome.failed == 0 ? kDone : kCheckFailed;
}

}  // namespace

void add_record(CLI::App& app, Command& command) {
  auto options = std::make_shared<record::RecordOptions>();
  auto launch = std::make_shared<std::string>("1");
  auto files = std::make_shared<std::vector<std::filesystem::path>>();
  CLI::App* record_app = app.add_subcommand(
      "record", "Record the atomic additions of a CUDA program, unchanged, as traces");
  record_app
      ->add_option("--kernel", options->kernel,
                   "Kernels whose name matches this regular expression; else all that add")
      ->type_name("REGEX")
      ->check(refuse_no_expression);
  record_app->add_option("--launch", *launch, "Which launch of each of them, from 1 on, or all")
      ->type_name("N|all")
      ->check(refuse_no_launch)
      ->capture_default_str();
  record_app->add_option("--every", options->every, "Of each N CTAs record the middle one")
      ->type_name("N")
      ->check(CLI::Range(1U, 1U << 20U))
      ->capture_default_str();
  auto loads = std::make_shared<std::string>("all");
  record_app
      ->add_option("--loads", *loads,
                   "Record what ordinary loads and stores of global memory touch, or leave it out")
      ->type_name("all|none")
      ->check(CLI::IsMember({"all", "none"}))
      ->capture_default_str();
  record_app
      ->add_option("--time-runs", options->time_runs,
                   "Runs ahead that only measure the launches' times")
      ->type_name("N")
      ->check(CLI::Range(0U, 1000U))
      ->capture_default_str();
  record_app
      ->add_option("--patience", options->patience,
                   "Seconds that the recorder waits for the GPU or the driver while nothing moves")
      ->type_name("N")
      ->check(CLI::Range(1U, 1U << 20U))
      ->capture_default_str();
  record_app->add_flag(
      "!--no-profile", options->profile,
      "Do not run the program under ncu, which counts instructions, to settle the costs");
  record_app->add_flag(
      "--keep-code", options->keep_code,
      "Leave NAME.cubin and NAME.ways.json beside each trace, to be held against ncu");
  record_app
      ->add_option("--workload", options->workload,
                   "Name for the traces' headers; else the program's")
      ->type_name("NAME");
  record_app->add_option("--scene", options->scene, "Input of the program, for the traces' headers")
      ->type_name("NAME");
  record_app->add_option("--out", options->out, "Folder for the traces")
      ->type_name("DIR")
      ->capture_default_str();
  record_app->add_option("program", options->command, "The program and its arguments, behind --")
      ->type_name("PROGRAM ARGS");
  CLI::Option* from = record_app
                          ->add_option("--from", *files,
                                       "Make traces of what a program recorded with "
                                       "<warpfold/record.cuh>, and run none")
                          ->type_name("FILE...");
  auto prepare = std::make_shared<bool>(false);
  CLI::Option* only = record_app->add_flag(
      "--prepare", *prepare, "Only build the recorder, as the first use does, and run no program");
  for (const char* other : {"--kernel", "--launch", "--every", "--loads", "--time-runs",
                            "--patience", "--no-profile", "--keep-code", "program"}) {
    from->excludes(record_app->get_option(other));
    only->excludes(record_app->get_option(other));
  }
  only->excludes(from);
  record_app->footer(
      "Example: the backward kernels of a training step\n"
      "  warpfold record --kernel backward --out traces -- python3 train.py\n"
      "  warpfold sim traces/*.wft --gpu h100");
  record_app->callback([options, launch, loads, files, prepare, &command] {
    if (files->empty() && options->command.empty() && !*prepare) {
      throw CLI::ValidationError("record",
                                 "there is neither a program to record, behind --, nor --from");
    }
    command = [options, launch, loads, files] {
      if (!files->empty()) {
        return run_from(*options, *files);
      }
      options->loads = *loads == "all";
      options->launch = *launch == "all" ? 0 : static_cast<std::uint32_t>(std::stoul(*launch));
      return run_record(*options);
    };
  });
}

}  // namespace warpfold::cli

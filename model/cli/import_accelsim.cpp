// SPDX-License-Identifier: Apache-2.0
// warpfold trace import-accelsim: traces from instruction traces of Accel-Sim's tracer.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "model/cli/command.hpp"
#include "model/cli/trace_work.hpp"
#include "traces/import/accelsim/import.hpp"
#include "traces/record/host/software_variants.hpp"

namespace warpfold::cli {

namespace {

int run_import(const accelsim::ImportOptions& options) {
  accelsim::ImportOutcome outcome;
  run_stoppable("reading " + options.list.string(),
                [&](const trace::Step& step, std::ostream& out) {
                  outcome = accelsim::import_accelsim(options, out, step);
                  return kDone;
                });
  if (outcome.refused > 0) {
    complain(fmt::format("{}: {} of {} launches cannot be read", options.list.string(),
                         outcome.refused, outcome.refused + outcome.launches));
    return kBadInput;
  }
  if (outcome.traces == 0) {
    complain(fmt::format("{}: {}", options.list.string(),
                         outcome.launches == 0
                             ? "no launch was asked for that is there"
                             : "no RED or ATOM of a launch that was asked for adds floats"));
    return kCheckFailed;
  }
  return kDone;
}

}  // namespace

void add_trace_import(CLI::App& trace_app, Command& command) {
  auto options = std::make_shared<accelsim::ImportOptions>();
  auto launch = std::make_shared<std::string>("1");
  auto loads = std::make_shared<std::string>("all");
  CLI::App* app = trace_app.add_subcommand(
      "import-accelsim", "Make traces of what Accel-Sim's NVBit tracer wrote, versions 3 to 6");
  app->add_option("KERNELSLIST", options->list,
                  "The tracer's kernelslist.g, beside its .traceg or .tracez files")
      ->required();
  app->add_option("--kernel", options->kernel,
                  "Kernels whose name matches this regular expression [all]")
      ->type_name("REGEX")
      ->check(refuse_no_expression);
  app->add_option("--launch", *launch, "Which launch of each of them, from 1 on, or all")
      ->type_name("N|all")
      ->check(refuse_no_launch)
      ->capture_default_str();
  app->add_option("--workload", options->workload, "Name for the traces' headers")
      ->type_name("NAME")
      ->capture_default_str();
  app->add_option("--scene", options->scene, "Input of the program, for the traces' headers")
      ->type_name("NAME");
  app->add_option(
         "--loads", *loads,
         "Memory instructions: all, each with what it touches and where it is waited for, or "
         "none, as a part of the work between events")
      ->type_name("none|all")
      ->check(CLI::IsMember({"none", "all"}))
      ->capture_default_str();
  app->add_option("--out", options->out, "Folder for the traces")->type_name("DIR")->required();
  app->footer(
      "Files may be plain, .xz, .zst or .tracez; all but the last may be pipes. Launches that add\n"
      "no floats give no trace. One that cannot be read is named, and the others are imported.\n"
      "Exit code: 1 if there is no trace at all, 2 if a launch could not be read.\n\n"
      "Example: every launch of the backward kernels\n"
      "  warpfold trace import-accelsim traces/kernelslist.g --kernel backward --launch all --out "
      "wft");
  app->callback([options, launch, loads, &command] {
    command = [options, launch, loads] {
      options->loads = *loads == "all";
      options->launch = *launch == "all" ? 0 : static_cast<std::uint32_t>(std::stoul(*launch));
      options->complain = [](const std::string& line) { complain(line); };
      options->complete = [reductions = record::read_reduction_costs()](trace::Header& header) {
        record::add_software_variants(header, reductions);
      };
      return run_import(*options);
    };
  });
}

}  // namespace warpfold::cli

// SPDX-License-Identifier: Apache-2.0
// warpfold report.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "model/cli/command.hpp"
#include "model/report/page.hpp"
#include "model/report/report_data.hpp"
#include "model/results/output_file.hpp"

namespace warpfold::cli {
namespace {

struct ReportArguments {
  report::ReportFiles files;
  std::string out = "report.html";
};

// The page would replace what it was made from.
void refuse_input(const ReportArguments& arguments) {
  std::vector<std::string> inputs = arguments.files.results;
  inputs.push_back(arguments.files.timeline);
  inputs.push_back(arguments.files.area);
  for (const std::string& input : inputs) {
    std::error_code error;
    if (!input.empty() && std::filesystem::equivalent(input, arguments.out, error)) {
      throw UsageError(fmt::format("--out {}: is an input of this report", arguments.out));
    }
  }
}

int run_report(const ReportArguments& arguments) {
  std::optional<OutputFile> file;
  if (arguments.out != "-") {
    refuse_input(arguments);
    file.emplace(arguments.out);
  }
  const report::ReportData data = report::read_report(arguments.files);
  const std::string page = report::report_page(data, WARPFOLD_VERSION);
  if (!file) {
    std::cout << page;
    return kDone;
  }
  file->write(page);
  const std::string checks = data.failed == 0 ? std::string("all checks ok")
                                              : fmt::format("checks NOT ok in {}", data.failed);
  std::cout << fmt::format("{}: {} {}, {}, {} KB\n", arguments.out, data.runs,
                           data.runs == 1 ? "run" : "runs", checks, (page.size() + 500) / 1000);
  return kDone;
}

}  // namespace

void add_report(CLI::App& app, Command& command) {
  constexpr auto kTakeLast = CLI::MultiOptionPolicy::TakeLast;
  auto arguments = std::make_shared<ReportArguments>();
  CLI::App* report =
      app.add_subcommand("report", "Show results in one HTML page that needs no network");
  report
      ->add_option("RESULTS", arguments->files.results,
                   "Results files of 'warpfold sim --json', of one simulation or of many")
      ->required();
  report
      ->add_option("--timeline", arguments->files.timeline,
                   "Timeline of the same runs ('warpfold sim --timeline'): adds utilization\n"
                   "over time")
      ->type_name("FILE")
      ->multi_option_policy(kTakeLast)
      ->check(refuse_empty);
  report
      ->add_option("--area", arguments->files.area,
                   "Areas of 'warpfold synth --json', or synth/baseline.json: adds the\n"
                   "transistors of each kind of unit")
      ->type_name("FILE")
      ->multi_option_policy(kTakeLast)
      ->check(refuse_empty);
  report->add_option("--out", arguments->out, "The page; - is stdout")
      ->type_name("FILE")
      ->multi_option_policy(kTakeLast)
      ->check(refuse_empty)
      ->capture_default_str();
  report->footer(
      "Any browser opens the page, offline too. Speedups are over the baseline of the same trace\n"
      "and GPU, in whichever of the files it stands.\n\n"
      "Example:\n"
      "  warpfold sim truck.wft --json truck.json --timeline truck.timeline.json\n"
      "  warpfold report truck.json --timeline truck.timeline.json --out truck.html\n\n"
      "Exit code: 0 done, 2 bad usage or bad input.");
  report->callback(
      [arguments, &command] { command = [arguments] { return run_report(*arguments); }; });
}

}  // namespace warpfold::cli

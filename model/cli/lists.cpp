// SPDX-License-Identifier: Apache-2.0
// warpfold gpus, warpfold policies, warpfold rules.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "model/cli/command.hpp"
#include "model/gpu/run/rules.hpp"
#include "model/machine/config.hpp"
#include "model/policy/policy.hpp"
#include "model/results/table.hpp"

namespace warpfold::cli {
namespace {

int list_gpus() {
  std::vector<std::vector<std::string>> rows;
  for (const std::string& name : gpu_names()) {
    const GpuConfig gpu = load_gpu(name);
    rows.push_back({gpu.name, gpu.sass_arch, fmt::format("{} x {}", gpu.sm.count, gpu.sm.subcores),
                    fmt::format("{:.2f}", gpu.sm.clock_ghz), std::to_string(gpu.sm.max_warps),
                    std::to_string(gpu.l2.slices), std::to_string(gpu.l2.bytes >> 20U)});
  }
  std::cout << align_columns(
      {"gpu", "code", "SMs x sub-cores", "SM clock GHz", "warps per SM", "L2 slices", "L2 MiB"},
      rows);
  return kDone;
}

// A row whose last column is a text, over as many lines as that needs. `columns`: those before it,
// each as wide as it should be.
void print_row(std::string columns, std::string text) {
  constexpr std::size_t kTextColumns = 70;
  while (!text.empty()) {
    std::size_t end = text.size();
    if (end > kTextColumns) {
      end = text.rfind(' ', kTextColumns);
      end = end == std::string::npos ? text.size() : end;
    }
    std::cout << fmt::format("{}{}\n", columns, text.substr(0, end));
    text.erase(0, std::min(text.size(), end + 1));
    columns.assign(columns.size(), ' ');
  }
}

int list_rules() {
  const std::vector<RuleInfo> infos = rule_infos();
  const auto width = [&infos](std::string_view RuleInfo::*column) {
    std::size_t most = 0;
    for (const RuleInfo& info : infos) {
      most = std::max(most, (info.*column).size());
    }
    return most;
  };
  for (const RuleInfo& info : infos) {
    print_row(fmt::format("{:<{}}  {:<{}}  {:<{}}  ", info.kind, width(&RuleInfo::kind), info.name,
                          width(&RuleInfo::name), info.source, width(&RuleInfo::source)),
              std::string(info.description));
  }
  std::cout << "\nThe first of a kind counts where a machine does not name one; sleepers where "
               "lsu.sleep_cycles is above 0,\nreduce-groups with --unit-kind vector.\n";
  return kDone;
}

int list_policies() {
  for (const PolicyInfo& info : policy_infos()) {
    print_row(fmt::format("{:<12}  {:<27}  ", info.pattern, info.source), info.description);
  }
  std::vector<std::string> names;
  for (const Policy& policy : default_policies()) {
    names.push_back(policy.name());
  }
  std::cout << fmt::format("\nX is the balancing threshold, 0 to 32 active lanes. all: {}\n",
                           fmt::join(names, ","));
  return kDone;
}

}  // namespace

void add_lists(CLI::App& app, Command& command) {
  CLI::App* gpus = app.add_subcommand("gpus", "List the built-in GPUs");
  gpus->footer(
      "A GPU of your own is a .toml file with the same keys (model/gpus/*.toml).\n\nExample:\n"
      "  warpfold sim truck.wft --gpu my-gpu.toml");
  gpus->callback([&command] { command = list_gpus; });
  CLI::App* policies = app.add_subcommand("policies", "List what can become of an atomic");
  policies->footer(
      "Example: the butterfly reduction at three thresholds\n"
      "  warpfold sim truck.wft --policy baseline,sw-b:8,sw-b:16,sw-b:24");
  policies->callback([&command] { command = list_policies; });
  CLI::App* rules = app.add_subcommand("rules", "List the rules that a GPU may have");
  rules->footer(
      "A GPU's file names them in its section [rules].\n\nExample:\n"
      "  warpfold sim truck.wft --set rules.admission=round-robin");
  rules->callback([&command] { command = list_rules; });
}

}  // namespace warpfold::cli

// SPDX-License-Identifier: Apache-2.0
// Everything that is wrong with what the user gave is one line on stderr.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <exception>
#include <iostream>
#include <memory>
#include <new>
#include <span>
#include <string>

#include "model/cli/command.hpp"

namespace warpfold::cli {
namespace {

// The subcommand that was being parsed, for a hint at the right help: "warpfold trace dump".
std::string parsed_command(const CLI::App& app) {
  std::string name = app.get_name();
  const CLI::App* current = &app;
  while (!current->get_subcommands().empty()) {
    current = current->get_subcommands().front();
    name += " " + current->get_name();
  }
  return name;
}

bool output_is_whole() {
  if (!std::cout.flush()) {
    complain("cannot write to standard output");
    return false;
  }
  return true;
}

// Defaults as "=X", which is how the tools in Python write them: CLI11 has "=X" or " [X] " by its
// version.
class HelpFormat final : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    std::string text = CLI::Formatter::make_option_opts(option);
    const std::string standard = option->get_default_str();
    const std::string bracketed = fmt::format(" [{}] ", standard);
    if (const std::size_t at = text.find(bracketed); !standard.empty() && at != std::string::npos) {
      text.replace(at, bracketed.size(), "=" + standard);
    }
    return text;
  }
};

int parse_and_run(std::span<AddCommand* const> commands, int argc, char** argv) {
  CLI::App app("Trace-driven cycle simulation of warp-level atomic reduction on GPUs (ARC).",
               "warpfold");
  app.set_version_flag("--version", std::string("warpfold ") + WARPFOLD_VERSION);
  // What else stands there is then reported as unexpected, not as a missing command.
  app.require_subcommand(0, 1);
  const auto format = std::make_shared<HelpFormat>();
  format->column_width(34);
  app.formatter(format);
  app.footer(
      "Example: simulate a trace under every policy on an RTX 4090\n"
      "  warpfold sim truck.wft\n\n"
      "'warpfold COMMAND --help' says more.\n\n"
      "Exit code: 0 done, 1 a check failed, 2 bad usage or bad input.");
  Command command;
  for (AddCommand* const add : commands) {
    add(app, command);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
      app.exit(error);  // --help, --version
      return output_is_whole() ? kDone : kBadInput;
    }
    complain(fmt::format("{} (see '{} --help')", error.what(), parsed_command(app)));
    return kBadInput;
  }
  if (!command) {
    complain(fmt::format("a command is required (see '{} --help')", parsed_command(app)));
    return kBadInput;
  }
  const int code = command();
  return output_is_whole() ? code : kBadInput;
}

}  // namespace

int run_command(std::span<AddCommand* const> commands, int argc, char** argv) {
  // A file-size limit is an error of write(), as a full disk is.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return parse_and_run(commands, argc, argv);
  } catch (const std::bad_alloc&) {
    complain("out of memory");
  } catch (const std::exception& error) {
    complain(error.what());
  }
  return kBadInput;
}

}  // namespace warpfold::cli

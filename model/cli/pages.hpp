// SPDX-License-Identifier: Apache-2.0
// What is written from the definition of the command line: a man page for each command, a page with
// all commands, and what completes them in a shell. The build writes them by the hidden command
// `warpfold pages DIR`.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace warpfold::cli {

// A command with the words that call it: "warpfold trace sample".
struct NamedCommand {
  const CLI::App* app;
  std::string words;
};

// All that --help lists, the outermost first, each before its own.
std::vector<NamedCommand> listed_commands(const CLI::App& app);
// Those right below one.
std::vector<const CLI::App*> listed_subcommands(const CLI::App& app);
// Options that --help lists; positional ones or the others.
std::vector<const CLI::Option*> listed_options(const CLI::App& app, bool positional);

// Lines of paragraphs of a help's end, by the section of a page in which each belongs.
struct Footer {
  std::vector<std::vector<std::string>> description;
  std::vector<std::vector<std::string>> exit_status;
  std::vector<std::vector<std::string>> examples;
};
Footer sort_footer(const std::string& text);

// "warpfold trace sample" as one word: "warpfold-trace-sample".
std::string page_name(const NamedCommand& command);
// The page of one of the commands, in man(7).
std::string man_page(const NamedCommand& command, const std::vector<NamedCommand>& all);

// All commands with their options, in Markdown: docs/commands.md.
std::string reference_page(const std::vector<NamedCommand>& all);

// Values that an option can be completed with: a line of the table that both shells read.
struct OptionValues {
  std::string words;  // of the command
  std::string option;
  std::vector<std::string> values;
  bool list = false;  // comma-separated
};
std::vector<OptionValues> option_values(const std::vector<NamedCommand>& all);

std::string bash_completion(const std::vector<NamedCommand>& all);
std::string zsh_completion(const std::vector<NamedCommand>& all);

}  // namespace warpfold::cli

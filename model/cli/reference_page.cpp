// SPDX-License-Identifier: Apache-2.0
// docs/commands.md: what --help says of every command, in Markdown.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <regex>
#include <string_view>
#include <utility>

#include "model/cli/pages.hpp"

namespace warpfold::cli {
namespace {

// Pages with worked examples, below docs/.
constexpr std::pair<std::string_view, std::string_view> kExamples[] = {
    {"warpfold sim", "simulate.md"},
    {"warpfold record", "record.md"},
    {"warpfold trace", "simulate.md#look-at-a-trace"},
    {"warpfold trace info", "simulate.md#look-at-a-trace"},
    {"warpfold trace verify", "simulate.md#look-at-a-trace"},
    {"warpfold trace dump", "simulate.md#look-at-a-trace"},
    {"warpfold trace slice", "simulate.md#cut-a-trace"},
    {"warpfold trace sample", "simulate.md#cut-a-trace"},
    {"warpfold trace recost", "simulate.md#replace-costs-and-times"},
    {"warpfold trace retime", "simulate.md#replace-costs-and-times"},
    {"warpfold trace import-accelsim", "record.md#import-traces-of-accel-sim"},
    {"warpfold trace upgrade", "simulate.md#replace-costs-and-times"},
    {"warpfold regress", "simulate.md#compare-rtl-and-golden-unit"},
    {"warpfold contract", "evaluate.md"},
    {"warpfold report", "simulate.md#make-a-report"},
    {"warpfold gpus", "simulate.md#choose-a-machine-and-parameters"},
    {"warpfold policies", "simulate.md#choose-policies"},
    {"warpfold rules", "simulate.md#choose-rules"},
    {"warpfold evaluate", "evaluate.md"},
    {"warpfold synth", "../synth/README.md"},
    {"warpfold power", "../synth/README.md"},
    {"warpfold layout", "../synth/README.md#layouts"},
    {"warpfold fpga", "../synth/README.md#fpga"},
    {"warpfold prove-netlist", "../synth/README.md"},
    {"warpfold calibrate", "calibrate.md"},
    {"warpfold fit-energy", "fidelity.md#energy"},
    {"warpfold replay", "calibrate.md"},
    {"warpfold correlate", "fidelity.md"},
    {"warpfold sweep", "simulate.md#run-a-sweep"},
    {"warpfold figures", "../python/warpfold/tools/figures/README.md"},
    {"warpfold results", "../python/warpfold/tools/results/README.md"},
    {"warpfold yardstick", "fidelity.md#compare-another-simulator"},
};

std::string link_to_example(std::string_view words) {
  const auto* const found =
      std::find_if(std::begin(kExamples), std::end(kExamples),
                   [words](const auto& example) { return example.first == words; });
  if (found == std::end(kExamples)) {
    return "";
  }
  // "../synth/README.md#power" is called synth, "simulate.md#make-a-report" simulate.
  std::filesystem::path page = found->second.substr(0, found->second.find('#'));
  page = page.stem() == "README" ? page.parent_path() : page.stem();
  return fmt::format("[{}]({})", page.filename().string(), found->second);
}

std::string replaced(const std::string& text, const char* expression, const char* by) {
  return std::regex_replace(text, std::regex(expression), by);
}

// Text in one line of a table: what a user types as code, nothing else that Markdown reads.
std::string prose(const std::string& text) {
  std::string out = replaced(text, "\\s+", " ");
  out = replaced(out, "'(warpfold [^']*)'", "`$1`");
  out = replaced(out, "(^|[ (\\[])(--[a-z][a-z-]*)", "$1`$2`");
  std::string escaped;
  bool code = false;
  for (const char c : out) {
    code = code != (c == '`');
    if (!code && c == '<') {
      escaped += "&lt;";
    } else if (!code && c == '*') {
      escaped += "\\*";
    } else if (c == '|') {
      escaped += "&#124;";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

// "N:INT in [1 - 8]" as "N, 1 to 8", "rtl|golden" as "rtl, golden".
std::string value_of(const CLI::Option& option) {
  std::string type = option.get_type_name();
  type = replaced(type, ":?\\b(INT|UINT|FLOAT) in \\[(\\S+) - (\\S+)\\]", ", $2 to $3");
  type = replaced(type, ":\\{.*\\}$", "");
  type = replaced(type, "^TEXT$|\\.\\.\\.$", "");
  type = replaced(type, "\\|", ", ");
  if (option.get_items_expected_max() > 1) {
    type += type.empty() ? "several" : ", several";
  }
  return type;
}

std::string names_of(const std::set<CLI::Option*>& options) {
  std::vector<std::string> names;
  for (const CLI::Option* option : options) {
    names.push_back(fmt::format("`{}`", option->get_name(option->get_lnames().empty())));
  }
  std::sort(names.begin(), names.end());  // the set is in the order of addresses
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string option_row(const CLI::Option& option, bool positional) {
  std::string text = option.get_description();
  std::string usual = option.get_default_str();
  // A help has what is no value of the option in brackets at its end.
  std::smatch bracketed;
  if (usual.empty() && std::regex_search(text, bracketed, std::regex("\\s*\\[([^\\]]*)\\]$"))) {
    usual = prose(bracketed[1]);
    text = bracketed.prefix();
  } else if (!usual.empty()) {
    usual = fmt::format("`{}`", replaced(usual, "\\|", ", "));
  }
  if (option.get_required()) {
    usual = "required";
  }
  text = prose(text);
  const auto note = [&text](const char* word, const std::set<CLI::Option*>& others) {
    if (!others.empty()) {
      text += fmt::format("{} {} {}", text.ends_with('.') ? "" : ".", word, names_of(others));
    }
  };
  note("Needs", option.get_needs());
  note("Not with", option.get_excludes());
  std::string name = replaced(option.get_name(positional, true), ",", ", ");
  name = replaced(name, "\\{false\\}", "");
  return fmt::format("| `{}` | {} | {} | {} |\n", name, prose(value_of(option)), usual, text);
}

std::string option_table(const CLI::App& app) {
  std::string rows;
  for (const bool positional : {true, false}) {
    for (const CLI::Option* option : listed_options(app, positional)) {
      if (option != app.get_help_ptr()) {
        rows += option_row(*option, positional);
      }
    }
  }
  return rows.empty() ? "" : "| | value | default | |\n|---|---|---|---|\n" + rows + "\n";
}

std::string prose_paragraphs(const std::vector<std::vector<std::string>>& section) {
  std::string out;
  for (const std::vector<std::string>& paragraph : section) {
    out += prose(fmt::format("{}", fmt::join(paragraph, " "))) + "\n\n";
  }
  return out;
}

std::string sentence(const CLI::App& app) {
  std::string text = prose(app.get_description());
  text.erase(text.find_last_not_of('.') + 1);
  return text + ".";
}

std::string command_section(const NamedCommand& command) {
  const Footer footer = sort_footer(command.app->get_footer());
  return fmt::format("## {}\n\n{}\n\n{}{}{}", command.words, sentence(*command.app),
                     option_table(*command.app), prose_paragraphs(footer.description),
                     prose_paragraphs(footer.exit_status));
}

// The first command is `warpfold` itself; what lists others only has no section.
std::string command_index(const std::vector<NamedCommand>& all, bool tools) {
  std::string out = "| command | | examples |\n|---|---|---|\n";
  for (const NamedCommand& command : all) {
    if ((command.app->get_group() == "Tools") == tools &&
        listed_subcommands(*command.app).empty()) {
      out += fmt::format("| [{}](#{}) | {} | {} |\n",
                         command.words.substr(command.words.find(' ') + 1), page_name(command),
                         sentence(*command.app), link_to_example(command.words));
    }
  }
  return out + "\n";
}

constexpr std::string_view kReferenceHead = R"(<!-- SPDX-License-Identifier: Apache-2.0 -->
<!-- Written from the help of the commands: python3 python docs-commands -->
# Commands and options

Every command of `warpfold` with its options. `warpfold COMMAND --help` and the manual pages say the same and add examples. Every
command takes `--help`. Where an option is given twice, the last value counts; an option marked *several* keeps all values.

```console
$ warpfold --version
warpfold )" WARPFOLD_VERSION R"(
```

Exit codes are 0, 1 and 2, and an error is one line: [exit codes and errors](errors.md).

)";

constexpr std::string_view kReferenceTools =
    R"(The tools around the simulator are Python programs, which `/usr/bin/python3` runs. They simulate with the command that started
them, or with the program in the variable `WARPFOLD`. Without `--out` or the like they write below `out/` or `results/` in the
current folder. If a program or a Python module is missing, one line names the Debian package.

)";

}  // namespace

std::string reference_page(const std::vector<NamedCommand>& all) {
  std::string page = std::string(kReferenceHead) + command_index(all, false) +
                     std::string(kReferenceTools) + command_index(all, true);
  for (const NamedCommand& command : all) {
    if (listed_subcommands(*command.app).empty()) {
      page += command_section(command);
    }
  }
  page.erase(page.find_last_not_of('\n') + 1);
  return page + "\n";
}

}  // namespace warpfold::cli

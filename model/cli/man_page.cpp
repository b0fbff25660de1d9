// SPDX-License-Identifier: Apache-2.0
// Man pages: what --help says, in man(7).
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <memory>
#include <string_view>

#include "model/cli/pages.hpp"

namespace warpfold::cli {
namespace {

// Text as roff reads it: no line of it is a request, hyphens can be copied.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool begins = out.empty() || out.back() == '\n';
    if (begins && (c == '.' || c == '\'')) {
      out += "\\&";
    }
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '\'') {
      out += "\\(aq";
    } else if (c == '`') {
      out += "\\(ga";
    } else if (c == '~') {
      out += "\\(ti";
    } else if (c == '^') {
      out += "\\(ha";
    } else {
      out += c;
    }
  }
  return out;
}

std::string in_bold(std::string_view text) {
  return ".B " + roff(text) + "\n";
}

// What a user types is indented in a help, and stays as it is.
std::string paragraphs(const std::vector<std::vector<std::string>>& section) {
  std::string out;
  for (const std::vector<std::string>& paragraph : section) {
    out += out.empty() ? "" : ".PP\n";
    bool verbatim = false;
    for (const std::string& line : paragraph) {
      const bool typed = line.starts_with("  ");
      if (typed != verbatim) {
        out += typed ? ".PP\n.nf\n.RS\n" : ".RE\n.fi\n.PP\n";
        verbatim = typed;
      }
      out += roff(typed ? line.substr(2) : line) + "\n";
    }
    out += verbatim ? ".RE\n.fi\n" : "";
  }
  return out;
}

std::string title_section(std::string_view title, const std::string& body) {
  return body.empty() ? "" : fmt::format(".SH {}\n{}", title, body);
}

// Name, type, default and needs of an option as --help writes them, then what it says.
std::string entries(const CLI::App& app, bool positional) {
  const auto formatter = std::dynamic_pointer_cast<CLI::Formatter>(app.get_formatter());
  std::string out;
  for (const CLI::Option* option : listed_options(app, positional)) {
    const std::string name = formatter->make_option_name(option, positional);
    const std::string details = formatter->make_option_opts(option);
    out += ".TP\n" + in_bold(name + details) + roff(option->get_description()) + "\n";
  }
  return out;
}

std::string commands(const NamedCommand& command) {
  std::string out;
  for (const CLI::App* sub : listed_subcommands(*command.app)) {
    out += ".TP\n" + in_bold(command.words + " " + sub->get_name()) + roff(sub->get_description()) +
           "\n";
  }
  return out;
}

std::string usage(const NamedCommand& command) {
  const auto formatter = std::dynamic_pointer_cast<CLI::Formatter>(command.app->get_formatter());
  const std::string text = formatter->make_usage(command.app, command.words);
  const std::size_t at = text.find(command.words) + command.words.size();
  std::string rest = text.substr(std::min(at, text.size()));
  rest.erase(rest.find_last_not_of(" \n") + 1);
  rest.erase(0, rest.find_first_not_of(' '));
  return in_bold(command.words) + roff(rest) + "\n";
}

// The pages above it, or all others.
std::string see_also(const NamedCommand& command, const std::vector<NamedCommand>& all) {
  std::string out;
  for (const NamedCommand& other : all) {
    const bool above = command.words.starts_with(other.words + " ");
    const bool below = other.words.starts_with(command.words + " ");
    if (above || below) {
      out += (out.empty() ? "" : ",\n") + fmt::format(".BR {} (1)", roff(page_name(other)));
    }
  }
  return out + "\n";
}

constexpr std::string_view kFiles =
    ".TP\n.I share/warpfold/gpus/*.toml\nMachine files of the built\\-in GPUs.\n"
    ".TP\n.I share/warpfold/rtl\nThe SystemVerilog of the unit.\n"
    ".TP\n.I share/warpfold/traces\nTraces that the tools take by their names.\n";

}  // namespace

std::string page_name(const NamedCommand& command) {
  std::string name = command.words;
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

std::string man_page(const NamedCommand& command, const std::vector<NamedCommand>& all) {
  const CLI::App& app = *command.app;
  std::string title = page_name(command);
  std::transform(title.begin(), title.end(), title.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  std::string description = app.get_description();
  while (description.ends_with('.')) {
    description.pop_back();
  }
  const Footer footer = sort_footer(app.get_footer());
  const std::string more = paragraphs(footer.description);
  std::string page = fmt::format(
      ".\\\" SPDX-License-Identifier: Apache-2.0\n.TH {} 1 \"\" \"Warpfold {}\" \"User "
      "Commands\"\n",
      roff(title), WARPFOLD_VERSION);
  page += title_section("NAME", roff(page_name(command) + " ") + "\\- " + roff(description) + "\n");
  page += title_section("SYNOPSIS", usage(command));
  page += title_section("DESCRIPTION",
                        roff(description) + ".\n" + (more.empty() ? "" : ".PP\n" + more));
  page += title_section("ARGUMENTS", entries(app, true));
  page += title_section("COMMANDS", commands(command));
  page += title_section("OPTIONS", entries(app, false));
  page += title_section("EXIT STATUS", paragraphs(footer.exit_status));
  page += title_section("FILES", &app == all.front().app ? std::string(kFiles) : "");
  page += title_section("EXAMPLES", paragraphs(footer.examples));
  page += title_section("SEE ALSO", see_also(command, all));
  return page;
}

}  // namespace warpfold::cli

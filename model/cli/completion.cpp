// SPDX-License-Identifier: Apache-2.0
// Completion for bash and zsh: tables of commands, options and values, and a function that looks
// into them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>
#include <string_view>

#include "model/cli/pages.hpp"
#include "model/machine/config.hpp"
#include "model/policy/policy.hpp"

namespace warpfold::cli {
namespace {

std::vector<std::string> policy_names() {
  std::vector<std::string> names = {"all"};
  for (const PolicyInfo& info : policy_infos()) {
    // Of "sw-s:X" what is before the threshold.
    names.push_back(info.pattern.substr(0, info.pattern.find('X')));
  }
  return names;
}

// "rtl|golden" names values; words with capitals stand for others.
std::vector<std::string> named_values(const std::string& type) {
  std::vector<std::string> values;
  std::istringstream stream(type);
  for (std::string value; std::getline(stream, value, '|');) {
    if (!value.empty() && std::all_of(value.begin(), value.end(),
                                      [](char c) { return (c >= 'a' && c <= 'z') || c == '-'; })) {
      values.push_back(value);
    }
  }
  return values;
}

bool takes_value(const CLI::Option& option) {
  return option.get_items_expected_max() > 0;
}

std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_lnames()) {
    names.push_back("--" + name);
  }
  return names;
}

// Calls `line` with a command's words and a list of words about it.
template <class List>
std::string table(const std::vector<NamedCommand>& all, std::string_view name, List list) {
  std::string out = fmt::format("  local -A {}=(\n", name);
  for (const NamedCommand& command : all) {
    out += fmt::format("    [{}]='{}'\n", page_name(command), fmt::join(list(*command.app), " "));
  }
  return out + "  )\n";
}

std::vector<std::string> subcommand_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : listed_subcommands(app)) {
    names.push_back(sub->get_name());
  }
  return names;
}

std::vector<std::string> option_names(const CLI::App& app, bool with_value_alone) {
  std::vector<std::string> names;
  for (const CLI::Option* option : listed_options(app, false)) {
    if (!with_value_alone || takes_value(*option)) {
      for (const std::string& name : names_of(*option)) {
        names.push_back(name);
      }
    }
  }
  return names;
}

std::string values_table(const std::vector<NamedCommand>& all, bool list) {
  std::string out = fmt::format("  local -A {}=(\n", list ? "lists" : "values");
  for (const OptionValues& line : option_values(all)) {
    if (line.list == list) {
      out += fmt::format("    [{}{}]='{}'\n", page_name({nullptr, line.words}), line.option,
                         fmt::join(line.values, " "));
    }
  }
  return out + "  )\n";
}

std::string tables(const std::vector<NamedCommand>& all) {
  return table(all, "commands", subcommand_names) +
         table(all, "options", [](const CLI::App& app) { return option_names(app, false); }) +
         table(all, "valued", [](const CLI::App& app) { return option_names(app, true); }) +
         values_table(all, false) + values_table(all, true);
}

// Both shells: the command that has been typed so far, in `node`. Of `typed`, words from the
// second to before the last.
constexpr std::string_view kWalk = R"(  local node=warpfold word
  for word in "${typed[@]}"; do
    if [[ " ${commands[$node]} " == *" $word "* ]]; then
      node+=-$word
    fi
  done
)";

// Words are taken from the line, since bash splits them at = and :, too.
constexpr std::string_view kBashHead = R"(  local line=${COMP_LINE:0:COMP_POINT} typed cur
  read -r -a typed <<<"$line"
  [[ $line == *[[:blank:]] ]] && typed+=("")
  cur=${typed[-1]}
  typed=("${typed[@]:1:${#typed[@]}-2}")
)";

constexpr std::string_view kBashTail = R"(  local option="" value=$cur before=""
  if [[ $cur == --*=* ]]; then
    option=${cur%%=*} value=${cur#*=} before=$option=
  elif ((${#typed[@]})) && [[ " ${valued[$node]} " == *" ${typed[-1]} "* ]]; then
    option=${typed[-1]}
  fi
  local choices=""
  if [[ -n $option && -n ${lists[$node$option]:-} ]]; then
    choices=${lists[$node$option]}
    [[ $value != *,* ]] || before+=${value%,*},
    value=${value##*,}
    compopt -o nospace 2>/dev/null || :
  elif [[ -n $option ]]; then
    choices=${values[$node$option]:-}
  elif [[ $cur == -* ]]; then
    choices=${options[$node]}
  else
    choices=${commands[$node]}
  fi
  COMPREPLY=()
  for word in $choices; do
    [[ $word != "$value"* ]] || COMPREPLY+=("$before$word")
  done
  # What is before the last place where bash splits the word stays where it is.
  local place
  for place in = :; do
    if [[ $COMP_WORDBREAKS == *$place* && $cur == *$place* ]]; then
      COMPREPLY=("${COMPREPLY[@]#"${cur%$place*}$place"}")
    fi
  done
}
complete -o default -F _warpfold warpfold
)";

constexpr std::string_view kZshTail = R"(  local option="" cur=${words[CURRENT]} last=${typed[-1]:-}
  if [[ $cur == --*=* ]]; then
    option=${cur%%=*}
    compset -P '*='
  elif [[ -n $last && " ${valued[$node]} " == *" $last "* ]]; then
    option=$last
  fi
  if [[ -n $option && -n ${lists[$node$option]:-} ]]; then
    compset -P '*,'
    compadd -q -S , -- ${=lists[$node$option]}
  elif [[ -n $option && -n ${values[$node$option]:-} ]]; then
    compadd -- ${=values[$node$option]}
  elif [[ -z $option && $cur == -* ]]; then
    compadd -- ${=options[$node]}
  elif [[ -z $option && -n ${commands[$node]} ]]; then
    compadd -- ${=commands[$node]}
  else
    _files
  fi
}
_warpfold "$@"
)";

}  // namespace

std::vector<OptionValues> option_values(const std::vector<NamedCommand>& all) {
  std::vector<OptionValues> found;
  for (const NamedCommand& command : all) {
    for (const CLI::Option* option : listed_options(*command.app, false)) {
      const std::string type = takes_value(*option) ? option->get_type_name() : "";
      for (const std::string& name : names_of(*option)) {
        if (name == "--gpu") {
          found.push_back({command.words, name, gpu_names(), true});
        } else if (name == "--policy") {
          found.push_back({command.words, name, policy_names(), true});
        } else if (const auto values = named_values(type); !values.empty()) {
          found.push_back({command.words, name, values, false});
        }
      }
    }
  }
  return found;
}

std::string bash_completion(const std::vector<NamedCommand>& all) {
  return fmt::format(
      "# SPDX-License-Identifier: Apache-2.0\n# Completion of warpfold in bash.\n"
      "_warpfold() {{\n{}{}{}{}",
      tables(all), kBashHead, kWalk, kBashTail);
}

std::string zsh_completion(const std::vector<NamedCommand>& all) {
  return fmt::format(
      "#compdef warpfold\n# SPDX-License-Identifier: Apache-2.0\n"
      "# Completion of warpfold in zsh.\n"
      "_warpfold() {{\n{}  local -a typed=(\"${{(@)words[2,CURRENT-1]}}\")\n{}{}",
      tables(all), kWalk, kZshTail);
}

}  // namespace warpfold::cli

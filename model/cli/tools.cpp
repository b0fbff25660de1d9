// SPDX-License-Identifier: Apache-2.0
#include "model/cli/tools.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "model/cli/command.hpp"

namespace warpfold::cli {
namespace {

namespace fs = std::filesystem;

struct Tool {
  std::string_view name;
  std::string_view description;  // empty: in no list
};

constexpr Tool kTools[] = {
#include "tools_list.inc"
};

constexpr const char* kGroup = "Tools";

fs::path own_program() {
  return fs::read_symlink("/proc/self/exe");
}

// The folder that Python runs: in a build and in an installation it lies alike.
fs::path package_folder() {
  fs::path folder = own_program().parent_path().parent_path() / "lib/warpfold/python";
  if (!fs::exists(folder / "__main__.py") || !fs::exists(folder / "warpfold/tools")) {
    throw UsageError(fmt::format("{} is missing, which the tools are in", folder.string()));
  }
  return folder;
}

// The Python that Debian's packages are for, whatever else PATH has.
const char* python() {
  constexpr const char* kDebian = "/usr/bin/python3";
  return access(kDebian, X_OK) == 0 ? kDebian : "python3";
}

void describe(CLI::App& tool, const nlohmann::json& said) {
  for (const nlohmann::json& entry : said.at("options")) {
    const std::string name = entry.at("name");
    const std::string help = entry.at("help");
    const std::string type = entry.at("type");
    CLI::Option* option = nullptr;
    if (type.empty()) {
      option = tool.add_flag(name, help);
    } else {
      option = tool.add_option(name, help)->type_name(type);
      if (entry.at("many")) {
        option->expected(1, CLI::detail::expected_max_vector_size);
      }
    }
    option->default_str(entry.at("default"))->required(entry.at("required"));
  }
  tool.footer(said.at("footer").get<std::string>());
}

}  // namespace

std::optional<int> become_tool(char** argv) {
  const std::string_view name = argv[0] == nullptr || argv[1] == nullptr ? "" : argv[1];
  if (std::none_of(std::begin(kTools), std::end(kTools),
                   [name](const Tool& tool) { return tool.name == name; })) {
    return std::nullopt;
  }
  const std::string folder = package_folder().string();
  std::vector<const char*> words = {python(), "-B", folder.c_str()};
  for (char** word = argv + 1; *word != nullptr; ++word) {
    words.push_back(*word);
  }
  words.push_back(nullptr);
  // The simulator of a tool is this command, unless its caller names another.
  setenv("WARPFOLD", own_program().c_str(), 0);
  execvp(words.front(), const_cast<char**>(words.data()));
  complain(fmt::format("{}: cannot run {}: {}", name, words.front(), std::strerror(errno)));
  return kBadInput;
}

void add_tools(CLI::App& app, Command& /*command*/) {
  for (const Tool& tool : kTools) {
    if (!tool.description.empty()) {
      app.add_subcommand(std::string(tool.name), std::string(tool.description))->group(kGroup);
    }
  }
}

void describe_tools(CLI::App& app) {
  const std::string command =
      fmt::format("'{}' -B '{}' --describe", python(), package_folder().string());
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string text;
  std::array<char, 4096> buffer{};
  while (pipe) {
    const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe.get());
    text.append(buffer.data(), count);
    if (count == 0) {
      break;
    }
  }
  try {
    const nlohmann::json tools = nlohmann::json::parse(text);
    for (const auto& [name, said] : tools.items()) {
      describe(*app.get_subcommand(name), said);
    }
  } catch (const std::exception& error) {
    // The simulator is of use without them.
    complain(fmt::format("pages: the options of the tools are left out: {}", error.what()));
  }
}

}  // namespace warpfold::cli

// SPDX-License-Identifier: Apache-2.0
#include "model/cli/pages.hpp"

#include <filesystem>
#include <memory>
#include <sstream>
#include <system_error>

#include "model/cli/command.hpp"
#include "model/cli/tools.hpp"
#include "model/results/output_file.hpp"

namespace warpfold::cli {

std::vector<const CLI::App*> listed_subcommands(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* sub) { return !sub->get_group().empty(); });
}

std::vector<const CLI::Option*> listed_options(const CLI::App& app, bool positional) {
  return app.get_options([positional](const CLI::Option* option) {
    return !option->get_group().empty() && option->get_positional() == positional;
  });
}

std::vector<NamedCommand> listed_commands(const CLI::App& app) {
  std::vector<NamedCommand> found = {{&app, app.get_name()}};
  for (const CLI::App* sub : listed_subcommands(app)) {
    for (const NamedCommand& inner : listed_commands(*sub)) {
      found.push_back({inner.app, app.get_name() + " " + inner.words});
    }
  }
  return found;
}

Footer sort_footer(const std::string& text) {
  Footer footer;
  std::vector<std::string> paragraph;
  const auto end_paragraph = [&footer, &paragraph] {
    if (!paragraph.empty()) {
      const std::string& first = paragraph.front();
      auto& section = first.starts_with("Example")      ? footer.examples
                      : first.starts_with("Exit code:") ? footer.exit_status
                                                        : footer.description;
      section.push_back(paragraph);
    }
    paragraph.clear();
  };
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) {
      end_paragraph();
    } else {
      paragraph.push_back(line);
    }
  }
  end_paragraph();
  return footer;
}

namespace {

int write_pages(CLI::App& app, const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    throw UsageError("cannot make folder " + folder.string() + ": " + error.message());
  }
  describe_tools(app);
  const std::vector<NamedCommand> all = listed_commands(app);
  for (const NamedCommand& command : all) {
    OutputFile(folder / (page_name(command) + ".1")).write(man_page(command, all));
  }
  OutputFile(folder / "commands.md").write(reference_page(all));
  OutputFile(folder / "warpfold.bash").write(bash_completion(all));
  OutputFile(folder / "_warpfold").write(zsh_completion(all));
  return kDone;
}

}  // namespace

void add_pages(CLI::App& app, Command& command) {
  auto folder = std::make_shared<std::string>();
  CLI::App* pages = app.add_subcommand(
      "pages",
      "Write man pages, the reference page and completions to a folder, as the build does");
  pages->group("");  // not for users
  pages->add_option("DIR", *folder, "Folder")->required();
  pages->callback(
      [folder, &app, &command] { command = [folder, &app] { return write_pages(app, *folder); }; });
}

}  // namespace warpfold::cli

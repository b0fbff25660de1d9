// SPDX-License-Identifier: Apache-2.0
#include "traces/record/host/tool.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <sstream>

#include "traces/format/trace.hpp"

extern char** environ;

namespace warpfold::record {

namespace {

std::string read_all(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

int exit_status(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

ToolResult run_tool(const std::vector<std::string>& command, const std::filesystem::path& scratch,
                    const std::string& input) {
  const std::string in = (scratch / "input").string();
  const std::string out = (scratch / "output").string();
  const std::string errors = (scratch / "errors").string();
  std::ofstream file(in, std::ios::binary);
  file << input;
  file.close();
  if (!file) {
    throw trace::TraceError(in + ": cannot be written");
  }
  std::vector<char*> arguments;
  for (const std::string& argument : command) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions{};
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, in.c_str(), O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  pid_t child = 0;
  const int failed =
      posix_spawnp(&child, arguments.front(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) {
    return {.status = 127, .output = {}, .errors = command.front() + " cannot be started"};
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return {.status = exit_status(status), .output = read_all(out), .errors = read_all(errors)};
}

}  // namespace warpfold::record

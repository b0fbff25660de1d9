// SPDX-License-Identifier: Apache-2.0
// The subcommands that are written in Python (python/warpfold/tools), which the command runs as Git
// runs its external commands. python/warpfold/tools/list.txt names them.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>

#include "model/cli/command.hpp"

namespace warpfold::cli {

// If the first argument names a tool, the process becomes that tool, and this returns only where
// that fails, with the exit code. Else nothing.
[[nodiscard]] std::optional<int> become_tool(char** argv);

// Lists the tools in the help of the command.
void add_tools(CLI::App& app, Command& command);

// Gives the listed tools their options, for man pages and completion: asks Python for them, and
// says so where that fails.
void describe_tools(CLI::App& app);

}  // namespace warpfold::cli

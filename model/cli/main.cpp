// SPDX-License-Identifier: Apache-2.0
// The warpfold command. Exit codes: 0 done, 1 a check failed, 2 bad usage or bad input.
#include <exception>

#include "model/cli/command.hpp"
#include "model/cli/tools.hpp"

int main(int argc, char** argv) {
  using namespace warpfold::cli;
  try {
    if (const std::optional<int> code = become_tool(argv)) {
      return *code;
    }
  } catch (const std::exception& error) {
    complain(error.what());
    return kBadInput;
  }
  return run_command({{add_sim, add_record, add_trace, add_regress, add_contract, add_report,
                       add_lists, add_stimulus, add_tools, add_pages}},
                     argc, argv);
}

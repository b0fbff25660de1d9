// SPDX-License-Identifier: Apache-2.0
// The warpfold command. Exit codes: 0 done, 1 a check failed, 2 bad usage or bad input.
#include "model/cli/command.hpp"

int main(int argc, char** argv) {
  using namespace warpfold::cli;
  return run_command({{add_sim, add_record, add_trace, add_regress, add_contract, add_report,
                       add_lists, add_pages}},
                     argc, argv);
}

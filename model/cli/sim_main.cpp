// SPDX-License-Identifier: Apache-2.0
// The part of the warpfold command that simulates, which is built in half the time of all.
#include "model/cli/command.hpp"

int main(int argc, char** argv) {
  using namespace warpfold::cli;
  return run_command({{add_sim, add_lists}}, argc, argv);
}

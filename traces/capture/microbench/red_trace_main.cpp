// SPDX-License-Identifier: Apache-2.0
// warpfold_red_trace: writes a case of the group `red` as a trace. Needs no CUDA.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "traces/capture/microbench/red_trace.hpp"

int main(int argc, char** argv) {
  using warpfold::microbench::RedCase;
  CLI::App app{"Writes a case of the RED microbenchmarks as a trace, so that the model runs it."};
  std::string name;
  std::filesystem::path path;
  bool list = false;
  int sms = 132;
  int max_warps = 64;
  app.add_flag("--list", list,
               "the names of all cases that can be traces, and their REDs of an SM");
  app.add_option("--sms", sms, "SMs of the GPU")->check(CLI::Range(1, 1024))->capture_default_str();
  app.add_option("--max-warps", max_warps, "warps of an SM")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app.add_option("case", name, "name of the case");
  app.add_option("trace", path, "file to write");
  CLI11_PARSE(app, argc, argv);
  try {
    for (const RedCase& one : warpfold::microbench::red_cases(sms, max_warps)) {
      if (list && one.subcores == 4) {
        std::printf("%s %d\n", one.name.c_str(),
                    one.iterations * warpfold::microbench::kReds * one.warps);
      } else if (!list && one.name == name) {
        warpfold::microbench::write_red_trace(one, sms, path);
        return 0;
      }
    }
    if (list) {
      return 0;
    }
    std::fprintf(stderr, "warpfold_red_trace: no case '%s'; --list has their names\n",
                 name.c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "warpfold_red_trace: %s\n", error.what());
  }
  return 2;
}

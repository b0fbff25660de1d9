// SPDX-License-Identifier: Apache-2.0
// warpfold_red_trace: writes a case of the groups `red` and `vector` as a trace. Needs no CUDA.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <functional>
#include <map>

#include "traces/capture/microbench/red_trace.hpp"
#include "traces/capture/microbench/vector_trace.hpp"

namespace warpfold::microbench {
namespace {

// A case that can be a trace.
struct Replay {
  int operations = 0;  // of an SM
  const char* policy = nullptr;
  std::function<void(const std::filesystem::path&)> write;
};

std::map<std::string, Replay> replays(int sms, int max_warps) {
  std::map<std::string, Replay> all;
  for (const RedCase& one : red_cases(sms, max_warps)) {
    if (one.subcores == 4) {
      all[one.name] = {one.iterations * kReds * one.warps, "baseline",
                       [one, sms](const auto& path) { write_red_trace(one, sms, path); }};
    }
  }
  for (const VectorCase& one : vector_cases(sms)) {
    if (has_trace(one)) {
      all[one.name] = {one.iterations * kVectorArrays * one.warps, policy_of(one),
                       [one, sms](const auto& path) { write_vector_trace(one, sms, path); }};
    }
  }
  return all;
}

}  // namespace
}  // namespace warpfold::microbench

int main(int argc, char** argv) {
  CLI::App app{"Writes a case of the RED microbenchmarks as a trace, so that the model runs it."};
  std::string name;
  std::filesystem::path path;
  bool list = false;
  int sms = 132;
  int max_warps = 64;
  app.add_flag("--list", list,
               "the names of all cases that can be traces, their operations of an SM and the "
               "policy that does them");
  app.add_option("--sms", sms, "SMs of the GPU")->check(CLI::Range(1, 1024))->capture_default_str();
  app.add_option("--max-warps", max_warps, "warps of an SM")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app.add_option("case", name, "name of the case");
  app.add_option("trace", path, "file to write");
  CLI11_PARSE(app, argc, argv);
  try {
    const auto cases = warpfold::microbench::replays(sms, max_warps);
    if (list) {
      for (const auto& [case_name, one] : cases) {
        std::printf("%s %d %s\n", case_name.c_str(), one.operations, one.policy);
      }
      return 0;
    }
    if (const auto found = cases.find(name); found != cases.end()) {
      found->second.write(path);
      return 0;
    }
    std::fprintf(stderr, "warpfold_red_trace: no case '%s'; --list has their names\n",
                 name.c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "warpfold_red_trace: %s\n", error.what());
  }
  return 2;
}

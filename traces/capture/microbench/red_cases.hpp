// SPDX-License-Identifier: Apache-2.0
// The cases of the group `red`: where warps add, how many of them, how often. Host only: the
// benchmark runs them on a GPU, and red_trace.hpp makes traces of them for the model.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "traces/capture/microbench/red.hpp"

namespace warpfold::microbench {

struct RedCase {
  std::string name;
  RedPattern pattern;
  int lanes = 0;  // active ones
  int warps = 0;  // of an SM
  bool whole_gpu = false;
  int subcores = 4;    // that have these warps
  int iterations = 0;  // of kReds REDs each
  int launches = 1;    // times as many as of others, where they differ
  nlohmann::ordered_json parameters;
};

// All cases, for a GPU with so many SMs and warps of an SM.
std::vector<RedCase> red_cases(int sms, int max_warps);

}  // namespace warpfold::microbench

// SPDX-License-Identifier: Apache-2.0
// Kernel variants that the capture program can run, and their names. Host only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace warpfold::capture {

// kSwBUniform is sw-b without the test of the index; it is timed for comparison and not in the
// traces. kNone is the baseline without its atomics: the floor that no reduction can beat.
enum class Variant : int {
  kBaseline = 0,
  kSwS = 1,
  kSwB = 2,
  kSkip = 3,
  kSwBUniform = 4,
  kCccl = 5,
  kNone = 6
};

struct Policy {
  Variant variant = Variant::kBaseline;
  int threshold = 0;  // balancing threshold of the three that have one

  [[nodiscard]] std::string name() const;  // "sw-b:16"
};

// Throws InputError for an unknown name.
[[nodiscard]] Policy parse_policy(std::string_view name);
// baseline, skip, cccl, none, and sw-b, sw-s and sw-b-uniform at 0, 4, ... 32.
[[nodiscard]] std::vector<Policy> timed_policies();
// One kernel each for profiling: baseline, sw-s:16, sw-b:16, skip, cccl, none.
[[nodiscard]] std::vector<Policy> profiled_policies();

}  // namespace warpfold::capture

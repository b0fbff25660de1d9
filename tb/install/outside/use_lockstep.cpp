// SPDX-License-Identifier: Apache-2.0
// RTL and golden unit side by side over the begin of a trace.
#include <iostream>

#include "model/unit/lockstep.hpp"

int main(int, char** argv) {
  const warpfold::trace::Reader reader(argv[1]);
  const warpfold::RegressResult result = warpfold::regress_trace(reader, {.max_events = 20});
  std::cout << (result.passed ? "agree" : result.message) << " over " << result.events
            << " events\n";
  return result.passed ? 0 : 1;
}

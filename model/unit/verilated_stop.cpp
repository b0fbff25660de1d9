// SPDX-License-Identifier: Apache-2.0
// Part of Verilator's runtime, which asks for vl_stop() here.
#include "model/unit/verilated_stop.hpp"

#include <verilated.h>

#include <atomic>
#include <cstdio>

namespace warpfold {

namespace {

std::atomic<void (*)()> stop_function = nullptr;

}  // namespace

void on_verilated_stop(void (*stop)()) {
  stop_function = stop;
}

}  // namespace warpfold

// Without the file, which is one of where this was built.
void vl_stop(const char* /*file*/, int line, const char* scope) {
  std::fflush(stdout);
  if (const auto stop = warpfold::stop_function.load(); stop != nullptr) {
    stop();
  } else {
    vl_fatal("", line, scope, "an assertion has failed");
  }
}

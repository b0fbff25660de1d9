// SPDX-License-Identifier: Apache-2.0
// Reads a trace.
#include <iostream>

#include "traces/format/reader.hpp"

int main(int, char** argv) {
  const warpfold::trace::Reader reader(argv[1]);
  std::cout << reader.cta_count() << " CTAs, " << reader.event_count() << " events\n";
}

// SPDX-License-Identifier: Apache-2.0
// The GPU as a module, through a shared library of others: prints the cycles of a trace under
// arc-hw. C++17.
#include <cstdlib>
#include <iostream>
#include <systemc>

unsigned long long cycles_of(const char* trace, const char* machine);

int sc_main(int, char** argv) {
  std::cout << cycles_of(argv[1], argv[2]) << " cycles\n";
  return EXIT_SUCCESS;
}

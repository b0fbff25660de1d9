// SPDX-License-Identifier: Apache-2.0
#include <systemc>

// The SystemC library asks for this entry, which a program that has its own main() never reaches.
int sc_main(int /*argc*/, char** /*argv*/) {
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// Looks into the disassembly of the microbenchmarks: does each loop hold the instructions that it
// is named after, as many as it counts? Host only.
#pragma once

#include <istream>
#include <map>
#include <string>
#include <vector>

namespace warpfold::microbench {

// Instructions of a kernel's largest loop by opcode, which is the part in front of the first dot.
// For RED the whole opcode counts, too.
struct SassKernel {
  std::string arch;  // "sm_90"
  std::string name;  // demangled
  std::map<std::string, int> loop;
  int registers_spilled = 0;  // loads and stores of local memory, anywhere in the kernel
};

// From what `cuobjdump -sass` prints.
[[nodiscard]] std::vector<SassKernel> read_sass(std::istream& text);

// The loop of each kernel whose name holds `kernel` has at least `count` of `opcode`, and at most
// one in sixteen more: a loop that does its work twice is as wrong as one that does none.
struct SassExpectation {
  std::string kernel;
  std::string opcode;
  int count = 0;
  int capability = 0;  // of the machine code that has it, at least, such as 90
};
[[nodiscard]] const std::vector<SassExpectation>& sass_expectations();

// What is wrong, one line each. A kernel that is missing is wrong, too.
[[nodiscard]] std::vector<std::string> check_sass(const std::vector<SassKernel>& kernels,
                                                  const std::vector<SassExpectation>& expected);

}  // namespace warpfold::microbench

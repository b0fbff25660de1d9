// SPDX-License-Identifier: Apache-2.0
// The lines at the front of a launch's file: "-key = value". They are those that
// trace_parser::parse_kernel_info of Accel-Sim reads; what a trace could not hold of them is
// refused.
#pragma once

#include <cstdint>
#include <string>

#include "traces/import/accelsim/input_file.hpp"

namespace warpfold::accelsim {

struct LaunchHeader {
  std::string kernel;  // mangled
  std::uint32_t grid[3] = {0, 0, 0};
  std::uint32_t block[3] = {0, 0, 0};
  std::uint32_t shared_bytes = 0;
  std::uint32_t registers = 0;
  std::uint32_t binary_version = 0;  // 86 of sm_86
  std::uint32_t tracer_version = 0;
  bool has_line_numbers = false;    // each instruction begins with that of its source
  std::uint64_t shared_window = 0;  // where generic addresses mean shared memory; 0: not known
  std::uint64_t local_window = 0;   // likewise local memory
  std::string nvbit_version;        // may be empty

  [[nodiscard]] std::uint64_t ctas() const { return std::uint64_t{grid[0]} * grid[1] * grid[2]; }
  [[nodiscard]] std::uint32_t warps_per_cta() const {
    return (block[0] * block[1] * block[2] + 31) / 32;
  }
};

// Fills `header` up to the line that describes the form of the instructions. Keys that are not
// known are passed over. Throws FileError; the kernel is then known if its line was read.
void read_launch_header(InputFile& file, LaunchHeader& header);

}  // namespace warpfold::accelsim

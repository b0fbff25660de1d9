// SPDX-License-Identifier: Apache-2.0
// Lines of instructions: what of them is the code, which comes again and again and is kept once,
// and what is of this one time: mask and addresses.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "traces/format/trace.hpp"
#include "traces/import/accelsim/input_file.hpp"
#include "traces/import/accelsim/launch_header.hpp"
#include "traces/import/accelsim/opcode.hpp"

namespace warpfold::accelsim {

// Registers of a warp by number: vector registers, then uniform ones, which the tracer lists from
// version 6 on.
constexpr int kVectorRegisters = 256;
constexpr int kRegisters = 2 * kVectorRegisters;

// The register `ahead` of that one; the last of its kind where there is none.
[[nodiscard]] constexpr std::size_t register_ahead(int number, std::uint32_t ahead) {
  const int end = number < kVectorRegisters ? kVectorRegisters : kRegisters;
  return std::min<std::size_t>(static_cast<std::size_t>(number) + ahead,
                               static_cast<std::size_t>(end) - 1);
}

// One place of the code. Device functions have places of their own that begin with 0 as the
// kernel's do, so the place alone does not name it.
struct Instruction {
  std::uint32_t pc = 0;
  std::string name;
  Opcode opcode;
  int destination = -1;  // register, or -1
  std::vector<int> sources;
  std::uint32_t listed = 0;  // registers in the line, those that are always zero among them
};

using InstructionId = std::uint32_t;

class Code {
 public:
  static constexpr std::size_t kMostInstructions = std::size_t{1} << 20U;
  // `words` is a line's part with the registers and the opcode. Throws std::runtime_error with what
  // is wrong with it.
  InstructionId find(std::uint32_t pc, std::string_view words);
  [[nodiscard]] const Instruction& operator[](InstructionId id) const { return instructions_[id]; }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  std::unordered_map<std::string, InstructionId, Hash, std::equal_to<>> ids_;
  std::string key_;
  std::vector<Instruction> instructions_;
};

// One line.
struct Issue {
  InstructionId id = 0;
  std::uint32_t mask = 0;
  bool has_addresses = false;
  std::array<std::uint64_t, trace::kWarpLanes> addresses;  // of the active lanes
};

// Reads a line as inst_trace_t::parse_from_string of Accel-Sim's trace_parser.cc does.
class LineParser {
 public:
  LineParser(const LaunchHeader& header, Code& code, const InputFile& file)
      : header_(header), code_(code), file_(file) {}
  // Throws FileError that names the line.
  void parse(std::string_view line, Issue& issue);

 private:
  const LaunchHeader& header_;
  Code& code_;
  const InputFile& file_;
};

}  // namespace warpfold::accelsim

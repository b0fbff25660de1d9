// SPDX-License-Identifier: Apache-2.0
// The thread blocks of a launch's file, one behind the other, each with its warps, in the form that
// trace_parser::get_next_threadblock_traces of Accel-Sim reads.
#pragma once

#include <cstdint>
#include <optional>

#include "traces/import/accelsim/input_file.hpp"
#include "traces/import/accelsim/instruction.hpp"
#include "traces/import/accelsim/launch_header.hpp"
#include "traces/import/accelsim/warp_reader.hpp"

namespace warpfold::accelsim {

class LaunchReader {
 public:
  // `file` stands behind the header.
  LaunchReader(InputFile& file, const LaunchHeader& header, Code& code, WarpReader& warps,
               Spill& spill)
      : file_(file), header_(header), parser_(header, code, file), warps_(warps), spill_(spill) {}

  // All of them. Throws FileError.
  void read();
  [[nodiscard]] std::uint64_t ctas() const { return ctas_; }

 private:
  enum class Place : std::uint8_t { kOutside, kBlock, kWarps, kWarp, kInstructions };

  void take(std::string_view line);
  void begin_block();
  void end_block();
  void name_block(std::string_view value);
  void check_cluster(std::string_view line);
  void begin_warp(std::string_view value);
  void begin_instructions(std::string_view value);
  void take_instruction(std::string_view line);
  void end_warp();

  InputFile& file_;
  const LaunchHeader& header_;
  LineParser parser_;
  WarpReader& warps_;
  Spill& spill_;
  Issue issue_;
  Place place_ = Place::kOutside;
  std::uint64_t ctas_ = 0;
  std::optional<std::uint64_t> last_cta_;
  std::optional<std::uint32_t> last_warp_;  // of the thread block
  std::uint64_t instructions_left_ = 0;     // of the warp
};

}  // namespace warpfold::accelsim

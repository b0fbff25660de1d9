// SPDX-License-Identifier: Apache-2.0
// Files as Accel-Sim's tracer writes them, for the tests of their import: put together line by line
// after the format, packed, imported and read back.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tb/trace/trace_files.hpp"
#include "traces/format/trace.hpp"
#include "traces/import/accelsim/import.hpp"

namespace warpfold::accelsim::test {

using trace::test::TempFolder;

constexpr std::uint32_t kAll = 0xffffffffU;
constexpr std::uint64_t kArray = 0x7f2ab4a00000;
constexpr std::uint64_t kSharedWindow = 0x7f2ad0000000;
inline const std::string kRed = "RED.E.ADD.F32.FTZ.RN.STRONG.GPU";

// The three ways to write the addresses of the active lanes.
enum class Form : std::uint8_t { kEach, kStride, kSteps };

struct Line {
  std::uint32_t pc = 0;
  std::uint32_t mask = kAll;
  std::string destination;  // "R4" or empty
  std::string opcode;
  std::vector<std::string> sources;
  std::vector<std::uint64_t> addresses;  // of the active lanes; none: no access to memory
  Form form = Form::kEach;
  std::string behind = {};  // the name and the registers, in place of width, addresses and numbers
};

using WarpLines = std::vector<Line>;

struct Launch {
  int version = 5;
  bool line_numbers = false;  // from version 4 on
  bool immediate = true;      // at the end of a line, from version 4 on; two from version 6 on
  bool values = false;        // of registers at the end of a line, from version 6 on
  bool clusters = false;      // lines on them, from version 6 on
  std::string kernel = "_Z3addPf";
  std::uint32_t grid[3] = {1, 1, 1};
  std::uint32_t block[3] = {32, 1, 1};
  // By x, y, z of the thread block as in the file.
  std::vector<std::pair<std::string, std::vector<WarpLines>>> blocks;

  [[nodiscard]] std::string text() const;
};

// A RED of one address, or of as many as lanes.
Line red(std::uint32_t pc, std::vector<std::uint64_t> addresses, std::uint32_t mask = kAll,
         const std::string& opcode = kRed);
Line plain(std::uint32_t pc, const std::string& opcode, const std::string& destination = "",
           std::vector<std::string> sources = {});
// So many times the same address.
std::vector<std::uint64_t> at(std::uint64_t address, std::size_t lanes = 32);
// One block of one warp.
Launch launch_of(const WarpLines& lines);

// As Accel-Sim 2.0 packs a launch of that text: so many instructions in a frame, with a dictionary
// or without.
std::string tracez_of(const Launch& launch, std::size_t frame = 3, bool dictionary = true);
std::string xz_of(const std::string& text);
std::string zstd_of(const std::string& text);
void write_text(const std::filesystem::path& path, const std::string& text);

struct Imported {
  ImportOutcome outcome;
  std::string printed;
  std::string complaints;  // one line each
  trace::Header header;
  std::vector<trace::CtaTrace> ctas;
};

// The launch alone in a list, imported and read back.
Imported imported(const std::string& text, const std::string& name = "kernel-1.traceg",
                  bool loads = false);
inline Imported imported(const Launch& launch) {
  return imported(launch.text());
}
// Reads a trace back, and checks every record of it.
void read_back(const std::filesystem::path& path, Imported& into);
// What the import has against the file: one line without the folder. Fails where it has nothing,
// says more or leaves a file behind.
std::string refusal(const std::string& text, const std::string& name = "kernel-1.traceg");

// Addresses of each parameter of an event, by active lane.
std::vector<std::vector<std::uint64_t>> addresses_of(const trace::Header& header,
                                                     const trace::WarpTrace& warp,
                                                     const trace::Record& event);
std::vector<trace::Record> events_of(const trace::WarpTrace& warp);
// Issue slots of all work of the trace.
trace::InstructionCost work_of(const Imported& trace);

}  // namespace warpfold::accelsim::test

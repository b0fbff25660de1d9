// SPDX-License-Identifier: Apache-2.0
// What the recorder knows of a kernel's machine code.
// python/warpfold/tools/costs/kernel_code.py reads it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "traces/format/trace.hpp"
#include "traces/record/host/ways.hpp"

namespace warpfold::record {

// An atomic on global memory.
struct Atomic {
  std::string name;  // "REDG.E.ADD.F32.FTZ.RN.STRONG.GPU"
  trace::SiteKind kind = trace::SiteKind::kRed;
  trace::ValueType type = trace::ValueType::kF32;
  std::uint32_t words = 1;  // elements a lane adds: 2 and 4 of vectors
  bool adds_floats = false;
  bool is_reported = true;  // to the patches; a reduction by a tensor map is not
  // Whether it may be one event with others.
  [[nodiscard]] bool joins() const { return kind == trace::SiteKind::kRed; }
};

struct Instruction {
  std::uint32_t block = 0;  // of the control-flow graph
  std::optional<Atomic> atomic;
  std::optional<trace::MemorySite> access = {};  // of a load or store of global memory
  bool predicated = false;                       // lanes at it may leave it out
  std::string name = {};                         // what its user calls it; empty for machine code
};

struct KernelCode {
  std::string arch;  // "sm_90"
  std::string function;
  std::vector<Instruction> instructions;
  // Whether any atomic adds floats; whether there is any atomic that is reported.
  [[nodiscard]] bool adds_floats() const;
  [[nodiscard]] bool has_atomics() const;
  // What an instruction is called: by its byte offset where it has no name, "entry" for kEntry.
  [[nodiscard]] std::string place(InstructionNumber at) const;
};

// Ways that the warps of a launch went, each a list of markers as WayTree::markers() gives it, and
// how often each.
struct WayPasses {
  std::vector<std::vector<InstructionNumber>> ways;
  std::vector<std::uint64_t> passes;
  std::uint64_t warps = 0;
  nlohmann::json launch = nullptr;  // what is known of constant memory (costs/README.md)
  bool apart = false;               // loads and stores have records of their own and are in no cost

  // As kernel_code.py takes them: markers by their byte offsets.
  [[nodiscard]] nlohmann::json to_json() const;
};

// What ways cost, in the form of a trace's header; null where no way leads there.
struct WayCosts {
  nlohmann::json whole;  // of each way from its first marker to its last
  // With WayPasses::apart: of each way what it costs between the places where it waits for loads,
  // as {"loads": [offsets], "cost": cost or null}; null where no way leads there.
  nlohmann::json parts;
};

// The flow of control of a kernel cannot be followed, so its ways have no costs.
class UnknownCode : public trace::TraceError {
 public:
  using trace::TraceError::TraceError;
};

// Runs kernel_code.py. Its methods throw trace::TraceError with one line when it cannot be run or
// does not understand the kernel.
class CodeReader {
 public:
  // `tools`: folder of the Python package; `scratch`: folder for files that may be thrown away;
  // `cache`: one for listings, to be found again. `sees_rows`: the recorder reports reductions of
  // rows of shared memory.
  CodeReader(std::filesystem::path tools, std::filesystem::path scratch,
             std::filesystem::path cache, bool sees_rows)
      : tools_(std::move(tools)),
        scratch_(std::move(scratch)),
        cache_(std::move(cache)),
        sees_rows_(sees_rows) {}

  [[nodiscard]] KernelCode describe(const std::filesystem::path& cubin,
                                    const std::string& function) const;
  // Throws UnknownCode where the kernel's flow of control is not understood.
  [[nodiscard]] WayCosts ways(const std::filesystem::path& cubin, const std::string& function,
                              const WayPasses& ways) const;
  // The same, held to how often the GPU issued each instruction of the launch: `ncu`, a CSV of ncu.
  // `every`: the passes are of one CTA in so many.
  [[nodiscard]] WayCosts refined(const std::filesystem::path& cubin, const std::string& function,
                                 const WayPasses& ways, const std::filesystem::path& ncu,
                                 std::uint32_t every) const;

 private:
  [[nodiscard]] std::string run(const std::string& command, const std::filesystem::path& cubin,
                                const std::string& function, const std::string& input = {},
                                const std::vector<std::string>& more = {}) const;
  [[nodiscard]] WayCosts costs(const std::filesystem::path& cubin, const std::string& function,
                               const WayPasses& ways, const std::vector<std::string>& more) const;
  std::filesystem::path tools_, scratch_, cache_;
  bool sees_rows_;
};

}  // namespace warpfold::record

// SPDX-License-Identifier: Apache-2.0
// Instructions of a warp become events, barriers and ways between them.
//
// A way ends where the warp jumps back, at a barrier and at an event; where loads are told apart,
// also at a memory instruction and in front of whatever needs what one has loaded. Additions with
// one mask, one behind the other in the code and with no other access to memory between them, are
// one event, which stands where the last of them does.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "traces/import/accelsim/instruction.hpp"
#include "traces/import/accelsim/runs.hpp"
#include "traces/import/accelsim/spill.hpp"
#include "traces/import/accelsim/ways.hpp"

namespace warpfold::accelsim {

// Of all warps of a launch.
struct InstructionCounts {
  std::uint64_t instructions = 0;
  std::uint64_t additions = 0;                   // instructions that events are of
  std::uint64_t lane_additions = 0;              // of single floats
  std::uint64_t returning = 0;                   // additions that give back what was there before
  std::uint64_t impossible = 0;                  // lane additions where no GPU has memory
  std::uint64_t impossible_address = 0;          // of the first of them
  std::map<std::string, std::uint64_t> omitted;  // atomics of other kinds, by name
};

class WarpReader {
 public:
  // `loads`: memory instructions become accesses of their own.
  WarpReader(const LaunchHeader& header, const Code& code, Ways& ways, Runs& runs, Spill& spill,
             bool loads)
      : header_(header), code_(code), ways_(ways), runs_(runs), spill_(spill), loads_(loads) {}

  void begin(std::uint32_t warp);
  // Throws std::runtime_error where a trace has no room for it.
  void issue(const Issue& issue);
  void end();

  [[nodiscard]] const InstructionCounts& counts() const { return counts_; }
  // That accesses are of.
  [[nodiscard]] const std::vector<trace::MemorySite>& memory() const { return memory_; }

 private:
  struct Step {
    InstructionId id = 0;
    bool is_event = false;
    bool is_access = false;
  };

  [[nodiscard]] bool is_global(const Issue& issue) const;
  [[nodiscard]] bool is_addition(const Opcode& opcode, const Issue& issue) const;
  // The memory instruction that it is of, if it is told apart.
  [[nodiscard]] std::optional<std::uint16_t> find_memory(const Issue& issue);
  void add_access(const Issue& issue, const Instruction& instruction, std::uint16_t site);
  // In front of what needs what has been loaded.
  void wait_for_loads(const Instruction& instruction);
  void count_atomic(const Instruction& instruction, bool is_event, const Issue& issue);
  void add_to_run(const Issue& issue, const Instruction& instruction);
  void close_run();
  // The first steps become a pass along a way.
  void end_way(std::size_t steps);

  const LaunchHeader& header_;
  const Code& code_;
  Ways& ways_;
  Runs& runs_;
  Spill& spill_;
  InstructionCounts counts_;
  EarlyResults early_;
  std::vector<Step> steps_;  // since the last way ended
  std::uint32_t last_pc_ = 0;
  std::vector<InstructionId> run_;  // additions that are not an event yet
  std::uint32_t run_parameters_ = 0;
  std::size_t run_end_ = 0;  // steps up to the last of them, itself included
  RunEvent event_;
  Way way_;

  static constexpr std::size_t kMostMemory = 4096;  // of a header
  static constexpr std::uint16_t kNoSite = 0xffff;
  const bool loads_;
  std::vector<trace::MemorySite> memory_;
  std::map<InstructionId, std::uint16_t> memory_of_;
  // By register: what has been loaded into it and not been waited for.
  std::array<std::uint16_t, kRegisters> loading_ = none_loading();
  SpilledAccess access_;
  static constexpr std::array<std::uint16_t, kRegisters> none_loading() {
    std::array<std::uint16_t, kRegisters> none{};
    none.fill(kNoSite);
    return none;
  }
};

}  // namespace warpfold::accelsim

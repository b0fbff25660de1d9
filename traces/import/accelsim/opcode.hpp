// SPDX-License-Identifier: Apache-2.0
// What an instruction is, by its name alone: its class of work as the instruction costs have it,
// the class of its result, and what it adds if it is an atomic addition. The table is that of
// traces/capture/costs, with names of older architectures added.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "traces/format/trace.hpp"

namespace warpfold::accelsim {

struct Opcode {
  // Where InstructionCost counts its issue slot.
  std::uint32_t trace::InstructionCost::*slot = &trace::InstructionCost::alu;
  bool is_branch = false;   // takes longer than its stall count: BRA, BSYNC
  bool is_jump = false;     // any change of flow
  bool is_barrier = false;  // of the CTA, and waits
  bool is_memory = false;   // of any kind, but for constants
  // Its result is in predicates or uniform registers, which a trace does not list.
  bool hides_result = false;
  std::optional<trace::ResultClass> result = std::nullopt;  // that arrives when it does
  std::uint32_t result_registers = 1;                       // in a row
  bool is_atomic = false;                                   // on memory of any kind
  bool is_group = false;  // a product of matrices by several warps
  bool is_tile = false;   // copies or adds tiles of memory
  bool is_mark = false;   // none: the tracer marks a loop that waits
  // An addition of floats: what a lane adds, and how many of them in a row.
  std::optional<trace::ValueType> adds = std::nullopt;
  std::uint32_t words = 1;
  // A load or store of global memory, if generic addresses do not say otherwise: LDG, LD, STG, ST.
  std::optional<trace::MemorySite> access = std::nullopt;
};

// "RED.E.ADD.F32.FTZ.RN.STRONG.GPU".
[[nodiscard]] Opcode opcode_of(std::string_view name);

}  // namespace warpfold::accelsim

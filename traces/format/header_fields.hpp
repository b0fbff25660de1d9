// SPDX-License-Identifier: Apache-2.0
// Names of the header's fields in JSON, and how one is refused. Not for use outside this folder.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "traces/format/trace.hpp"

namespace warpfold::trace {

// Name of a field of InstructionCost in JSON, and where it lives.
struct CostField {
  const char* name;
  std::uint32_t InstructionCost::*member;
};
inline constexpr std::array<CostField, 12> kCostFields = {{
    {"alu", &InstructionCost::alu},
    {"integer", &InstructionCost::integer},
    {"sfu", &InstructionCost::sfu},
    {"shared", &InstructionCost::shared},
    {"shared_wide", &InstructionCost::shared_wide},
    {"global_load", &InstructionCost::global_load},
    {"shuffle", &InstructionCost::shuffle},
    {"shuffle_index", &InstructionCost::shuffle_index},
    {"match", &InstructionCost::match},
    {"redux", &InstructionCost::redux},
    {"stall_cycles", &InstructionCost::stall_cycles},
    {"branches", &InstructionCost::branches},
}};

// By ResultClass.
inline constexpr std::array<std::string_view, static_cast<std::size_t>(ResultClass::kCount)>
    kResults = {"sfu",     "shared",  "global_load", "shuffle",   "shuffle_index", "match", "redux",
                "special", "uniform", "constant",    "next_word", "shared_cas",    "fence"};

// By ValueType, SiteKind, TimeState, CostSource.
inline constexpr std::array<std::string_view, 6> kValueTypes = {"f32", "f16x2", "bf16x2",
                                                                "f64", "u32",   "u64"};
inline constexpr std::array<std::string_view, 3> kSiteKinds = {"red", "atom", "bulk"};
// By AccessKind, CacheUse.
inline constexpr std::array<std::string_view, 2> kAccessKinds = {"load", "store"};
inline constexpr std::array<std::string_view, 5> kCacheUses = {"ca", "nc", "ef", "el", "cg"};
inline constexpr std::array<std::string_view, 3> kTimeStates = {"", "cold", "warm"};
inline constexpr std::array<std::string_view, 3> kCostSources = {"", "code", "counts"};
// Types of format version 4.
inline constexpr std::size_t kEarlierTypes = 4;

// Throws TraceError with "header: FIELD: WHY".
[[noreturn]] void refuse_field(std::string_view field, std::string_view why);

// As json::parse, but a key that comes twice in an object is an error rather than the last one's
// value. Throws TraceError.
[[nodiscard]] nlohmann::json parse_header_text(std::string_view text);

}  // namespace warpfold::trace

// SPDX-License-Identifier: Apache-2.0
// What a unit says of itself, which is all that the rest of the model knows of it: its ports
// (ArcUnit::Ports), and what it promises beyond the handshakes that every unit keeps. The kinds
// that are built in say it here, units of others in their library (unit_library.hpp).
#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "model/unit/arc_unit.hpp"
#include "model/unit/fp32.hpp"

namespace warpfold {

// Which sums are right.
enum class SumKind : std::uint8_t {
  kChain,        // the chain of additions in lane order, to the bit
  kAnyOrder,     // any order of additions: within the bound of rounding once an addition
  kOneRounding,  // one rounding of the exact sum of what the window keeps of the values
};
inline constexpr std::array<std::string_view, 3> kSumKindNames = {"chain", "any-order",
                                                                  "one-rounding"};

struct UnitPromise {
  WordType adds = WordType::kFp32;  // words of this type; others pass it by
  SumKind sum = SumKind::kChain;
  bool flush_subnormals = true;  // subnormal values and sums count as zero
  // kOneRounding: bits kept of a value, from the top of the largest bin of exponents down; 0: all.
  std::uint32_t window = 0;
  std::uint32_t most_lanes = 1;  // lanes that a read asks for at most, one of each port
  // A read that is refused comes again so many cycles later; 0: some time.
  std::uint32_t read_turn = 1;
  bool zero_payload = true;  // payload outputs are zero while their valid is
};

struct UnitDeclaration {
  std::string_view name;
  ArcUnit::Ports ports;
  UnitPromise promise;
};

// In the order of kUnitKinds.
inline constexpr std::array kUnitDeclarations = {
    UnitDeclaration{"serial", {}, {}},
    UnitDeclaration{"pipelined", {.cycles_to_rest = 5, .rest_period = 4}, {.read_turn = 4}},
    UnitDeclaration{"fused",
                    {.read_lanes = kBanks, .sees_exponents = true, .cycles_to_rest = 6},
                    {.sum = SumKind::kOneRounding, .window = kFusedWindow, .most_lanes = kBanks}},
    UnitDeclaration{
        "vector",
        {.read_lanes = kBanks, .sees_exponents = true, .max_words = kMaxWords, .cycles_to_rest = 6},
        {.sum = SumKind::kOneRounding, .window = kFusedWindow, .most_lanes = kBanks}},
    UnitDeclaration{"halves", {}, {.adds = WordType::kHalves, .flush_subnormals = false}},
    UnitDeclaration{
        "paired",
        {.read_lanes = kPairedBanks, .cycles_to_rest = 6},
        {.sum = SumKind::kOneRounding, .window = kPairedWindow, .most_lanes = kPairedBanks}},
};
static_assert(kUnitDeclarations.size() == kUnitKinds.size());

constexpr const UnitDeclaration& unit_declaration(UnitKind kind) {
  return kUnitDeclarations[static_cast<std::size_t>(kind)];
}

// What a transaction reduced by a kind must carry, to the bit.
inline Fp32Bits sum_reference(UnitKind kind, LaneMask mask,
                              const std::array<Fp32Bits, kLanes>& values) {
  const UnitPromise& promise = unit_declaration(kind).promise;
  if (promise.sum == SumKind::kChain) {
    return reduction_reference(mask, values, promise.adds);
  }
  return kind == UnitKind::kPaired ? paired_reference(mask, values) : fused_reference(mask, values);
}

// Lanes that one register-file read delivers at most: lane l comes through port l modulo this.
constexpr std::uint32_t read_lanes(UnitKind kind) {
  return unit_declaration(kind).ports.read_lanes;
}

// "chain", "any-order" or "one-rounding"; throws std::invalid_argument on any other name.
inline SumKind parse_sum_kind(std::string_view name) {
  for (std::size_t i = 0; i < kSumKindNames.size(); ++i) {
    if (name == kSumKindNames[i]) {
      return static_cast<SumKind>(i);
    }
  }
  throw std::invalid_argument("unknown kind of sum '" + std::string(name) +
                              "': chain, any-order or one-rounding");
}

}  // namespace warpfold

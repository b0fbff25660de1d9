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

constexpr ArcUnit::Ports unit_ports(const UnitKind& kind) {
  ArcUnit::Ports ports;
  ports.max_words = kind.max_words;
  if (kind.datapath != Datapath::kSerial) {
    ports.read_lanes = kind.datapath == Datapath::kPaired ? kPairedBanks : kBanks;
    ports.cycles_to_rest = 6;
  }
  ports.sees_exponents = kind.datapath == Datapath::kFused;
  return ports;
}

constexpr UnitPromise unit_promise(const UnitKind& kind) {
  UnitPromise promise{.adds = kind.adds, .flush_subnormals = kind.adds == WordType::kFp32};
  if (kind.datapath != Datapath::kSerial) {
    promise.sum = SumKind::kOneRounding;
    promise.window = kind.datapath == Datapath::kPaired ? kPairedWindow : kFusedWindow;
    promise.most_lanes = unit_ports(kind).read_lanes;
  }
  return promise;
}

UnitDeclaration unit_declaration(const UnitKind& kind);

// What a transaction reduced by a kind must carry, to the bit.
inline Fp32Bits sum_reference(const UnitKind& kind, LaneMask mask,
                              const std::array<Fp32Bits, kLanes>& values) {
  switch (kind.datapath) {
    case Datapath::kSerial:
      return reduction_reference(mask, values, kind.adds);
    case Datapath::kPaired:
      return paired_reference(mask, values);
    case Datapath::kFused:
      return fused_reference(mask, values);
  }
  throw std::invalid_argument("no such datapath");
}

// Lanes that one register-file read delivers at most: lane l comes through port l modulo this.
constexpr std::uint32_t read_lanes(const UnitKind& kind) {
  return unit_ports(kind).read_lanes;
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

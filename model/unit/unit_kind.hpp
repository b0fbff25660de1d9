// SPDX-License-Identifier: Apache-2.0
// Which unit of the family: its datapath, the words that it adds, how many of them a request may
// have, and the coalescer in front of it. rtl/units.json lists what may be combined and which
// combinations have a name; rtl/README.md says what they are.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "model/types.hpp"

namespace warpfold {

// arc_pkg::Datapath*: 2^datapath lanes a cycle at most.
enum class Datapath : std::uint8_t { kSerial, kPaired, kFused };
// arc_subcore's Coalescer: at once, or in stages.
enum class Coalescer : std::uint8_t { kDirect, kStaged };

// Its members are public, as of a template argument.
struct UnitKind {
  Datapath datapath = Datapath::kSerial;
  WordType adds = WordType::kFp32;
  std::uint32_t max_words = 1;  // of a lane in a request, 1 to kMaxWords
  Coalescer coalescer = Coalescer::kDirect;

  friend bool operator==(const UnitKind&, const UnitKind&) = default;

  // Those that code names.
  static const UnitKind kSerial;
  static const UnitKind kPaired;
  static const UnitKind kFused;
  static const UnitKind kVector;
  static const UnitKind kHalves;
};
inline constexpr UnitKind UnitKind::kSerial{};
inline constexpr UnitKind UnitKind::kPaired{.datapath = Datapath::kPaired};
inline constexpr UnitKind UnitKind::kFused{.datapath = Datapath::kFused};
inline constexpr UnitKind UnitKind::kVector{.datapath = Datapath::kFused, .max_words = 16};
inline constexpr UnitKind UnitKind::kHalves{.adds = WordType::kHalves};

// All that have a name, which are those that there are as RTL.
std::span<const UnitKind> unit_kinds();
// "serial, paired, ... or halves".
std::string unit_kind_list(std::string_view between = ", ", std::string_view last = " or ");

// A unit by its name, or any other by DATAPATH[-FORMAT][-WORDS][-COALESCER], as paired-4,
// serial-f16x2 or fused-staged.
// Throws std::invalid_argument with one line for what there is not.
UnitKind parse_unit_kind(std::string_view name);
std::string_view unit_kind_name(const UnitKind& kind);

// The schedulers that the RTL of a unit may have, the first one of them by default.
std::span<const std::string_view> unit_schedulers(const UnitKind& kind);
inline std::string_view unit_scheduler(const UnitKind& kind) {
  return unit_schedulers(kind).front();
}

}  // namespace warpfold

// SPDX-License-Identifier: Apache-2.0
// Records as the device writes them into a ring, and machine code made up for them.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "traces/record/host/kernel_code.hpp"
#include "traces/record/protocol.hpp"

namespace warpfold::record::test {

inline constexpr std::uint32_t kAll = 0xffffffffU;

// A kernel of so many instructions in one basic block, none of them an atomic.
inline KernelCode straight_code(std::size_t instructions) {
  KernelCode code{.arch = "sm_90", .function = "kernel", .instructions = {}};
  code.instructions.resize(instructions);
  return code;
}

inline void make_red(KernelCode& code, std::size_t at,
                     trace::ValueType type = trace::ValueType::kF32, std::uint32_t words = 1) {
  code.instructions[at].atomic =
      Atomic{.name = "REDG.E.ADD", .type = type, .words = words, .adds_floats = true};
}

// One whose result is used: by default a compare and swap.
inline void make_atom(KernelCode& code, std::size_t at,
                      trace::ValueType type = trace::ValueType::kU32) {
  code.instructions[at].atomic =
      Atomic{.name = "ATOMG.E.CAS", .kind = trace::SiteKind::kAtom, .type = type};
}

inline void make_row(KernelCode& code, std::size_t at,
                     trace::ValueType type = trace::ValueType::kF32) {
  code.instructions[at].atomic = Atomic{
      .name = "UBLKRED.G.S.ADD", .kind = trace::SiteKind::kBulk, .type = type, .adds_floats = true};
}

inline void make_load(KernelCode& code, std::size_t at,
                      trace::AccessKind kind = trace::AccessKind::kLoad) {
  code.instructions[at].access = trace::MemorySite{.name = "LDG.E", .kind = kind};
}

class RingWords {
 public:
  // Of the launch in that slot.
  explicit RingWords(std::uint32_t slot = 0) : slot_(slot << kSlotShift) {}

  RingWords& marker(Marker marker, std::uint32_t at, std::uint32_t lanes, std::uint32_t cta = 0,
                    std::uint32_t warp = 0, std::uint32_t flags = 0) {
    words_.insert(words_.end(),
                  {static_cast<std::uint32_t>(marker) | warp << kWarpShift | flags | slot_, at + 1,
                   cta + 1, lanes});
    return *this;
  }
  RingWords& enter(std::uint32_t lanes = kAll, std::uint32_t cta = 0, std::uint32_t warp = 0) {
    return marker(Marker::kEnter, 0, lanes, cta, warp);
  }
  RingWords& exit(std::uint32_t at, std::uint32_t lanes = kAll, std::uint32_t cta = 0,
                  std::uint32_t warp = 0) {
    return marker(Marker::kExit, at, lanes, cta, warp);
  }
  // One address: all lanes add there.
  RingWords& red(std::uint32_t at, std::uint32_t lanes, const std::vector<std::uint64_t>& addresses,
                 std::uint32_t cta = 0, std::uint32_t warp = 0) {
    const std::uint32_t uniform = addresses.size() == 1 && std::popcount(lanes) != 1 ? kUniform : 0;
    const std::size_t begin = words_.size();
    marker(Marker::kGlobal, at, lanes, cta, warp, kAddresses | uniform);
    for (const std::uint64_t address : addresses) {
      words_.push_back(static_cast<std::uint32_t>(address));
      words_.push_back(static_cast<std::uint32_t>((address | kAddressTag) >> 32U));
    }
    words_.resize(begin + record_words(kAddresses | uniform,
                                       static_cast<std::uint32_t>(std::popcount(lanes))));
    return *this;
  }
  // A load or a store: addresses of lines, each with its sectors.
  RingWords& access(std::uint32_t at, std::uint32_t lanes,
                    const std::vector<std::pair<std::uint64_t, std::uint32_t>>& lines,
                    std::uint32_t cta = 0, std::uint32_t warp = 0) {
    const std::size_t begin = words_.size();
    const auto count = static_cast<std::uint32_t>(lines.size()) << kLinesShift;
    marker(Marker::kGlobal, at, lanes, cta, warp, count);
    for (const auto& [address, sectors] : lines) {
      const std::uint64_t word = address >> kLineShift << kLineSectors | sectors | kAddressTag;
      words_.push_back(static_cast<std::uint32_t>(word));
      words_.push_back(static_cast<std::uint32_t>(word >> 32U));
    }
    words_.resize(begin + record_words(count, static_cast<std::uint32_t>(std::popcount(lanes))));
    return *this;
  }
  // A row of so many units of 16 bytes.
  RingWords& row(std::uint32_t at, std::uint32_t lanes, std::uint64_t address, std::uint32_t units,
                 std::uint32_t cta = 0, std::uint32_t warp = 0) {
    marker(Marker::kBulk, at, lanes, cta, warp, kAddresses | kUniform);
    for (const std::uint64_t number : {address, std::uint64_t{units}}) {
      words_.push_back(static_cast<std::uint32_t>(number));
      words_.push_back(static_cast<std::uint32_t>((number | kAddressTag) >> 32U));
    }
    return *this;
  }
  [[nodiscard]] const std::vector<std::uint32_t>& words() const { return words_; }

 private:
  std::uint32_t slot_;
  std::vector<std::uint32_t> words_;
};

}  // namespace warpfold::record::test

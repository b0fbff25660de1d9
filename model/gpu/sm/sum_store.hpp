// SPDX-License-Identifier: Apache-2.0
// The SRAM of an atomic buffer: set-associative lines with least-recently-used replacement, which
// hold partial sums word by word. A line without sums is clean: an ordinary load's, or empty. No
// clock: the AtomicBuffer that owns it says what an access costs.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/base/divider.hpp"
#include "model/gpu/traffic/line_sums.hpp"
#include "model/types.hpp"

namespace warpfold {

class SumStore {
 public:
  using Slot = std::uint32_t;
  using Line = std::uint64_t;  // address / line_bytes

  // ways 0: one set of all lines.
  SumStore(std::uint64_t bytes, std::uint32_t ways, std::uint32_t line_bytes);

  [[nodiscard]] Line line_of(Address address) const { return line_bytes_.quotient(address); }
  [[nodiscard]] std::optional<Slot> find(Line line) const;
  // The slot that `line` would take: the one of its set that was not used for the longest time.
  [[nodiscard]] Slot victim(Line line) const { return set_of(line).oldest; }
  [[nodiscard]] Line line_at(Slot slot) const { return lines_[slot]; }
  // Sectors of the slot that hold sums.
  [[nodiscard]] std::uint32_t dirty_sectors(Slot slot) const;
  // Makes it the most recently used one of its set.
  void touch(Slot slot);
  // Gives a slot without sums to another line.
  void assign(Slot slot, Line line);

  // Adds to the word at an address of the slot's line, in the arithmetic of the GPU's RED. True if
  // the word held no sum before.
  bool add(Slot slot, Address address, Fp32Bits value);

  // Takes the sums of a slot's lowest dirty sector out; nothing if the slot is clean.
  std::optional<SumsOfSector> take_sector(Slot slot);

  [[nodiscard]] Slot slots() const { return static_cast<Slot>(lines_.size()); }
  [[nodiscard]] std::uint64_t words() const { return words_held_; }

 private:
  static constexpr Line kNoLine = ~Line{0};
  struct Set {
    Slot newest;
    Slot oldest;
  };
  [[nodiscard]] std::size_t set_index(Line line) const;
  [[nodiscard]] const Set& set_of(Line line) const { return sets_[set_index(line)]; }

  Divider line_bytes_;
  std::uint32_t line_words_;
  std::uint32_t ways_ = 0;
  std::vector<Set> sets_;
  // By slot; those of set s are s * ways .. s * ways + ways - 1, linked by age.
  std::vector<Line> lines_;
  std::vector<std::uint32_t> dirty_;               // words with sums
  std::vector<std::pair<Slot, Slot>> neighbours_;  // newer, older
  std::vector<Fp32Bits> sums_;
  std::unordered_map<Line, Slot> slot_of_;
  std::uint64_t words_held_ = 0;
};

}  // namespace warpfold

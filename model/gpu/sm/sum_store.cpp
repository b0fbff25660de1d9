// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/sm/sum_store.hpp"

#include <algorithm>
#include <bit>

#include "model/base/check.hpp"
#include "model/unit/fp32.hpp"

namespace warpfold {

namespace {
constexpr SumStore::Slot kNone = ~SumStore::Slot{0};
}  // namespace

SumStore::SumStore(std::uint64_t bytes, std::uint32_t ways, std::uint32_t line_bytes)
    : line_bytes_(line_bytes),
      line_words_(static_cast<std::uint32_t>(line_bytes / sizeof(Fp32Bits))) {
  ARC_CHECK(line_words_ <= 32, "a line has more words than its mask has bits");
  const auto lines = static_cast<std::uint32_t>(std::max<std::uint64_t>(bytes / line_bytes, 1));
  ways_ = ways == 0 ? lines : std::min(ways, lines);
  const std::uint32_t sets = lines / ways_;
  lines_.assign(std::size_t{sets} * ways_, kNoLine);
  dirty_.assign(lines_.size(), 0);
  sums_.assign(lines_.size() * line_words_, 0);
  slot_of_.reserve(lines_.size());
  for (Slot first = 0; first < slots(); first += ways_) {
    for (Slot slot = first; slot < first + ways_; ++slot) {
      neighbours_.emplace_back(slot == first ? kNone : slot - 1,
                               slot + 1 == first + ways_ ? kNone : slot + 1);
    }
    sets_.push_back({.newest = first, .oldest = first + ways_ - 1});
  }
}

std::size_t SumStore::set_index(Line line) const {
  std::uint64_t hash = line * 0xd6e8feb86659fd93ULL;
  hash ^= hash >> 32U;
  return hash % sets_.size();
}

std::optional<SumStore::Slot> SumStore::find(Line line) const {
  const auto found = slot_of_.find(line);
  return found == slot_of_.end() ? std::nullopt : std::optional<Slot>(found->second);
}

std::uint32_t SumStore::dirty_sectors(Slot slot) const {
  std::uint32_t sectors = 0;
  for (std::uint32_t words = dirty_[slot]; words != 0; words >>= kSectorWords) {
    sectors += (words & kSectorMask) != 0 ? 1 : 0;
  }
  return sectors;
}

void SumStore::touch(Slot slot) {
  Set& set = sets_[slot / ways_];
  if (set.newest == slot) {
    return;
  }
  const auto [newer, older] = neighbours_[slot];
  neighbours_[newer].second = older;
  (older == kNone ? set.oldest : neighbours_[older].first) = newer;
  neighbours_[slot] = {kNone, set.newest};
  neighbours_[set.newest].first = slot;
  set.newest = slot;
}

void SumStore::assign(Slot slot, Line line) {
  ARC_CHECK(dirty_[slot] == 0, "a line that holds sums was given away");
  if (lines_[slot] != kNoLine) {
    slot_of_.erase(lines_[slot]);
  }
  lines_[slot] = line;
  slot_of_[line] = slot;
}

bool SumStore::add(Slot slot, Address address, Fp32Bits value) {
  ARC_CHECK(line_of(address) == lines_[slot] && address % sizeof(Fp32Bits) == 0,
            "an addition beside the line, or across two words");
  const auto word = static_cast<std::uint32_t>(line_bytes_.remainder(address) / sizeof(Fp32Bits));
  Fp32Bits& sum = sums_[std::size_t{slot} * line_words_ + word];
  const bool fresh = (dirty_[slot] >> word & 1U) == 0;
  if (fresh) {
    dirty_[slot] |= 1U << word;
    ++words_held_;
    sum = value;
  } else {
    sum = fp32_add(sum, value);
  }
  return fresh;
}

std::optional<SumsOfSector> SumStore::take_sector(Slot slot) {
  if (dirty_[slot] == 0) {
    return std::nullopt;
  }
  const std::uint32_t first =
      static_cast<std::uint32_t>(std::countr_zero(dirty_[slot])) / kSectorWords * kSectorWords;
  SumsOfSector sector;
  sector.address = lines_[slot] * line_bytes_.divisor() + first * sizeof(Fp32Bits);
  sector.words = dirty_[slot] >> first & kSectorMask;
  std::copy_n(&sums_[std::size_t{slot} * line_words_ + first], kSectorWords, sector.sums.begin());
  dirty_[slot] &= ~(kSectorMask << first);
  words_held_ -= static_cast<std::uint64_t>(std::popcount(sector.words));
  return sector;
}

}  // namespace warpfold

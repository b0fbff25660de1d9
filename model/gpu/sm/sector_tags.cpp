// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/sm/sector_tags.hpp"

#include <algorithm>

namespace warpfold {

SectorTags::SectorTags(std::uint64_t bytes, std::uint32_t ways)
    : ways_(ways), sets_(bytes / kLineBytes / ways), store_(sets_ * ways_) {}

std::uint32_t SectorTags::bring_in(std::uint64_t line, std::uint32_t sectors) {
  if (sets_ == 0) {
    return 0;
  }
  constexpr std::uint64_t kMix = 0xd6e8feb86659fd93ULL;
  std::uint64_t hash = line * kMix;
  hash ^= hash >> 32U;
  const auto begin = store_.begin() + static_cast<std::ptrdiff_t>(hash % sets_ * ways_);
  const auto end = begin + static_cast<std::ptrdiff_t>(ways_);
  auto way = std::find_if(begin, end, [line](const Way& one) { return one.line == line; });
  if (way == end) {
    --way;
    *way = {.line = line, .sectors = 0};
  }
  const std::uint32_t in = way->sectors & sectors;
  way->sectors |= sectors;
  std::rotate(begin, way, way + 1);
  return in;
}

}  // namespace warpfold

// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/memory/l2_tags.hpp"

#include <algorithm>
#include <bit>

namespace warpfold {

L2Tags::L2Tags(std::uint64_t bytes, std::uint32_t ways, std::uint32_t line_bytes)
    : ways_(ways),
      line_bytes_(line_bytes),
      sets_(std::max<std::uint64_t>(bytes / line_bytes / ways, 1)),
      store_(sets_.divisor() * ways + kHostLine, kEmpty) {
  const auto past = std::bit_cast<std::uintptr_t>(store_.data()) / sizeof(store_[0]) % kHostLine;
  begin_ = (kHostLine - past) % kHostLine;
}

L2Tags::Access L2Tags::access(Address address) {
  const std::uint64_t line = line_bytes_.quotient(address);
  std::uint64_t* const set = &store_[begin_of_set(line)];
  if (set[0] == line) {
    return {.hit = true};
  }
  // Where it is cannot be foreseen: no branches on that.
  std::uint32_t place = ways_;
  for (std::uint32_t way = 1; way < ways_; ++way) {
    place = set[way] == line ? way : place;
  }
  Access access{.hit = place != ways_};
  place = std::min(place, ways_ - 1);
  access.evicted = !access.hit && set[place] != kEmpty;
  access.victim = set[place] * line_bytes_.divisor();
  // To the front, the others one back.
  std::uint64_t before = line;
  for (std::uint32_t way = 0; way < ways_; ++way) {
    const std::uint64_t here = set[way];
    set[way] = way <= place ? before : here;
    before = here;
  }
  return access;
}

}  // namespace warpfold

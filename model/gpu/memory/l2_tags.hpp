// SPDX-License-Identifier: Apache-2.0
// Set-associative tags of one port of the L2, with least-recently-used replacement. Every line that
// is in holds additions, so every eviction writes back. Owned by the port; no clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/base/divider.hpp"
#include "model/types.hpp"

namespace warpfold {

class L2Tags {
 public:
  L2Tags(std::uint64_t bytes, std::uint32_t ways, std::uint32_t line_bytes);
  struct Access {
    bool hit = false;
    bool evicted = false;  // another line, which it has taken the place of
    Address victim = 0;    // that line
  };
  // Looks a line up and brings it in.
  Access access(Address address);
  // Has the host's cache fetch what that will look at.
  void prefetch(Address address) const {
    const std::size_t begin = begin_of_set(line_bytes_.quotient(address));
    for (std::size_t way = 0; way < ways_; way += kHostLine) {
      __builtin_prefetch(&store_[begin + way]);
    }
  }

 private:
  static constexpr std::uint64_t kEmpty = ~std::uint64_t{0};
  static constexpr std::size_t kHostLine = 64 / sizeof(std::uint64_t);  // of the host's cache
  // Where in the store.
  [[nodiscard]] std::size_t begin_of_set(std::uint64_t line) const {
    std::uint64_t hash = line * 0xd6e8feb86659fd93ULL;
    hash ^= hash >> 32U;
    return begin_ + sets_.remainder(hash) * ways_;
  }
  std::uint32_t ways_;
  Divider line_bytes_;
  Divider sets_;
  // Lines, set by set from begin_ on, the most recently used of a set first. So that sets of as
  // many ways as usual lie in as few lines of the host's cache as they can.
  std::vector<std::uint64_t> store_;
  std::size_t begin_ = 0;
};

}  // namespace warpfold

// SPDX-License-Identifier: Apache-2.0
// Sums on their way to a ROP: the words of one line, or of one 32-byte sector where an atomic
// buffer sends them. A Transaction carries their index, so that those without them stay small.
// Owned by the GPU, shared by its partitions.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <vector>

#include "model/types.hpp"

namespace warpfold {

inline constexpr std::uint32_t kSectorMask = (1U << kSectorWords) - 1;
// Of the longest line that a machine may have.
inline constexpr std::uint32_t kLineWords = 32;
inline constexpr std::uint32_t kLineBytes = kLineWords * sizeof(Fp32Bits);
inline constexpr std::uint32_t kLineSectors = kLineBytes / kSectorBytes;

using SectorSums = std::array<Fp32Bits, kSectorWords>;
using LineSums = std::array<Fp32Bits, kLineWords>;

// Sums of a sector that leave a buffer.
struct SumsOfSector {
  Address address = 0;
  std::uint32_t words = 0;  // bit i: the word at address + 4 i has a sum
  SectorSums sums{};
};

class LineSumsPool {
 public:
  std::uint32_t put(const LineSums& sums) {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint32_t>(store_.size()));
      store_.emplace_back();
    }
    const std::uint32_t index = free_.back();
    free_.pop_back();
    store_[index] = sums;
    return index;
  }
  LineSums take(std::uint32_t index) {
    const std::lock_guard lock(mutex_);
    free_.push_back(index);
    return store_[index];
  }
  // The same, and they stay.
  [[nodiscard]] LineSums look(std::uint32_t index) {
    const std::lock_guard lock(mutex_);
    return store_[index];
  }
  [[nodiscard]] bool empty() const { return free_.size() == store_.size(); }

 private:
  std::mutex mutex_;
  std::vector<LineSums> store_;
  std::vector<std::uint32_t> free_;
};

}  // namespace warpfold

// SPDX-License-Identifier: Apache-2.0
// Partial sums on their way from an SM's atomic buffer to a ROP: the words of one 32-byte sector. A
// Transaction carries their index, so that those without them stay small. Owned by the GPU, shared
// by its partitions.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <vector>

#include "model/types.hpp"

namespace warpfold {

inline constexpr unsigned kSectorShift = 5;
inline constexpr std::uint32_t kSectorBytes = 1U << kSectorShift;
inline constexpr std::uint32_t kSectorWords = kSectorBytes / sizeof(Fp32Bits);

using SectorSums = std::array<Fp32Bits, kSectorWords>;

class SectorSumsPool {
 public:
  std::uint32_t put(const SectorSums& sums) {
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
  SectorSums take(std::uint32_t index) {
    const std::lock_guard lock(mutex_);
    free_.push_back(index);
    return store_[index];
  }
  [[nodiscard]] bool empty() const { return free_.size() == store_.size(); }

 private:
  std::mutex mutex_;
  std::vector<SectorSums> store_;
  std::vector<std::uint32_t> free_;
};

}  // namespace warpfold

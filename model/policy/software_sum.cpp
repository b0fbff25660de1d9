// SPDX-License-Identifier: Apache-2.0
#include "model/policy/software_sum.hpp"

#include <array>
#include <bit>

namespace warpfold {

Fp32Bits software_sum(const std::uint32_t* lane_values, LaneMask mask, SumOrder order) {
  if (order == SumOrder::kSerial) {
    float sum = 0;
    bool first = true;
    for (LaneMask rest = mask; rest != 0; rest &= rest - 1) {
      const float value = std::bit_cast<float>(lane_values[std::countr_zero(rest)]);
      sum = first ? value : sum + value;
      first = false;
    }
    return std::bit_cast<Fp32Bits>(sum);
  }
  std::array<float, kLanes> lane{};
  for (LaneMask rest = mask; rest != 0; rest &= rest - 1) {
    const auto i = static_cast<std::size_t>(std::countr_zero(rest));
    lane[i] = std::bit_cast<float>(lane_values[i]);
  }
  if (order == SumOrder::kNeighbours) {
    for (std::size_t offset = 1; offset < kLanes; offset *= 2) {
      for (std::size_t i = 0; i < kLanes; i += 2 * offset) {
        lane[i] += lane[i + offset];
      }
    }
    return std::bit_cast<Fp32Bits>(lane[0]);
  }
  for (std::size_t offset = kLanes / 2; offset > 0; offset /= 2) {
    for (std::size_t i = 0; i < offset; ++i) {
      lane[i] += lane[i + offset];
    }
  }
  return std::bit_cast<Fp32Bits>(lane[0]);
}

}  // namespace warpfold

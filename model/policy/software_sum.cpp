// SPDX-License-Identifier: Apache-2.0
#include "model/policy/software_sum.hpp"

#include <array>
#include <bit>

#include "model/base/halves.hpp"

namespace warpfold {

namespace {

Fp32Bits fp32_sum(Fp32Bits a, Fp32Bits b) {
  return std::bit_cast<Fp32Bits>(std::bit_cast<float>(a) + std::bit_cast<float>(b));
}

template <Fp32Bits (*kAdd)(Fp32Bits, Fp32Bits)>
Fp32Bits sum_of(const std::uint32_t* lane_values, LaneMask mask, SumOrder order) {
  if (order == SumOrder::kSerial) {
    Fp32Bits sum = 0;
    bool first = true;
    for (LaneMask rest = mask; rest != 0; rest &= rest - 1) {
      const Fp32Bits value = lane_values[std::countr_zero(rest)];
      sum = first ? value : kAdd(sum, value);
      first = false;
    }
    return sum;
  }
  std::array<Fp32Bits, kLanes> lane{};
  for (LaneMask rest = mask; rest != 0; rest &= rest - 1) {
    const auto i = static_cast<std::size_t>(std::countr_zero(rest));
    lane[i] = lane_values[i];
  }
  if (order == SumOrder::kNeighbours) {
    for (std::size_t offset = 1; offset < kLanes; offset *= 2) {
      for (std::size_t i = 0; i < kLanes; i += 2 * offset) {
        lane[i] = kAdd(lane[i], lane[i + offset]);
      }
    }
    return lane[0];
  }
  for (std::size_t offset = kLanes / 2; offset > 0; offset /= 2) {
    for (std::size_t i = 0; i < offset; ++i) {
      lane[i] = kAdd(lane[i], lane[i + offset]);
    }
  }
  return lane[0];
}

}  // namespace

Fp32Bits software_sum(const std::uint32_t* lane_values, LaneMask mask, SumOrder order,
                      WordType type) {
  return type == WordType::kHalves ? sum_of<halves_add>(lane_values, mask, order)
                                   : sum_of<fp32_sum>(lane_values, mask, order);
}

}  // namespace warpfold

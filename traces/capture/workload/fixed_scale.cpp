// SPDX-License-Identifier: Apache-2.0
#include "traces/capture/workload/fixed_scale.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

#include "traces/capture/common/input.hpp"

namespace warpfold::capture::workload {
namespace {

constexpr int kWordBits = 63;    // beside the sign
constexpr int kMostPower = 100;  // of a scale: it may be raised, and stays a float
constexpr std::uint64_t kMostAdditions = std::uint64_t{1} << 32U;

int addition_bits(std::uint64_t additions) {
  if (additions < 1 || additions > kMostAdditions) {
    throw InputError("fixed-point words take from 1 to 2^32 additions, not " +
                     std::to_string(additions));
  }
  return kWordBits - static_cast<int>(std::bit_width(additions - 1));
}

}  // namespace

float addition_limit(std::uint64_t additions) {
  return std::nextafter(std::ldexp(1.0F, addition_bits(additions)), 0.0F);
}

float fixed_scale(float greatest, std::uint64_t additions) {
  if (!std::isfinite(greatest)) {
    throw InputError("a gradient is infinite or no number: there is no scale for it");
  }
  int power = 0;  // greatest < 2^power
  (void)std::frexp(greatest == 0.0F ? 1.0F : greatest, &power);
  return std::ldexp(1.0F, std::min(addition_bits(additions) - kHeadroomBits - power, kMostPower));
}

}  // namespace warpfold::capture::workload

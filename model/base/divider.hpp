// SPDX-License-Identifier: Apache-2.0
// Division of whole numbers by a divisor that is known once a run has begun: a multiplication and
// two shifts where the processor's instruction would take tens of cycles (Granlund and Montgomery,
// Division by Invariant Integers using Multiplication, 1994, figure 4.1); for a power of two, one.
#pragma once

#include <bit>
#include <cstdint>

namespace warpfold {

class Divider {
 public:
  // `divisor`: not 0.
  explicit Divider(std::uint64_t divisor)
      : divisor_(divisor), width_(static_cast<unsigned>(std::bit_width(divisor - 1))) {
    // From the divisor to the next power of two it is less than the divisor: the quotient fits.
    const Wide above = (Wide{1} << width_) - divisor;
    multiplier_ = static_cast<std::uint64_t>((above << 64U) / divisor + 1);
  }
  [[nodiscard]] std::uint64_t quotient(std::uint64_t n) const {
    if (multiplier_ == kOfPowers) {
      return n >> width_;
    }
    const auto high = static_cast<std::uint64_t>((Wide{multiplier_} * n) >> 64U);
    // Half of n + high, which may not fit.
    return (high + ((n - high) >> 1U)) >> (width_ - 1);
  }
  [[nodiscard]] std::uint64_t remainder(std::uint64_t n) const {
    return n - quotient(n) * divisor_;
  }
  [[nodiscard]] std::uint64_t divisor() const { return divisor_; }

 private:
  __extension__ using Wide = unsigned __int128;
  static constexpr std::uint64_t kOfPowers = 1;  // the multiplier of powers of two alone

  std::uint64_t divisor_;
  std::uint64_t multiplier_;
  unsigned width_;  // the divisor is at most 2 to its power
};

}  // namespace warpfold

// SPDX-License-Identifier: Apache-2.0
// Division of whole numbers by a divisor that is known once a run has begun: a multiplication and a
// shift (libdivide) where the processor's instruction would take tens of cycles.
#pragma once

#include <libdivide.h>

#include <cstdint>

namespace warpfold {

class Divider {
 public:
  // `divisor`: not 0.
  explicit Divider(std::uint64_t divisor) : divisor_(divisor), fast_(divisor) {}
  [[nodiscard]] std::uint64_t quotient(std::uint64_t n) const { return n / fast_; }
  [[nodiscard]] std::uint64_t remainder(std::uint64_t n) const {
    return n - quotient(n) * divisor_;
  }
  [[nodiscard]] std::uint64_t divisor() const { return divisor_; }

 private:
  std::uint64_t divisor_;
  libdivide::divider<std::uint64_t> fast_;
};

}  // namespace warpfold

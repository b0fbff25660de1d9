// SPDX-License-Identifier: Apache-2.0
// A sum of FP32 values in whole numbers of the lowest place of a window below the top of a bin, as
// the units keep it that round once. A plain value, owned by the golden unit that sums.
#pragma once

#include <cstdint>

#include "model/types.hpp"

namespace warpfold {

inline constexpr std::uint32_t kBinShift =
    3;  // an exponent without its lowest three bits is its bin

struct WindowSum {
  std::int64_t units = 0;  // of the lowest bit of the window
  std::uint32_t bin = 0;   // the window is below the top of this one
  bool any_nan = false;
  bool any_positive_infinity = false;
  bool any_negative_infinity = false;
  bool any_without_sign = false;

  // The value, cut to `window` bits below the top of the bin.
  void add(Fp32Bits value, int window);
  // A sum of values of the same bin.
  void add(const WindowSum& other);
  // Rounded to nearest even; subnormal sums count as zero.
  [[nodiscard]] Fp32Bits round(int window) const;
};

}  // namespace warpfold

// SPDX-License-Identifier: Apache-2.0
// How far results are from a reference. Host only.
#pragma once

#include <cmath>
#include <cstddef>

namespace warpfold::capture {

// Norm of the difference over norm of the reference; the difference alone where the reference is
// zero. `values` must have at least as many elements as `reference`.
template <class Values, class Reference>
[[nodiscard]] double relative_error(const Values& values, const Reference& reference) {
  double difference = 0;
  double norm = 0;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    const double d = static_cast<double>(values[i]) - static_cast<double>(reference[i]);
    difference += d * d;
    norm += static_cast<double>(reference[i]) * static_cast<double>(reference[i]);
  }
  return norm == 0 ? std::sqrt(difference) : std::sqrt(difference / norm);
}

}  // namespace warpfold::capture

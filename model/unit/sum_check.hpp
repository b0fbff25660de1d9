// SPDX-License-Identifier: Apache-2.0
// Whether a sum is right, for every kind of sum that a unit may promise. Pure functions.
#pragma once

#include <array>
#include <string>

#include "model/types.hpp"
#include "model/unit/unit_declaration.hpp"

namespace warpfold {

// Empty, or in a few words what the sum of the lanes of `lanes`, of which there is one at least,
// should have been.
std::string sum_error(const UnitPromise& promise, LaneMask lanes,
                      const std::array<Fp32Bits, kLanes>& values, Fp32Bits sum);

}  // namespace warpfold

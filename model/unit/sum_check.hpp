// SPDX-License-Identifier: Apache-2.0
// Whether a sum is right, for every kind of sum that a unit may promise. Pure functions.
//
// A chain is right to the bit. Of the others:
// - a NaN is 0x7fffffff, and there is one where a value is a NaN or infinities meet;
// - with subnormal numbers flushed, those among the values count as the zero of their sign, and no
//   sum is subnormal;
// - a zero has the sign that all values have; where they differ, what cancels is +0, and what was
//   flushed has the sign of what it was;
// - any order: it is within the bound of one rounding an addition. Where additions may flush, that
//   is around the sum that some order of up to four lanes has; of more lanes, each addition may be
//   off by the least normal number, too;
// - one rounding: it is the exact sum of what the window keeps, rounded once.
#pragma once

#include <array>
#include <string>

#include "model/types.hpp"
#include "model/unit/unit_declaration.hpp"

namespace warpfold {

// A word as both a person and a wave viewer have it: "0x40400000 (3)"; of halves the bits alone.
std::string word_text(WordType type, Fp32Bits word);

// Empty, or in a few words what the sum of the lanes of `lanes`, of which there is one at least,
// should have been.
std::string sum_error(const UnitPromise& promise, LaneMask lanes,
                      const std::array<Fp32Bits, kLanes>& values, Fp32Bits sum);

}  // namespace warpfold

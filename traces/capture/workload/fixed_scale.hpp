// SPDX-License-Identifier: Apache-2.0
// How long the steps of fixed-point sums are (reduce/fixed_point.cuh). Host only.
//
// The rule: a word has 63 bits and a sign. ceil(log2(additions)) of the bits are set aside for the
// number of additions to a word, and each addition saturates at what is left, so that no sum of a
// launch can overflow. Eight more are headroom: the greatest addition of the launch that the scale
// was found by has so many above it, for launches that come later.
#pragma once

#include <cstdint>

namespace warpfold::capture::workload {

inline constexpr int kHeadroomBits = 8;

// The most steps that an addition may have where a word takes at most so many additions: a whole
// number. `additions` is from 1 to 2^32, or InputError is thrown.
[[nodiscard]] float addition_limit(std::uint64_t additions);

// Steps in one, a power of two up to 2^100. `greatest`: absolute addition; of zero the steps are as
// of one. Throws InputError where it is infinite or no number.
[[nodiscard]] float fixed_scale(float greatest, std::uint64_t additions);

}  // namespace warpfold::capture::workload

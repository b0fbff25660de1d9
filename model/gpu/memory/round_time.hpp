// SPDX-License-Identifier: Apache-2.0
// The arithmetic of rounds (round_model.hpp): whole numbers that stand for fractions, so that every
// machine comes to the same. Each is a std::uint64_t, and its name says in what it counts:
//
//   Fine      a time, or a number of cycles, in 2^-16 cycles
//   Rounds    a number of rounds, or of turns, in 2^-20
//   Portion   a share, rate or weight, in 2^-16: kWhole is 1
//
// A product of two of them has the fractions of both; part() takes those of a share away again, so
// that part(time, share) is a time. Sums of products keep all until the end, where a name says so.
#pragma once

#include <cmath>
#include <cstdint>

namespace warpfold {

using Fine = std::uint64_t;
using Rounds = std::uint64_t;
using Portion = std::uint64_t;

inline constexpr unsigned kFineBits = 16;
inline constexpr unsigned kRoundBits = 20;
inline constexpr unsigned kShareBits = 16;
inline constexpr Fine kFineCycle = Fine{1} << kFineBits;
inline constexpr Rounds kOneRound = Rounds{1} << kRoundBits;
inline constexpr Portion kWhole = Portion{1} << kShareBits;

// So much of a value: value x share, rounded down.
constexpr std::uint64_t part(std::uint64_t value, Portion share) {
  return (value * share) >> kShareBits;
}

// Machines at the far ends of their ranges need more bits than 64 on the way.
__extension__ using Wide = unsigned __int128;

// a * b / c, rounded down, where that fits.
constexpr std::uint64_t scaled(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? static_cast<std::uint64_t>(Wide{a} * b / c)
                                                : product / c;
}

// The nearest number of so many bits behind the point.
inline std::uint64_t nearest(double value, unsigned bits) {
  return static_cast<std::uint64_t>(std::llround(std::ldexp(value, static_cast<int>(bits))));
}

}  // namespace warpfold

// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/memory/turn_spread.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace warpfold {

namespace {

// Square roots of whole numbers from 1 on, 2^-16.
constexpr std::array<std::uint32_t, 32> kRoots = {
    65536,  92682,  113512, 131072, 146543, 160529, 173392, 185364, 196608, 207243, 217358,
    227023, 236293, 245213, 253820, 262144, 270213, 278046, 285664, 293086, 300324, 307391,
    314299, 321060, 327680, 334169, 340536, 346786, 352925, 358963, 364902, 370728};

// Any number, mixed well.
constexpr std::uint64_t mixed(std::uint64_t number) {
  std::uint64_t mixed = number * 0x9e3779b97f4a7c15ULL;
  mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebULL;
  return mixed;
}

}  // namespace

// Even between -most and most, of which the deviation is most / sqrt(3).
TurnSpread::TurnSpread(double deviation, std::uint32_t sms)
    : most_(nearest(deviation * std::sqrt(3.0), kRoundBits)), begun_(sms) {}

Rounds TurnSpread::draw(std::uint32_t sm, std::uint32_t turns) {
  const Rounds even = turns * kOneRound;
  if (most_ == 0) {
    return even;
  }
  // For some transactions in a row alike: an SM that has been quick stays so for a while.
  const std::uint64_t drawn =
      mixed((std::uint64_t{sm} << 32U) + begun_[sm]++ / kAlike + 1) >> 44U;  // of 20 bits
  // Turns are early or late each on its own, so that their sum varies with the root.
  const Rounds most = part(most_, kRoots[std::min<std::size_t>(turns, kRoots.size()) - 1]);
  return even - most + ((2 * most * drawn) >> 20U);
}

}  // namespace warpfold

// SPDX-License-Identifier: Apache-2.0
// Random atomred requests by shape and by values, for tests and for the contract. Pure functions of
// the generator that they are given.
#pragma once

#include <algorithm>
#include <array>
#include <utility>

#include "model/unit/lockstep.hpp"
#include "model/unit/unit_declaration.hpp"

namespace warpfold {

enum class Shape {
  kUniform,       // all lanes one address
  kAllDifferent,  // every lane its own address
  kFewGroups,     // two to five addresses
  kPairs,         // sixteen addresses with two lanes each, all active
  kSingleLane,    // one active lane
  kFewLanes,      // one to three active lanes, every one its own address
  kEmptyMasks,    // three in four requests have no active lane
  kOneBitApart,   // addresses that differ from one another in one bit, any of the 48
  kAny,           // one of the above, drawn for each request
};

inline LaneMask random_mask(SplitMix64& random) {
  const auto mask = static_cast<LaneMask>(random.next());
  switch (random.below(4)) {
    case 0:
      return 0xffffffffU;
    case 1:
      return mask & static_cast<LaneMask>(random.next());
    case 2:
      return mask | static_cast<LaneMask>(random.next());
    default:
      return mask;
  }
}

// Values for the paths of an adder that values drawn one by one hardly meet.
enum class Operands {
  kSynthetic,  // synthetic_value()
  kClose,      // magnitudes that differ in a few bits, so that sums cancel far down
  // Exponents within the reach of the alignment shifter, fractions with few ones or zeros; or lanes
  // that cancel two by two above a rest far below them.
  kSpread,
  kExtreme,  // infinities, NaNs of one fraction bit, the largest exponents
  kTies,     // half of the last place of the value 16 lanes below, or one low bit more
  kAny,      // half of the time synthetic, else one of the others
};

inline std::array<Fp32Bits, kLanes> random_values(SplitMix64& random, Operands operands) {
  constexpr Fp32Bits kFraction = 0x007fffff;
  constexpr Fp32Bits kInfinity = 0x7f800000;
  if (operands == Operands::kAny) {
    operands =
        random.below(2) == 0 ? Operands::kSynthetic : static_cast<Operands>(1 + random.below(4));
  }
  const std::uint64_t base = random.next();
  // With few different bits, close lanes also meet as equals.
  const std::uint32_t bits = random.below(2) == 0 ? 3 : 25;
  const bool cancels = base >> 63U == 0;
  std::array<Fp32Bits, kLanes> values{};
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    const auto draw = static_cast<Fp32Bits>(random.next());
    const Fp32Bits sign = draw & 0x80000000U;
    const Fp32Bits one_bit = 1U << random.below(23);
    Fp32Bits& value = values[lane];
    switch (operands) {
      case Operands::kClose:
        value = static_cast<Fp32Bits>(base) % 0x7e000000U +
                (random.below(2) << random.below(bits)) + (random.below(2) << random.below(bits));
        break;
      case Operands::kSpread: {
        constexpr std::uint32_t kReach = 36;
        const auto lowest = static_cast<std::uint32_t>(base % (256 - kReach));
        const Fp32Bits fractions[] = {0,         one_bit,     kFraction ^ one_bit,
                                      kFraction, one_bit - 1, draw & kFraction};
        const std::uint32_t up = random.below(kReach);
        const std::uint32_t kind = random.below(6);
        if (cancels && lane >= 2 && lane % 2 == 1) {
          value = values[lane - 1] ^ 0x80000000U;
          continue;
        }
        value = cancels
                    ? (1 + lowest * 7 / 8 + (lane < 2 ? 0 : up + kind)) << 23 | (draw & kFraction)
                    : (lowest + up) << 23 | fractions[kind];
        break;
      }
      case Operands::kExtreme:
        switch (random.below(16)) {
          case 0:
            value = kInfinity;
            break;
          case 1:
            value = kInfinity | (random.below(4) == 0 ? one_bit : 0);
            break;
          case 2:
          case 3:
            value = (254 - random.below(8)) << 23 | (draw & kFraction);
            break;
          default:
            value = draw % kInfinity;
            break;
        }
        break;
      case Operands::kTies:
        if (lane < kLanes / 2) {
          value = (40 + random.below(200)) << 23 | (draw & kFraction);
        } else {
          // So many places below, all bits under the other's half place are 0 but perhaps one.
          const std::uint32_t down = 1 + random.below(24);
          const std::uint32_t half = 1U << (down - 1);
          const Fp32Bits fraction = (draw & kFraction & ~(2 * half - 1)) | (half & kFraction);
          const Fp32Bits rest = random.below(2) << random.below(down < 2 ? 1 : down - 1);
          value = ((values[lane - kLanes / 2] >> 23 & 0xffU) - down) << 23 | fraction |
                  (rest & (half - 1));
        }
        break;
      default:
        values[lane] = synthetic_value(base, 0, 0, 0, lane);
        continue;
    }
    value |= sign;
  }
  return values;
}

// Words of two binary16 values.
inline std::array<Fp32Bits, kLanes> random_halves(SplitMix64& random) {
  std::array<Fp32Bits, kLanes> words = random_values(random, Operands::kAny);
  const std::array<Fp32Bits, kLanes> upper = random_values(random, Operands::kAny);
  for (std::size_t lane = 0; lane < words.size(); ++lane) {
    words[lane] = halves_after(words[lane], upper[lane]);
  }
  return words;
}

inline AtomredRequest random_request(SplitMix64& random, Shape shape) {
  if (shape == Shape::kAny) {
    shape = static_cast<Shape>(random.below(static_cast<std::uint32_t>(Shape::kAny)));
  }
  AtomredRequest request;
  request.mask = random_mask(random);
  const Address base = random.next();
  request.addresses.fill(base);
  const std::uint32_t groups = 2 + random.below(4);
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    Address& address = request.addresses[lane];
    if (shape == Shape::kAllDifferent || shape == Shape::kFewLanes) {
      address += 4 * lane;
    } else if (shape == Shape::kPairs) {
      address += 4 * (lane % 16);
    } else if (shape == Shape::kFewGroups) {
      address += 36 * random.below(groups);
    } else if (shape == Shape::kOneBitApart && random.below(2) == 0) {
      address ^= Address{1} << random.below(kAddrWidth);
    }
  }
  if (shape == Shape::kPairs) {
    request.mask = 0xffffffffU;
  } else if (shape == Shape::kSingleLane) {
    request.mask = 1U << random.below(kLanes);
  } else if (shape == Shape::kFewLanes) {
    request.mask =
        1U << random.below(kLanes) | 1U << random.below(kLanes) | 1U << random.below(kLanes);
  } else if (shape == Shape::kEmptyMasks && random.below(4) != 0) {
    request.mask = 0;
  }
  request.values = random_values(random, Operands::kAny);
  return request;
}

// A zero, a subnormal number or one of the least normal ones, of so many bits.
inline Fp32Bits near_zero(SplitMix64& random, unsigned bits, bool negative) {
  const Fp32Bits least_normal = Fp32Bits{1} << (bits == 16 ? 10U : 23U);
  const std::uint32_t kind = random.below(8);
  const Fp32Bits fraction = random.below(least_normal);
  const Fp32Bits magnitude = kind < 4   ? 0
                             : kind < 6 ? fraction
                                        : least_normal + (kind == 6 ? fraction : 0);
  return magnitude | (negative ? Fp32Bits{1} << (bits - 1) : 0);
}

// A request with such values instead of its own, in three of four of one sign. Their sums are what
// values drawn from all numbers hardly ever give: zeros of either sign, and what may be flushed.
inline AtomredRequest near_zero(AtomredRequest request, WordType adds) {
  // The generator that drew the request has nothing to do with it.
  SplitMix64 random(SplitMix64::mix(request.values[0] + request.addresses[0]));
  const bool one_sign = random.below(4) != 0;
  const bool negative = random.below(2) != 0;
  const auto number = [&](unsigned bits) {
    return near_zero(random, bits, one_sign ? negative : random.below(2) != 0);
  };
  const auto fill = [&](AtomredRequest::Operand& words) {
    for (Fp32Bits& word : words) {
      word = adds == WordType::kHalves ? number(16) | number(16) << 16U : number(32);
    }
  };
  fill(request.values);
  std::for_each(request.more_words.begin(), request.more_words.end(), fill);
  return request;
}

// Words for the lanes of a request as its unit adds them, from one to as many as it takes, often
// few.
inline AtomredRequest with_words(AtomredRequest request, const UnitDeclaration& unit,
                                 SplitMix64& random) {
  if (unit.promise.adds == WordType::kHalves) {
    request.values = random_halves(random);
  }
  const std::uint32_t most_words = unit.ports.max_words;
  if (most_words > 1) {
    const std::uint32_t most = random.below(4) == 0 ? most_words : std::min(most_words, 4U);
    request.more_words.resize(random.below(most));
    for (AtomredRequest::Operand& operand : request.more_words) {
      operand = random_values(random, Operands::kAny);
    }
  }
  return request;
}

inline AtomredRequest with_words(AtomredRequest request, UnitKind kind, SplitMix64& random) {
  return with_words(std::move(request), unit_declaration(kind), random);
}

}  // namespace warpfold

// SPDX-License-Identifier: Apache-2.0
// Random atomred requests by shape, for the tests of this folder. Pure functions of the generator
// that they are given.
#pragma once

#include "model/unit/lockstep.hpp"

namespace warpfold {

enum class Shape {
  kUniform,       // all lanes one address
  kAllDifferent,  // every lane its own address
  kFewGroups,     // two to five addresses
  kSingleLane,    // one active lane
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
    if (shape == Shape::kAllDifferent) {
      address += 4 * lane;
    } else if (shape == Shape::kFewGroups) {
      address += 36 * random.below(groups);
    } else if (shape == Shape::kOneBitApart && random.below(2) == 0) {
      address ^= Address{1} << random.below(kAddrWidth);
    }
  }
  if (shape == Shape::kSingleLane) {
    request.mask = 1U << random.below(kLanes);
  } else if (shape == Shape::kEmptyMasks && random.below(4) != 0) {
    request.mask = 0;
  }
  const std::uint64_t values = random.next();
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    request.values[lane] = synthetic_value(values, 0, 0, 0, lane);
  }
  return request;
}

}  // namespace warpfold

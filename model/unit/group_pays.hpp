// SPDX-License-Identifier: Apache-2.0
// Whether summing a group saves additions: what the RTL module arc_group_pays says. For the golden
// units, and for checks of what a unit passes on.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "model/types.hpp"

namespace warpfold {

// Whether the group, lanes of one address, has more lanes than its sector has words to which lanes
// of `unsent`, itself among them, add. If all groups of the sector are summed, so many additions
// leave; if none is, at least one for each lane of the group.
inline bool group_pays(const std::array<Address, kLanes>& addresses, LaneMask unsent,
                       LaneMask group) {
  const auto lanes = static_cast<std::size_t>(lane_count(group));
  if (lanes > kSectorWords || group == unsent) {
    return lanes > 1;
  }
  const Address leader = addresses[static_cast<std::size_t>(std::countr_zero(group)) % kLanes];
  std::uint32_t words = 0;
  for (std::size_t lane = 0; lane < addresses.size(); ++lane) {
    const bool here = ((addresses[lane] ^ leader) & kAddrMask) / kSectorBytes == 0;
    words |= std::uint32_t{here && (unsent >> lane & 1U) != 0}
             << addresses[lane] % kSectorBytes / sizeof(Fp32Bits);
  }
  return lanes > static_cast<std::size_t>(std::popcount(words));
}

}  // namespace warpfold

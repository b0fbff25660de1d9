// SPDX-License-Identifier: Apache-2.0
#include "traces/record/host/ways.hpp"

#include <algorithm>

namespace warpfold::record {

WayIndex WayTree::find(WayIndex parent, InstructionNumber at, std::uint32_t steps) {
  const std::uint64_t key = std::uint64_t{parent} << 32U | static_cast<std::uint32_t>(at);
  const auto [found, is_new] = children_.try_emplace(key, static_cast<WayIndex>(nodes_.size()));
  if (is_new) {
    nodes_.push_back({parent, at, steps});
  }
  return found->second;
}

std::vector<InstructionNumber> WayTree::markers(WayIndex way) const {
  std::vector<InstructionNumber> result;
  for (WayIndex node = way; node != kRoot; node = nodes_[node].parent) {
    result.push_back(nodes_[node].at);
  }
  std::reverse(result.begin(), result.end());
  return result;
}

}  // namespace warpfold::record

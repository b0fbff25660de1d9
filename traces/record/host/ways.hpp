// SPDX-License-Identifier: Apache-2.0
// The ways that warps take through a kernel, as the markers that they pass: a tree, so that a way
// is one number and two warps that go alike share it.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace warpfold::record {

using WayIndex = std::uint32_t;

// The number of an instruction in its kernel; kEntry: the beginning, ahead of instruction 0.
using InstructionNumber = std::int32_t;
inline constexpr InstructionNumber kEntry = -1;

class WayTree {
 public:
  // The way that has come no further than to `at`.
  WayIndex start(InstructionNumber at) { return find(kRoot, at, 0); }
  // That goes on to the marker `at`.
  WayIndex extend(WayIndex way, InstructionNumber at) {
    return find(way, at, nodes_[way].steps + 1);
  }
  // Markers passed behind the start.
  [[nodiscard]] std::uint32_t steps(WayIndex way) const { return nodes_[way].steps; }
  // From the start on; one more than steps().
  [[nodiscard]] std::vector<InstructionNumber> markers(WayIndex way) const;
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }

 private:
  static constexpr WayIndex kRoot = 0xffffffffU;
  struct Node {
    WayIndex parent;
    InstructionNumber at;
    std::uint32_t steps;
  };
  WayIndex find(WayIndex parent, InstructionNumber at, std::uint32_t steps);

  std::vector<Node> nodes_;
  std::unordered_map<std::uint64_t, WayIndex> children_;  // parent << 32 | at
};

}  // namespace warpfold::record

// SPDX-License-Identifier: Apache-2.0
// Distances of points to their nearest neighbours. Host only.
#pragma once

#include <array>
#include <span>
#include <vector>

namespace warpfold::capture::training {

// For each point the mean squared distance to the three nearest others, or to as many as there are.
// A tree over the points; points may coincide.
[[nodiscard]] std::vector<float> neighbour_distances(std::span<const std::array<float, 3>> points);

}  // namespace warpfold::capture::training

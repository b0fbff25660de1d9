// SPDX-License-Identifier: Apache-2.0
// Coloured points of a PLY file. Host only.
#pragma once

#include <filesystem>
#include <vector>

#include "traces/capture/training/model.hpp"

namespace warpfold::capture::training {

// Binary little-endian PLY with an element "vertex" in front that has x, y, z (float) and red,
// green, blue (uchar); other properties of fixed size are skipped. Throws InputError.
[[nodiscard]] std::vector<ColoredPoint> read_point_cloud(const std::filesystem::path& path);

}  // namespace warpfold::capture::training

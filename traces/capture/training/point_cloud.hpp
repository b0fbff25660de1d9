// SPDX-License-Identifier: Apache-2.0
// Coloured points of a PLY file. Host only.
#pragma once

#include <filesystem>
#include <vector>

#include "traces/capture/training/model.hpp"

namespace warpfold::capture::training {

// The vertices of a PLY file of any format (ascii, binary of either byte order), read by the
// grammar of Turk's "The PLY Polygon File Format". They need x, y and z of any type, and red, green
// and blue (or r, g, b, or diffuse_red and so on): floats are from 0 to 1, ushorts to 65535, other
// whole numbers to 255. What else the file has is skipped. Throws InputError, which says what it
// has where that is not enough.
[[nodiscard]] std::vector<ColoredPoint> read_point_cloud(const std::filesystem::path& path);

}  // namespace warpfold::capture::training

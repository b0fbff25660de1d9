// SPDX-License-Identifier: Apache-2.0
// PNG files by way of libpng. Host only. Throws InputError.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace warpfold::capture::training {

// 8 bits a channel, row by row, channels interleaved.
struct PngImage {
  int width = 0;
  int height = 0;
  int channels = 4;  // 3: RGB, 4: RGBA with the colour not multiplied by the alpha
  std::vector<std::uint8_t> bytes;
};

// Always as RGBA, whatever the file has.
[[nodiscard]] PngImage read_png(const std::filesystem::path& path);
void write_png(const std::filesystem::path& path, const PngImage& image);

}  // namespace warpfold::capture::training

// SPDX-License-Identifier: Apache-2.0
#include "traces/capture/training/png_file.hpp"

#include <png.h>

#include "traces/capture/common/input.hpp"

namespace warpfold::capture::training {

PngImage read_png(const std::filesystem::path& path) {
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  const auto refuse = [&] {
    const std::string why = png.message;
    png_image_free(&png);
    throw InputError(path.string() + ": " + why);
  };
  if (png_image_begin_read_from_file(&png, path.c_str()) == 0) {
    refuse();
  }
  if (png.width > kMaxSide || png.height > kMaxSide) {
    png_image_free(&png);
    throw InputError(path.string() + ": has more than " + std::to_string(kMaxSide) +
                     " pixels on a side");
  }
  png.format = PNG_FORMAT_RGBA;
  PngImage image;
  image.width = static_cast<int>(png.width);
  image.height = static_cast<int>(png.height);
  image.bytes.resize(PNG_IMAGE_SIZE(png));
  if (png_image_finish_read(&png, nullptr, image.bytes.data(), 0, nullptr) == 0) {
    refuse();
  }
  return image;
}

void write_png(const std::filesystem::path& path, const PngImage& image) {
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  png.width = static_cast<png_uint_32>(image.width);
  png.height = static_cast<png_uint_32>(image.height);
  png.format = image.channels == 4 ? PNG_FORMAT_RGBA : PNG_FORMAT_RGB;
  if (png_image_write_to_file(&png, path.c_str(), 0, image.bytes.data(), 0, nullptr) == 0) {
    throw InputError(path.string() + ": " + png.message);
  }
}

}  // namespace warpfold::capture::training

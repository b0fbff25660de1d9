// SPDX-License-Identifier: Apache-2.0
#include "traces/capture/image_fit/picture.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <random>

#include "traces/capture/common/input.hpp"
#include "traces/format/whole_file.hpp"

namespace warpfold::capture::image_fit {
namespace {

// A number of the header, with comments in front of it.
int header_number(std::istream& in, const std::string& name) {
  while ((in >> std::ws) && in.peek() == '#') {
    std::string comment;
    std::getline(in, comment);
  }
  int number = 0;
  if (!(in >> number) || number < 1 || number > kMaxSide) {
    throw InputError(name + ": no PPM picture (P6) of a size up to " + std::to_string(kMaxSide));
  }
  return number;
}

struct Light {
  double transmittance = 1;
  double color[3] = {};
  std::size_t applied = 0;
};

double alpha_of(const Blob<double>& blob, int x, int y, double* falloff = nullptr) {
  const double dx = blob.mean[0] - x;
  const double dy = blob.mean[1] - y;
  const double fall = std::exp(-0.5 * (blob.conic[0] * dx * dx + blob.conic[2] * dy * dy) -
                               blob.conic[1] * dx * dy);
  if (falloff != nullptr) {
    *falloff = fall;
  }
  return blob.opacity * fall;
}

Light paint(std::span<const Blob<double>> blobs, std::span<const std::uint32_t> list, int x,
            int y) {
  Light light;
  for (const std::uint32_t id : list) {
    if (light.transmittance < static_cast<double>(kOpaque)) {
      break;
    }
    const double alpha = std::min(static_cast<double>(kMaxAlpha), alpha_of(blobs[id], x, y));
    for (std::size_t c = 0; c < 3; ++c) {
      light.color[c] += light.transmittance * alpha * blobs[id].color[c];
    }
    light.transmittance *= 1 - alpha;
    ++light.applied;
  }
  return light;
}

std::size_t tile_of(int x, int y, int width) {
  return static_cast<std::size_t>(y / kTileY) *
             static_cast<std::size_t>((width + kTileX - 1) / kTileX) +
         static_cast<std::size_t>(x / kTileX);
}

}  // namespace

Picture read_ppm(std::istream& in, const std::string& name) {
  std::string magic(2, ' ');
  in.read(magic.data(), 2);
  if (!in || magic != "P6") {
    throw InputError(name + ": no PPM picture (P6)");
  }
  Picture picture;
  picture.width = header_number(in, name);
  picture.height = header_number(in, name);
  if (header_number(in, name) != 255) {
    throw InputError(name + ": has not 8 bits a channel");
  }
  in.get();
  const std::string bytes = read_up_to(in, 3 * picture.pixels());
  if (bytes.size() != 3 * picture.pixels()) {
    throw InputError(name + ": has been cut off");
  }
  picture.planes.resize(bytes.size());
  for (std::size_t i = 0; i < picture.pixels(); ++i) {
    for (std::size_t c = 0; c < 3; ++c) {
      picture.planes[c * picture.pixels() + i] =
          static_cast<float>(static_cast<unsigned char>(bytes[3 * i + c])) / 255.0F;
    }
  }
  return picture;
}

Picture load_ppm(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    throw InputError(path.string() + ": cannot be opened");
  }
  return read_ppm(in, path.string());
}

void write_ppm(const std::filesystem::path& path, const Picture& picture) {
  std::string bytes =
      "P6\n" + std::to_string(picture.width) + " " + std::to_string(picture.height) + "\n255\n";
  for (std::size_t i = 0; i < picture.pixels(); ++i) {
    for (std::size_t c = 0; c < 3; ++c) {
      const float value = std::clamp(picture.planes[c * picture.pixels() + i], 0.0F, 1.0F);
      bytes += static_cast<char>(static_cast<unsigned char>(255.0F * value + 0.5F));
    }
  }
  try {
    trace::write_whole(path, bytes);
  } catch (const trace::FileError& error) {
    throw InputError(error.what());
  }
}

std::vector<float> first_blobs(int count, int width, int height, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto uniform = [&] { return static_cast<float>(random() >> 40) * 0x1p-24F; };
  // So that the circles of one deviation about cover the picture.
  const float deviation = std::sqrt(static_cast<float>(width) * static_cast<float>(height) /
                                    (3.1416F * static_cast<float>(count)));
  const auto n = static_cast<std::size_t>(count);
  std::vector<float> raw(kBlobParameters * n);
  for (std::size_t i = 0; i < n; ++i) {
    raw[i] = uniform() * static_cast<float>(width) - 0.5F;
    raw[n + i] = uniform() * static_cast<float>(height) - 0.5F;
    raw[2 * n + i] = std::log(deviation * (0.5F + uniform()));
    raw[3 * n + i] = std::log(deviation * (0.5F + uniform()));
    raw[4 * n + i] = 3.1416F * uniform();
    for (std::size_t c = 5; c < 8; ++c) {
      raw[c * n + i] = uniform() - 0.5F;
    }
    raw[8 * n + i] = 0.0F;
  }
  return raw;
}

StoredBlob store(const Blob<float>& blob) {
  const float4 conic =
      scale_conic(make_float4(blob.conic[0], blob.conic[1], blob.conic[2], blob.opacity));
  return {{blob.mean[0], blob.mean[1]},
          {conic.x, conic.y, conic.z, conic.w},
          {blob.color[0], blob.color[1], blob.color[2], 0.0F},
          {blob.axis[0], blob.axis[1], blob.extent[0], blob.extent[1]}};
}

Blob<double> exact(const StoredBlob& blob) {
  constexpr auto kScale = static_cast<double>(kLog2E);
  Blob<double> result{};
  for (int i = 0; i < 2; ++i) {
    result.mean[i] = static_cast<double>(blob.mean[i]);
  }
  result.conic[0] = static_cast<double>(blob.conic[0]) / (-0.5 * kScale);
  result.conic[1] = static_cast<double>(blob.conic[1]) / -kScale;
  result.conic[2] = static_cast<double>(blob.conic[2]) / (-0.5 * kScale);
  result.opacity = static_cast<double>(blob.conic[3]);
  for (int c = 0; c < 3; ++c) {
    result.color[c] = static_cast<double>(blob.color[c]);
  }
  return result;
}

namespace reference {

std::vector<std::vector<std::uint32_t>> lists(std::span<const StoredBlob> blobs, int width,
                                              int height) {
  std::vector<std::vector<std::uint32_t>> result;
  for (int y = 0; y < height; y += kTileY) {
    for (int x = 0; x < width; x += kTileX) {
      auto& list = result.emplace_back();
      for (std::size_t i = 0; i < blobs.size(); ++i) {
        const StoredBlob& b = blobs[i];
        if (list.size() < kListLength &&
            touches({b.mean[0], b.mean[1]}, {b.box[0], b.box[1], b.box[2], b.box[3]}, x, y)) {
          list.push_back(static_cast<std::uint32_t>(i));
        }
      }
    }
  }
  return result;
}

std::vector<double> render(std::span<const Blob<double>> blobs,
                           const std::vector<std::vector<std::uint32_t>>& lists, int width,
                           int height) {
  const auto pixels = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  std::vector<double> picture(3 * pixels);
  std::size_t at = 0;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x, ++at) {
      const Light light = paint(blobs, lists[tile_of(x, y, width)], x, y);
      for (std::size_t c = 0; c < 3; ++c) {
        picture[c * pixels + at] = light.color[c];
      }
    }
  }
  return picture;
}

double loss(std::span<const double> picture, const Picture& target) {
  double sum = 0;
  for (std::size_t i = 0; i < picture.size(); ++i) {
    const double d = picture[i] - static_cast<double>(target.planes[i]);
    sum += d * d;
  }
  return sum / static_cast<double>(picture.size());
}

std::vector<double> backward(std::span<const Blob<double>> blobs,
                             const std::vector<std::vector<std::uint32_t>>& lists,
                             const Picture& target) {
  const std::size_t n = blobs.size();
  const std::size_t pixels = target.pixels();
  std::vector<double> result(kBlobParameters * n, 0.0);
  std::size_t at = 0;
  for (int y = 0; y < target.height; ++y) {
    for (int x = 0; x < target.width; ++x, ++at) {
      const auto& list = lists[tile_of(x, y, target.width)];
      const Light light = paint(blobs, list, x, y);
      double dl[3];
      for (std::size_t c = 0; c < 3; ++c) {
        dl[c] = 2 * (light.color[c] - static_cast<double>(target.planes[c * pixels + at])) /
                static_cast<double>(3 * pixels);
      }
      double transmittance = light.transmittance;
      double behind[3] = {};
      for (std::size_t i = light.applied; i-- > 0;) {
        const std::size_t id = list[i];
        const Blob<double>& blob = blobs[id];
        double falloff = 0;
        const double raw = alpha_of(blob, x, y, &falloff);
        const double alpha = std::min(static_cast<double>(kMaxAlpha), raw);
        transmittance /= 1 - alpha;
        double dl_dalpha = 0;
        for (std::size_t c = 0; c < 3; ++c) {
          result[(6 + c) * n + id] += dl[c] * alpha * transmittance;
          dl_dalpha += dl[c] * transmittance * (blob.color[c] - behind[c]);
          behind[c] += alpha * (blob.color[c] - behind[c]);
        }
        // The clamp of alpha lets the gradient through, as in the 3DGS kernels.
        const double dx = blob.mean[0] - x;
        const double dy = blob.mean[1] - y;
        const double dl_dpower = dl_dalpha * raw;
        result[id] -= dl_dpower * (blob.conic[0] * dx + blob.conic[1] * dy);
        result[n + id] -= dl_dpower * (blob.conic[2] * dy + blob.conic[1] * dx);
        result[2 * n + id] -= 0.5 * dl_dpower * dx * dx;
        result[3 * n + id] -= 0.5 * dl_dpower * dx * dy;
        result[4 * n + id] -= 0.5 * dl_dpower * dy * dy;
        result[5 * n + id] += dl_dalpha * falloff;
      }
    }
  }
  return result;
}

}  // namespace reference
}  // namespace warpfold::capture::image_fit

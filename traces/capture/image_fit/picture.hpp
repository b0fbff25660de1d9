// SPDX-License-Identifier: Apache-2.0
// The picture that blobs are fitted to, and blobs in plain C++ and double precision: what the CUDA
// kernels are checked against. Host only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <istream>
#include <span>
#include <string>
#include <vector>

#include "traces/capture/image_fit/fit_math.cuh"

namespace warpfold::capture::image_fit {

struct Picture {
  int width = 0;
  int height = 0;
  std::vector<float> planes;  // planar, red first, 0 to 1

  [[nodiscard]] std::size_t pixels() const {
    return static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  }
};

// A binary PPM (P6) of 8 bits a channel. `name` is for messages. Throws InputError.
[[nodiscard]] Picture read_ppm(std::istream& in, const std::string& name);
[[nodiscard]] Picture load_ppm(const std::filesystem::path& path);
void write_ppm(const std::filesystem::path& path, const Picture& picture);

// Where a fit starts: small round grey blobs all over the picture. kBlobParameters arrays, one
// behind the other.
[[nodiscard]] std::vector<float> first_blobs(int count, int width, int height, std::uint64_t seed);

// A blob as the kernels have it in memory.
struct StoredBlob {
  float mean[2];
  float conic[4];  // scaled, with the opacity
  float color[4];  // the last is not used
  float box[4];    // axis and extents
};
[[nodiscard]] StoredBlob store(const Blob<float>& blob);

namespace reference {

// Blobs of each tile in their order, tiles row by row; at most kListLength each.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> lists(std::span<const StoredBlob> blobs,
                                                            int width, int height);
[[nodiscard]] std::vector<double> render(std::span<const Blob<double>> blobs,
                                         const std::vector<std::vector<std::uint32_t>>& lists,
                                         int width, int height);
// Mean squared error.
[[nodiscard]] double loss(std::span<const double> picture, const Picture& target);
// Gradients of the loss as the kernels add them up (`chain`): kBlobParameters arrays.
[[nodiscard]] std::vector<double> backward(std::span<const Blob<double>> blobs,
                                           const std::vector<std::vector<std::uint32_t>>& lists,
                                           const Picture& target);

}  // namespace reference
// The blob that is in memory, without the rounding to come.
[[nodiscard]] Blob<double> exact(const StoredBlob& blob);

}  // namespace warpfold::capture::image_fit

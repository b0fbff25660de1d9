// SPDX-License-Identifier: Apache-2.0
// Samples along camera rays as HexPlane takes them from a D-NeRF scene, the opacity loss that they
// are trained on here, and the CPU reference of everything that the kernels do, in double
// precision. Host only.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "traces/capture/hexplane/plane_math.cuh"

namespace warpfold::capture::hexplane {

inline constexpr double kDensityShift = -10;  // of the softplus that makes a density of a feature
inline constexpr double kDistanceScale = 25;  // of the distances along a ray

// Views as transforms_train.json of the NeRF synthetic scenes has them: camera to world, OpenGL's
// axes.
struct Cameras {
  double angle_x = 0;                            // of the whole width, in radians
  std::vector<std::array<double, 12>> to_world;  // 3 rows of (rotation | position)
};
// Throws InputError. `name` is for messages.
[[nodiscard]] Cameras parse_cameras(const std::string& text, const std::string& name);
[[nodiscard]] Cameras load_cameras(const std::filesystem::path& path);

struct BatchOptions {
  int rays = 4096;
  int pixels = 400;   // on a side of a picture
  double half = 1.5;  // of the side of the box around the origin that is sampled
  double near = 2.0;  // along a ray
  double far = 6.0;
  std::uint64_t seed = 1;
};

// A position in the box and a time, each from -1 to 1.
struct Sample {
  float x, y, z, t;
};

// Random pixels of random views, and on each ray the samples within the box, near ones first: ray r
// has begin[r] to begin[r + 1] - 1. A ray that misses the box has none. View i of n is at time
// 2 i / (n - 1) - 1.
struct Batch {
  std::vector<Sample> samples;
  std::vector<float> lengths;  // by sample: to the next one on the ray, times kDistanceScale
  std::vector<std::uint32_t> begin;
  // By ray: 1 where it meets a ball of radius 0.7 that goes around the z axis once, else 0.
  std::vector<float> target;

  [[nodiscard]] std::size_t rays() const { return target.size(); }
};
[[nodiscard]] int samples_per_ray(const BatchOptions& options, Sizes sizes);
[[nodiscard]] Batch make_batch(const Cameras& cameras, const BatchOptions& options, Sizes sizes);

// The order in which a plane is given its samples: as they come, or by texel (the first of the
// four), those of one texel as they come.
[[nodiscard]] std::vector<std::uint32_t> plane_order(std::span<const Sample> samples, Sizes sizes,
                                                     int plane, bool sorted);

// What that plane's look-up is given: its two coordinates of each sample, in that order.
[[nodiscard]] std::vector<std::array<float, 2>> plane_coordinates(
    std::span<const Sample> samples, std::span<const std::uint32_t> order, int plane);

// Channel c of texel i at c * texels + i: normal, of deviation 0.1, as HexPlane starts.
[[nodiscard]] std::vector<float> make_planes(Sizes sizes, std::uint64_t seed);

namespace reference {

// By sample: sum over pairs of planes and channels of the products.
[[nodiscard]] std::vector<double> features(Sizes sizes, std::span<const double> planes,
                                           std::span<const Sample> samples);
// Mean over the rays of the squared difference between the opacity of a ray and its target.
[[nodiscard]] double loss(const Batch& batch, std::span<const double> features);
// dL/dfeature by sample.
[[nodiscard]] std::vector<double> feature_gradient(const Batch& batch,
                                                   std::span<const double> features);
// What comes back to grid_sample: dL/d(channel c of plane p at sample k), at (p * kChannels + c) *
// samples + k.
[[nodiscard]] std::vector<double> sampled_gradient(Sizes sizes, std::span<const double> planes,
                                                   std::span<const Sample> samples,
                                                   std::span<const double> dl_dfeature);
// What the gradient kernel adds up: dL/dtexel. `order`: by plane, which sample stands at each place
// of `dl`, which is laid out as above.
[[nodiscard]] std::vector<double> backward(Sizes sizes, std::span<const Sample> samples,
                                           std::span<const std::vector<std::uint32_t>> order,
                                           std::span<const float> dl);

}  // namespace reference
}  // namespace warpfold::capture::hexplane

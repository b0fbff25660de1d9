// SPDX-License-Identifier: Apache-2.0
#include "traces/capture/hexplane/samples.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <sstream>

#include "traces/capture/common/input.hpp"

namespace warpfold::capture::hexplane {
namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr double kStepRatio = 0.5;  // samples of a ray: as many as steps of half a texel in the box
constexpr double kBallRadius = 0.7;
constexpr double kBallDistance = 0.6;

// Uniform in [0, 1), by the 53 upper bits of each number: the same with every library.
double uniform(std::mt19937_64& random) {
  return static_cast<double>(random() >> 11) * 0x1p-53;
}

// Does the ray meet the ball? The direction has length 1.
bool meets_ball(const double (&from)[3], const double (&direction)[3], double time) {
  const double ball[3] = {kBallDistance * std::cos(kPi * time),
                          kBallDistance * std::sin(kPi * time), 0};
  double along = 0;
  double distance2 = 0;
  for (int k = 0; k < 3; ++k) {
    const double d = ball[k] - from[k];
    along += d * direction[k];
    distance2 += d * d;
  }
  return along > 0 && distance2 - along * along < kBallRadius * kBallRadius;
}

}  // namespace

Cameras parse_cameras(const std::string& text, const std::string& name) {
  Cameras cameras;
  try {
    const auto json = nlohmann::json::parse(text);
    cameras.angle_x = json.at("camera_angle_x").get<double>();
    for (const auto& frame : json.at("frames")) {
      const auto rows = frame.at("transform_matrix").get<std::vector<std::vector<double>>>();
      if (rows.size() < 3 || rows[0].size() != 4 || rows[1].size() != 4 || rows[2].size() != 4) {
        throw InputError(name + ": a transform_matrix is not of 4 columns and at least 3 rows");
      }
      std::array<double, 12> matrix{};
      for (std::size_t i = 0; i < matrix.size(); ++i) {
        matrix[i] = rows[i / 4][i % 4];
      }
      cameras.to_world.push_back(matrix);
    }
  } catch (const nlohmann::json::exception& error) {
    throw InputError(name + ": " + error.what());
  }
  if (!(cameras.angle_x > 0 && cameras.angle_x < kPi)) {
    throw InputError(name + ": camera_angle_x must lie between 0 and pi");
  }
  if (cameras.to_world.empty()) {
    throw InputError(name + ": has no frame");
  }
  return cameras;
}

Cameras load_cameras(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) {
    throw InputError(path.string() + ": cannot be read");
  }
  std::ostringstream text;
  text << file.rdbuf();
  return parse_cameras(text.str(), path.string());
}

int samples_per_ray(const BatchOptions& options, Sizes sizes) {
  const double side = 2 * options.half;
  const double step = kStepRatio * side / (sizes.space - 1);
  return static_cast<int>(std::sqrt(3.0) * side / step) + 1;
}

Batch make_batch(const Cameras& cameras, const BatchOptions& options, Sizes sizes) {
  std::mt19937_64 random(options.seed);
  const int count = samples_per_ray(options, sizes);
  const double step = (options.far - options.near) / (count - 1);
  const double jitter = (options.far - options.near) / count;
  const double focal = 0.5 * options.pixels / std::tan(0.5 * cameras.angle_x);
  const auto views = static_cast<double>(cameras.to_world.size());
  Batch batch;
  batch.begin.push_back(0);
  std::vector<double> depths(static_cast<std::size_t>(count));
  for (int r = 0; r < options.rays; ++r) {
    const auto view = static_cast<std::size_t>(uniform(random) * views);
    const double column = std::floor(uniform(random) * options.pixels) + 0.5;
    const double row = std::floor(uniform(random) * options.pixels) + 0.5;
    const double time = views > 1 ? 2 * static_cast<double>(view) / (views - 1) - 1 : 0;
    const double seen[3] = {(column - 0.5 * options.pixels) / focal,
                            -(row - 0.5 * options.pixels) / focal, -1};
    const double norm = std::hypot(seen[0], seen[1], seen[2]);
    const auto& matrix = cameras.to_world[view];
    double from[3];
    double direction[3];
    for (std::size_t k = 0; k < 3; ++k) {
      from[k] = matrix[4 * k + 3];
      direction[k] =
          (matrix[4 * k] * seen[0] + matrix[4 * k + 1] * seen[1] + matrix[4 * k + 2] * seen[2]) /
          norm;
    }
    for (std::size_t i = 0; i < depths.size(); ++i) {
      depths[i] = options.near + step * static_cast<double>(i) + jitter * uniform(random);
    }
    for (std::size_t i = 0; i < depths.size(); ++i) {
      double place[3];
      bool inside = true;
      for (std::size_t k = 0; k < 3; ++k) {
        place[k] = (from[k] + direction[k] * depths[i]) / options.half;
        inside = inside && std::abs(place[k]) <= 1;
      }
      if (!inside) {
        continue;
      }
      batch.samples.push_back({static_cast<float>(place[0]), static_cast<float>(place[1]),
                               static_cast<float>(place[2]), static_cast<float>(time)});
      const double length = i + 1 < depths.size() ? depths[i + 1] - depths[i] : 0.0;
      batch.lengths.push_back(static_cast<float>(length * kDistanceScale));
    }
    batch.begin.push_back(static_cast<std::uint32_t>(batch.samples.size()));
    batch.target.push_back(meets_ball(from, direction, time) ? 1.0F : 0.0F);
  }
  return batch;
}

std::vector<std::uint32_t> plane_order(std::span<const Sample> samples, Sizes sizes, int plane,
                                       bool sorted) {
  std::vector<std::uint32_t> order(samples.size());
  std::iota(order.begin(), order.end(), 0U);
  if (!sorted) {
    return order;
  }
  const Plane shape = plane_of(plane, sizes);
  std::vector<int> texels;
  texels.reserve(samples.size());
  for (const Sample& s : samples) {
    const float2 uv = plane_coordinates(plane, make_float4(s.x, s.y, s.z, s.t));
    texels.push_back(corner_texel(plane_footprint(uv, shape), shape, 0));
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return texels[a] < texels[b]; });
  return order;
}

std::vector<std::array<float, 2>> plane_coordinates(std::span<const Sample> samples,
                                                    std::span<const std::uint32_t> order,
                                                    int plane) {
  std::vector<std::array<float, 2>> result;
  result.reserve(order.size());
  for (const std::uint32_t k : order) {
    const Sample& s = samples[k];
    const float2 uv = plane_coordinates(plane, make_float4(s.x, s.y, s.z, s.t));
    result.push_back({uv.x, uv.y});
  }
  return result;
}

std::vector<float> make_planes(Sizes sizes, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<float> planes(static_cast<std::size_t>(texel_count(sizes)) * kChannels);
  for (float& value : planes) {
    // Box and Muller's; 1 - uniform is never 0.
    const double radius = std::sqrt(-2 * std::log(1 - uniform(random)));
    value = static_cast<float>(0.1 * radius * std::cos(2 * kPi * uniform(random)));
  }
  return planes;
}

namespace reference {
namespace {

// Texels and shares of a sample on a plane: the same rule as the kernels', worked out anew.
struct Tap {
  std::size_t texel;
  double share;
};
std::array<Tap, kCorners> taps(Sizes sizes, const Sample& sample, int plane) {
  constexpr int kAxes[kPlanes][2] = {{0, 1}, {0, 2}, {1, 2}, {3, 2}, {3, 1}, {3, 0}};
  const double place[4] = {static_cast<double>(sample.x), static_cast<double>(sample.y),
                           static_cast<double>(sample.z), static_cast<double>(sample.t)};
  std::size_t first = 0;
  for (int p = 0; p < plane; ++p) {
    first += static_cast<std::size_t>(sizes.space * (p < kSpacePlanes ? sizes.space : sizes.time));
  }
  const int extent[2] = {plane < kSpacePlanes ? sizes.space : sizes.time, sizes.space};
  std::array<Tap, kCorners> result{};
  for (int corner = 0; corner < kCorners; ++corner) {
    int index[2];
    double share = 1;
    for (int k = 0; k < 2; ++k) {
      const double at = (place[kAxes[plane][k]] + 1) / 2 * (extent[k] - 1);
      const double low = std::floor(at);
      const bool upper = (corner >> k & 1) != 0;
      index[k] = std::min(static_cast<int>(low) + (upper ? 1 : 0), extent[k] - 1);
      share *= upper ? at - low : 1 - (at - low);
    }
    result[static_cast<std::size_t>(corner)] = {
        first + static_cast<std::size_t>(index[1] * extent[0] + index[0]), share};
  }
  return result;
}

// All channels of a plane at a sample.
void sample_plane(Sizes sizes, std::span<const double> planes, const Sample& sample, int plane,
                  double (&values)[kChannels]) {
  const auto texels = static_cast<std::size_t>(texel_count(sizes));
  const auto footprint = taps(sizes, sample, plane);
  for (std::size_t c = 0; c < kChannels; ++c) {
    values[c] = 0;
    for (const Tap& tap : footprint) {
      values[c] += tap.share * planes[c * texels + tap.texel];
    }
  }
}

// Of a ray: how much of the light passes, all its densities times lengths taken together.
double passes(const Batch& batch, std::span<const double> features, std::size_t ray) {
  double sum = 0;
  for (std::size_t k = batch.begin[ray]; k < batch.begin[ray + 1]; ++k) {
    sum +=
        std::log1p(std::exp(features[k] + kDensityShift)) * static_cast<double>(batch.lengths[k]);
  }
  return std::exp(-sum);
}

}  // namespace

std::vector<double> features(Sizes sizes, std::span<const double> planes,
                             std::span<const Sample> samples) {
  std::vector<double> result(samples.size(), 0.0);
  for (std::size_t k = 0; k < samples.size(); ++k) {
    for (int p = 0; p < kSpacePlanes; ++p) {
      double space[kChannels];
      double time[kChannels];
      sample_plane(sizes, planes, samples[k], p, space);
      sample_plane(sizes, planes, samples[k], p + kSpacePlanes, time);
      for (int c = 0; c < kChannels; ++c) {
        result[k] += space[c] * time[c];
      }
    }
  }
  return result;
}

double loss(const Batch& batch, std::span<const double> features) {
  double sum = 0;
  for (std::size_t r = 0; r < batch.rays(); ++r) {
    const double d = 1 - passes(batch, features, r) - static_cast<double>(batch.target[r]);
    sum += d * d;
  }
  return sum / static_cast<double>(batch.rays());
}

std::vector<double> feature_gradient(const Batch& batch, std::span<const double> features) {
  std::vector<double> gradient(features.size());
  for (std::size_t r = 0; r < batch.rays(); ++r) {
    const double passed = passes(batch, features, r);
    const double dl_dopacity =
        2 * (1 - passed - static_cast<double>(batch.target[r])) / static_cast<double>(batch.rays());
    for (std::size_t k = batch.begin[r]; k < batch.begin[r + 1]; ++k) {
      gradient[k] = dl_dopacity * passed * static_cast<double>(batch.lengths[k]) /
                    (1 + std::exp(-features[k] - kDensityShift));
    }
  }
  return gradient;
}

std::vector<double> sampled_gradient(Sizes sizes, std::span<const double> planes,
                                     std::span<const Sample> samples,
                                     std::span<const double> dl_dfeature) {
  std::vector<double> dl(std::size_t{kPlanes} * kChannels * samples.size());
  for (int p = 0; p < kPlanes; ++p) {
    for (std::size_t k = 0; k < samples.size(); ++k) {
      double other[kChannels];
      sample_plane(sizes, planes, samples[k], (p + kSpacePlanes) % kPlanes, other);
      for (std::size_t c = 0; c < kChannels; ++c) {
        dl[(static_cast<std::size_t>(p) * kChannels + c) * samples.size() + k] =
            dl_dfeature[k] * other[c];
      }
    }
  }
  return dl;
}

std::vector<double> backward(Sizes sizes, std::span<const Sample> samples,
                             std::span<const std::vector<std::uint32_t>> order,
                             std::span<const float> dl) {
  const auto texels = static_cast<std::size_t>(texel_count(sizes));
  std::vector<double> gradient(texels * kChannels, 0.0);
  for (std::size_t p = 0; p < kPlanes; ++p) {
    for (std::size_t k = 0; k < samples.size(); ++k) {
      for (const Tap& tap : taps(sizes, samples[order[p][k]], static_cast<int>(p))) {
        for (std::size_t c = 0; c < kChannels; ++c) {
          gradient[c * texels + tap.texel] +=
              tap.share * static_cast<double>(dl[(p * kChannels + c) * samples.size() + k]);
        }
      }
    }
  }
  return gradient;
}

}  // namespace reference
}  // namespace warpfold::capture::hexplane

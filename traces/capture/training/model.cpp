// SPDX-License-Identifier: Apache-2.0
#include "traces/capture/training/model.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "traces/capture/training/neighbours.hpp"

namespace warpfold::capture::training {
namespace {

constexpr float kInitialOpacity = 0.1F;
constexpr float kLeastSquaredDistance = 1e-7F;
constexpr double kHalfSide = 1.3;
constexpr double kConstantHarmonic = 0.28209479177387814;  // sqrt(1 / (4 pi))

}  // namespace

Model initial_model(std::span<const ColoredPoint> points) {
  std::vector<std::array<float, 3>> positions;
  positions.reserve(points.size());
  for (const ColoredPoint& point : points) {
    positions.push_back(point.position);
  }
  const std::vector<float> squared = neighbour_distances(positions);
  Model model(points.size(), Parameters<float>{});
  for (std::size_t i = 0; i < points.size(); ++i) {
    float* row = model[i].row;
    const float scale = 0.5F * std::log(std::max(squared[i], kLeastSquaredDistance));
    for (std::size_t k = 0; k < 3; ++k) {
      row[kPositionRow + k] = points[i].position[k];
      row[kScaleRow + k] = scale;
      row[kColorRow + k] = (points[i].color[k] - 0.5F) / static_cast<float>(kConstantHarmonic);
    }
    row[kRotationRow] = 1;
    row[kOpacityRow] = std::log(kInitialOpacity / (1 - kInitialOpacity));
  }
  return model;
}

std::vector<ColoredPoint> random_points(std::size_t count, std::uint64_t seed) {
  // The engine's output is fixed by the standard, that of its distributions is not.
  std::mt19937_64 engine(seed);
  const auto uniform = [&engine] { return static_cast<double>(engine() >> 11) * 0x1p-53; };
  std::vector<ColoredPoint> points(count);
  for (ColoredPoint& point : points) {
    for (float& v : point.position) {
      v = static_cast<float>((2 * uniform() - 1) * kHalfSide);
    }
    for (float& v : point.color) {
      v = static_cast<float>(0.5 + kConstantHarmonic * uniform() / 255);
    }
  }
  return points;
}

std::vector<SceneGaussian> activate(std::span<const Parameters<float>> model, int degree,
                                    const Camera& camera) {
  std::vector<SceneGaussian> gaussians(model.size());
  for (std::size_t i = 0; i < model.size(); ++i) {
    activate(model[i], degree, camera, gaussians[i]);
  }
  return gaussians;
}

double extent_of(std::span<const Camera> cameras) {
  std::vector<std::array<double, 3>> centres;
  std::array<double, 3> mean{};
  for (const Camera& camera : cameras) {
    double centre[3];
    camera_centre(camera, centre);
    centres.push_back({centre[0], centre[1], centre[2]});
    for (std::size_t a = 0; a < 3; ++a) {
      mean[a] += centre[a] / static_cast<double>(cameras.size());
    }
  }
  double largest = 0;
  for (const auto& c : centres) {
    largest = std::max(largest, std::hypot(c[0] - mean[0], c[1] - mean[1], c[2] - mean[2]));
  }
  return 1.1 * largest;
}

}  // namespace warpfold::capture::training

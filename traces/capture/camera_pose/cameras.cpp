// SPDX-License-Identifier: Apache-2.0
#include "traces/capture/camera_pose/cameras.hpp"

#include <array>
#include <cmath>
#include <random>

namespace warpfold::capture::camera_pose {
namespace {

constexpr double kDistance = 4;       // of a camera from the middle
constexpr double kNear = 0.2;         // nothing nearer is seen
constexpr double kTangent = 0.577;    // of half the field of view, 60 degrees
constexpr double kMargin = 1.15;      // so much beyond the picture is seen still
constexpr double kHalfPicture = 512;  // pixels

double uniform(std::mt19937& random) {
  return static_cast<double>(random()) / 4294967296.0;
}
float between(std::mt19937& random, double low, double high) {
  return static_cast<float>(low + (high - low) * uniform(random));
}

Camera camera_at(double angle) {
  const double s = std::sin(angle);
  const double c = std::cos(angle);
  Camera camera{};
  const std::array<double, 9> rotation = {c, 0, s, 0, 1, 0, -s, 0, c};
  for (std::size_t i = 0; i < 9; ++i) {
    camera.rotation[i] = static_cast<float>(rotation[i]);
  }
  camera.translation[2] = static_cast<float>(kDistance);
  return camera;
}

std::array<double, 3> in_camera(const Camera& camera, const float* mean) {
  std::array<double, 3> point{};
  for (std::size_t i = 0; i < 3; ++i) {
    point[i] = static_cast<double>(camera.translation[i]);
    for (std::size_t j = 0; j < 3; ++j) {
      point[i] += static_cast<double>(camera.rotation[3 * i + j]) * static_cast<double>(mean[j]);
    }
  }
  return point;
}

// 0 where the camera does not see it.
std::int32_t radius(const Camera& camera, const float* mean, double size) {
  const auto point = in_camera(camera, mean);
  const double limit = kMargin * kTangent * point[2];
  if (point[2] < kNear || std::abs(point[0]) > limit || std::abs(point[1]) > limit) {
    return 0;
  }
  return static_cast<std::int32_t>(std::ceil(3 * size * kHalfPicture / (kTangent * point[2])));
}

}  // namespace

Gaussians make_gaussians(const CameraOptions& options) {
  constexpr int kHeap = 64;
  std::mt19937 random(options.seed);
  Gaussians made;
  std::vector<double> sizes;
  std::array<float, 3> middle{};
  for (int k = 0; k < options.gaussians; ++k) {
    if (k % kHeap == 0) {
      middle = {between(random, -3, 3), between(random, -3, 3), between(random, -3, 3)};
    }
    for (const float at : middle) {
      made.means.push_back(at + between(random, -0.2, 0.2));
    }
    const float size = between(random, 0.005, 0.05);
    sizes.push_back(static_cast<double>(size));
    // Any axes: a diagonal that outweighs the rest.
    const float square = size * size;
    const std::array<float, kSymmetric> shares = {
        between(random, 0.5, 1), between(random, -0.2, 0.2), between(random, -0.2, 0.2),
        between(random, 0.5, 1), between(random, -0.2, 0.2), between(random, 0.5, 1)};
    for (const float share : shares) {
      made.covariances.push_back(square * share);
    }
  }
  for (int c = 0; c < options.cameras; ++c) {
    const Camera camera = camera_at(0.3 + 6.283185307179586 * c / options.cameras);
    made.cameras.push_back(camera);
    for (std::size_t k = 0; k < made.count(); ++k) {
      made.radii.push_back(radius(camera, made.means.data() + 3 * k, sizes[k]));
      for (int i = 0; i < 3; ++i) {
        made.mean_gradients.push_back(between(random, -0.75, 1.25));
      }
      for (int i = 0; i < kSymmetric; ++i) {
        made.covariance_gradients.push_back(between(random, -75, 125));
      }
    }
  }
  return made;
}

std::vector<double> backward(const Gaussians& gaussians) {
  std::vector<double> sums(gaussians.cameras.size() * 16);
  const std::size_t count = gaussians.count();
  for (std::size_t c = 0; c < gaussians.cameras.size(); ++c) {
    const Camera& camera = gaussians.cameras[c];
    for (std::size_t k = 0; k < count; ++k) {
      if (gaussians.radii[c * count + k] == 0) {
        continue;
      }
      const float* const mean = gaussians.means.data() + 3 * k;
      const float* const covariance = gaussians.covariances.data() + kSymmetric * k;
      const float* const d_mean = gaussians.mean_gradients.data() + 3 * (c * count + k);
      const float* const d_covariance =
          gaussians.covariance_gradients.data() + kSymmetric * (c * count + k);
      const auto entry = [](const float* matrix, int i, int j) {
        return static_cast<double>(matrix[symmetric_place(i, j)]);
      };
      for (int i = 0; i < 3; ++i) {
        double* const row = sums.data() + 16 * c + static_cast<std::size_t>(4 * i);
        row[3] += static_cast<double>(d_mean[i]);
        for (int j = 0; j < 3; ++j) {
          row[j] += static_cast<double>(d_mean[i]) * static_cast<double>(mean[j]);
          for (int a = 0; a < 3; ++a) {
            for (int b = 0; b < 3; ++b) {
              row[j] += 2 * entry(d_covariance, i, a) *
                        static_cast<double>(camera.rotation[static_cast<std::size_t>(3 * a + b)]) *
                        entry(covariance, b, j);
            }
          }
        }
      }
    }
  }
  return sums;
}

}  // namespace warpfold::capture::camera_pose

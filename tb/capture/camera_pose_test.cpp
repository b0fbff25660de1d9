// SPDX-License-Identifier: Apache-2.0
// The camera workload without a GPU: the gradient of a pose against finite differences of what the
// camera makes of a Gaussian, and which Gaussians a camera sees.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "traces/capture/camera_pose/cameras.hpp"

namespace warpfold::capture::camera_pose {
namespace {

using Matrix = std::array<double, 9>;

double entry(const float* symmetric, int i, int j) {
  return static_cast<double>(symmetric[symmetric_place(i, j)]);
}

// Sum over the Gaussians that camera `c` sees of d_mean . (R m + t) + d_covariance : R S R^T.
double loss(const Gaussians& all, std::size_t c, const Matrix& rotation,
            const std::array<double, 3>& translation) {
  double sum = 0;
  for (std::size_t k = 0; k < all.count(); ++k) {
    const std::size_t at = c * all.count() + k;
    if (all.radii[at] == 0) {
      continue;
    }
    for (int i = 0; i < 3; ++i) {
      double mean = translation[static_cast<std::size_t>(i)];
      for (int j = 0; j < 3; ++j) {
        mean += rotation[static_cast<std::size_t>(3 * i + j)] *
                static_cast<double>(all.means[3 * k + static_cast<std::size_t>(j)]);
      }
      sum += static_cast<double>(all.mean_gradients[3 * at + static_cast<std::size_t>(i)]) * mean;
      for (int j = 0; j < 3; ++j) {
        for (int a = 0; a < 3; ++a) {
          for (int b = 0; b < 3; ++b) {
            sum += entry(all.covariance_gradients.data() + 6 * at, i, j) *
                   rotation[static_cast<std::size_t>(3 * i + a)] *
                   entry(all.covariances.data() + 6 * k, a, b) *
                   rotation[static_cast<std::size_t>(3 * j + b)];
          }
        }
      }
    }
  }
  return sum;
}

TEST(CameraPose, ReferenceIsTheGradientOfWhatTheCameraMakes) {
  CameraOptions options;
  options.gaussians = 300;
  options.cameras = 2;
  const Gaussians all = make_gaussians(options);
  const auto gradient = backward(all);
  ASSERT_EQ(gradient.size(), 32U);
  constexpr double kStep = 1e-5;
  for (std::size_t c = 0; c < 2; ++c) {
    Matrix rotation{};
    std::copy_n(all.cameras[c].rotation, 9, rotation.begin());
    std::array<double, 3> translation{};
    std::copy_n(all.cameras[c].translation, 3, translation.begin());
    const auto slope = [&](double& x) {
      const double before = x;
      x = before + kStep;
      const double high = loss(all, c, rotation, translation);
      x = before - kStep;
      const double low = loss(all, c, rotation, translation);
      x = before;
      return (high - low) / (2 * kStep);
    };
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 3; ++j) {
        const double expected = slope(rotation[3 * i + j]);
        EXPECT_NEAR(gradient[16 * c + 4 * i + j], expected, 1e-6 * std::abs(expected) + 1e-6);
      }
      const double expected = slope(translation[i]);
      EXPECT_NEAR(gradient[16 * c + 4 * i + 3], expected, 1e-6 * std::abs(expected) + 1e-6);
      EXPECT_EQ(gradient[16 * c + 12 + i], 0);
    }
  }
}

// The arithmetic of the kernel against the reference, a Gaussian at a time.
TEST(CameraPose, LanesAddWhatTheReferenceAdds) {
  CameraOptions options;
  options.gaussians = 200;
  const Gaussians all = make_gaussians(options);
  int seen = 0;
  for (std::size_t k = 0; k < all.count(); ++k) {
    Gaussians one;
    one.cameras = all.cameras;
    one.means.assign(all.means.begin() + static_cast<std::ptrdiff_t>(3 * k),
                     all.means.begin() + static_cast<std::ptrdiff_t>(3 * k + 3));
    const auto part = [k](const std::vector<float>& from, std::size_t n) {
      return std::vector<float>(from.begin() + static_cast<std::ptrdiff_t>(n * k),
                                from.begin() + static_cast<std::ptrdiff_t>(n * k + n));
    };
    one.covariances = part(all.covariances, 6);
    one.mean_gradients = part(all.mean_gradients, 3);
    one.covariance_gradients = part(all.covariance_gradients, 6);
    one.radii = {all.radii[k]};
    if (one.radii[0] == 0) {
      continue;
    }
    ++seen;
    const auto expected = backward(one);
    float mean[3];
    float covariance[kSymmetric];
    float d_mean[3];
    float d_covariance[kSymmetric];
    float values[kPoseValues];
    std::copy_n(one.means.begin(), 3, mean);
    std::copy_n(one.covariances.begin(), kSymmetric, covariance);
    std::copy_n(one.mean_gradients.begin(), 3, d_mean);
    std::copy_n(one.covariance_gradients.begin(), kSymmetric, d_covariance);
    pose_gradient(all.cameras[0].rotation, mean, covariance, d_mean, d_covariance, values);
    for (std::size_t i = 0; i < kPoseValues; ++i) {
      EXPECT_NEAR(static_cast<double>(values[i]), expected[i], 2e-6 * (1 + std::abs(expected[i])));
    }
  }
  EXPECT_GT(seen, 20);
}

TEST(Gaussians, AreSeenInFrontOfTheCamera) {
  CameraOptions options;
  options.gaussians = 6400;
  options.cameras = 4;
  const Gaussians all = make_gaussians(options);
  ASSERT_EQ(all.count(), 6400U);
  ASSERT_EQ(all.radii.size(), 4 * all.count());
  int seen = 0;
  for (std::size_t i = 0; i < all.radii.size(); ++i) {
    const Camera& camera = all.cameras[i / all.count()];
    const float* const mean = all.means.data() + 3 * (i % all.count());
    double depth = static_cast<double>(camera.translation[2]);
    for (int j = 0; j < 3; ++j) {
      depth += static_cast<double>(camera.rotation[6 + j]) * static_cast<double>(mean[j]);
    }
    EXPECT_TRUE(all.radii[i] == 0 || depth >= 0.2);
    seen += all.radii[i] > 0 ? 1 : 0;
  }
  const double share = seen / static_cast<double>(all.radii.size());
  EXPECT_GT(share, 0.3);
  EXPECT_LT(share, 0.95);
}

}  // namespace
}  // namespace warpfold::capture::camera_pose

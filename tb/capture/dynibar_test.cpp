// SPDX-License-Identifier: Apache-2.0
// The motion trajectories of DynIBaR without a GPU: the arithmetic of the kernels and the reference
// against finite differences.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "traces/capture/common/input.hpp"
#include "traces/capture/dynibar/trajectory.hpp"
#include "traces/capture/dynibar/trajectory_math.cuh"

namespace warpfold::capture::dynibar {
namespace {

Scene small_scene() {
  SceneOptions options;
  options.rays = 5;
  options.samples = 6;
  options.frames = 12;
  options.frame = 4;
  return make_scene(options);
}

struct Pass {
  std::vector<double> coefficients;
  std::vector<double> basis;
  std::vector<double> trajectories;
  std::vector<float> dl;

  explicit Pass(const Scene& scene)
      : coefficients(scene.coefficients.begin(), scene.coefficients.end()),
        basis(scene.basis.begin(), scene.basis.end()),
        trajectories(reference::trajectories(scene, coefficients, basis)) {
    const auto gradient = reference::trajectory_gradient(scene, trajectories);
    dl.assign(gradient.begin(), gradient.end());
  }
};

TEST(TrajectoryMath, AddsUpToTheReference) {
  const Scene scene = small_scene();
  const Pass pass(scene);
  const auto first = static_cast<std::size_t>(scene.options.frame - kCentre);
  std::vector<double> sums(scene.basis.size(), 0.0);
  const auto of_coefficients = reference::coefficient_gradient(scene, pass.dl);
  for (std::size_t p = 0; p < scene.points(); ++p) {
    for (std::size_t d = 0; d < kDirections; ++d) {
      float coefficients[kBasis];
      for (std::size_t i = 0; i < kBasis; ++i) {
        coefficients[i] = scene.coefficients[p * kCoefficients + d * kBasis + i];
      }
      float gradient[kBasis] = {};
      for (std::size_t o = 0; o < kFrames; ++o) {
        float basis[kBasis];
        for (std::size_t i = 0; i < kBasis; ++i) {
          basis[i] = scene.basis[(first + o) * kBasis + i];
        }
        const std::size_t at = (o * scene.points() + p) * kDirections + d;
        EXPECT_NEAR(static_cast<double>(trajectory(coefficients, basis)), pass.trajectories[at],
                    1e-6);
        float own[kBasis];
        basis_gradient(coefficients, pass.dl[at], own);
        add_coefficient_gradient(basis, pass.dl[at], gradient);
        for (std::size_t i = 0; i < kBasis; ++i) {
          sums[(first + o) * kBasis + i] += static_cast<double>(own[i]);
        }
      }
      for (std::size_t i = 0; i < kBasis; ++i) {
        EXPECT_NEAR(static_cast<double>(gradient[i]),
                    of_coefficients[p * kCoefficients + d * kBasis + i], 1e-7);
      }
    }
  }
  const auto of_basis = reference::basis_gradient(scene, pass.dl);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    EXPECT_NEAR(sums[i], of_basis[i], 1e-7);
  }
}

TEST(TrajectoryGradient, AgreesWithFiniteDifferences) {
  const Scene scene = small_scene();
  const Pass pass(scene);
  constexpr double kStep = 1e-4;
  const auto loss = [&](const std::vector<double>& coefficients, const std::vector<double>& basis) {
    return reference::loss(scene, reference::trajectories(scene, coefficients, basis));
  };
  const auto compare = [&](bool of_basis, const std::vector<double>& gradient) {
    double largest = 0;
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      auto above = of_basis ? pass.basis : pass.coefficients;
      auto below = above;
      above[i] += kStep;
      below[i] -= kStep;
      const double slope = of_basis
                               ? loss(pass.coefficients, above) - loss(pass.coefficients, below)
                               : loss(above, pass.basis) - loss(below, pass.basis);
      EXPECT_NEAR(gradient[i], slope / (2 * kStep), 1e-7) << i;
      largest = std::max(largest, std::abs(gradient[i]));
    }
    EXPECT_GT(largest, 1e-4);
  };
  compare(true, reference::basis_gradient(scene, pass.dl));
  compare(false, reference::coefficient_gradient(scene, pass.dl));
}

TEST(MotionScene, TouchesTheRowsOfSevenFrames) {
  const Scene scene = small_scene();
  const Pass pass(scene);
  const auto gradient = reference::basis_gradient(scene, pass.dl);
  for (std::size_t t = 0; t < 12; ++t) {
    double norm = 0;
    for (std::size_t i = 0; i < kBasis; ++i) {
      norm += std::abs(gradient[t * kBasis + i]);
    }
    EXPECT_EQ(norm > 0, t >= 1 && t <= 7) << t;
  }
}

TEST(MotionScene, FrameNeedsItsNeighbours) {
  SceneOptions options;
  for (const int frame : {0, 2, 97, 99, 1000}) {
    options.frame = frame;
    EXPECT_THROW((void)make_scene(options), InputError) << frame;
  }
}

}  // namespace
}  // namespace warpfold::capture::dynibar

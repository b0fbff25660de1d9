// SPDX-License-Identifier: Apache-2.0
// The CPU reference against first principles: finite differences, closed forms, its own forward
// pass.
#include "traces/capture/splat/reference.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

#include "tb/capture/fixture.hpp"

namespace warpfold::capture {
namespace {

using reference::Gaussian;

// The plain number behind parameter `parameter`, and the factor from its derivative to the gradient
// that the kernel adds up (see reference.hpp).
double* entry(Gaussian& g, int parameter) {
  double* const entries[kParameters] = {&g.x,        &g.y,        &g.conic[0],
                                        &g.conic[1], &g.conic[2], &g.opacity,
                                        &g.color[0], &g.color[1], &g.color[2]};
  return entries[parameter];
}

double factor(int parameter, const Camera& camera) {
  switch (parameter) {
    case 0:
      return 0.5 * camera.width;
    case 1:
      return 0.5 * camera.height;
    case 3:
      return 0.5;
    default:
      return 1.0;
  }
}

class FiniteDifference : public testing::TestWithParam<int> {};

TEST_P(FiniteDifference, AgreesWithBackward) {
  constexpr std::uint64_t kSeed = 7;
  const int parameter = GetParam();
  SmallFrame base(60, 50, 37, kSeed);
  SCOPED_TRACE("seed " + std::to_string(kSeed));

  const auto loss_of = [&base](const std::vector<Gaussian>& gaussians, Recording& recording) {
    const auto frame = reference::render(gaussians, base.lists, base.camera);
    // The gradients are not used; the recording tells which contributions there are.
    (void)reference::backward(gaussians, base.lists, base.camera, frame, base.dl_dimage,
                              &recording);
    return reference::loss(frame.image, base.target);
  };

  int compared = 0;
  double difference2 = 0;
  double norm2 = 0;
  for (std::size_t i = 0; i < base.gaussians.size(); ++i) {
    if (base.projected[i].radius == 0) {
      continue;
    }
    std::vector<Gaussian> moved = base.gaussians;
    double& value = *entry(moved[i], parameter);
    const double centre = value;
    const double step = 1e-5 * std::max(std::abs(centre), 1e-2);
    Recording above, below;
    value = centre + step;
    const double loss_above = loss_of(moved, above);
    value = centre - step;
    const double loss_below = loss_of(moved, below);
    // Only away from the discontinuities: no contribution may come or go.
    if (above.masks != base.recording.masks || below.masks != base.recording.masks) {
      continue;
    }
    const double expected = (loss_above - loss_below) / (2 * step) * factor(parameter, base.camera);
    const double actual = base.gradients[i * kParameters + static_cast<std::size_t>(parameter)];
    difference2 += (actual - expected) * (actual - expected);
    norm2 += expected * expected;
    ++compared;
  }
  EXPECT_GE(compared, 30);
  EXPECT_GT(norm2, 0.0);
  EXPECT_LT(std::sqrt(difference2 / norm2), 2e-6);
}

INSTANTIATE_TEST_SUITE_P(AllParameters, FiniteDifference, testing::Range(0, kParameters),
                         [](const auto& spec) {
                           std::string name = kGradientSlots[spec.param].name;
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

TEST(Reference, OneGaussianInClosedForm) {
  // A lone Gaussian: every pixel is alpha times its colour, and transmittance is 1 - alpha.
  const Camera camera = random_camera(32, 32);
  Gaussian g;
  g.x = 15.25;
  g.y = 14.5;
  g.conic[0] = 0.05;
  g.conic[1] = 0.01;
  g.conic[2] = 0.04;
  g.opacity = 0.8;
  g.color[0] = 1.0;
  g.color[1] = 0.5;
  g.color[2] = 0.25;
  TileLists lists;
  lists.tiles_x = lists.tiles_y = 2;
  for (std::uint32_t tile = 0; tile < 4; ++tile) {
    lists.primitives.push_back(0);
    lists.ranges.push_back({tile, tile + 1});
  }
  const auto frame = reference::render(std::vector<Gaussian>{g}, lists, camera);
  for (int y = 0; y < 32; ++y) {
    for (int x = 0; x < 32; ++x) {
      const double dx = g.x - x;
      const double dy = g.y - y;
      const double power = -0.5 * (0.05 * dx * dx + 2 * 0.01 * dx * dy + 0.04 * dy * dy);
      const double alpha = 0.8 * std::exp(power) < 1.0 / 255 ? 0.0 : 0.8 * std::exp(power);
      const auto at = static_cast<std::size_t>(y * 32 + x);
      EXPECT_NEAR(frame.image[at], alpha, 1e-12);
      EXPECT_NEAR(frame.image[2 * 1024 + at], 0.25 * alpha, 1e-12);
      EXPECT_NEAR(frame.final_t[at], 1 - alpha, 1e-12);
      EXPECT_EQ(frame.last[at], alpha > 0 ? 1U : 0U);
    }
  }
}

TEST(Reference, ProjectionOfAGaussianOnTheAxis) {
  // At depth z a sphere of radius s is a disc of variance (focal s / z)^2 + 0.3 in the picture's
  // middle.
  const Camera camera = random_camera(100, 80);
  Splat splat{{0, 0, 4}, {0.1F, 0.1F, 0.1F}, {255, 0, 51, 128}, {255, 128, 128, 128}};
  const auto projected = reference::project(decode(std::vector<Splat>{splat}), camera);
  const double variance = std::pow(static_cast<double>(camera.focal_x) * 0.1 / 4, 2) + 0.3;
  const auto& g = projected[0].gaussian;
  EXPECT_NEAR(g.x, 49.5, 1e-5);
  EXPECT_NEAR(g.y, 39.5, 1e-5);
  EXPECT_NEAR(g.conic[0], 1 / variance, 1e-6);
  EXPECT_NEAR(g.conic[1], 0, 1e-9);
  EXPECT_NEAR(g.conic[2], 1 / variance, 1e-6);
  EXPECT_NEAR(g.opacity, 128.0 / 255, 1e-7);
  EXPECT_NEAR(g.color[2], 0.2, 1e-7);
  EXPECT_NEAR(projected[0].radius, std::ceil(3 * std::sqrt(variance + std::sqrt(0.1))), 0);
  splat.position[2] = 0.2F;  // on the near plane
  EXPECT_EQ(reference::project(decode(std::vector<Splat>{splat}), camera)[0].radius, 0);
}

TEST(Reference, ListsHoldEachTouchedTileOnceInDepthOrder) {
  const SmallFrame f(300, 90, 70, 3);
  std::size_t pairs = 0;
  for (const auto& p : f.projected) {
    if (p.radius > 0) {
      pairs += static_cast<std::size_t>((p.rect[1] - p.rect[0]) * (p.rect[3] - p.rect[2]));
    }
  }
  EXPECT_EQ(f.lists.primitives.size(), pairs);
  for (std::size_t tile = 0; tile < f.lists.ranges.size(); ++tile) {
    std::set<std::uint32_t> seen;
    float depth = 0;
    for (std::uint32_t i = f.lists.ranges[tile].begin; i < f.lists.ranges[tile].end; ++i) {
      const std::uint32_t id = f.lists.primitives[i];
      EXPECT_TRUE(seen.insert(id).second);
      EXPECT_GE(static_cast<float>(f.projected[id].depth), depth);
      depth = static_cast<float>(f.projected[id].depth);
    }
  }
}

TEST(Reference, BackwardVisitsWhatForwardBlended) {
  // Walking back must arrive at transmittance 1 in front of the first contributor, so the gradient
  // by a colour is the blending weight: summed over a frame of ones, weights are 1 - final
  // transmittance.
  const SmallFrame f(200, 64, 48, 11);
  const std::vector<float> ones(f.dl_dimage.size(), 1.0F);
  const auto gradients =
      reference::backward(f.gaussians, f.lists, f.camera, f.frame, ones, nullptr);
  double weights = 0;
  for (std::size_t i = 6; i < gradients.size(); i += kParameters) {
    weights += gradients[i];
  }
  double opaque = 0;
  for (const double t : f.frame.final_t) {
    opaque += 1 - t;
  }
  EXPECT_NEAR(weights, opaque, 1e-9 * opaque);
}

}  // namespace
}  // namespace warpfold::capture

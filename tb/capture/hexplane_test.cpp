// SPDX-License-Identifier: Apache-2.0
// The HexPlane workload without a GPU: where samples fall on the planes, the reference against
// finite differences, rays and their order.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include "traces/capture/common/input.hpp"
#include "traces/capture/hexplane/plane_math.cuh"
#include "traces/capture/hexplane/samples.hpp"

namespace warpfold::capture::hexplane {
namespace {

constexpr std::uint64_t kSeed = 11;

std::vector<Sample> random_samples(std::size_t count) {
  std::mt19937_64 random(kSeed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<Sample> samples;
  for (std::size_t i = 0; i < count; ++i) {
    samples.push_back({uniform(random), uniform(random), uniform(random), uniform(random)});
  }
  samples.push_back({1, 1, 1, 1});
  samples.push_back({-1, -1, -1, -1});
  samples.push_back({0, 1, -1, 0});
  return samples;
}

// Two cameras 4 away from the origin that look at it along -z and along -x.
Cameras two_cameras() {
  return parse_cameras(R"({"camera_angle_x": 0.69, "frames": [
    {"transform_matrix": [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 4], [0, 0, 0, 1]]},
    {"transform_matrix": [[0, 0, 1, 4], [0, 1, 0, 0], [-1, 0, 0, 0], [0, 0, 0, 1]]}]})",
                       "cameras");
}

TEST(PlaneFootprint, ScattersAsTheReference) {
  for (const Sizes sizes : {Sizes{2, 3}, Sizes{9, 4}, Sizes{64, 16}}) {
    const auto samples = random_samples(500);
    const auto texels = static_cast<std::size_t>(texel_count(sizes));
    std::vector<float> dl(std::size_t{kPlanes} * kChannels * samples.size());
    std::mt19937_64 random(kSeed + 1);
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (float& x : dl) {
      x = uniform(random);
    }
    std::vector<double> gradient(texels * kChannels, 0.0);
    std::array<std::vector<std::uint32_t>, kPlanes> order;
    for (int p = 0; p < kPlanes; ++p) {
      const auto plane = static_cast<std::size_t>(p);
      order[plane] = plane_order(samples, sizes, p, p % 2 == 1);
      const auto coordinates = plane_coordinates(samples, order[plane], p);
      const Plane shape = plane_of(p, sizes);
      for (std::size_t k = 0; k < samples.size(); ++k) {
        const PlaneFootprint f =
            plane_footprint(float2{coordinates[k][0], coordinates[k][1]}, shape);
        double share = 0;
        for (int corner = 0; corner < kCorners; ++corner) {
          const int texel = corner_texel(f, shape, corner);
          ASSERT_GE(texel, shape.first);
          ASSERT_LT(texel, shape.first + shape.width * shape.height);
          const auto weight = static_cast<double>(corner_weight(f, corner));
          ASSERT_GE(weight, 0.0);
          share += weight;
          for (std::size_t c = 0; c < kChannels; ++c) {
            gradient[c * texels + static_cast<std::size_t>(texel)] +=
                weight * static_cast<double>(dl[(plane * kChannels + c) * samples.size() + k]);
          }
        }
        EXPECT_NEAR(share, 1.0, 1e-5);
      }
    }
    const auto expected = reference::backward(sizes, samples, order, dl);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(gradient[i], expected[i], 1e-3) << "size " << sizes.space << ", entry " << i;
    }
  }
}

TEST(Planes, HoldTheirCoordinates) {
  // Channels are the number of the texel's column and row: a look-up gives the coordinates back.
  constexpr Sizes kSizes{7, 5};
  const auto samples = random_samples(50);
  const int pairs[kPlanes][2] = {{0, 1}, {0, 2}, {1, 2}, {3, 2}, {3, 1}, {3, 0}};
  int first = 0;
  for (int p = 0; p < kPlanes; ++p) {
    const Plane shape = plane_of(p, kSizes);
    EXPECT_EQ(shape.first, first);
    first += shape.width * shape.height;
    for (const Sample& s : samples) {
      const float at[4] = {s.x, s.y, s.z, s.t};
      const float2 uv = plane_coordinates(p, make_float4(s.x, s.y, s.z, s.t));
      EXPECT_EQ(uv.x, at[pairs[p][0]]);
      EXPECT_EQ(uv.y, at[pairs[p][1]]);
      const PlaneFootprint f = plane_footprint(uv, shape);
      double column = 0;
      double row = 0;
      for (int corner = 0; corner < kCorners; ++corner) {
        const int texel = corner_texel(f, shape, corner) - shape.first;
        column += static_cast<double>(corner_weight(f, corner)) * (texel % shape.width);
        row += static_cast<double>(corner_weight(f, corner)) * (texel / shape.width);
      }
      EXPECT_NEAR(column, (static_cast<double>(uv.x) + 1) / 2 * (shape.width - 1), 1e-5);
      EXPECT_NEAR(row, (static_cast<double>(uv.y) + 1) / 2 * (shape.height - 1), 1e-5);
    }
  }
  EXPECT_EQ(texel_count(kSizes), first);
}

TEST(Order, ByTexelKeepsThoseOfATexelAsTheyCome) {
  constexpr Sizes kSizes{6, 4};
  const auto samples = random_samples(400);
  for (int p = 0; p < kPlanes; ++p) {
    const auto order = plane_order(samples, kSizes, p, true);
    const Plane shape = plane_of(p, kSizes);
    const auto texel = [&](std::uint32_t k) {
      const Sample& s = samples[k];
      const float2 uv = plane_coordinates(p, make_float4(s.x, s.y, s.z, s.t));
      return corner_texel(plane_footprint(uv, shape), shape, 0);
    };
    std::vector<bool> seen(samples.size(), false);
    for (std::size_t i = 0; i < order.size(); ++i) {
      seen[order[i]] = true;
      if (i > 0) {
        const int before = texel(order[i - 1]);
        const int now = texel(order[i]);
        EXPECT_TRUE(before < now || (before == now && order[i - 1] < order[i]));
      }
    }
    EXPECT_EQ(std::count(seen.begin(), seen.end(), true),
              static_cast<std::ptrdiff_t>(samples.size()));
    const auto plain = plane_order(samples, kSizes, p, false);
    EXPECT_TRUE(std::is_sorted(plain.begin(), plain.end()));
  }
}

TEST(Gradient, AgreesWithFiniteDifferences) {
  constexpr Sizes kSizes{3, 2};
  BatchOptions options;
  options.rays = 12;
  options.pixels = 20;
  const Batch batch = make_batch(two_cameras(), options, kSizes);
  const auto start = make_planes(kSizes, kSeed);
  std::vector<double> planes(start.begin(), start.end());
  for (double& x : planes) {
    x *= 20;  // to densities that are felt
  }
  const auto features = reference::features(kSizes, planes, batch.samples);
  const auto sampled = reference::sampled_gradient(kSizes, planes, batch.samples,
                                                   reference::feature_gradient(batch, features));
  const std::vector<float> dl(sampled.begin(), sampled.end());
  std::array<std::vector<std::uint32_t>, kPlanes> order;
  for (int p = 0; p < kPlanes; ++p) {
    order[static_cast<std::size_t>(p)] = plane_order(batch.samples, kSizes, p, false);
  }
  const auto gradient = reference::backward(kSizes, batch.samples, order, dl);
  double largest = 0;
  for (std::size_t i = 0; i < planes.size(); ++i) {
    constexpr double kStep = 1e-5;
    auto moved = planes;
    moved[i] += kStep;
    const double above = reference::loss(batch, reference::features(kSizes, moved, batch.samples));
    moved[i] -= 2 * kStep;
    const double below = reference::loss(batch, reference::features(kSizes, moved, batch.samples));
    EXPECT_NEAR(gradient[i], (above - below) / (2 * kStep), 1e-6) << i;
    largest = std::max(largest, std::abs(gradient[i]));
  }
  EXPECT_GT(largest, 1e-3);
}

TEST(Batch, HasTheSamplesWithinTheBox) {
  constexpr Sizes kSizes{64, 16};
  BatchOptions options;
  options.rays = 300;
  EXPECT_EQ(samples_per_ray(options, kSizes), 219);
  const Batch batch = make_batch(two_cameras(), options, kSizes);
  ASSERT_EQ(batch.begin.size(), 301U);
  ASSERT_EQ(batch.begin.back(), batch.samples.size());
  ASSERT_EQ(batch.lengths.size(), batch.samples.size());
  EXPECT_GT(batch.samples.size(), 300U * 80);
  std::size_t covered = 0;
  for (std::size_t r = 0; r < batch.rays(); ++r) {
    covered += batch.target[r] > 0 ? 1U : 0U;
    for (std::size_t k = batch.begin[r]; k < batch.begin[r + 1]; ++k) {
      const Sample& s = batch.samples[k];
      for (const float x : {s.x, s.y, s.z}) {
        EXPECT_LE(std::abs(x), 1.0F);
      }
      EXPECT_EQ(std::abs(s.t), 1.0F);  // the first view or the second
      // The first camera looks along -z, the second along -x.
      if (k > batch.begin[r]) {
        const Sample& before = batch.samples[k - 1];
        EXPECT_EQ(s.t, before.t);
        if (s.t < 0) {
          EXPECT_LT(s.z, before.z);
        } else {
          EXPECT_LT(s.x, before.x);
        }
      }
      EXPECT_GE(batch.lengths[k], 0.0F);
    }
  }
  EXPECT_GT(covered, 20U);
  EXPECT_LT(covered, 280U);
  const Batch again = make_batch(two_cameras(), options, kSizes);
  EXPECT_EQ(again.samples.size(), batch.samples.size());
  EXPECT_EQ(again.samples.back().x, batch.samples.back().x);
}

TEST(Cameras, BadFilesAreRefused) {
  for (
      const char* bad :
      {"", "{}", R"({"camera_angle_x": 1, "frames": []})",
       R"({"camera_angle_x": 4, "frames": [{"transform_matrix": [[1,0,0,0],[0,1,0,0],[0,0,1,0]]}]})",
       R"({"camera_angle_x": 1, "frames": [{"transform_matrix": [[1,0,0],[0,1,0],[0,0,1]]}]})",
       R"({"camera_angle_x": 1, "frames": [{"transform_matrix": 3}]})"}) {
    EXPECT_THROW((void)parse_cameras(bad, "bad"), InputError) << bad;
  }
}

}  // namespace
}  // namespace warpfold::capture::hexplane

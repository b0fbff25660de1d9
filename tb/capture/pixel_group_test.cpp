// SPDX-License-Identifier: Apache-2.0
// The backward pass with one and with four pixels a thread, by the kernels' arithmetic on the host,
// against the reference in double precision, which reference_test.cpp holds against finite
// differences.
#include "traces/capture/splat_forms/pixel_group.cuh"

#include <gtest/gtest.h>

#include <cmath>

#include "tb/capture/fixture.hpp"

namespace warpfold::capture::splat_forms {
namespace {

// What load_group wants to know of a frame.
struct Frame {
  int width, height;
  const float* final_t;
  const std::uint32_t* last;
  const float* dl_dpixels;
};

template <unsigned N>
std::vector<double> backward(const SmallFrame& small, int* taken = nullptr) {
  const std::vector<float> final_t(small.frame.final_t.begin(), small.frame.final_t.end());
  const Frame frame{small.camera.width, small.camera.height, final_t.data(),
                    small.frame.last.data(), small.dl_dimage.data()};
  const MeanScale scale{0.5F * static_cast<float>(frame.width) * kLn2,
                        0.5F * static_cast<float>(frame.height) * kLn2};
  constexpr int kWidth = N;
  std::vector<double> sums(small.gaussians.size() * kParameters, 0.0);
  for (std::size_t tile = 0; tile < small.lists.ranges.size(); ++tile) {
    const auto total = static_cast<int>(small.lists.length(tile));
    const int left = static_cast<int>(tile) % small.lists.tiles_x * kTileSize;
    const int top = static_cast<int>(tile) / small.lists.tiles_x * kTileSize;
    for (int thread = 0; thread < kTilePixels / kWidth; ++thread) {
      const int x = left + thread * kWidth % kTileSize;
      const int y = top + thread * kWidth / kTileSize;
      PixelGroup<N> group = load_group<N>(frame, x, y, total);
      for (int pass = group.first(); pass < total; ++pass) {
        const std::size_t id = small.lists.backward(tile, static_cast<std::uint32_t>(pass));
        const reference::Gaussian& g = small.gaussians[id];
        const float4 conic =
            scale_conic(make_float4(static_cast<float>(g.conic[0]), static_cast<float>(g.conic[1]),
                                    static_cast<float>(g.conic[2]), static_cast<float>(g.opacity)));
        GroupFootprint<N> footprint;
        if (!group_footprint(group, {static_cast<float>(g.x), static_cast<float>(g.y)}, conic, pass,
                             footprint)) {
          continue;
        }
        float val[kParameters];
        group_gradients(footprint, conic,
                        {static_cast<float>(g.color[0]), static_cast<float>(g.color[1]),
                         static_cast<float>(g.color[2])},
                        scale, group, val);
        for (std::size_t k = 0; k < kParameters; ++k) {
          sums[id * kParameters + k] += static_cast<double>(val[k]);
        }
        if (taken != nullptr) {
          ++*taken;
        }
      }
    }
  }
  return sums;
}

// Norm of the difference over norm, the largest of all parameters.
double error(const std::vector<double>& values, const std::vector<double>& expected) {
  double worst = 0;
  for (std::size_t k = 0; k < kParameters; ++k) {
    double difference = 0;
    double norm = 0;
    for (std::size_t i = k; i < expected.size(); i += kParameters) {
      difference += std::pow(values[i] - expected[i], 2);
      norm += expected[i] * expected[i];
    }
    worst = std::max(worst, std::sqrt(difference / norm));
  }
  return worst;
}

TEST(PixelGroup, GradientsAgreeWithTheReference) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    // A width that four does not divide.
    const SmallFrame small(300, 61, 38, seed);
    int threads = 0;
    int groups = 0;
    const auto one = backward<1>(small, &threads);
    const auto four = backward<4>(small, &groups);
    EXPECT_LT(error(one, small.gradients), 1e-3) << "seed " << seed;
    EXPECT_LT(error(four, small.gradients), 1e-3) << "seed " << seed;
    EXPECT_LT(error(four, one), 1e-5) << "seed " << seed;
    EXPECT_LT(groups, threads);
    EXPECT_GT(4 * groups, threads);
  }
}

TEST(PixelGroup, PixelsThatDoNotCountStayAsTheyAre) {
  PixelGroup<4> group{};
  group.pixel = {8, 8};
  for (int i = 0; i < 4; ++i) {
    group.first_pass[i] = i < 2 ? 0 : 5;
    group.state[i] = {0.5F, 0.25F, {1.0F, 2.0F, 3.0F}};
  }
  EXPECT_EQ(group.first(), 0);
  const float4 conic = scale_conic(make_float4(0.5F, 0.0F, 0.5F, 0.75F));
  GroupFootprint<4> footprint;
  EXPECT_FALSE(group_footprint(group, {40, 40}, conic, 7, footprint));
  ASSERT_TRUE(group_footprint(group, {8, 8}, conic, 4, footprint));
  EXPECT_EQ(footprint.alpha_raw[0], 0.75F);
  EXPECT_GT(footprint.alpha_raw[1], 0.0F);
  EXPECT_EQ(footprint.alpha_raw[2], 0.0F);
  float val[9];
  group_gradients(footprint, conic, {0.1F, 0.2F, 0.3F}, {1.0F, 1.0F}, group, val);
  EXPECT_NE(group.state[0].transmittance, 0.5F);
  EXPECT_NE(group.state[1].behind, 0.25F);
  for (int i = 2; i < 4; ++i) {
    EXPECT_EQ(group.state[i].transmittance, 0.5F);
    EXPECT_EQ(group.state[i].behind, 0.25F);
  }
}

}  // namespace
}  // namespace warpfold::capture::splat_forms

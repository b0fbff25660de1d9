// SPDX-License-Identifier: Apache-2.0
// The backward pass by Gaussian, front to back from the states at the beginning of each bucket, and
// with sums over pixels that meet the Gaussian from behind, by the kernels' arithmetic on the host,
// against the reference in double precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tb/capture/fixture.hpp"
#include "traces/capture/splat_forms/per_splat_math.cuh"

namespace warpfold::capture::splat_forms {
namespace {

constexpr double kMaxError = 1e-4;  // norm of the difference over norm, of each parameter

struct HostSplat {
  float2 mean;
  float4 conic;  // scaled, with the opacity
  float3 color;
};

HostSplat splat_of(const reference::Gaussian& g) {
  return {{static_cast<float>(g.x), static_cast<float>(g.y)},
          scale_conic(make_float4(static_cast<float>(g.conic[0]), static_cast<float>(g.conic[1]),
                                  static_cast<float>(g.conic[2]), static_cast<float>(g.opacity))),
          {static_cast<float>(g.color[0]), static_cast<float>(g.color[1]),
           static_cast<float>(g.color[2])}};
}

// A pixel of a tile, and the Gaussians of its list up to the last that counts.
struct PixelList {
  float2 at;
  float3 dl_dcolor;
  float final_t;
  std::vector<std::uint32_t> gaussians;  // front to back
};

std::vector<PixelList> pixel_lists(const SmallFrame& small) {
  std::vector<PixelList> pixels;
  const auto plane = static_cast<std::size_t>(small.camera.pixels());
  for (int y = 0; y < small.camera.height; ++y) {
    for (int x = 0; x < small.camera.width; ++x) {
      const auto at = static_cast<std::size_t>(y * small.camera.width + x);
      const auto tile =
          static_cast<std::size_t>(y / kTileSize * small.lists.tiles_x + x / kTileSize);
      const auto first = small.lists.primitives.begin() + small.lists.ranges[tile].begin;
      pixels.push_back(
          {{static_cast<float>(x), static_cast<float>(y)},
           {small.dl_dimage[at], small.dl_dimage[plane + at], small.dl_dimage[2 * plane + at]},
           static_cast<float>(small.frame.final_t[at]),
           {first, first + small.frame.last[at]}});
    }
  }
  return pixels;
}

float alpha_of(const HostSplat& splat, float2 pixel) {
  const Footprint f = footprint(splat.mean, splat.conic, pixel);
  const float raw = __fmul_rn(splat.conic.w, exp2_approx(f.power));
  return f.power > 0.0F || raw < kMinAlpha ? 0.0F : raw;
}

// What the forward pass notes in front of each bucket, as `draw` does.
struct Front {
  float color[3] = {0, 0, 0};
  float transmittance = 1;

  void behind(const HostSplat& splat, float alpha_raw) {
    const float alpha = std::min(kMaxAlpha, alpha_raw);
    const float own[3] = {splat.color.x, splat.color.y, splat.color.z};
    for (int c = 0; c < 3; ++c) {
      color[c] = std::fma(own[c] * alpha, transmittance, color[c]);
    }
    transmittance *= 1.0F - alpha;
  }
};

float dot(const float (&a)[3], const float (&b)[3], float3 c) {
  return (a[0] - b[0]) * c.x + (a[1] - b[1]) * c.y + (a[2] - b[2]) * c.z;
}

void front_to_back(const SmallFrame& small, const PixelList& pixel, std::vector<SplatSums>& sums) {
  Front end;
  for (const std::uint32_t id : pixel.gaussians) {
    const HostSplat splat = splat_of(small.gaussians[id]);
    end.behind(splat, alpha_of(splat, pixel.at));
  }
  Front front;
  PassingPixel passing{};
  for (std::size_t i = 0; i < pixel.gaussians.size(); ++i) {
    if (i % kBucket == 0) {
      passing = {front.transmittance, dot(end.color, front.color, pixel.dl_dcolor)};
    }
    const std::uint32_t id = pixel.gaussians[i];
    const HostSplat splat = splat_of(small.gaussians[id]);
    const float alpha = alpha_of(splat, pixel.at);
    pass_pixel(splat.mean, splat.conic, splat.color, pixel.at, pixel.dl_dcolor, alpha > 0, passing,
               sums[id]);
    front.behind(splat, alpha);
    EXPECT_FLOAT_EQ(passing.transmittance, front.transmittance);
  }
}

void from_behind(const SmallFrame& small, const PixelList& pixel, std::vector<SplatSums>& sums) {
  PixelState state{pixel.final_t, 0.0F, pixel.dl_dcolor};
  for (auto id = pixel.gaussians.rbegin(); id != pixel.gaussians.rend(); ++id) {
    const HostSplat splat = splat_of(small.gaussians[*id]);
    meet_from_behind(splat.mean.x - pixel.at.x, splat.mean.y - pixel.at.y, splat.color,
                     alpha_of(splat, pixel.at), state, sums[*id]);
  }
}

using Walk = void (*)(const SmallFrame&, const PixelList&, std::vector<SplatSums>&);

double error(const SmallFrame& small, Walk walk) {
  std::vector<SplatSums> sums(small.gaussians.size());
  for (const PixelList& pixel : pixel_lists(small)) {
    walk(small, pixel, sums);
  }
  const MeanScale scale{0.5F * static_cast<float>(small.camera.width) * kLn2,
                        0.5F * static_cast<float>(small.camera.height) * kLn2};
  double difference[kParameters] = {};
  double norm[kParameters] = {};
  for (std::size_t i = 0; i < sums.size(); ++i) {
    float own[kParameters] = {};
    if (sums[i].slope != 0) {
      splat_gradients(sums[i], splat_of(small.gaussians[i]).conic, scale, own);
    }
    for (std::size_t k = 0; k < kParameters; ++k) {
      const double expected = small.gradients[i * kParameters + k];
      difference[k] += std::pow(static_cast<double>(own[k]) - expected, 2);
      norm[k] += expected * expected;
    }
  }
  double worst = 0;
  for (std::size_t k = 0; k < kParameters; ++k) {
    EXPECT_GT(norm[k], 0);
    worst = std::max(worst, std::sqrt(difference[k] / norm[k]));
  }
  return worst;
}

TEST(PerSplat, GradientsAgreeWithTheReference) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const SmallFrame small(500, 61, 38, seed);
    // Buckets that begin behind others.
    EXPECT_GT(*std::max_element(small.frame.last.begin(), small.frame.last.end()), 2U * kBucket);
    EXPECT_LT(error(small, front_to_back), kMaxError) << "seed " << seed;
    EXPECT_LT(error(small, from_behind), kMaxError) << "seed " << seed;
  }
}

TEST(PerSplat, WhatDoesNotCountChangesNothing) {
  const float4 conic = scale_conic(make_float4(0.5F, 0.1F, 0.5F, 0.75F));
  PassingPixel passing{0.5F, 0.25F};
  SplatSums sums{1, 2, 3, 4, 5, 6, 7, 8, 9};
  pass_pixel({8, 8}, conic, {0.1F, 0.2F, 0.3F}, {9, 7}, {1, 2, 3}, false, passing, sums);
  EXPECT_EQ(passing.transmittance, 0.5F);
  EXPECT_EQ(passing.rest, 0.25F);
  EXPECT_EQ(sums.slope, 1);
  EXPECT_EQ(sums.slope_yy, 6);
  EXPECT_EQ(sums.blue, 9);
  pass_pixel({8, 8}, conic, {0.1F, 0.2F, 0.3F}, {9, 7}, {1, 2, 3}, true, passing, sums);
  EXPECT_LT(passing.transmittance, 0.5F);
  EXPECT_NE(passing.rest, 0.25F);
  EXPECT_GT(sums.blue, 9);
}

}  // namespace
}  // namespace warpfold::capture::splat_forms

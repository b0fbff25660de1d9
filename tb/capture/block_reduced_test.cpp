// SPDX-License-Identifier: Apache-2.0
// Sums of a CTA from those of its warps, by the kernels' arithmetic on the host, against the
// reference in double precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <memory>

#include "tb/capture/fixture.hpp"
#include "traces/capture/splat_forms/pixel_group.cuh"
#include "traces/capture/splat_forms/warp_sums.cuh"

namespace warpfold::capture::splat_forms {
namespace {

constexpr float kNobody = std::numeric_limits<float>::quiet_NaN();

template <class Sums>
std::unique_ptr<Sums> untouched() {
  auto sums = std::make_unique<Sums>();
  for (auto& warp : sums->sum) {
    for (auto& gaussian : warp) {
      std::fill(std::begin(gaussian), std::end(gaussian), kNobody);
    }
  }
  return sums;
}

TEST(WarpSums, TakeThoseThatCountAlone) {
  constexpr unsigned kWide = 12;
  const auto sums = untouched<WarpSums<32, kWide>>();
  for (int k = 0; k < kParameters; ++k) {
    sums->sum[2][5][k] = static_cast<float>(k + 1);
    sums->sum[7][5][k] = static_cast<float>(10 * (k + 1));
    sums->sum[7][31][k] = static_cast<float>(-k);
  }
  sums->gaussians[2] = 1U << 5U;
  sums->gaussians[7] = 1U << 5U | 1U << 31U;
  EXPECT_TRUE(sums->counted(5));
  EXPECT_TRUE(sums->counted(31));
  EXPECT_FALSE(sums->counted(6));
  for (int k = 0; k < kParameters; ++k) {
    EXPECT_EQ(sums->of_block(5, k), static_cast<float>(11 * (k + 1)));
    EXPECT_EQ(sums->of_block(31, k), static_cast<float>(-k));
    EXPECT_EQ(sums->of_block(6, k), 0.0F);
  }
  // What the structs have no parameter for is zero.
  const float4 middle = sums->vector_of_block(5, 1);
  EXPECT_EQ(middle.x, 55.0F);
  EXPECT_EQ(middle.w, 88.0F);
  const float4 last = sums->vector_of_block(5, 2);
  EXPECT_EQ(last.x, 99.0F);
  EXPECT_EQ(last.y, 0.0F);
  EXPECT_EQ(last.z, 0.0F);
  EXPECT_EQ(last.w, 0.0F);
}

// What load_group wants to know of a frame.
struct Frame {
  int width, height;
  const float* final_t;
  const std::uint32_t* last;
  const float* dl_dpixels;
};

struct HostSplat {
  float2 mean;
  float4 conic;
  float3 color;
};

HostSplat splat_of(const reference::Gaussian& g) {
  return {{static_cast<float>(g.x), static_cast<float>(g.y)},
          scale_conic(make_float4(static_cast<float>(g.conic[0]), static_cast<float>(g.conic[1]),
                                  static_cast<float>(g.conic[2]), static_cast<float>(g.opacity))),
          {static_cast<float>(g.color[0]), static_cast<float>(g.color[1]),
           static_cast<float>(g.color[2])}};
}

// A lane's part; whether the Gaussian counts for it.
bool lane_adds(const HostSplat& splat, int pass, MeanScale scale, PixelGroup<1>& lane,
               float (&sums)[kParameters]) {
  const Footprint f = footprint(splat.mean, splat.conic, lane.pixel);
  const float falloff = exp2_approx(f.power);
  const float raw = __fmul_rn(splat.conic.w, falloff);
  const bool active = pass >= lane.first_pass[0] && !(f.power > 0.0F) && !(raw < kMinAlpha);
  float val[kParameters];
  gradients(f, splat.conic, splat.color, active ? falloff : 0.0F, active ? raw : 0.0F, scale,
            lane.state[0], val);
  for (int k = 0; k < kParameters; ++k) {
    sums[k] += val[k];
  }
  return active;
}

// One RED for each parameter of a Gaussian and a tile, as the kernel adds them.
template <unsigned kGaussians>
std::vector<double> backward(const SmallFrame& small, int* reds) {
  using Sums = WarpSums<kGaussians, static_cast<unsigned>(kParameters)>;
  constexpr int kGroup = kGaussians;
  const std::vector<float> final_t(small.frame.final_t.begin(), small.frame.final_t.end());
  const Frame frame{small.camera.width, small.camera.height, final_t.data(),
                    small.frame.last.data(), small.dl_dimage.data()};
  const MeanScale scale{0.5F * static_cast<float>(frame.width) * kLn2,
                        0.5F * static_cast<float>(frame.height) * kLn2};
  std::vector<double> result(small.gaussians.size() * kParameters, 0.0);
  for (std::size_t tile = 0; tile < small.lists.ranges.size(); ++tile) {
    const auto total = static_cast<int>(small.lists.length(tile));
    const int left = static_cast<int>(tile) % small.lists.tiles_x * kTileSize;
    const int top = static_cast<int>(tile) / small.lists.tiles_x * kTileSize;
    std::vector<PixelGroup<1>> lanes;
    for (int thread = 0; thread < kTilePixels; ++thread) {
      lanes.push_back(
          load_group<1>(frame, left + thread % kTileSize, top + thread / kTileSize, total));
    }
    for (int group = 0; group < total; group += kGroup) {
      const auto sums = untouched<Sums>();
      const int count = std::min(kGroup, total - group);
      const auto id = [&](int g) {
        return small.lists.backward(tile, static_cast<std::uint32_t>(group + g));
      };
      for (int warp = 0; warp < kWarpsPerTile; ++warp) {
        for (int g = 0; g < count; ++g) {
          float sum[kParameters] = {};
          bool any = false;
          for (int lane = 0; lane < trace::kWarpLanes; ++lane) {
            PixelGroup<1>& own = lanes[static_cast<std::size_t>(warp * trace::kWarpLanes + lane)];
            any = lane_adds(splat_of(small.gaussians[id(g)]), group + g, scale, own, sum) || any;
          }
          if (any) {
            sums->gaussians[warp] |= 1U << static_cast<unsigned>(g);
            std::copy(std::begin(sum), std::end(sum), sums->sum[warp][g]);
          }
        }
      }
      for (int g = 0; g < count; ++g) {
        for (int k = 0; sums->counted(g) && k < kParameters; ++k) {
          result[std::size_t{id(g)} * kParameters + static_cast<std::size_t>(k)] +=
              static_cast<double>(sums->of_block(g, k));
          ++*reds;
        }
      }
    }
  }
  return result;
}

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

TEST(BlockReduced, GradientsAgreeWithTheReference) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const SmallFrame small(300, 61, 38, seed);
    int floats = 0;
    int structs = 0;
    EXPECT_LT(error(backward<28>(small, &floats), small.gradients), 1e-4) << "seed " << seed;
    EXPECT_LT(error(backward<32>(small, &structs), small.gradients), 1e-4) << "seed " << seed;
    EXPECT_EQ(floats, structs);
    EXPECT_LE(floats, static_cast<int>(small.lists.primitives.size()) * kParameters);
    EXPECT_GT(floats, 0);
  }
}

}  // namespace
}  // namespace warpfold::capture::splat_forms

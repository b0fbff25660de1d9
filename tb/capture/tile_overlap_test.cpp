// SPDX-License-Identifier: Apache-2.0
// Tight tile lists, as the kernels and the host recorder make them, against every pixel of the
// pairs that they leave out.
#include "traces/capture/splat/tile_overlap.cuh"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "tb/capture/fixture.hpp"
#include "traces/capture/splat/host_frame.hpp"

namespace warpfold::capture {
namespace {

// The largest alpha over the pixels of a tile, as the kernels compute it.
float largest_alpha(float2 mean, float4 conic, int tile_x, int tile_y) {
  float largest = 0;
  for (int p = 0; p < kTilePixels; ++p) {
    const float2 pixel{static_cast<float>(tile_x * kTileSize + p % kTileSize),
                       static_cast<float>(tile_y * kTileSize + p / kTileSize)};
    const Footprint f = footprint(mean, conic, pixel);
    if (!(f.power > 0.0F)) {
      largest = std::max(largest, __fmul_rn(conic.w, exp2_approx(f.power)));
    }
  }
  return largest;
}

// One of a random shape, up to needles of a thousand to one, somewhere around the tile.
struct Random {
  std::mt19937_64 generator{3};

  float real(float low, float high) {
    return std::uniform_real_distribution<float>(low, high)(generator);
  }
  float4 conic() {
    const float turn = real(0.0F, 3.2F);
    const float cosine = std::cos(turn), sine = std::sin(turn);
    const float first = std::exp2(real(-12.0F, 1.0F)), second = std::exp2(real(-12.0F, 1.0F));
    return scale_conic({first * cosine * cosine + second * sine * sine,
                        (first - second) * cosine * sine,
                        first * sine * sine + second * cosine * cosine, real(0.003F, 1.0F)});
  }
};

TEST(TileOverlap, LeavesOutNoPairThatCounts) {
  Random random;
  int out = 0;
  int needless = 0;
  for (int i = 0; i < 50'000; ++i) {
    const float4 conic = random.conic();
    const float2 mean{random.real(-60.0F, 160.0F), random.real(-60.0F, 160.0F)};
    const bool counts = largest_alpha(mean, conic, 3, 2) >= kMinAlpha;
    const bool touches = touches_tile(mean, conic, 3, 2);
    ASSERT_FALSE(counts && !touches) << "mean " << mean.x << ' ' << mean.y;
    out += touches ? 0 : 1;
    needless += touches && !counts ? 1 : 0;
  }
  EXPECT_GT(out, 10'000);
  // Ellipses that pass between the centres of pixels.
  EXPECT_LT(needless, 1'000);
}

TEST(TileOverlap, EdgesOfACircleAndOfItsOpacity) {
  // Alpha is 1/255 at the distance 10 from the mean.
  const float slope = std::log2(255.0F) / 100;
  const float4 conic{-slope, 0.0F, -slope, 1.0F};
  EXPECT_TRUE(touches_tile({31.0F + 9.99F, 20.0F}, conic, 1, 1));
  EXPECT_FALSE(touches_tile({31.0F + 10.01F, 20.0F}, conic, 1, 1));
  EXPECT_TRUE(touches_tile({16.0F - 7.06F, 31.0F + 7.06F}, conic, 1, 1));
  EXPECT_FALSE(touches_tile({16.0F - 7.08F, 31.0F + 7.08F}, conic, 1, 1));
  // One within the tile counts by its opacity alone.
  EXPECT_TRUE(touches_tile({20.5F, 20.5F}, {-slope, 0.0F, -slope, 1.01F / 255}, 1, 1));
  EXPECT_FALSE(touches_tile({20.5F, 20.5F}, {-slope, 0.0F, -slope, 0.99F / 255}, 1, 1));
}

TEST(TileOverlap, NothingThatIsNoEllipseIsLeftOut) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(touches_tile({500.0F, 500.0F}, {0.0F, 0.0F, -1.0F, 0.5F}, 0, 0));
  EXPECT_TRUE(touches_tile({500.0F, 500.0F}, {nan, 0.0F, -1.0F, 0.5F}, 0, 0));
}

TEST(TileOverlap, FramesOfBothListsAreTheSame) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const SmallFrame reference(400, 123, 77, seed);
    const HostFrame box(reference.scene, reference.camera);
    const HostFrame tight(reference.scene, reference.camera, {}, TileRule::kTight);
    EXPECT_EQ(box.image(), tight.image());
    EXPECT_EQ(box.visible(), tight.visible());
    EXPECT_LT(tight.lists().primitives.size(), box.lists().primitives.size());

    // The same events in the same order, and so the same gradients.
    const Recording of_box = box.record();
    const Recording of_tight = tight.record();
    for (std::size_t tile = 0; tile < box.lists().ranges.size(); ++tile) {
      const auto events = [&](const HostFrame& frame, const Recording& recording) {
        SampledValues sample;
        sample.tiles = {static_cast<std::uint32_t>(tile)};
        std::uint64_t offset = 0;
        std::vector<std::uint32_t> found;
        for (std::size_t warp = 0; warp < kWarpsPerTile; ++warp) {
          sample.offsets.push_back(offset);
          for (std::uint32_t pass = 0; pass < frame.lists().length(tile); ++pass) {
            const std::uint32_t mask =
                recording.masks[(frame.lists().ranges[tile].begin + pass) * kWarpsPerTile + warp];
            if (mask != 0) {
              found.push_back(frame.lists().backward(tile, pass));
              found.push_back(mask);
              offset += static_cast<std::uint64_t>(std::popcount(mask)) * kParameters;
            }
          }
        }
        sample.offsets.push_back(offset);
        frame.record_values(sample);
        found.insert(found.end(), sample.values.begin(), sample.values.end());
        return found;
      };
      ASSERT_EQ(events(box, of_box), events(tight, of_tight)) << "tile " << tile;
    }
  }
}

}  // namespace
}  // namespace warpfold::capture

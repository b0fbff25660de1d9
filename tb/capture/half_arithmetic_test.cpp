// SPDX-License-Identifier: Apache-2.0
// Which quantities of the backward pass with a tile a warp may be halves (binary16), as LiteGS has
// all of them: eight pixels of a thread in pairs, everything beyond the thread in floats. Against
// the reference in double precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tb/capture/fixture.hpp"
#include "traces/capture/common/half.hpp"
#include "traces/capture/splat_forms/per_splat_math.cuh"
#include "traces/capture/splat_forms/pixel_group.cuh"

namespace warpfold::capture::splat_forms {
namespace {

constexpr double kMaxError = 1e-4;  // norm of the difference over norm, of each parameter
constexpr unsigned kPixels = 8;     // of a thread

// What is rounded to a half whenever it is computed.
enum Quantity : unsigned {
  kNothing = 0,
  kPower = 1,   // distances and the power of the falloff
  kAlpha = 2,   // falloff, alpha
  kState = 4,   // transmittance, colour behind
  kSlope = 8,   // dl_dalpha, dl_dpower and their sums over the pixels of the thread
  kColor = 16,  // dl_dcolor's share of the sums, and these
  kEverything = 31
};

float as(unsigned halves, Quantity what, float x) {
  return (halves & what) != 0 ? rounded_to_half(x) : x;
}

struct Splat {
  float2 mean;
  float4 conic;
  float3 color;
};

Splat splat_of(const reference::Gaussian& g) {
  return {{static_cast<float>(g.x), static_cast<float>(g.y)},
          scale_conic(make_float4(static_cast<float>(g.conic[0]), static_cast<float>(g.conic[1]),
                                  static_cast<float>(g.conic[2]), static_cast<float>(g.opacity))),
          {static_cast<float>(g.color[0]), static_cast<float>(g.color[1]),
           static_cast<float>(g.color[2])}};
}

float alpha_of(unsigned halves, const Splat& splat, float dx, float dy) {
  const float half_x = as(halves, kPower, splat.conic.x * dx + splat.conic.y * dy);
  const float half_y = as(halves, kPower, splat.conic.z * dy);
  const float power = as(halves, kPower, dx * half_x + dy * half_y);
  const float raw = as(halves, kAlpha, splat.conic.w * as(halves, kAlpha, exp2_approx(power)));
  return power > 0 || raw < kMinAlpha ? 0.0F : raw;
}

// As meet_from_behind.
void meet(unsigned halves, const Splat& splat, float2 pixel, PixelState& state, SplatSums& sums) {
  const float dx = as(halves, kPower, splat.mean.x - pixel.x);
  const float dy = as(halves, kPower, splat.mean.y - pixel.y);
  const float raw = alpha_of(halves, splat, dx, dy);
  if (raw == 0) {
    return;
  }
  const float alpha = std::min(kMaxAlpha, raw);
  state.transmittance = as(halves, kState, state.transmittance / (1 - alpha));
  const float3 dl = state.dl_dcolor;
  const float own = splat.color.x * dl.x + splat.color.y * dl.y + splat.color.z * dl.z;
  const float difference = as(halves, kState, own - state.behind);
  state.behind = as(halves, kState, state.behind + alpha * difference);
  const float weight = as(halves, kColor, alpha * state.transmittance);
  const auto color = [&](float sum, float part) {
    return as(halves, kColor, std::fma(weight, as(halves, kColor, part), sum));
  };
  sums.red = color(sums.red, dl.x);
  sums.green = color(sums.green, dl.y);
  sums.blue = color(sums.blue, dl.z);
  const float slope =
      as(halves, kSlope, raw * as(halves, kSlope, state.transmittance * difference));
  const float slope_x = as(halves, kSlope, slope * dx);
  const float slope_y = as(halves, kSlope, slope * dy);
  sums.slope = as(halves, kSlope, sums.slope + slope);
  sums.slope_x = as(halves, kSlope, sums.slope_x + slope_x);
  sums.slope_y = as(halves, kSlope, sums.slope_y + slope_y);
  sums.slope_xx = as(halves, kSlope, std::fma(slope_x, dx, sums.slope_xx));
  sums.slope_xy = as(halves, kSlope, std::fma(slope_x, dy, sums.slope_xy));
  sums.slope_yy = as(halves, kSlope, std::fma(slope_y, dy, sums.slope_yy));
}

void add(const SplatSums& from, SplatSums& to) {
  to.slope += from.slope;
  to.slope_x += from.slope_x;
  to.slope_y += from.slope_y;
  to.slope_xx += from.slope_xx;
  to.slope_xy += from.slope_xy;
  to.slope_yy += from.slope_yy;
  to.red += from.red;
  to.green += from.green;
  to.blue += from.blue;
}

// What load_group wants to know of a frame.
struct Frame {
  int width, height;
  const float* final_t;
  const std::uint32_t* last;
  const float* dl_dpixels;
};

// Of each Gaussian. dl_dcolor is scaled so that its greatest is near 1: as it is, halves would lose
// it below their least.
std::vector<SplatSums> backward(const SmallFrame& small, unsigned halves) {
  const std::vector<float> final_t(small.frame.final_t.begin(), small.frame.final_t.end());
  std::vector<float> scaled = small.dl_dimage;
  float most = 0;
  for (const float x : scaled) {
    most = std::max(most, std::abs(x));
  }
  const float scale = std::exp2(-std::ceil(std::log2(most)));
  std::transform(scaled.begin(), scaled.end(), scaled.begin(), [&](float x) { return x * scale; });
  const Frame frame{small.camera.width, small.camera.height, final_t.data(),
                    small.frame.last.data(), scaled.data()};
  std::vector<SplatSums> all(small.gaussians.size());
  for (std::size_t tile = 0; tile < small.lists.ranges.size(); ++tile) {
    const auto total = static_cast<int>(small.lists.length(tile));
    const int left = static_cast<int>(tile) % small.lists.tiles_x * kTileSize;
    const int top = static_cast<int>(tile) / small.lists.tiles_x * kTileSize;
    for (int first = 0; first < kTilePixels; first += static_cast<int>(kPixels)) {
      auto group =
          load_group<kPixels>(frame, left + first % kTileSize, top + first / kTileSize, total);
      for (int pass = 0; pass < total; ++pass) {
        const std::size_t id = small.lists.backward(tile, static_cast<std::uint32_t>(pass));
        SplatSums sums[2] = {};  // the lower and the upper halves
        for (unsigned i = 0; i < kPixels; ++i) {
          if (pass >= group.first_pass[i]) {
            meet(halves, splat_of(small.gaussians[id]),
                 {group.pixel.x + static_cast<float>(i), group.pixel.y}, group.state[i],
                 sums[i % 2]);
          }
        }
        add(sums[0], all[id]);
        add(sums[1], all[id]);
      }
    }
  }
  for (SplatSums& sums : all) {
    SplatSums back{};
    for (float SplatSums::*part : {&SplatSums::slope, &SplatSums::slope_x, &SplatSums::slope_y,
                                   &SplatSums::slope_xx, &SplatSums::slope_xy, &SplatSums::slope_yy,
                                   &SplatSums::red, &SplatSums::green, &SplatSums::blue}) {
      back.*part = sums.*part / scale;
    }
    sums = back;
  }
  return all;
}

// Of the parameter that is farthest off.
double error(const SmallFrame& small, unsigned halves) {
  const auto all = backward(small, halves);
  const MeanScale scale{0.5F * static_cast<float>(small.camera.width) * kLn2,
                        0.5F * static_cast<float>(small.camera.height) * kLn2};
  double difference[kParameters] = {};
  double norm[kParameters] = {};
  for (std::size_t i = 0; i < all.size(); ++i) {
    float own[kParameters] = {};
    if (all[i].slope != 0) {
      splat_gradients(all[i], splat_of(small.gaussians[i]).conic, scale, own);
    }
    for (std::size_t k = 0; k < kParameters; ++k) {
      const double expected = small.gradients[i * kParameters + k];
      difference[k] += std::pow(static_cast<double>(own[k]) - expected, 2);
      norm[k] += expected * expected;
    }
  }
  double worst = 0;
  for (std::size_t k = 0; k < kParameters; ++k) {
    worst = std::max(worst, std::sqrt(difference[k] / norm[k]));
  }
  return worst;
}

TEST(HalfArithmetic, OnlyColorsMayBeHalves) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const SmallFrame small(1500, 123, 77, seed);
    EXPECT_LT(error(small, kNothing), kMaxError / 2);
    EXPECT_LT(error(small, kColor), kMaxError);
    for (const unsigned halves : {kPower, kAlpha, kState, kSlope, kEverything}) {
      EXPECT_GT(error(small, halves), 2 * kMaxError) << halves;
    }
  }
}

}  // namespace
}  // namespace warpfold::capture::splat_forms

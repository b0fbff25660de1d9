// SPDX-License-Identifier: Apache-2.0
#include "traces/capture/splat/host_frame.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>

#include "traces/capture/splat/for_each_tile.hpp"
#include "traces/capture/splat/pixel_math.cuh"
#include "traces/capture/splat/reference.hpp"
#include "traces/capture/splat/tile_overlap.cuh"

namespace warpfold::capture {

HostFrame::HostFrame(std::span<const SceneGaussian> gaussians, const Camera& camera,
                     std::span<const float> loss_gradient, TileRule rule)
    : camera_(camera), loss_gradient_(loss_gradient.begin(), loss_gradient.end()) {
  const auto projected = reference::project(gaussians, camera);
  gaussians_.resize(projected.size());
  for (std::size_t i = 0; i < projected.size(); ++i) {
    const reference::Gaussian& from = projected[i].gaussian;
    Gaussian& to = gaussians_[i];
    to.mean[0] = static_cast<float>(from.x);
    to.mean[1] = static_cast<float>(from.y);
    const float4 conic =
        scale_conic({static_cast<float>(from.conic[0]), static_cast<float>(from.conic[1]),
                     static_cast<float>(from.conic[2]), static_cast<float>(from.opacity)});
    to.conic[0] = conic.x;
    to.conic[1] = conic.y;
    to.conic[2] = conic.z;
    to.conic[3] = conic.w;
    for (std::size_t c = 0; c < 3; ++c) {
      to.color[c] = static_cast<float>(from.color[c]);
    }
    visible_ += projected[i].radius > 0 ? 1U : 0U;
  }
  lists_ = reference::make_lists(projected, camera, [&](std::size_t i, int x, int y) {
    const Gaussian& g = gaussians_[i];
    return rule == TileRule::kBox ||
           touches_tile({g.mean[0], g.mean[1]}, {g.conic[0], g.conic[1], g.conic[2], g.conic[3]}, x,
                        y);
  });
  render();
  if (loss_gradient_.empty()) {
    loss_gradient_ = capture::loss_gradient(image_, target_image(camera.width, camera.height));
  }
}

// The forward kernel. Its compiler contracts c * alpha * transmittance + sum.
void HostFrame::render() {
  const auto pixels = static_cast<std::size_t>(camera_.pixels());
  image_.assign(3 * pixels, 0.0F);
  final_t_.assign(pixels, 1.0F);
  last_.assign(pixels, 0);
  for_each_tile(lists_.ranges.size(), [&](std::size_t tile) {
    for (int thread = 0; thread < kTilePixels; ++thread) {
      const int x = static_cast<int>(tile) % lists_.tiles_x * kTileSize + thread % kTileSize;
      const int y = static_cast<int>(tile) / lists_.tiles_x * kTileSize + thread / kTileSize;
      if (x >= camera_.width || y >= camera_.height) {
        continue;
      }
      const float2 pixel{static_cast<float>(x), static_cast<float>(y)};
      float transmittance = 1;
      float color[3] = {0, 0, 0};
      std::uint32_t last = 0;
      for (std::uint32_t i = 0; i < lists_.length(tile); ++i) {
        const Gaussian& g = gaussians_[lists_.primitives[lists_.ranges[tile].begin + i]];
        const float4 conic{g.conic[0], g.conic[1], g.conic[2], g.conic[3]};
        const Footprint f = footprint({g.mean[0], g.mean[1]}, conic, pixel);
        if (f.power > 0.0F) {
          continue;
        }
        const float alpha_raw = conic.w * exp2_approx(f.power);
        if (alpha_raw < kMinAlpha) {
          continue;
        }
        const float alpha = std::min(kMaxAlpha, alpha_raw);
        const float next = transmittance * (1.0F - alpha);
        if (next < kMinTransmittance) {
          break;
        }
        for (std::size_t c = 0; c < 3; ++c) {
          color[c] = std::fma(g.color[c] * alpha, transmittance, color[c]);
        }
        transmittance = next;
        last = i + 1;
      }
      const auto at = static_cast<std::size_t>(y) * static_cast<std::size_t>(camera_.width) +
                      static_cast<std::size_t>(x);
      final_t_[at] = transmittance;
      last_[at] = last;
      for (std::size_t c = 0; c < 3; ++c) {
        image_[c * pixels + at] = color[c];
      }
    }
  });
}

template <class Visit>
void HostFrame::backward(std::size_t tile, const Visit& visit) const {
  const auto pixels = static_cast<std::size_t>(camera_.pixels());
  const MeanScale scale{0.5F * static_cast<float>(camera_.width) * kLn2,
                        0.5F * static_cast<float>(camera_.height) * kLn2};
  const std::uint32_t passes = lists_.length(tile);
  std::array<PixelState, kTilePixels> states{};
  std::array<float2, kTilePixels> positions{};
  std::array<std::uint32_t, kTilePixels> first{};
  for (int thread = 0; thread < kTilePixels; ++thread) {
    const auto t = static_cast<std::size_t>(thread);
    const int x = static_cast<int>(tile) % lists_.tiles_x * kTileSize + thread % kTileSize;
    const int y = static_cast<int>(tile) / lists_.tiles_x * kTileSize + thread / kTileSize;
    positions[t] = {static_cast<float>(x), static_cast<float>(y)};
    first[t] = passes;
    if (x < camera_.width && y < camera_.height) {
      const auto at = static_cast<std::size_t>(y) * static_cast<std::size_t>(camera_.width) +
                      static_cast<std::size_t>(x);
      first[t] = passes - last_[at];
      states[t] = {
          final_t_[at],
          0.0F,
          {loss_gradient_[at], loss_gradient_[pixels + at], loss_gradient_[2 * pixels + at]}};
    }
  }
  std::array<std::array<float, kParameters>, trace::kWarpLanes> values{};
  for (std::uint32_t pass = 0; pass < passes; ++pass) {
    const Gaussian& g = gaussians_[lists_.backward(tile, pass)];
    const float4 conic{g.conic[0], g.conic[1], g.conic[2], g.conic[3]};
    for (std::size_t warp = 0; warp < kWarpsPerTile; ++warp) {
      Stage stage = Stage::kPosition;
      std::uint32_t mask = 0;
      for (std::size_t lane = 0; lane < trace::kWarpLanes; ++lane) {
        const std::size_t t = warp * trace::kWarpLanes + lane;
        if (pass < first[t]) {
          continue;
        }
        stage = std::max(stage, Stage::kPower);
        const Footprint f = footprint({g.mean[0], g.mean[1]}, conic, positions[t]);
        if (f.power > 0.0F) {
          continue;
        }
        stage = std::max(stage, Stage::kAlpha);
        const float falloff = exp2_approx(f.power);
        const float alpha_raw = __fmul_rn(conic.w, falloff);
        if (alpha_raw < kMinAlpha) {
          continue;
        }
        stage = Stage::kTaken;
        mask |= 1U << lane;
        float gradient[kParameters];
        gradients(f, conic, {g.color[0], g.color[1], g.color[2]}, falloff, alpha_raw, scale,
                  states[t], gradient);
        std::copy(std::begin(gradient), std::end(gradient), values[lane].begin());
      }
      visit(pass, warp, stage, mask, values);
    }
  }
}

Recording HostFrame::record() const {
  Recording recording;
  recording.masks.assign(lists_.primitives.size() * kWarpsPerTile, 0);
  recording.stages.assign(lists_.primitives.size() * kWarpsPerTile, Stage::kPosition);
  for_each_tile(lists_.ranges.size(), [&](std::size_t tile) {
    backward(tile, [&](std::uint32_t pass, std::size_t warp, Stage stage, std::uint32_t mask,
                       const auto& /*values*/) {
      const std::size_t at = (std::size_t{lists_.ranges[tile].begin} + pass) * kWarpsPerTile + warp;
      recording.masks[at] = mask;
      recording.stages[at] = stage;
    });
  });
  return recording;
}

void HostFrame::record_values(SampledValues& sample) const {
  sample.values.assign(sample.offsets.back(), 0);
  for_each_tile(sample.tiles.size(), [&](std::size_t s) {
    std::array<std::uint64_t, kWarpsPerTile> at{};
    for (std::size_t warp = 0; warp < kWarpsPerTile; ++warp) {
      at[warp] = sample.offsets[s * kWarpsPerTile + warp];
    }
    backward(sample.tiles[s], [&](std::uint32_t /*pass*/, std::size_t warp, Stage /*stage*/,
                                  std::uint32_t mask, const auto& values) {
      for (std::size_t p = 0; p < kParameters; ++p) {
        for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
          const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
          sample.values[at[warp]++] = std::bit_cast<std::uint32_t>(values[lane][p]);
        }
      }
    });
  });
}

}  // namespace warpfold::capture

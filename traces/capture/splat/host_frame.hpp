// SPDX-License-Identifier: Apache-2.0
// One frame recorded without a GPU: projected and binned in double precision by the reference, then
// every pixel evaluated in single precision with the kernels' own arithmetic (pixel_math.cuh) and
// in their order. Host only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "traces/capture/splat/recording.hpp"
#include "traces/capture/splat/scene.hpp"

namespace warpfold::capture {

class HostFrame {
 public:
  // Projects, bins and renders. `loss_gradient` is planar; if empty, that of the picture of waves.
  HostFrame(std::span<const SceneGaussian> gaussians, const Camera& camera,
            std::span<const float> loss_gradient = {}, TileRule rule = TileRule::kBox);

  [[nodiscard]] const TileLists& lists() const { return lists_; }
  [[nodiscard]] std::uint64_t visible() const { return visible_; }
  // Planar, as the loss takes it.
  [[nodiscard]] const std::vector<float>& image() const { return image_; }

  [[nodiscard]] Recording record() const;
  // Fills sample.values.
  void record_values(SampledValues& sample) const;

 private:
  // A Gaussian as the kernels have it in shared memory: the conic is scaled, the opacity in
  // conic[3].
  struct Gaussian {
    float mean[2];
    float conic[4];
    float color[3];
  };

  void render();
  // One tile of the backward pass: `visit(pass, warp, stage, mask, values)` for each warp and pass.
  template <class Visit>
  void backward(std::size_t tile, const Visit& visit) const;

  Camera camera_;
  std::vector<Gaussian> gaussians_;
  TileLists lists_;
  std::uint64_t visible_ = 0;
  std::vector<float> image_;
  std::vector<float> final_t_;
  std::vector<std::uint32_t> last_;
  std::vector<float> loss_gradient_;
};

}  // namespace warpfold::capture

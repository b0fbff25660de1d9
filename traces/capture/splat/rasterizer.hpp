// SPDX-License-Identifier: Apache-2.0
// The 3D Gaussian Splatting rasterizer on the GPU: one frame of one scene, forward once, then its
// backward render kernel as often as asked, under any policy, with or without recording. No CUDA in
// this header. Every method throws CudaError when a CUDA call fails.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "traces/capture/splat/policy.hpp"
#include "traces/capture/splat/recording.hpp"
#include "traces/capture/splat/scene.hpp"

namespace warpfold::capture {

// A Gaussian as the preprocess kernel left it. Not visible ones are all zero.
struct ProjectedGaussian {
  float x = 0, y = 0;
  float conic[3] = {};
  float opacity = 0;
  float color[3] = {};
  float depth = 0;
  int radius = 0;
};

struct RenderedFrame {
  std::vector<float> image;  // planar
  std::vector<float> final_t;
  std::vector<std::uint32_t> last;
};

struct Timing {
  double median_ms = 0;
  double min_ms = 0;
  double max_ms = 0;
  int runs = 0;
};

class Rasterizer {
 public:
  // Renders the frame and uploads the loss gradient: backward() can follow. `loss_gradient` is
  // planar; if empty, that of the picture of waves.
  Rasterizer(std::span<const SceneGaussian> gaussians, const Camera& camera,
             std::span<const float> loss_gradient = {}, TileRule rule = TileRule::kBox);
  ~Rasterizer();
  Rasterizer(const Rasterizer&) = delete;
  Rasterizer& operator=(const Rasterizer&) = delete;

  [[nodiscard]] std::vector<ProjectedGaussian> projected() const;
  [[nodiscard]] const TileLists& lists() const;
  [[nodiscard]] RenderedFrame frame() const;
  [[nodiscard]] const std::vector<float>& loss_gradient() const;
  [[nodiscard]] std::uint64_t visible() const;

  // One launch with cleared gradients.
  void backward(const Policy& policy);
  // kParameters values for each Gaussian, in the order of kGradientSlots.
  [[nodiscard]] std::vector<float> gradients() const;
  // Device address of the first element of a parameter, for the trace header.
  [[nodiscard]] std::uint64_t address(int parameter) const;

  // Launches `warmup` + `runs` times, gradients cleared before each and outside of the time.
  // `while_running` is called once while launches are still queued (to read clocks).
  template <class Callback>
  Timing time(const Policy& policy, int warmup, int runs, const Callback& while_running) {
    queue_timed(policy, warmup, runs);
    while_running();
    return collect_times(runs);
  }

  [[nodiscard]] Recording record();
  // Fills sample.values.
  void record_values(SampledValues& sample);

 private:
  void queue_timed(const Policy& policy, int warmup, int runs);
  Timing collect_times(int runs);

  struct State;
  std::unique_ptr<State> state_;
};

struct KernelInfo {
  std::uint32_t registers = 0;
  std::uint32_t shared_bytes = 0;
  int ctas_per_sm = 0;
};
[[nodiscard]] KernelInfo kernel_info(Variant variant);

}  // namespace warpfold::capture

// SPDX-License-Identifier: Apache-2.0
// A model in training on the GPU. The caller drives it through the parts of an iteration:
// forward(), backward(), update(), and now and then densify() and reset_opacities(). Nothing is
// allocated in an iteration but where the model or a view needs more room than ever before, and
// words in fixed point where the number of Gaussians changes. All results are the same from run to
// run but for the order of the backward kernel's atomics. No CUDA
// in this header. Every method throws CudaError when a CUDA call fails.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "traces/capture/splat/policy.hpp"
#include "traces/capture/splat/scene.hpp"
#include "traces/capture/splat_forms/form.hpp"
#include "traces/capture/training/model.hpp"
#include "traces/capture/training/settings.hpp"
#include "traces/capture/training/views.hpp"

namespace warpfold::capture::training {

// How pictures come about and gradients are taken.
struct Rendering {
  TileRule tiles = TileRule::kBox;
  std::optional<splat_forms::Form> form;  // of the backward kernel; none: the original
};

class Trainer {
 public:
  // All views must have photos, and of one size. `extent`: model.hpp's extent_of.
  Trainer(std::span<const View> views, const Model& model, double extent, const Settings& settings,
          const Rendering& rendering = {});
  ~Trainer();
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  // Renders a view, and takes the loss and its gradient by the picture.
  void forward(std::size_t view, int degree);
  // The same without a loss. Returns the mean squared error of the picture, cut off at 0 and 1.
  [[nodiscard]] double squared_error(std::size_t view, int degree);

  // The backward render kernel in three parts, for a tuner: clear_gradients() and launch() are
  // queued; timed(work) runs `work`, waits for it and returns milliseconds. Of a form the policy is
  // not looked at.
  void clear_gradients();
  void launch(const Policy& policy);
  template <class Work>
  double timed(const Work& work) {
    start_timing();
    work();
    return stop_timing();
  }
  // From what the render kernel added to the gradients of all parameters; also adds to what
  // densify() goes by.
  void finish_backward();

  // Adam's step; the first is 1.
  void update(int step, const Rates& rates);
  void densify(int iteration);
  void reset_opacities();

  [[nodiscard]] std::size_t count() const;
  // Milliseconds in launch() outside of timed(), so far. Waits.
  [[nodiscard]] double backward_ms();
  // Additions in fixed point that did not fit, so far; 0 of floats. Waits.
  [[nodiscard]] std::uint64_t saturated() const;

  // What the last forward() left.
  [[nodiscard]] std::vector<float> image() const;
  [[nodiscard]] double loss() const;
  [[nodiscard]] std::vector<float> loss_gradient() const;
  [[nodiscard]] std::vector<SceneGaussian> scene_gaussians() const;
  [[nodiscard]] std::vector<int> radii() const;
  // What finish_backward() left: rows beyond the active ones are zero.
  [[nodiscard]] Model gradients() const;
  [[nodiscard]] Model model() const;
  // By Gaussian, since the last densify(): mean norm of the gradient by position on the picture.
  [[nodiscard]] std::vector<float> picture_gradients() const;
  void wait() const;

 private:
  void start_timing();
  double stop_timing();

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace warpfold::capture::training

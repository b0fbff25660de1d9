// SPDX-License-Identifier: Apache-2.0
// The rasterizer in plain C++ and double precision: what the CUDA kernels are checked against. Slow
// and simple on purpose. Host only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "traces/capture/splat/recording.hpp"
#include "traces/capture/splat/scene.hpp"

namespace warpfold::capture::reference {

// SceneGaussian at full precision.
struct WorldGaussian {
  double position[3] = {};
  double scale[3] = {};
  double rotation[4] = {};
  double opacity = 0;
  double color[3] = {};
};

// A Gaussian on the picture.
struct Gaussian {
  double x = 0, y = 0;   // pixels
  double conic[3] = {};  // a, b, c of the inverse covariance [a b; b c]
  double opacity = 0;
  double color[3] = {};
};

struct Projected {
  Gaussian gaussian;
  double depth = 0;
  int radius = 0;    // pixels; 0 if the Gaussian touches no tile
  int rect[4] = {};  // tiles: x begin, x end, y begin, y end
};

[[nodiscard]] std::vector<Projected> project(std::span<const WorldGaussian> gaussians,
                                             const Camera& camera);
[[nodiscard]] std::vector<Projected> project(std::span<const SceneGaussian> gaussians,
                                             const Camera& camera);
// Tile lists, each sorted by depth; the order of equal depths is that of the Gaussians.
[[nodiscard]] TileLists make_lists(std::span<const Projected> projected, const Camera& camera);
// The same without the pairs that `keep(gaussian, tile x, tile y)` is false for.
using KeepPair = std::function<bool(std::size_t, int, int)>;
[[nodiscard]] TileLists make_lists(std::span<const Projected> projected, const Camera& camera,
                                   const KeepPair& keep);

struct Frame {
  std::vector<double> image;        // planar, [channel][pixel]
  std::vector<double> final_t;      // transmittance behind the last contributor
  std::vector<std::uint32_t> last;  // contributors up to and including the last one that counted
};

[[nodiscard]] Frame render(std::span<const Gaussian> gaussians, const TileLists& lists,
                           const Camera& camera);

// Mean squared error against `target`, as loss_gradient has it.
[[nodiscard]] double loss(std::span<const double> image, std::span<const float> target);

// Gradients as the kernel adds them up: kParameters values for each Gaussian in the order of
// kGradientSlots. Two of them differ from plain derivatives, as in the original kernel: dL_dmean2D
// is by normalised device coordinates (pixels times half the picture's size), and dL_dconic.y is
// half of the derivative by b. The clamp of alpha at 0.99 lets the gradient through. `recording`
// may be null; if not, it is filled as the recorder kernel would.
[[nodiscard]] std::vector<double> backward(std::span<const Gaussian> gaussians,
                                           const TileLists& lists, const Camera& camera,
                                           const Frame& frame, std::span<const float> dl_dimage,
                                           Recording* recording);

}  // namespace warpfold::capture::reference

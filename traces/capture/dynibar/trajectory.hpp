// SPDX-License-Identifier: Apache-2.0
// Generated points on rays with motion coefficients, the loss on their displacements, and the CPU
// reference of everything that the kernels do, in double precision. Host only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "traces/capture/dynibar/trajectory_math.cuh"

namespace warpfold::capture::dynibar {

struct SceneOptions {
  int rays = 3072;    // of a batch
  int samples = 128;  // of a ray
  int frames = 100;   // of the video
  int frame = 50;     // that is rendered
  std::uint64_t seed = 1;
};

// Point p = ray * samples + sample; neighbour o of kFrames is frame + o - kCentre of the video.
struct Scene {
  SceneOptions options;
  std::vector<float> coefficients;  // kCoefficients for each point: smooth in space, as of an MLP
  std::vector<float> basis;         // kBasis for each frame: cosines, as DynIBaR starts
  std::vector<float> targets;       // displacement, [neighbour][point][direction]: a slow turn
  std::vector<float> weights;       // by point: large near the surface that the ray meets

  [[nodiscard]] std::size_t points() const { return weights.size(); }
};
// Random pixels of a 512x288 picture, samples uniform in inverse depth. Throws InputError.
[[nodiscard]] Scene make_scene(const SceneOptions& options);

namespace reference {

// [neighbour][point][direction]
[[nodiscard]] std::vector<double> trajectories(const Scene& scene,
                                               std::span<const double> coefficients,
                                               std::span<const double> basis);
// Half the weighted mean over the points of the squared error of the displacements from the frame
// that is rendered to its neighbours.
[[nodiscard]] double loss(const Scene& scene, std::span<const double> trajectories);
// dL/dtrajectories, laid out like them.
[[nodiscard]] std::vector<double> trajectory_gradient(const Scene& scene,
                                                      std::span<const double> trajectories);
// What the gradient kernel adds up, kBasis for each frame, and what it writes, kCoefficients for
// each point.
[[nodiscard]] std::vector<double> basis_gradient(const Scene& scene, std::span<const float> dl);
[[nodiscard]] std::vector<double> coefficient_gradient(const Scene& scene,
                                                       std::span<const float> dl);

}  // namespace reference
}  // namespace warpfold::capture::dynibar

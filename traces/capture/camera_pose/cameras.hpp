// SPDX-License-Identifier: Apache-2.0
// Gaussians, cameras that see some of them, gradients in the cameras' spaces, and the gradient of
// the cameras in double precision: what the CUDA kernel is checked against. Host only.
#pragma once

#include <cstdint>
#include <vector>

#include "traces/capture/camera_pose/pose_math.cuh"

namespace warpfold::capture::camera_pose {

struct CameraOptions {
  int gaussians = 1 << 17;
  int cameras = 1;
  std::uint32_t seed = 1;
};

struct Camera {
  float rotation[9];  // rows
  float translation[3];
};

// Arrays as the kernel takes them.
struct Gaussians {
  std::vector<float> means;        // [Gaussian][3]
  std::vector<float> covariances;  // [Gaussian][6]
  std::vector<Camera> cameras;
  std::vector<std::int32_t> radii;          // [camera][Gaussian], pixels; 0: not seen
  std::vector<float> mean_gradients;        // [camera][Gaussian][3]
  std::vector<float> covariance_gradients;  // [camera][Gaussian][6]

  [[nodiscard]] std::size_t count() const { return means.size() / 3; }
};

// Heaps of 64 Gaussians, one heap behind the other as in a densified scene; the cameras stand
// around them and look to their middle.
[[nodiscard]] Gaussians make_gaussians(const CameraOptions& options);

// dL/d[R t], [camera][4][4] with a last row of zeros.
[[nodiscard]] std::vector<double> backward(const Gaussians& gaussians);

}  // namespace warpfold::capture::camera_pose

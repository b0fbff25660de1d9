// SPDX-License-Identifier: Apache-2.0
// One iteration's forward and backward pass in plain C++ and double precision: what the trainer's
// kernels are checked against, and what the tests hold against finite differences. Host only.
#pragma once

#include <span>
#include <vector>

#include "traces/capture/splat/reference.hpp"
#include "traces/capture/training/gaussian_math.cuh"

namespace warpfold::capture::training {

using ExactModel = std::vector<Parameters<double>>;

struct ImageLoss {
  double value = 0;
  std::vector<double> gradient;  // planar
};
// (1 - lambda) L1 + lambda (1 - SSIM) of planar pictures.
[[nodiscard]] ImageLoss image_loss(std::span<const double> image, std::span<const double> photo,
                                   int width, int height);

struct HostStep {
  std::vector<double> image;  // planar
  ImageLoss loss;
  ExactModel gradients;       // rows beyond the active ones are zero
  std::vector<int> radii;     // 0: not visible
  std::vector<double> norms;  // of the gradient by position on the picture
  Recording recording;        // which lanes contributed
};
// The backward pass starts from `dl_dimage`, or if that is empty from the loss's own gradient.
[[nodiscard]] HostStep host_step(std::span<const Parameters<double>> model, int degree,
                                 const Camera& camera, std::span<const double> photo,
                                 std::span<const float> dl_dimage = {});

}  // namespace warpfold::capture::training

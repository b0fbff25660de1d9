// SPDX-License-Identifier: Apache-2.0
// A small model, views of it and photos to train on, made up: for tests and for the check of the
// GPU. The same on every machine for a seed. Host only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "traces/capture/training/model.hpp"
#include "traces/capture/training/views.hpp"

namespace warpfold::capture::training {

struct TrainingScene {
  Model model;
  std::vector<View> views;  // their photos are smooth patterns
};

// `count` Gaussians in front of random_camera(width, height), with harmonics of all degrees.
[[nodiscard]] TrainingScene random_training_scene(std::size_t count, int width, int height,
                                                  std::uint64_t seed);

}  // namespace warpfold::capture::training

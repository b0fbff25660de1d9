// SPDX-License-Identifier: Apache-2.0
#include "traces/capture/training/training_scene.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

namespace warpfold::capture::training {

TrainingScene random_training_scene(std::size_t count, int width, int height, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  const auto uniform = [&engine](double low, double high) {
    return low + (high - low) * static_cast<double>(engine() >> 11) * 0x1p-53;
  };
  TrainingScene scene;
  scene.model.resize(count);
  for (Parameters<float>& p : scene.model) {
    const double z = uniform(1.5, 6.0);
    p.row[kPositionRow] = static_cast<float>(uniform(-0.7, 0.7) * z);
    p.row[kPositionRow + 1] = static_cast<float>(uniform(-0.7, 0.7) * z);
    p.row[kPositionRow + 2] = static_cast<float>(z);
    for (int axis = 0; axis < 3; ++axis) {
      p.row[kScaleRow + axis] = static_cast<float>(uniform(-4.5, -1.7));
    }
    for (int k = 0; k < 4; ++k) {
      p.row[kRotationRow + k] = static_cast<float>(uniform(-1, 1) + (k == 0 ? 1.5 : 0.0));
    }
    p.row[kOpacityRow] = static_cast<float>(uniform(-2.5, 3));
    for (int k = 0; k < 3 * kCoefficients; ++k) {
      p.row[kColorRow + k] = static_cast<float>(k < 3 ? uniform(-1, 1) : uniform(-0.3, 0.3));
    }
  }
  // The second camera stands to the left of the first and is turned to the right.
  for (int v = 0; v < 2; ++v) {
    View& view = scene.views.emplace_back();
    view.name = std::to_string(v);
    view.camera = random_camera(width, height);
    if (v == 1) {
      const double angle = 0.3;
      const auto c = static_cast<float>(std::cos(angle)), s = static_cast<float>(std::sin(angle));
      const float turned[12] = {c, 0, -s, 1, 0, 1, 0, 0.1F, s, 0, c, 0.2F};
      std::copy(std::begin(turned), std::end(turned), view.camera.view);
    }
    for (const float value : target_image(width, height)) {
      view.photo.push_back(static_cast<std::uint8_t>(
          std::lround(255 * std::abs(static_cast<double>(value) - 0.2 * v))));
    }
  }
  return scene;
}

}  // namespace warpfold::capture::training

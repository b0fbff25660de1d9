// SPDX-License-Identifier: Apache-2.0
// Numbers of a training: those of 3D Gaussian Splatting (Kerbl et al., 2023) and its published
// code. Host only, but for plain data that kernels take.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace warpfold::capture::training {

struct Settings {
  int iterations = 7000;
  std::uint64_t seed = 1;
  int degree_every = 1000;  // the harmonics gain a degree, up to 3

  int densify_from = 500;
  int densify_until = 15'000;
  int densify_every = 100;
  float densify_gradient = 0.0002F;  // mean norm by position on the picture, in device coordinates
  float clone_below = 0.01F;         // of the extent: larger ones are split
  float prune_opacity = 0.005F;
  float prune_above = 0.1F;  // of the extent, once opacities were reset
  int reset_every = 3000;    // opacities
  float reset_opacity = 0.01F;
};

// Learning rates of the groups of parameters.
struct Rates {
  float position = 0;
  float color = 0.0025F;
  float harmonics = 0.0025F / 20;
  float opacity = 0.05F;
  float scale = 0.005F;
  float rotation = 0.001F;
};

// That of the position falls exponentially from the first to the last over 30,000 iterations,
// whatever the length of this training, and is in units of the extent.
[[nodiscard]] inline Rates rates_at(int iteration, double extent) {
  constexpr double kFirst = 0.00016, kLast = 0.0000016, kIterations = 30'000;
  const double t = std::clamp(iteration / kIterations, 0.0, 1.0);
  Rates rates;
  rates.position =
      static_cast<float>(extent * std::exp((1 - t) * std::log(kFirst) + t * std::log(kLast)));
  return rates;
}

// Degree of the harmonics in an iteration, the first of which is 1.
[[nodiscard]] inline int degree_at(const Settings& settings, int iteration, int max_degree) {
  return std::min(max_degree, iteration / settings.degree_every);
}

[[nodiscard]] inline bool densifies_at(const Settings& settings, int iteration) {
  return iteration < settings.densify_until && iteration > settings.densify_from &&
         iteration % settings.densify_every == 0;
}

[[nodiscard]] inline bool resets_at(const Settings& settings, int iteration) {
  return iteration < settings.densify_until && iteration % settings.reset_every == 0;
}

}  // namespace warpfold::capture::training

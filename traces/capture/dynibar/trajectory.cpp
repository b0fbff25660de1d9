// SPDX-License-Identifier: Apache-2.0
#include "traces/capture/dynibar/trajectory.hpp"

#include <array>
#include <cmath>
#include <random>

#include "traces/capture/common/input.hpp"

namespace warpfold::capture::dynibar {
namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr int kWidth = 512;
constexpr int kHeight = 288;
constexpr double kTanHalf = 0.6;  // of the picture's width
constexpr double kNear = 1;
constexpr double kFar = 20;
constexpr double kTurn = 0.02;  // of the target, radians a frame

// Uniform in [0, 1), by the 53 upper bits of each number: the same with every library.
double uniform(std::mt19937_64& random) {
  return static_cast<double>(random() >> 11) * 0x1p-53;
}

// A wave through space.
struct Wave {
  double way[3];
  double phase;
};

std::size_t first_frame(const Scene& scene) {
  return static_cast<std::size_t>(scene.options.frame - kCentre);
}

// Index of a value that each neighbour has for each point and direction.
std::size_t at(const Scene& scene, std::size_t neighbour, std::size_t point,
               std::size_t direction) {
  return (neighbour * scene.points() + point) * kDirections + direction;
}

}  // namespace

Scene make_scene(const SceneOptions& options) {
  if (options.frame < kCentre || options.frame + kCentre >= options.frames) {
    throw InputError("the frame needs three neighbours on each side within the video");
  }
  Scene scene;
  scene.options = options;
  const auto points =
      static_cast<std::size_t>(options.rays) * static_cast<std::size_t>(options.samples);
  std::mt19937_64 random(options.seed);
  std::array<Wave, kCoefficients> waves{};
  for (Wave& wave : waves) {
    for (double& w : wave.way) {
      w = 2 * uniform(random) - 1;
    }
    wave.phase = 2 * kPi * uniform(random);
  }
  for (int t = 0; t < options.frames; ++t) {
    for (int i = 1; i <= kBasis; ++i) {
      scene.basis.push_back(
          static_cast<float>(std::sqrt(2.0 / options.frames) *
                             std::cos(kPi / (2.0 * options.frames) * (2 * t + 1) * i)));
    }
  }
  scene.coefficients.reserve(points * kCoefficients);
  scene.weights.reserve(points);
  scene.targets.resize(kFrames * points * kDirections);
  for (int r = 0; r < options.rays; ++r) {
    const double x = (std::floor(uniform(random) * kWidth) + 0.5) / kWidth - 0.5;
    const double y = (std::floor(uniform(random) * kHeight) + 0.5 - 0.5 * kHeight) / kWidth;
    const double surface = uniform(random);  // where, from near to far
    for (int s = 0; s < options.samples; ++s) {
      const double part = (s + uniform(random)) / options.samples;
      const double depth = 1 / (1 / kNear + part * (1 / kFar - 1 / kNear));
      const double place[3] = {2 * kTanHalf * x * depth, 2 * kTanHalf * y * depth, depth};
      const std::size_t point = scene.weights.size();
      for (const Wave& wave : waves) {
        double angle = wave.phase;
        for (int k = 0; k < 3; ++k) {
          angle += wave.way[k] * place[k];
        }
        scene.coefficients.push_back(static_cast<float>(0.1 * std::sin(angle)));
      }
      const double away = (part - surface) * 20;
      scene.weights.push_back(static_cast<float>(1 / (1 + away * away)));
      for (std::size_t o = 0; o < kFrames; ++o) {
        const double turn = kTurn * (static_cast<double>(o) - kCentre);
        const double moved[3] = {turn * place[2], 0.5 * turn * place[0], -turn * place[0]};
        for (std::size_t d = 0; d < kDirections; ++d) {
          scene.targets[(o * points + point) * kDirections + d] = static_cast<float>(moved[d]);
        }
      }
    }
  }
  return scene;
}

namespace reference {

std::vector<double> trajectories(const Scene& scene, std::span<const double> coefficients,
                                 std::span<const double> basis) {
  std::vector<double> result(scene.targets.size(), 0.0);
  for (std::size_t o = 0; o < kFrames; ++o) {
    const std::size_t row = (first_frame(scene) + o) * kBasis;
    for (std::size_t p = 0; p < scene.points(); ++p) {
      for (std::size_t d = 0; d < kDirections; ++d) {
        for (std::size_t i = 0; i < kBasis; ++i) {
          result[at(scene, o, p, d)] +=
              coefficients[p * kCoefficients + d * kBasis + i] * basis[row + i];
        }
      }
    }
  }
  return result;
}

double loss(const Scene& scene, std::span<const double> trajectories) {
  double sum = 0;
  for (std::size_t o = 0; o < kFrames; ++o) {
    for (std::size_t p = 0; p < scene.points(); ++p) {
      for (std::size_t d = 0; d < kDirections; ++d) {
        const double error = trajectories[at(scene, o, p, d)] -
                             trajectories[at(scene, kCentre, p, d)] -
                             static_cast<double>(scene.targets[at(scene, o, p, d)]);
        sum += 0.5 * static_cast<double>(scene.weights[p]) * error * error;
      }
    }
  }
  return sum / static_cast<double>(scene.points());
}

std::vector<double> trajectory_gradient(const Scene& scene, std::span<const double> trajectories) {
  std::vector<double> gradient(trajectories.size(), 0.0);
  for (std::size_t o = 0; o < kFrames; ++o) {
    for (std::size_t p = 0; p < scene.points(); ++p) {
      for (std::size_t d = 0; d < kDirections; ++d) {
        const double error = trajectories[at(scene, o, p, d)] -
                             trajectories[at(scene, kCentre, p, d)] -
                             static_cast<double>(scene.targets[at(scene, o, p, d)]);
        const double dl =
            static_cast<double>(scene.weights[p]) * error / static_cast<double>(scene.points());
        gradient[at(scene, o, p, d)] += dl;
        gradient[at(scene, kCentre, p, d)] -= dl;
      }
    }
  }
  return gradient;
}

std::vector<double> basis_gradient(const Scene& scene, std::span<const float> dl) {
  std::vector<double> gradient(scene.basis.size(), 0.0);
  for (std::size_t o = 0; o < kFrames; ++o) {
    const std::size_t row = (first_frame(scene) + o) * kBasis;
    for (std::size_t p = 0; p < scene.points(); ++p) {
      for (std::size_t d = 0; d < kDirections; ++d) {
        for (std::size_t i = 0; i < kBasis; ++i) {
          gradient[row + i] +=
              static_cast<double>(scene.coefficients[p * kCoefficients + d * kBasis + i]) *
              static_cast<double>(dl[at(scene, o, p, d)]);
        }
      }
    }
  }
  return gradient;
}

std::vector<double> coefficient_gradient(const Scene& scene, std::span<const float> dl) {
  std::vector<double> gradient(scene.coefficients.size(), 0.0);
  for (std::size_t o = 0; o < kFrames; ++o) {
    const std::size_t row = (first_frame(scene) + o) * kBasis;
    for (std::size_t p = 0; p < scene.points(); ++p) {
      for (std::size_t d = 0; d < kDirections; ++d) {
        for (std::size_t i = 0; i < kBasis; ++i) {
          gradient[p * kCoefficients + d * kBasis + i] +=
              static_cast<double>(scene.basis[row + i]) *
              static_cast<double>(dl[at(scene, o, p, d)]);
        }
      }
    }
  }
  return gradient;
}

}  // namespace reference
}  // namespace warpfold::capture::dynibar

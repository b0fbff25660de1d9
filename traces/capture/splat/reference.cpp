// SPDX-License-Identifier: Apache-2.0
#include "traces/capture/splat/reference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <utility>

#include "traces/capture/splat/for_each_tile.hpp"

namespace warpfold::capture::reference {
namespace {

// The limits as the GPU has them, in single precision.
constexpr double kMinAlpha = static_cast<double>(1.0F / 255.0F);
constexpr double kMaxAlpha = static_cast<double>(0.99F);
constexpr double kMinTransmittance = static_cast<double>(1e-4F);
constexpr double kNearPlane = static_cast<double>(0.2F);
constexpr double kLowPass =
    0.3;  // added to the diagonal of the 2D covariance: at least a pixel wide

using Matrix3 = double[3][3];

// Rotation matrix of a quaternion.
void rotation(const WorldGaussian& from, Matrix3& out) {
  double q[4];
  double length = 0;
  for (int i = 0; i < 4; ++i) {
    q[i] = from.rotation[i];
    length += q[i] * q[i];
  }
  length = std::sqrt(length);
  const double w = q[0] / length, x = q[1] / length, y = q[2] / length, z = q[3] / length;
  const Matrix3 r = {{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
                     {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
                     {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}};
  for (int i = 0; i < 3; ++i) {
    std::copy(std::begin(r[i]), std::end(r[i]), out[i]);
  }
}

struct Pixel {
  int x, y;
  bool inside;
  std::size_t index;
};

Pixel pixel_of(std::size_t tile, int thread, const TileLists& lists, const Camera& camera) {
  const int x = static_cast<int>(tile) % lists.tiles_x * kTileSize + thread % kTileSize;
  const int y = static_cast<int>(tile) / lists.tiles_x * kTileSize + thread / kTileSize;
  const bool inside = x < camera.width && y < camera.height;
  return {x, y, inside,
          inside ? static_cast<std::size_t>(y) * static_cast<std::size_t>(camera.width) +
                       static_cast<std::size_t>(x)
                 : 0};
}

struct Evaluation {
  double dx, dy, power, falloff, alpha;
};

Evaluation evaluate(const Gaussian& g, const Pixel& pixel) {
  Evaluation e{};
  e.dx = g.x - pixel.x;
  e.dy = g.y - pixel.y;
  e.power = -0.5 * (g.conic[0] * e.dx * e.dx + g.conic[2] * e.dy * e.dy) - g.conic[1] * e.dx * e.dy;
  e.falloff = e.power > 0 ? 0.0 : std::exp(e.power);
  e.alpha = std::min(kMaxAlpha, g.opacity * e.falloff);
  return e;
}

// Backward state of one pixel. `accumulated` is the colour behind the current Gaussian.
struct PixelState {
  Pixel pixel{};
  double transmittance = 0;
  double accumulated[3] = {};
  double dl_dcolor[3] = {};
  std::uint32_t first_pass = 0;  // passes before it lie beyond the last contributor
};

// One lane, one pass: how far it came, and its gradients if it came to the end.
Stage backward_pass(const Gaussian& g, std::uint32_t pass, const Camera& camera, PixelState& state,
                    double (&gradients)[kParameters]) {
  if (pass < state.first_pass) {
    return Stage::kPosition;
  }
  const Evaluation e = evaluate(g, state.pixel);
  if (e.power > 0) {
    return Stage::kPower;
  }
  if (e.alpha < kMinAlpha) {
    return Stage::kAlpha;
  }
  state.transmittance /= 1.0 - e.alpha;
  double dl_dalpha = 0;
  for (int c = 0; c < 3; ++c) {
    dl_dalpha += (g.color[c] - state.accumulated[c]) * state.dl_dcolor[c];
    state.accumulated[c] += e.alpha * (g.color[c] - state.accumulated[c]);
    gradients[6 + c] = e.alpha * state.transmittance * state.dl_dcolor[c];
  }
  dl_dalpha *= state.transmittance;
  const double dl_dpower = g.opacity * e.falloff * dl_dalpha;
  gradients[0] = -dl_dpower * (g.conic[0] * e.dx + g.conic[1] * e.dy) * 0.5 * camera.width;
  gradients[1] = -dl_dpower * (g.conic[2] * e.dy + g.conic[1] * e.dx) * 0.5 * camera.height;
  gradients[2] = -0.5 * dl_dpower * e.dx * e.dx;
  gradients[3] = -0.5 * dl_dpower * e.dx * e.dy;
  gradients[4] = -0.5 * dl_dpower * e.dy * e.dy;
  gradients[5] = e.falloff * dl_dalpha;
  return Stage::kTaken;
}

}  // namespace

std::vector<Projected> project(std::span<const WorldGaussian> gaussians, const Camera& camera) {
  std::vector<Projected> result(gaussians.size());
  for (std::size_t i = 0; i < gaussians.size(); ++i) {
    const WorldGaussian& from = gaussians[i];
    Projected& out = result[i];
    double p[3];
    for (int r = 0; r < 3; ++r) {
      const float* row = camera.view + 4 * r;
      p[r] = static_cast<double>(row[3]);
      for (int c = 0; c < 3; ++c) {
        p[r] += static_cast<double>(row[c]) * from.position[c];
      }
    }
    if (p[2] <= kNearPlane) {
      continue;
    }
    // cov2D = (J W R S) (J W R S)^T, with J the Jacobian of the projection at a clamped point.
    const double focal_x = static_cast<double>(camera.focal_x);
    const double focal_y = static_cast<double>(camera.focal_y);
    const double limit_x = 1.3 * static_cast<double>(camera.tan_x);
    const double limit_y = 1.3 * static_cast<double>(camera.tan_y);
    const double tx = std::clamp(p[0] / p[2], -limit_x, limit_x);
    const double ty = std::clamp(p[1] / p[2], -limit_y, limit_y);
    const double jacobian[2][3] = {{focal_x / p[2], 0, -focal_x * tx / p[2]},
                                   {0, focal_y / p[2], -focal_y * ty / p[2]}};
    Matrix3 rot;
    rotation(from, rot);
    double m[2][3] = {};
    for (int r = 0; r < 2; ++r) {
      for (int axis = 0; axis < 3; ++axis) {
        for (int k = 0; k < 3; ++k) {
          double turned = 0;
          for (int j = 0; j < 3; ++j) {
            turned += static_cast<double>(camera.view[4 * k + j]) * rot[j][axis];
          }
          m[r][axis] += jacobian[r][k] * turned;
        }
        m[r][axis] *= from.scale[axis];
      }
    }
    const auto inner = [&m](int r, int s) {
      return m[r][0] * m[s][0] + m[r][1] * m[s][1] + m[r][2] * m[s][2];
    };
    const double a = inner(0, 0) + kLowPass, b = inner(0, 1), c = inner(1, 1) + kLowPass;
    const double determinant = a * c - b * b;
    if (determinant == 0 || !std::isfinite(determinant)) {
      continue;
    }
    const double mid = 0.5 * (a + c);
    const double largest = mid + std::sqrt(std::max(0.1, mid * mid - determinant));
    const double radius = std::ceil(3.0 * std::sqrt(largest));
    Gaussian& g = out.gaussian;
    g.x = focal_x * p[0] / p[2] + 0.5 * camera.width - 0.5;
    g.y = focal_y * p[1] / p[2] + 0.5 * camera.height - 0.5;
    if (!std::isfinite(g.x) || !std::isfinite(g.y) || !std::isfinite(radius)) {
      continue;
    }
    g.conic[0] = c / determinant;
    g.conic[1] = -b / determinant;
    g.conic[2] = a / determinant;
    g.opacity = from.opacity;
    for (int channel = 0; channel < 3; ++channel) {
      g.color[channel] = from.color[channel];
    }
    const auto tile = [](double v, int tiles) {
      return static_cast<int>(
          std::clamp(std::trunc(v / kTileSize), 0.0, static_cast<double>(tiles)));
    };
    out.rect[0] = tile(g.x - radius, camera.tiles_x());
    out.rect[1] = tile(g.x + radius + kTileSize - 1, camera.tiles_x());
    out.rect[2] = tile(g.y - radius, camera.tiles_y());
    out.rect[3] = tile(g.y + radius + kTileSize - 1, camera.tiles_y());
    if (out.rect[1] <= out.rect[0] || out.rect[3] <= out.rect[2]) {
      continue;
    }
    out.depth = p[2];
    // One that covers every picture is as large as any.
    out.radius = static_cast<int>(std::min(radius, double{std::numeric_limits<int>::max()}));
  }
  return result;
}

std::vector<Projected> project(std::span<const SceneGaussian> gaussians, const Camera& camera) {
  std::vector<WorldGaussian> exact(gaussians.size());
  for (std::size_t i = 0; i < gaussians.size(); ++i) {
    const SceneGaussian& from = gaussians[i];
    WorldGaussian& to = exact[i];
    std::copy(std::begin(from.position), std::end(from.position), to.position);
    std::copy(std::begin(from.scale), std::end(from.scale), to.scale);
    std::copy(std::begin(from.rotation), std::end(from.rotation), to.rotation);
    std::copy(std::begin(from.color), std::end(from.color), to.color);
    to.opacity = static_cast<double>(from.opacity);
  }
  return project(exact, camera);
}

TileLists make_lists(std::span<const Projected> projected, const Camera& camera) {
  return make_lists(projected, camera, [](std::size_t, int, int) { return true; });
}

TileLists make_lists(std::span<const Projected> projected, const Camera& camera,
                     const KeepPair& keep) {
  TileLists lists;
  lists.tiles_x = camera.tiles_x();
  lists.tiles_y = camera.tiles_y();
  std::vector<std::vector<std::uint32_t>> tiles(static_cast<std::size_t>(camera.tiles()));
  for (std::size_t i = 0; i < projected.size(); ++i) {
    const Projected& p = projected[i];
    if (p.radius == 0) {
      continue;
    }
    for (int y = p.rect[2]; y < p.rect[3]; ++y) {
      for (int x = p.rect[0]; x < p.rect[1]; ++x) {
        if (keep(i, x, y)) {
          tiles[static_cast<std::size_t>(y * lists.tiles_x + x)].push_back(
              static_cast<std::uint32_t>(i));
        }
      }
    }
  }
  for (auto& tile : tiles) {
    // Depths are compared as the GPU has them, in single precision.
    std::stable_sort(tile.begin(), tile.end(), [&](std::uint32_t a, std::uint32_t b) {
      return static_cast<float>(projected[a].depth) < static_cast<float>(projected[b].depth);
    });
    const auto begin = static_cast<std::uint32_t>(lists.primitives.size());
    lists.primitives.insert(lists.primitives.end(), tile.begin(), tile.end());
    lists.ranges.push_back({begin, static_cast<std::uint32_t>(lists.primitives.size())});
  }
  return lists;
}

Frame render(std::span<const Gaussian> gaussians, const TileLists& lists, const Camera& camera) {
  const auto pixels = static_cast<std::size_t>(camera.pixels());
  Frame frame;
  frame.image.assign(3 * pixels, 0.0);
  frame.final_t.assign(pixels, 1.0);
  frame.last.assign(pixels, 0);
  for_each_tile(lists.ranges.size(), [&](std::size_t tile) {
    for (int thread = 0; thread < kTilePixels; ++thread) {
      const Pixel pixel = pixel_of(tile, thread, lists, camera);
      if (!pixel.inside) {
        continue;
      }
      double transmittance = 1;
      double color[3] = {};
      for (std::uint32_t i = lists.ranges[tile].begin; i < lists.ranges[tile].end; ++i) {
        const Gaussian& g = gaussians[lists.primitives[i]];
        const Evaluation e = evaluate(g, pixel);
        if (e.power > 0 || e.alpha < kMinAlpha) {
          continue;
        }
        const double next = transmittance * (1.0 - e.alpha);
        if (next < kMinTransmittance) {
          break;
        }
        for (int c = 0; c < 3; ++c) {
          color[c] += g.color[c] * e.alpha * transmittance;
        }
        transmittance = next;
        frame.last[pixel.index] = i - lists.ranges[tile].begin + 1;
      }
      frame.final_t[pixel.index] = transmittance;
      for (std::size_t c = 0; c < 3; ++c) {
        frame.image[c * pixels + pixel.index] = color[c];
      }
    }
  });
  return frame;
}

double loss(std::span<const double> image, std::span<const float> target) {
  double sum = 0;
  for (std::size_t i = 0; i < image.size(); ++i) {
    const double difference = image[i] - static_cast<double>(target[i]);
    sum += difference * difference;
  }
  return sum / static_cast<double>(image.size());
}

std::vector<double> backward(std::span<const Gaussian> gaussians, const TileLists& lists,
                             const Camera& camera, const Frame& frame,
                             std::span<const float> dl_dimage, Recording* recording) {
  const auto pixels = static_cast<std::size_t>(camera.pixels());
  std::vector<double> total(gaussians.size() * kParameters, 0.0);
  std::mutex total_lock;
  if (recording != nullptr) {
    recording->masks.assign(lists.primitives.size() * kWarpsPerTile, 0);
    recording->stages.assign(lists.primitives.size() * kWarpsPerTile, Stage::kPosition);
  }
  for_each_tile(lists.ranges.size(), [&](std::size_t tile) {
    const std::uint32_t passes = lists.length(tile);
    std::vector<double> sums(std::size_t{passes} * kParameters, 0.0);
    std::vector<PixelState> states(kTilePixels);
    for (int thread = 0; thread < kTilePixels; ++thread) {
      PixelState& state = states[static_cast<std::size_t>(thread)];
      state.pixel = pixel_of(tile, thread, lists, camera);
      state.first_pass = passes;
      if (state.pixel.inside) {
        state.first_pass = passes - frame.last[state.pixel.index];
        state.transmittance = frame.final_t[state.pixel.index];
        for (std::size_t c = 0; c < 3; ++c) {
          state.dl_dcolor[c] = static_cast<double>(dl_dimage[c * pixels + state.pixel.index]);
        }
      }
    }
    for (std::uint32_t pass = 0; pass < passes; ++pass) {
      const Gaussian& g = gaussians[lists.backward(tile, pass)];
      for (int thread = 0; thread < kTilePixels; ++thread) {
        double gradients[kParameters];
        const Stage stage =
            backward_pass(g, pass, camera, states[static_cast<std::size_t>(thread)], gradients);
        if (stage == Stage::kTaken) {
          for (std::size_t i = 0; i < kParameters; ++i) {
            sums[std::size_t{pass} * kParameters + i] += gradients[i];
          }
        }
        if (recording != nullptr) {
          const std::size_t at = (std::size_t{lists.ranges[tile].begin} + pass) * kWarpsPerTile +
                                 static_cast<std::size_t>(thread / trace::kWarpLanes);
          recording->stages[at] = std::max(recording->stages[at], stage);
          if (stage == Stage::kTaken) {
            recording->masks[at] |= 1U << (thread % trace::kWarpLanes);
          }
        }
      }
    }
    const std::scoped_lock lock(total_lock);
    for (std::uint32_t pass = 0; pass < passes; ++pass) {
      double* out = total.data() + std::size_t{lists.backward(tile, pass)} * kParameters;
      for (std::size_t i = 0; i < kParameters; ++i) {
        out[i] += sums[std::size_t{pass} * kParameters + i];
      }
    }
  });
  return total;
}

}  // namespace warpfold::capture::reference

// SPDX-License-Identifier: Apache-2.0
#include "traces/capture/spheres/spheres.hpp"

#include <algorithm>
#include <cmath>
#include <random>

namespace warpfold::capture::spheres {
namespace {

constexpr double kFocal = 5.0;
constexpr double kSensor = 2.0;
constexpr double kNear = 5.0;
constexpr double kFar = 45.0;

struct Geometry {
  double ray[3];
  double apart[3];
  double e2, h2, along;
};

Geometry meet(const Sphere& sphere, const SphereCamera& camera, int x, int y) {
  Geometry g{};
  g.ray[0] = static_cast<double>(camera.corner_x) + x * static_cast<double>(camera.step);
  g.ray[1] = static_cast<double>(camera.corner_y) + y * static_cast<double>(camera.step);
  g.ray[2] = 1;
  const double length = std::hypot(g.ray[0], g.ray[1], 1.0);
  for (int i = 0; i < 3; ++i) {
    g.ray[i] /= length;
    g.along += g.ray[i] * static_cast<double>(sphere.position[i]);
  }
  for (int i = 0; i < 3; ++i) {
    g.apart[i] = static_cast<double>(sphere.position[i]) - g.along * g.ray[i];
    g.e2 += g.apart[i] * g.apart[i];
  }
  const auto radius = static_cast<double>(sphere.radius);
  g.h2 = radius * radius - g.e2;
  return g;
}

// Exponents to base e here.
struct Weight {
  double e, h, depth, closeness, z, exponent;
};
Weight weigh(const Sphere& sphere, const SphereCamera& camera, const Geometry& g) {
  constexpr auto kLeast = static_cast<double>(kLeastSquare);
  Weight w{};
  w.e = std::sqrt(std::max(g.e2, kLeast));
  w.h = std::sqrt(std::max(g.h2, kLeast));
  w.depth = g.along - w.h;
  w.closeness = std::max(1 - w.e / static_cast<double>(sphere.radius), 0.0);
  w.z =
      (static_cast<double>(camera.far_depth) - w.depth) * static_cast<double>(camera.inverse_range);
  w.exponent = static_cast<double>(sphere.opacity) * w.z * static_cast<double>(camera.per_gamma);
  return w;
}

}  // namespace

std::vector<Sphere> random_spheres(std::size_t count, float radius, bool random_radius,
                                   std::uint64_t seed) {
  std::mt19937_64 random(seed);
  // 24 bits, so that the numbers do not depend on the library's distributions.
  const auto uniform = [&] { return static_cast<float>(random() >> 40) * 0x1p-24F; };
  std::vector<Sphere> spheres(count);
  for (Sphere& s : spheres) {
    s.position[0] = 10.0F * uniform() - 5.0F;
    s.position[1] = 10.0F * uniform() - 5.0F;
    s.position[2] = 10.0F * uniform() + 25.0F;
    s.radius = random_radius ? radius * (1.0F - uniform()) : radius;
    s.opacity = 1.0F;
    for (float& c : s.color) {
      c = uniform();
    }
  }
  return spheres;
}

SphereCamera make_camera(int width, int height, float gamma) {
  SphereCamera camera{};
  const double step = kSensor / kFocal / width;
  camera.width = width;
  camera.height = height;
  camera.step = static_cast<float>(step);
  camera.corner_x = static_cast<float>((0.5 - 0.5 * width) * step);
  camera.corner_y = static_cast<float>((0.5 - 0.5 * height) * step);
  camera.far_depth = static_cast<float>(kFar);
  camera.inverse_range = static_cast<float>(1 / (kFar - kNear));
  camera.per_gamma = 1.0F / gamma;
  camera.exponent = kLog2E / gamma;
  return camera;
}

Box bounds(const Sphere& sphere, const SphereCamera& camera) {
  const auto r = static_cast<double>(sphere.radius);
  const auto z = static_cast<double>(sphere.position[2]);
  if (z <= r) {
    return {0, 0, 0, 0};
  }
  // The silhouette along one axis, on the plane z = 1, is between the two tangents.
  const auto range = [&](float position, float corner, int size, std::int16_t& low,
                         std::int16_t& high) {
    const auto p = static_cast<double>(position);
    const double spread = r * std::sqrt(p * p + z * z - r * r);
    const auto pixel = [&](double at) {
      return (at - static_cast<double>(corner)) / static_cast<double>(camera.step);
    };
    const double first = pixel((p * z - spread) / (z * z - r * r));
    const double last = pixel((p * z + spread) / (z * z - r * r));
    low = static_cast<std::int16_t>(std::clamp(std::floor(first) - 1, 0.0, 1.0 * size));
    high = static_cast<std::int16_t>(std::clamp(std::ceil(last) + 2, 0.0, 1.0 * size));
  };
  Box box{};
  range(sphere.position[0], camera.corner_x, camera.width, box.x0, box.x1);
  range(sphere.position[1], camera.corner_y, camera.height, box.y0, box.y1);
  return box;
}

float target(int x, int y, int channel) {
  const double phase = 2.1 * channel;
  return static_cast<float>(0.5 + 0.25 * std::sin(0.021 * x + phase) +
                            0.25 * std::cos(0.017 * y - phase));
}

namespace reference {

Pixel<double> render(std::span<const Sphere> spheres, const SphereCamera& camera, int x, int y,
                     std::size_t track, std::vector<std::uint32_t>& nearest) {
  struct Met {
    double depth, exponent, scale;
    std::uint32_t sphere;
  };
  std::vector<Met> met;
  double greatest = static_cast<double>(kBackground) * static_cast<double>(camera.per_gamma);
  const double background = greatest;
  for (std::size_t i = 0; i < spheres.size(); ++i) {
    const Geometry g = meet(spheres[i], camera, x, y);
    if (g.h2 > 0) {
      const Weight w = weigh(spheres[i], camera, g);
      met.push_back({w.depth, w.exponent, static_cast<double>(spheres[i].opacity) * w.closeness,
                     static_cast<std::uint32_t>(i)});
      greatest = std::max(greatest, w.exponent);
    }
  }
  Pixel<double> pixel{greatest / std::log(2.0), std::exp(background - greatest), {0, 0, 0}};
  for (const Met& m : met) {
    const double weight = m.scale * std::exp(m.exponent - greatest);
    pixel.sum += weight;
    for (int c = 0; c < 3; ++c) {
      pixel.color[c] += weight * static_cast<double>(spheres[m.sphere].color[c]);
    }
  }
  for (double& c : pixel.color) {
    c /= pixel.sum;
  }
  std::stable_sort(met.begin(), met.end(),
                   [](const Met& a, const Met& b) { return a.depth < b.depth; });
  nearest.clear();
  for (std::size_t i = 0; i < std::min(track, met.size()); ++i) {
    nearest.push_back(met[i].sphere);
  }
  return pixel;
}

double depth(const Sphere& sphere, const SphereCamera& camera, int x, int y) {
  return weigh(sphere, camera, meet(sphere, camera, x, y)).depth;
}

void gradients(const Sphere& sphere, const SphereCamera& camera, int x, int y,
               const Pixel<double>& pixel, const double (&dl_dcolor)[3],
               double (&out)[kSphereParameters]) {
  const Geometry g = meet(sphere, camera, x, y);
  const Weight w = weigh(sphere, camera, g);
  const auto opacity = static_cast<double>(sphere.opacity);
  const auto radius = static_cast<double>(sphere.radius);
  const double raised = std::exp(w.exponent - pixel.greatest * std::log(2.0));
  const double weight = opacity * w.closeness * raised;
  double away = 0;
  for (int c = 0; c < 3; ++c) {
    away += dl_dcolor[c] * (static_cast<double>(sphere.color[c]) - pixel.color[c]);
    out[5 + c] = dl_dcolor[c] * weight / pixel.sum;
  }
  const double dl_dweight = away / pixel.sum;
  out[4] = dl_dweight * w.closeness * raised * (1 + w.exponent);
  const double dl_dcloseness = dl_dweight * opacity * raised;
  const double dl_ddepth = -dl_dweight * weight * opacity * static_cast<double>(camera.per_gamma) *
                           static_cast<double>(camera.inverse_range);
  for (int i = 0; i < 3; ++i) {
    out[i] =
        dl_ddepth * (g.ray[i] + g.apart[i] / w.h) - dl_dcloseness * g.apart[i] / (w.e * radius);
  }
  out[3] = dl_dcloseness * w.e / (radius * radius) - dl_ddepth * radius / w.h;
}

}  // namespace reference
}  // namespace warpfold::capture::spheres

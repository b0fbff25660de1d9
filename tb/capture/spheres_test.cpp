// SPDX-License-Identifier: Apache-2.0
// The sphere renderer without a GPU: the arithmetic of the kernels against the reference in double
// precision, that against finite differences of the loss, and what the pictures are made of.
#include "traces/capture/spheres/spheres.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace warpfold::capture::spheres {
namespace {

constexpr std::size_t kAll = 1000;

// A small picture of large spheres of any opacity, each pixel in some of them.
struct Scene {
  explicit Scene(float gamma = 0.5F) : camera(make_camera(kSize, kSize, gamma)) {
    spheres = random_spheres(40, 2.0F, true, 3);
    for (std::size_t i = 0; i < spheres.size(); ++i) {
      spheres[i].radius += 0.5F;
      spheres[i].opacity = 0.3F + 0.7F * static_cast<float>(i) / 40.0F;
    }
  }
  static constexpr int kSize = 24;
  SphereCamera camera;
  std::vector<Sphere> spheres;
};

double loss(const Scene& scene, std::size_t* pixels_met = nullptr) {
  double sum = 0;
  std::vector<std::uint32_t> met;
  for (int y = 0; y < Scene::kSize; ++y) {
    for (int x = 0; x < Scene::kSize; ++x) {
      const auto pixel = reference::render(scene.spheres, scene.camera, x, y, kAll, met);
      for (int c = 0; c < 3; ++c) {
        const double d = pixel.color[c] - static_cast<double>(target(x, y, c));
        sum += d * d;
      }
      if (pixels_met != nullptr) {
        *pixels_met += met.empty() ? 0U : 1U;
      }
    }
  }
  return sum;
}

void dl_of(const Pixel<double>& pixel, int x, int y, double (&dl)[3]) {
  for (int c = 0; c < 3; ++c) {
    dl[c] = 2 * (pixel.color[c] - static_cast<double>(target(x, y, c)));
  }
}

// By sphere and parameter.
std::vector<double> gradients(const Scene& scene) {
  std::vector<double> result(scene.spheres.size() * kSphereParameters, 0.0);
  std::vector<std::uint32_t> met;
  for (int y = 0; y < Scene::kSize; ++y) {
    for (int x = 0; x < Scene::kSize; ++x) {
      const auto pixel = reference::render(scene.spheres, scene.camera, x, y, kAll, met);
      double dl[3];
      dl_of(pixel, x, y, dl);
      for (const std::uint32_t s : met) {
        double out[kSphereParameters];
        reference::gradients(scene.spheres[s], scene.camera, x, y, pixel, dl, out);
        for (std::size_t k = 0; k < kSphereParameters; ++k) {
          result[s * kSphereParameters + k] += out[k];
        }
      }
    }
  }
  return result;
}

float& parameter(Sphere& sphere, std::size_t k) {
  switch (k) {
    case 0:
    case 1:
    case 2:
      return sphere.position[k];
    case 3:
      return sphere.radius;
    case 4:
      return sphere.opacity;
    default:
      return sphere.color[k - 5];
  }
}

TEST(Spheres, GradientsAgreeWithFiniteDifferences) {
  for (const float gamma : {0.05F, 0.5F}) {
    Scene scene(gamma);
    std::size_t pixels = 0;
    (void)loss(scene, &pixels);
    ASSERT_GT(pixels, std::size_t{Scene::kSize * Scene::kSize / 2});
    const auto expected = gradients(scene);
    for (std::size_t k = 0; k < kSphereParameters; ++k) {
      double difference = 0;
      double norm = 0;
      for (std::size_t s = 0; s < scene.spheres.size(); ++s) {
        float& p = parameter(scene.spheres[s], k);
        const float middle = p;
        const float step = 1.0F / 65536;
        p = middle + step;
        const float high = p;
        const double above = loss(scene);
        p = middle - step;
        const double width = static_cast<double>(high) - static_cast<double>(p);
        const double below = loss(scene);
        p = middle;
        const double g = expected[s * kSphereParameters + k];
        difference += std::pow(g - (above - below) / width, 2);
        norm += g * g;
      }
      EXPECT_GT(norm, 0);
      // The weight has a kink where a ray meets the centre, and its slope none at the edge.
      EXPECT_LT(std::sqrt(difference / norm), 5e-3) << "parameter " << k << ", gamma " << gamma;
    }
  }
}

TEST(Spheres, KernelArithmeticAgreesWithTheReference) {
  for (const float gamma : {0.1F, 1.0F}) {
    const Scene scene(gamma);
    double difference[kSphereParameters] = {};
    double norm[kSphereParameters] = {};
    std::vector<std::uint32_t> met;
    for (int y = 0; y < Scene::kSize; ++y) {
      for (int x = 0; x < Scene::kSize; ++x) {
        const auto pixel = reference::render(scene.spheres, scene.camera, x, y, kAll, met);
        double dl[3];
        dl_of(pixel, x, y, dl);
        SpherePixel p;
        p.ray = pixel_ray(scene.camera, x, y);
        p.greatest = static_cast<float>(pixel.greatest);
        p.inverse = static_cast<float>(1 / pixel.sum);
        p.dl_dcolor = make_float3(static_cast<float>(dl[0]), static_cast<float>(dl[1]),
                                  static_cast<float>(dl[2]));
        p.mean =
            dot3(make_float3(static_cast<float>(pixel.color[0]), static_cast<float>(pixel.color[1]),
                             static_cast<float>(pixel.color[2])),
                 p.dl_dcolor);
        for (const std::uint32_t s : met) {
          const Sphere& sphere = scene.spheres[s];
          const float4 place = make_float4(sphere.position[0], sphere.position[1],
                                           sphere.position[2], sphere.radius);
          const float4 color =
              make_float4(sphere.color[0], sphere.color[1], sphere.color[2], sphere.opacity);
          EXPECT_NEAR(static_cast<double>(
                          shade(scene.camera, intersect(p.ray, place), place.w, color.w).depth),
                      reference::depth(sphere, scene.camera, x, y), 0.02);
          float out[kSphereParameters];
          sphere_gradients(scene.camera, p, place, color, out);
          double expected[kSphereParameters];
          reference::gradients(sphere, scene.camera, x, y, pixel, dl, expected);
          for (std::size_t k = 0; k < kSphereParameters; ++k) {
            difference[k] += std::pow(static_cast<double>(out[k]) - expected[k], 2);
            norm[k] += expected[k] * expected[k];
          }
        }
      }
    }
    for (std::size_t k = 0; k < kSphereParameters; ++k) {
      EXPECT_LT(std::sqrt(difference[k] / norm[k]), 2e-4) << "parameter " << k;
    }
  }
}

TEST(Spheres, LieWithinTheirBounds) {
  const SphereCamera camera = make_camera(100, 80, 1.0F);
  const auto spheres = random_spheres(60, 1.0F, true, 9);
  std::size_t tight = 0;
  for (const Sphere& s : spheres) {
    const Box box = bounds(s, camera);
    const float4 place = make_float4(s.position[0], s.position[1], s.position[2], s.radius);
    int x0 = camera.width;
    int x1 = -1;
    for (int y = 0; y < camera.height; ++y) {
      for (int x = 0; x < camera.width; ++x) {
        if (intersect(pixel_ray(camera, x, y), place).h2 > 0) {
          EXPECT_TRUE(x >= box.x0 && x < box.x1 && y >= box.y0 && y < box.y1);
          x0 = std::min(x0, x);
          x1 = std::max(x1, x);
        }
      }
    }
    tight += x1 >= 0 && box.x1 - box.x0 <= x1 - x0 + 5 ? 1U : 0U;
  }
  EXPECT_GT(tight, spheres.size() / 2);
  Sphere behind = spheres[0];
  behind.position[2] = -30;
  const Box none = bounds(behind, camera);
  EXPECT_EQ(none.x0, none.x1);
}

TEST(Spheres, NearestComeInOrder) {
  const Scene scene;
  std::vector<std::uint32_t> met;
  std::size_t pixels = 0;
  for (int y = 0; y < Scene::kSize; ++y) {
    for (int x = 0; x < Scene::kSize; ++x) {
      (void)reference::render(scene.spheres, scene.camera, x, y, 3, met);
      ASSERT_LE(met.size(), 3U);
      for (std::size_t i = 1; i < met.size(); ++i) {
        EXPECT_LE(reference::depth(scene.spheres[met[i - 1]], scene.camera, x, y),
                  reference::depth(scene.spheres[met[i]], scene.camera, x, y));
        ++pixels;
      }
    }
  }
  EXPECT_GT(pixels, 100U);
}

TEST(Spheres, AreTheSameForASeed) {
  const auto a = random_spheres(100, 1.0F, true, 1);
  const auto b = random_spheres(100, 1.0F, true, 1);
  const auto c = random_spheres(100, 1.0F, true, 2);
  EXPECT_EQ(a[99].position[0], b[99].position[0]);
  EXPECT_NE(a[99].position[0], c[99].position[0]);
  for (const Sphere& s : a) {
    EXPECT_TRUE(s.position[2] >= 25 && s.position[2] < 35 && s.radius > 0 && s.radius <= 1);
  }
}

}  // namespace
}  // namespace warpfold::capture::spheres

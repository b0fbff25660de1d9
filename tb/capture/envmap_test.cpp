// SPDX-License-Identifier: Apache-2.0
// The environment map workload without a GPU: the footprint that the kernels compute, the reference
// against finite differences and closed forms, readers.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <sstream>

#include "traces/capture/common/input.hpp"
#include "traces/capture/envmap/cube_math.cuh"
#include "traces/capture/envmap/scene.hpp"

namespace warpfold::capture::envmap {
namespace {

constexpr std::uint64_t kSeed = 5;

std::vector<Reflection> random_directions(std::size_t count) {
  std::mt19937_64 random(kSeed);
  std::normal_distribution<float> normal;
  std::vector<Reflection> result;
  for (std::size_t i = 0; i < count; ++i) {
    result.push_back({normal(random), normal(random), normal(random), i % 5 == 0 ? 0.0F : 1.0F});
  }
  return result;
}

std::vector<float> random_floats(std::size_t count) {
  std::mt19937_64 random(kSeed + 1);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> result(count);
  for (float& x : result) {
    x = uniform(random);
  }
  return result;
}

TEST(CubeFootprint, ScattersAsTheReference) {
  for (const int size : {2, 7, 64}) {
    const auto directions = random_directions(4000);
    const auto dl = random_floats(3 * directions.size());
    std::vector<double> gradient(static_cast<std::size_t>(6 * size * size) * 3, 0.0);
    for (std::size_t p = 0; p < directions.size(); ++p) {
      const Reflection& d = directions[p];
      if (d.covered == 0) {
        continue;
      }
      const CubeFootprint f = cube_footprint({d.x, d.y, d.z}, size);
      double share = 0;
      for (int corner = 0; corner < 4; ++corner) {
        const int texel = corner_texel(f, size, corner);
        ASSERT_GE(texel, 0);
        ASSERT_LT(texel, 6 * size * size);
        const auto weight = static_cast<double>(corner_weight(f, corner));
        share += weight;
        for (std::size_t c = 0; c < 3; ++c) {
          gradient[3 * static_cast<std::size_t>(texel) + c] +=
              weight * static_cast<double>(dl[3 * p + c]);
        }
      }
      EXPECT_NEAR(share, 1.0, 1e-5);
    }
    const auto expected = reference::backward(directions, size, dl);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(gradient[i], expected[i], 1e-3) << "size " << size << ", entry " << i;
    }
  }
}

TEST(CubeFootprint, OfATexelsCentreIsThatTexel) {
  constexpr int kSize = 8;
  for (std::uint32_t t = 0; t < 6 * kSize * kSize; ++t) {
    const auto d = texel_direction(kSize, t);
    const CubeFootprint f = cube_footprint(
        {static_cast<float>(d[0]), static_cast<float>(d[1]), static_cast<float>(d[2])}, kSize);
    float most = 0;
    int texel = -1;
    for (int corner = 0; corner < 4; ++corner) {
      if (corner_weight(f, corner) > most) {
        most = corner_weight(f, corner);
        texel = corner_texel(f, kSize, corner);
      }
    }
    EXPECT_EQ(texel, static_cast<int>(t));
    EXPECT_GT(most, 0.999F);
  }
}

TEST(Gradient, AgreesWithFiniteDifferences) {
  constexpr int kSize = 3;
  const auto directions = random_directions(200);
  std::vector<double> cubemap(6 * kSize * kSize * 3);
  std::vector<double> target(directions.size() * 3);
  const auto numbers = random_floats(cubemap.size() + target.size());
  for (std::size_t i = 0; i < cubemap.size(); ++i) {
    cubemap[i] = static_cast<double>(numbers[i]);
  }
  for (std::size_t i = 0; i < target.size(); ++i) {
    target[i] = static_cast<double>(numbers[cubemap.size() + i]);
  }
  const auto picture = reference::sample(directions, kSize, cubemap);
  std::vector<float> dl;
  for (std::size_t i = 0; i < picture.size(); ++i) {
    dl.push_back(
        static_cast<float>(2 * (picture[i] - target[i]) / static_cast<double>(picture.size())));
  }
  const auto gradient = reference::backward(directions, kSize, dl);
  for (std::size_t i = 0; i < cubemap.size(); ++i) {
    constexpr double kStep = 1e-4;
    auto moved = cubemap;
    moved[i] += kStep;
    const double above = reference::loss(reference::sample(directions, kSize, moved), target);
    moved[i] -= 2 * kStep;
    const double below = reference::loss(reference::sample(directions, kSize, moved), target);
    EXPECT_NEAR(gradient[i], (above - below) / (2 * kStep), 1e-6);
  }
}

// A sphere of 2 * n * n triangles.
std::string sphere(int n) {
  constexpr double kPi = 3.14159265358979323846;
  std::ostringstream text;
  for (int i = 0; i <= n; ++i) {
    for (int j = 0; j < n; ++j) {
      const double down = kPi * i / n;
      const double around = 2 * kPi * j / n;
      text << "v " << std::sin(down) * std::cos(around) << ' ' << std::cos(down) << ' '
           << std::sin(down) * std::sin(around) << '\n';
    }
  }
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      const int a = i * n + j + 1;
      const int b = i * n + (j + 1) % n + 1;
      text << "f " << a << ' ' << b << ' ' << b + n << ' ' << a + n << '\n';
    }
  }
  return text.str();
}

TEST(Rasterizer, SeesASphereMirror) {
  std::istringstream in(sphere(80));
  const Mesh mesh = read_obj(in, "sphere");
  constexpr int kSize = 65;
  for (int n = 0; n < 3; ++n) {
    const View view = make_view(1, n, kSize);
    const auto pixels = reference::rasterize(mesh, view);
    // In the middle the ray comes straight back.
    const Reflection& middle = pixels[kSize * (kSize / 2) + kSize / 2];
    ASSERT_EQ(middle.covered, 1.0F);
    const float back =
        middle.x * view.forward[0] + middle.y * view.forward[1] + middle.z * view.forward[2];
    EXPECT_LT(std::abs(back), 1.001F);
    EXPECT_GT(std::abs(back), 0.99F);
    // The picture of a unit sphere is a disc, whose radius is known.
    double distance2 = 0;
    for (const float e : view.eye) {
      distance2 += static_cast<double>(e) * static_cast<double>(e);
    }
    const double radius =
        0.5 * kSize / static_cast<double>(view.tan_half) / std::sqrt(distance2 - 1);
    double covered = 0;
    for (const Reflection& pixel : pixels) {
      covered += static_cast<double>(pixel.covered);
    }
    const double whole = std::min(3.14159265 * radius * radius, 1.0 * kSize * kSize);
    EXPECT_NEAR(covered / whole, 1.0, 0.05);
  }
}

TEST(Views, AreTheSameEachTimeAndDiffer) {
  const View a = make_view(1, 3, 64);
  const View b = make_view(1, 3, 64);
  const View c = make_view(1, 4, 64);
  EXPECT_EQ(a.eye[0], b.eye[0]);
  EXPECT_NE(a.eye[0], c.eye[0]);
}

TEST(Obj, IsReadInItsForms) {
  std::istringstream in(
      "# comment\nv 0 0 0\nv 2 0 0\nv 2 2 0\nv 0 2 0\nvt 0 0\nvn 0 0 1\nf 1/1/1 2//1 3 -1\n");
  const Mesh mesh = read_obj(in, "square");
  ASSERT_EQ(mesh.positions.size(), 4U);
  ASSERT_EQ(mesh.triangles.size(), 2U);
  EXPECT_EQ(mesh.triangles[1], (std::array<std::int32_t, 3>{0, 2, 3}));
  EXPECT_NEAR(std::hypot(mesh.positions[0][0], mesh.positions[0][1]), 1.0, 1e-6);
  EXPECT_EQ(mesh.normals[2], (std::array<float, 3>{0, 0, 1}));
  for (const char* bad : {"", "v 1 2\n", "v 0 0 0\nf 1 2 3\n", "v 0 0 0\nf 1 1\n", "f a b c\n"}) {
    std::istringstream text(bad);
    EXPECT_THROW((void)read_obj(text, "bad"), InputError) << bad;
  }
}

TEST(Hdr, IsReadFlatAndInRuns) {
  const std::string head = "#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 1 +X 8\n";
  std::string flat = head;
  for (int i = 0; i < 8; ++i) {
    flat += std::string("\x80\x40\x20\x81", 4);
  }
  std::string runs = head + std::string("\x02\x02\x00\x08", 4);
  runs += "\x88\x80";                                  // eight times red
  runs += std::string("\x03\x40\x40\x40\x85\x40", 6);  // three single, five in a run
  runs += "\x88\x20";
  runs += "\x88\x81";
  for (const std::string& text : {flat, runs}) {
    std::istringstream in(text);
    const Panorama panorama = read_hdr(in, "picture");
    ASSERT_EQ(panorama.pixels.size(), 8U);
    for (const auto& pixel : panorama.pixels) {
      EXPECT_FLOAT_EQ(pixel[0], 128.5F / 128);
      EXPECT_FLOAT_EQ(pixel[1], 64.5F / 128);
      EXPECT_FLOAT_EQ(pixel[2], 32.5F / 128);
    }
    std::istringstream cut(text.substr(0, text.size() - 1));
    EXPECT_THROW((void)read_hdr(cut, "cut"), InputError);
  }
  Panorama panorama;
  panorama.width = 8;
  panorama.height = 1;
  panorama.pixels.assign(8, {0.25F, 3.0F, 1.0F});
  const auto cubemap = to_cubemap(panorama, 4, 2.0F);
  ASSERT_EQ(cubemap.size(), 6U * 16 * 3);
  EXPECT_EQ(cubemap[0], 0.25F);
  EXPECT_EQ(cubemap[1], 2.0F);
  EXPECT_EQ(cubemap.back(), 1.0F);
}

}  // namespace
}  // namespace warpfold::capture::envmap

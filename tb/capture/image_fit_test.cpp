// SPDX-License-Identifier: Apache-2.0
// Fitting blobs to a picture without a GPU: the reference against finite differences of the loss,
// from the learned numbers on; the kernels' arithmetic against the reference; tiles; PPM.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <random>
#include <sstream>

#include "traces/capture/common/input.hpp"
#include "traces/capture/image_fit/picture.hpp"
#include "traces/capture/splat/scene.hpp"

namespace warpfold::capture::image_fit {
namespace {

constexpr int kWidth = 30;  // not a multiple of a tile's
constexpr int kHeight = 21;

Picture waves() {
  return {kWidth, kHeight, target_image(kWidth, kHeight)};
}

struct Fit {
  explicit Fit(int count, std::uint64_t seed = 4) {
    raw = first_blobs(count, kWidth, kHeight, seed);
    n = static_cast<std::size_t>(count);
    for (std::size_t i = 0; i < n; ++i) {
      raw[8 * n + i] = static_cast<float>(i % 5) - 1.5F;  // opacities that differ
      float own[kBlobParameters];
      for (std::size_t k = 0; k < kBlobParameters; ++k) {
        own[k] = raw[k * n + i];
      }
      stored.push_back(store(make_blob(own)));
    }
    lists = reference::lists(stored, kWidth, kHeight);
  }
  std::size_t n = 0;
  std::vector<float> raw;
  std::vector<StoredBlob> stored;
  std::vector<std::vector<std::uint32_t>> lists;
};

std::vector<Blob<double>> blobs_of(const std::vector<double>& raw) {
  const std::size_t n = raw.size() / kBlobParameters;
  std::vector<Blob<double>> blobs;
  for (std::size_t i = 0; i < n; ++i) {
    double own[kBlobParameters];
    for (std::size_t k = 0; k < kBlobParameters; ++k) {
      own[k] = raw[k * n + i];
    }
    blobs.push_back(make_blob(own));
  }
  return blobs;
}

TEST(ImageFit, GradientsAgreeWithFiniteDifferences) {
  const Picture target = waves();
  const Fit fit(40);
  std::vector<double> raw(fit.raw.begin(), fit.raw.end());
  const auto loss = [&] {
    return reference::loss(reference::render(blobs_of(raw), fit.lists, kWidth, kHeight), target);
  };
  const auto by_stored = reference::backward(blobs_of(raw), fit.lists, target);
  double difference[kBlobParameters] = {};
  double norm[kBlobParameters] = {};
  for (std::size_t i = 0; i < fit.n; ++i) {
    double own[kBlobParameters];
    double gradient[kBlobParameters];
    double by_raw[kBlobParameters];
    for (std::size_t k = 0; k < kBlobParameters; ++k) {
      own[k] = raw[k * fit.n + i];
      gradient[k] = by_stored[k * fit.n + i];
    }
    chain(own, gradient, by_raw);
    for (std::size_t k = 0; k < kBlobParameters; ++k) {
      constexpr double kStep = 1e-5;
      double& value = raw[k * fit.n + i];
      const double middle = value;
      value = middle + kStep;
      const double above = loss();
      value = middle - kStep;
      const double below = loss();
      value = middle;
      difference[k] += std::pow(by_raw[k] - (above - below) / (2 * kStep), 2);
      norm[k] += by_raw[k] * by_raw[k];
    }
  }
  for (std::size_t k = 0; k < kBlobParameters; ++k) {
    EXPECT_GT(norm[k], 0);
    EXPECT_LT(std::sqrt(difference[k] / norm[k]), 1e-4) << "parameter " << k;
  }
}

// What the kernels do for one pixel, on the host.
TEST(ImageFit, KernelArithmeticAgreesWithTheReference) {
  const Picture target = waves();
  const Fit fit(60);
  std::vector<Blob<double>> blobs;
  for (const StoredBlob& blob : fit.stored) {
    blobs.push_back(exact(blob));
  }
  const auto picture = reference::render(blobs, fit.lists, kWidth, kHeight);
  const auto expected = reference::backward(blobs, fit.lists, target);
  std::vector<double> sums(expected.size(), 0.0);
  const auto weight = static_cast<float>(2.0 / static_cast<double>(3 * target.pixels()));
  constexpr int kTilesX = (kWidth + kTileX - 1) / kTileX;
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      const auto& list = fit.lists[static_cast<std::size_t>(y / kTileY * kTilesX + x / kTileX)];
      const float2 pixel{static_cast<float>(x), static_cast<float>(y)};
      const auto stroke_of = [&](const StoredBlob& b) {
        return stroke({b.mean[0], b.mean[1]}, {b.conic[0], b.conic[1], b.conic[2], b.conic[3]},
                      pixel);
      };
      Canvas canvas{{0, 0, 0}, 1, 0};
      for (const std::uint32_t id : list) {
        const StoredBlob& b = fit.stored[id];
        blend(stroke_of(b), {b.color[0], b.color[1], b.color[2], 0}, canvas);
      }
      const auto at = static_cast<std::size_t>(y * kWidth + x);
      const float color[3] = {canvas.color.x, canvas.color.y, canvas.color.z};
      float dl[3];
      for (std::size_t c = 0; c < 3; ++c) {
        EXPECT_NEAR(static_cast<double>(color[c]), picture[c * target.pixels() + at], 1e-5);
        dl[c] = weight * (color[c] - target.planes[c * target.pixels() + at]);
      }
      PixelState state{canvas.transmittance, 0, {dl[0], dl[1], dl[2]}};
      for (int i = canvas.applied - 1; i >= 0; --i) {
        const std::size_t id = list[static_cast<std::size_t>(i)];
        const StoredBlob& b = fit.stored[id];
        const Stroke s = stroke_of(b);
        float out[kBlobParameters];
        gradients(s.footprint, {b.conic[0], b.conic[1], b.conic[2], b.conic[3]},
                  {b.color[0], b.color[1], b.color[2]}, s.falloff, s.alpha_raw, {kLn2, kLn2}, state,
                  out);
        for (std::size_t k = 0; k < kBlobParameters; ++k) {
          sums[k * fit.n + id] += static_cast<double>(out[k]);
        }
      }
      EXPECT_NEAR(static_cast<double>(state.transmittance), 1.0, 1e-4);
    }
  }
  for (std::size_t k = 0; k < kBlobParameters; ++k) {
    double difference = 0;
    double norm = 0;
    for (std::size_t i = k * fit.n; i < (k + 1) * fit.n; ++i) {
      difference += std::pow(sums[i] - expected[i], 2);
      norm += expected[i] * expected[i];
    }
    EXPECT_LT(std::sqrt(difference / norm), 1e-4) << "parameter " << k;
  }
}

TEST(ImageFit, TilesThatABlobReachesAreFound) {
  const Fit fit(60, 11);
  std::size_t tile = 0;
  std::size_t touched = 0;
  std::size_t reached = 0;
  for (int top = 0; top < kHeight; top += kTileY) {
    for (int left = 0; left < kWidth; left += kTileX, ++tile) {
      for (std::uint32_t id = 0; id < fit.stored.size(); ++id) {
        const StoredBlob& b = fit.stored[id];
        // Within so many deviations of a pixel the blob counts.
        double most = 0;
        for (int y = top; y < top + kTileY; ++y) {
          for (int x = left; x < left + kTileX; ++x) {
            const Blob<double> blob = exact(b);
            const double dx = blob.mean[0] - x;
            const double dy = blob.mean[1] - y;
            most =
                std::max(most, std::exp(-0.5 * (blob.conic[0] * dx * dx + blob.conic[2] * dy * dy) -
                                        blob.conic[1] * dx * dy));
          }
        }
        const bool listed = std::binary_search(fit.lists[tile].begin(), fit.lists[tile].end(), id);
        touched += listed ? 1U : 0U;
        reached += most > std::exp(-8.0) ? 1U : 0U;
        if (most > std::exp(-8.0)) {
          EXPECT_TRUE(listed);
        }
      }
    }
  }
  EXPECT_LT(static_cast<double>(touched), 1.6 * static_cast<double>(reached));
  EXPECT_LT(touched, tile * fit.stored.size());
}

TEST(Ppm, IsReadAndWritten) {
  const auto path = std::filesystem::temp_directory_path() / "warpfold_image_fit_test.ppm";
  Picture picture{3, 2, {}};
  for (int i = 0; i < 18; ++i) {
    picture.planes.push_back(static_cast<float>(i * 15) / 255.0F);
  }
  write_ppm(path, picture);
  const Picture read = load_ppm(path);
  std::filesystem::remove(path);
  EXPECT_EQ(read.width, 3);
  EXPECT_EQ(read.height, 2);
  EXPECT_EQ(read.planes, picture.planes);
  std::istringstream comment("P6 # by hand\n1 1\n# 8 bits\n255\nabc");
  EXPECT_EQ(read_ppm(comment, "comment").planes[0], 97.0F / 255.0F);
  for (const char* bad : {"", "P5\n1 1\n255\nabc", "P6\n0 1\n255\n", "P6\n1 1\n65535\nabcdef",
                          "P6\n2 1\n255\nabc", "P6\n1 x\n255\nabc"}) {
    std::istringstream in(bad);
    EXPECT_THROW((void)read_ppm(in, "bad"), InputError) << bad;
  }
  EXPECT_THROW((void)load_ppm("/nowhere.ppm"), InputError);
}

}  // namespace
}  // namespace warpfold::capture::image_fit

// SPDX-License-Identifier: Apache-2.0
// Every gradient of the trainer against finite differences, in double precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "traces/capture/training/adam.cuh"
#include "traces/capture/training/host_step.hpp"
#include "traces/capture/training/image_loss.cuh"
#include "traces/capture/training/settings.hpp"
#include "traces/capture/training/training_scene.hpp"

namespace warpfold::capture::training {
namespace {

ExactModel exact(const Model& model) {
  ExactModel result(model.size());
  for (std::size_t i = 0; i < model.size(); ++i) {
    std::copy(std::begin(model[i].row), std::end(model[i].row), result[i].row);
  }
  return result;
}

std::vector<double> exact_photo(const View& view) {
  std::vector<double> photo;
  for (const std::uint8_t value : view.photo) {
    photo.push_back(value / 255.0);
  }
  return photo;
}

double uniform(std::mt19937_64& engine, double low, double high) {
  return low + (high - low) * static_cast<double>(engine() >> 11) * 0x1p-53;
}

TEST(Harmonics, AreOrthonormal) {
  // Over the sphere by a product rule that is exact for polynomials of the degree that occurs.
  constexpr int kPolar = 400, kAzimuth = 16;
  double products[kCoefficients][kCoefficients] = {};
  for (int i = 0; i < kPolar; ++i) {
    const double z = -1 + (2.0 * i + 1) / kPolar;
    const double r = std::sqrt(1 - z * z);
    for (int j = 0; j < kAzimuth; ++j) {
      const double angle = 2 * M_PI * j / kAzimuth;
      double basis[kCoefficients];
      harmonics(kMaxDegree, r * std::cos(angle), r * std::sin(angle), z, basis);
      for (int a = 0; a < kCoefficients; ++a) {
        for (int b = 0; b < kCoefficients; ++b) {
          products[a][b] += basis[a] * basis[b] * 4 * M_PI / (kPolar * kAzimuth);
        }
      }
    }
  }
  for (int a = 0; a < kCoefficients; ++a) {
    for (int b = 0; b < kCoefficients; ++b) {
      EXPECT_NEAR(products[a][b], a == b ? 1.0 : 0.0, 1e-4) << a << ' ' << b;
    }
  }
}

TEST(Harmonics, GradientIsThatOfTheSum) {
  std::mt19937_64 engine(1);
  for (int degree = 0; degree <= kMaxDegree; ++degree) {
    double weight[kCoefficients];
    for (double& w : weight) {
      w = uniform(engine, -1, 1);
    }
    double at[3] = {uniform(engine, -1, 1), uniform(engine, -1, 1), uniform(engine, -1, 1)};
    double gradient[3];
    harmonics_gradient(degree, at[0], at[1], at[2], weight, gradient);
    const auto sum = [&] {
      double basis[kCoefficients];
      harmonics(degree, at[0], at[1], at[2], basis);
      double result = 0;
      for (int k = 0; k < coefficients(degree); ++k) {
        result += weight[k] * basis[k];
      }
      return result;
    };
    for (int axis = 0; axis < 3; ++axis) {
      constexpr double kStep = 1e-6;
      const double centre = at[axis];
      at[axis] = centre + kStep;
      const double above = sum();
      at[axis] = centre - kStep;
      const double below = sum();
      at[axis] = centre;
      EXPECT_NEAR(gradient[axis], (above - below) / (2 * kStep), 1e-8) << degree << ' ' << axis;
    }
  }
}

TEST(ImageLoss, IsZeroWithoutADifference) {
  const auto photo = exact_photo(random_training_scene(1, 31, 23, 1).views[0]);
  EXPECT_NEAR(image_loss(photo, photo, 31, 23).value, 0, 1e-12);
}

TEST(ImageLoss, OfFlatPicturesInClosedForm) {
  // Far from the edge SSIM of two flat pictures is its luminance term alone.
  constexpr int kSide = 64;
  std::vector<double> image(3 * kSide * kSide, 0.25), photo(image.size(), 0.5);
  const double luminance = (2 * 0.25 * 0.5 + 1e-4) / (0.25 * 0.25 + 0.5 * 0.5 + 1e-4);
  const ImageLoss loss = image_loss(image, photo, kSide, kSide);
  // The edge counts zeros as well: there the structure term differs from 1, by little.
  EXPECT_NEAR(loss.value, 0.8 * 0.25 + 0.2 * (1 - luminance), 0.01);
}

TEST(ImageLoss, GradientIsThatOfTheValue) {
  constexpr int kWidth = 27, kHeight = 19;
  const TrainingScene scene = random_training_scene(1, kWidth, kHeight, 1);
  const auto photo = exact_photo(scene.views[0]);
  std::mt19937_64 engine(5);
  std::vector<double> image = exact_photo(scene.views[1]);
  for (double& value : image) {
    value += uniform(engine, -0.1, 0.1);
  }
  const ImageLoss loss = image_loss(image, photo, kWidth, kHeight);
  // Corners, edges and the inside of every channel.
  for (std::size_t k = 0; k < image.size(); k += 37) {
    constexpr double kStep = 1e-6;
    const double centre = image[k];
    image[k] = centre + kStep;
    const double above = image_loss(image, photo, kWidth, kHeight).value;
    image[k] = centre - kStep;
    const double below = image_loss(image, photo, kWidth, kHeight).value;
    image[k] = centre;
    EXPECT_NEAR(loss.gradient[k], (above - below) / (2 * kStep), 1e-8) << k;
  }
}

// By group of parameters, at every degree of the harmonics.
struct GradientCase {
  const char* name;
  int begin, end;
  int degree;
};

class ParameterGradient : public testing::TestWithParam<GradientCase> {};

TEST_P(ParameterGradient, IsThatOfTheLoss) {
  constexpr int kWidth = 61, kHeight = 47;
  const GradientCase& group = GetParam();
  const TrainingScene scene = random_training_scene(40, kWidth, kHeight, 11);
  const View& view = scene.views[static_cast<std::size_t>(group.degree % 2)];
  const std::vector<double> photo = exact_photo(view);
  ExactModel model = exact(scene.model);
  const HostStep base = host_step(model, group.degree, view.camera, photo);
  double difference2 = 0;
  double norm2 = 0;
  int compared = 0;
  for (std::size_t i = 0; i < model.size(); ++i) {
    if (base.radii[i] == 0) {
      continue;
    }
    for (int row = group.begin; row<group.end; row += group.end - group.begin> 4 ? 7 : 1) {
      double& value = model[i].row[row];
      const double centre = value;
      constexpr double kStep = 1e-5;
      value = centre + kStep;
      const HostStep above = host_step(model, group.degree, view.camera, photo);
      value = centre - kStep;
      const HostStep below = host_step(model, group.degree, view.camera, photo);
      value = centre;
      // Only away from the discontinuities: no contribution may come or go. Where a pixel equals
      // its photo L1 has a kink; that makes single comparisons inexact, hence the norm.
      if (above.recording.masks != base.recording.masks ||
          below.recording.masks != base.recording.masks) {
        continue;
      }
      const double expected = (above.loss.value - below.loss.value) / (2 * kStep);
      const double actual = base.gradients[i].row[row];
      difference2 += (actual - expected) * (actual - expected);
      norm2 += expected * expected;
      ++compared;
    }
  }
  EXPECT_GE(compared, 20);
  EXPECT_GT(norm2, 0);
  EXPECT_LT(std::sqrt(difference2 / norm2), 1e-4);
}

INSTANTIATE_TEST_SUITE_P(AllGroups, ParameterGradient,
                         testing::Values(GradientCase{"position", kPositionRow, kScaleRow, 0},
                                         GradientCase{"position_by_colour", kPositionRow, kScaleRow,
                                                      3},
                                         GradientCase{"scale", kScaleRow, kRotationRow, 1},
                                         GradientCase{"rotation", kRotationRow, kOpacityRow, 1},
                                         GradientCase{"opacity", kOpacityRow, kColorRow, 0},
                                         GradientCase{"colour", kColorRow, kColorRow + 3, 2},
                                         GradientCase{"harmonics", kColorRow + 3, kRows, 3}),
                         [](const auto& spec) { return std::string(spec.param.name); });

TEST(ParameterGradients, AreZeroBeyondTheDegreeAndWhereNothingIsSeen) {
  const TrainingScene scene = random_training_scene(200, 61, 47, 3);
  const HostStep step =
      host_step(exact(scene.model), 1, scene.views[1].camera, exact_photo(scene.views[1]));
  std::size_t unseen = 0;
  for (std::size_t i = 0; i < scene.model.size(); ++i) {
    for (int row = active_rows(1); row < kRows; ++row) {
      EXPECT_EQ(step.gradients[i].row[row], 0);
    }
    unseen += step.radii[i] == 0 ? 1U : 0U;
    if (step.radii[i] == 0) {
      EXPECT_EQ(step.gradients[i].row[kPositionRow], 0);
    }
  }
  EXPECT_GT(unseen, 0U);
}

TEST(Adam, FirstStepsAreAsLargeAsTheRate) {
  // With a gradient that stays the same every step is the rate.
  double mean = 0, variance = 0, parameter = 1;
  for (int t = 1; t <= 5; ++t) {
    const AdamStep<double> step{1 / (1 - std::pow(kBeta1, t)), 1 / (1 - std::pow(kBeta2, t))};
    adam(-3.0, 0.1, step, mean, variance, parameter);
    EXPECT_NEAR(parameter, 1 + 0.1 * t, 1e-9);
  }
  // No gradient, no past: nothing moves.
  mean = variance = 0;
  const double before = parameter;
  adam(0.0, 0.1, AdamStep<double>{1, 1}, mean, variance, parameter);
  EXPECT_EQ(parameter, before);
}

TEST(Settings, RatesAndDegreesFollowTheSchedule) {
  EXPECT_NEAR(rates_at(0, 2.0).position, 3.2e-4, 1e-9);
  EXPECT_NEAR(rates_at(30'000, 2.0).position, 3.2e-6, 1e-11);
  EXPECT_NEAR(rates_at(15'000, 1.0).position, 1.6e-5, 1e-9);
  const Settings settings;
  EXPECT_EQ(degree_at(settings, 999, kMaxDegree), 0);
  EXPECT_EQ(degree_at(settings, 1000, kMaxDegree), 1);
  EXPECT_EQ(degree_at(settings, 7000, kMaxDegree), 3);
  EXPECT_FALSE(densifies_at(settings, 500));
  EXPECT_TRUE(densifies_at(settings, 600));
  EXPECT_FALSE(densifies_at(settings, 15'000));
  EXPECT_TRUE(resets_at(settings, 3000));
}

TEST(HostStep, TrainingLowersTheLoss) {
  // Adam by the reference's gradients, from a random start.
  constexpr int kWidth = 48, kHeight = 36;
  const TrainingScene scene = random_training_scene(150, kWidth, kHeight, 2);
  const std::vector<double> photo = exact_photo(scene.views[0]);
  ExactModel model = exact(scene.model);
  ExactModel means(model.size()), variances(model.size());
  const Rates rates = rates_at(0, 5.0);
  double first = 0;
  double last = 0;
  for (int t = 1; t <= 60; ++t) {
    const HostStep step = host_step(model, 1, scene.views[0].camera, photo);
    (t == 1 ? first : last) = step.loss.value;
    const AdamStep<double> unbias{1 / (1 - std::pow(kBeta1, t)), 1 / (1 - std::pow(kBeta2, t))};
    for (std::size_t i = 0; i < model.size(); ++i) {
      for (int row = 0; row < active_rows(1); ++row) {
        const double rate = static_cast<double>(row < kScaleRow       ? rates.position
                                                : row < kRotationRow  ? rates.scale
                                                : row < kOpacityRow   ? rates.rotation
                                                : row < kColorRow     ? rates.opacity
                                                : row < kColorRow + 3 ? rates.color
                                                                      : rates.harmonics);
        adam(step.gradients[i].row[row], rate, unbias, means[i].row[row], variances[i].row[row],
             model[i].row[row]);
      }
    }
  }
  EXPECT_LT(last, 0.85 * first);
}

}  // namespace
}  // namespace warpfold::capture::training

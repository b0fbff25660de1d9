// SPDX-License-Identifier: Apache-2.0
#include "traces/capture/training/host_step.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "traces/capture/training/image_loss.cuh"

namespace warpfold::capture::training {
namespace {

constexpr std::size_t kChannels = 3;

// `values` of one channel under the window, zeros beyond the picture.
std::vector<double> blur(std::span<const double> values, int width, int height) {
  const WindowWeights<double> window = make_window();
  const auto at = [width](int x, int y) {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
           static_cast<std::size_t>(x);
  };
  std::vector<double> rows(values.size(), 0.0);
  std::vector<double> result(values.size(), 0.0);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int t = std::max(-kWindowRadius, -x); t <= std::min(kWindowRadius, width - 1 - x); ++t) {
        rows[at(x, y)] += window.at[t + kWindowRadius] * values[at(x + t, y)];
      }
    }
  }
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int t = std::max(-kWindowRadius, -y); t <= std::min(kWindowRadius, height - 1 - y);
           ++t) {
        result[at(x, y)] += window.at[t + kWindowRadius] * rows[at(x, y + t)];
      }
    }
  }
  return result;
}

std::vector<double> product(std::span<const double> a, std::span<const double> b) {
  std::vector<double> result(a.begin(), a.end());
  for (std::size_t i = 0; i < result.size(); ++i) {
    result[i] *= b[i];
  }
  return result;
}

}  // namespace

ImageLoss image_loss(std::span<const double> image, std::span<const double> photo, int width,
                     int height) {
  const std::size_t pixels = image.size() / kChannels;
  const auto elements = static_cast<double>(image.size());
  ImageLoss loss;
  loss.gradient.resize(image.size());
  double difference = 0;
  double similarity = 0;
  for (std::size_t c = 0; c < kChannels; ++c) {
    const auto x = image.subspan(c * pixels, pixels);
    const auto y = photo.subspan(c * pixels, pixels);
    const auto mean_x = blur(x, width, height), mean_y = blur(y, width, height);
    const auto xx = blur(product(x, x), width, height), yy = blur(product(y, y), width, height);
    const auto xy = blur(product(x, y), width, height);
    std::vector<double> by_x(pixels), by_xx(pixels), by_xy(pixels);
    for (std::size_t i = 0; i < pixels; ++i) {
      const Ssim<double> s = ssim(Moments<double>{mean_x[i], mean_y[i], xx[i], yy[i], xy[i]});
      similarity += s.value;
      difference += std::abs(x[i] - y[i]);
      by_x[i] = s.by_x;
      by_xx[i] = s.by_xx;
      by_xy[i] = s.by_xy;
    }
    by_x = blur(by_x, width, height);
    by_xx = blur(by_xx, width, height);
    by_xy = blur(by_xy, width, height);
    for (std::size_t i = 0; i < pixels; ++i) {
      loss.gradient[c * pixels + i] =
          loss_gradient_at(x[i], y[i], Ssim<double>{0, by_x[i], by_xx[i], by_xy[i]}, elements);
    }
  }
  loss.value =
      (1 - kSsimWeight) * difference / elements + kSsimWeight * (1 - similarity / elements);
  return loss;
}

HostStep host_step(std::span<const Parameters<double>> model, int degree, const Camera& camera,
                   std::span<const double> photo, std::span<const float> dl_dimage) {
  std::vector<reference::WorldGaussian> world(model.size());
  for (std::size_t i = 0; i < model.size(); ++i) {
    activate(model[i], degree, camera, world[i]);
  }
  const auto projected = reference::project(world, camera);
  std::vector<reference::Gaussian> gaussians;
  HostStep step;
  for (const reference::Projected& p : projected) {
    gaussians.push_back(p.gaussian);
    step.radii.push_back(p.radius);
  }
  const TileLists lists = reference::make_lists(projected, camera);
  const reference::Frame frame = reference::render(gaussians, lists, camera);
  step.image = frame.image;
  step.loss = image_loss(frame.image, photo, camera.width, camera.height);
  const std::vector<float> own(step.loss.gradient.begin(), step.loss.gradient.end());
  const std::vector<double> added = reference::backward(
      gaussians, lists, camera, frame, dl_dimage.empty() ? own : dl_dimage, &step.recording);
  step.gradients.assign(model.size(), Parameters<double>{});
  step.norms.assign(model.size(), 0.0);
  for (std::size_t i = 0; i < model.size(); ++i) {
    if (step.radii[i] == 0) {
      continue;
    }
    const double* from = added.data() + i * kParameters;
    const RenderGradients<double> dl{
        {from[0], from[1]}, {from[2], from[3], from[4]}, from[5], {from[6], from[7], from[8]}};
    parameter_gradients(model[i], degree, camera, dl, step.gradients[i]);
    step.norms[i] = std::hypot(from[0], from[1]);
  }
  return step;
}

}  // namespace warpfold::capture::training

// SPDX-License-Identifier: Apache-2.0
// The loss of 3D Gaussian Splatting, (1 - lambda) L1 + lambda (1 - SSIM), at one element of the
// picture. SSIM is that of Wang et al. (2004) with a Gaussian window of 11x11, sigma 1.5, zeros
// beyond the picture, and its mean over all pixels and channels.
#pragma once

#include <cmath>

#include "traces/capture/training/host_device.cuh"

namespace warpfold::capture::training {

inline constexpr int kWindowRadius = 5;
inline constexpr int kWindow = 2 * kWindowRadius + 1;
inline constexpr double kWindowSigma = 1.5;
inline constexpr double kSsimWeight = 0.2;  // lambda

// One axis of the window, with sum 1; the window is the product of two.
template <class Real>
struct WindowWeights {
  Real at[kWindow];
};

[[nodiscard]] inline WindowWeights<double> make_window() {
  WindowWeights<double> window{};
  double sum = 0;
  for (int t = 0; t < kWindow; ++t) {
    const double distance = t - kWindowRadius;
    window.at[t] = std::exp(-distance * distance / (2 * kWindowSigma * kWindowSigma));
    sum += window.at[t];
  }
  for (double& weight : window.at) {
    weight /= sum;
  }
  return window;
}

// Moments of the rendered picture x and the photo y under the window: mean of x, y, x^2, y^2, xy.
template <class Real>
struct Moments {
  Real x, y, xx, yy, xy;
};

// SSIM of one window, and its derivatives by the moments that hold x.
template <class Real>
struct Ssim {
  Real value;
  Real by_x, by_xx, by_xy;
};

template <class Real>
WARPFOLD_HOST_DEVICE Ssim<Real> ssim(const Moments<Real>& m) {
  constexpr Real c1 = Real(0.01 * 0.01);
  constexpr Real c2 = Real(0.03 * 0.03);
  const Real luminance_above = 2 * m.x * m.y + c1;
  const Real luminance_below = m.x * m.x + m.y * m.y + c1;
  const Real structure_above = 2 * (m.xy - m.x * m.y) + c2;
  const Real structure_below = (m.xx - m.x * m.x) + (m.yy - m.y * m.y) + c2;
  const Real scale = Real(1) / (luminance_below * structure_below);
  Ssim<Real> s;
  s.value = luminance_above * structure_above * scale;
  s.by_x = 2 * m.y * (structure_above - luminance_above) * scale -
           2 * m.x * s.value * (Real(1) / luminance_below - Real(1) / structure_below);
  s.by_xx = -s.value / structure_below;
  s.by_xy = 2 * luminance_above * scale;
  return s;
}

// Gradient of the loss by one element x. `s` holds Ssim's derivatives after a second pass of the
// window over them, `elements` is the number of pixels times channels.
template <class Real>
WARPFOLD_HOST_DEVICE Real loss_gradient_at(Real x, Real y, const Ssim<Real>& s, Real elements) {
  const Real lambda = Real(kSsimWeight);
  const Real sign = x > y ? Real(1) : x < y ? Real(-1) : Real(0);
  const Real by_ssim = s.by_x + 2 * x * s.by_xx + y * s.by_xy;
  return ((1 - lambda) * sign - lambda * by_ssim) / elements;
}

}  // namespace warpfold::capture::training

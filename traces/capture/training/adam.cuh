// SPDX-License-Identifier: Apache-2.0
// One step of Adam (Kingma and Ba, 2015) for one parameter.
#pragma once

#include "traces/capture/training/host_device.cuh"

namespace warpfold::capture::training {

inline constexpr double kBeta1 = 0.9;
inline constexpr double kBeta2 = 0.999;

// Constants of a step, the same for all parameters: 1 / (1 - beta^t) of the t-th step.
template <class Real>
struct AdamStep {
  Real unbias1;
  Real unbias2;
};

template <class Real>
WARPFOLD_HOST_DEVICE void adam(Real gradient, Real rate, const AdamStep<Real>& step, Real& mean,
                               Real& variance, Real& parameter) {
  constexpr Real beta1 = Real(kBeta1), beta2 = Real(kBeta2), epsilon = Real(1e-15);
  mean = beta1 * mean + (1 - beta1) * gradient;
  variance = beta2 * variance + (1 - beta2) * gradient * gradient;
  parameter -= rate * mean * step.unbias1 / (square_root(variance * step.unbias2) + epsilon);
}

}  // namespace warpfold::capture::training

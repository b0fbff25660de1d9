// SPDX-License-Identifier: Apache-2.0
// Functions that run on the GPU in single precision, and on the host in double precision for the
// tests, are written once, as templates over their type of number, and marked with
// WARPFOLD_HOST_DEVICE.
#pragma once

#if defined(__CUDACC__)
#define WARPFOLD_HOST_DEVICE __host__ __device__ __forceinline__
#else
#include <cmath>
#define WARPFOLD_HOST_DEVICE inline
#endif

namespace warpfold::capture::training {

WARPFOLD_HOST_DEVICE float exponential(float x) {
  return expf(x);
}
WARPFOLD_HOST_DEVICE double exponential(double x) {
  return exp(x);
}
WARPFOLD_HOST_DEVICE float square_root(float x) {
  return sqrtf(x);
}
WARPFOLD_HOST_DEVICE double square_root(double x) {
  return sqrt(x);
}

WARPFOLD_HOST_DEVICE float natural_logarithm(float x) {
  return logf(x);
}
WARPFOLD_HOST_DEVICE double natural_logarithm(double x) {
  return log(x);
}
WARPFOLD_HOST_DEVICE float cosine(float x) {
  return cosf(x);
}
WARPFOLD_HOST_DEVICE double cosine(double x) {
  return cos(x);
}

}  // namespace warpfold::capture::training

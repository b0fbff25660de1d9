// SPDX-License-Identifier: Apache-2.0
// What a Gaussian adds to the gradient of the camera it is seen by, on device and host. With
// rotation R and translation t of the camera, the mean m becomes R m + t and the covariance S
// becomes R S R^T.
#pragma once

#ifndef __CUDACC__
#include "traces/capture/common/cuda_on_host.hpp"
#endif

namespace warpfold::capture::camera_pose {

inline constexpr int kPoseValues = 12;  // dL/dR by rows, each followed by its element of dL/dt
inline constexpr int kSymmetric = 6;    // xx, xy, xz, yy, yz, zz

__device__ __forceinline__ int symmetric_place(int row, int column) {
  const int low = row < column ? row : column;
  const int high = row < column ? column : row;
  return low * (5 - low) / 2 + high;
}

// mean, covariance: in the world. d_mean, d_covariance: dL/d of them in the camera's space, the
// latter a symmetric matrix. dL/dR = d_mean m^T + 2 d_covariance R S.
__device__ __forceinline__ void pose_gradient(const float (&rotation)[9], const float (&mean)[3],
                                              const float (&covariance)[kSymmetric],
                                              const float (&d_mean)[3],
                                              const float (&d_covariance)[kSymmetric],
                                              float (&gradient)[kPoseValues]) {
  float turned[3][3];  // R S
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      float sum = __fmul_rn(rotation[3 * i], covariance[symmetric_place(0, j)]);
      sum = __fmaf_rn(rotation[3 * i + 1], covariance[symmetric_place(1, j)], sum);
      turned[i][j] = __fmaf_rn(rotation[3 * i + 2], covariance[symmetric_place(2, j)], sum);
    }
  }
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      float sum = __fmul_rn(d_covariance[symmetric_place(i, 0)], turned[0][j]);
      sum = __fmaf_rn(d_covariance[symmetric_place(i, 1)], turned[1][j], sum);
      sum = __fmaf_rn(d_covariance[symmetric_place(i, 2)], turned[2][j], sum);
      gradient[4 * i + j] = __fmaf_rn(2.0F, sum, __fmul_rn(d_mean[i], mean[j]));
    }
    gradient[4 * i + 3] = d_mean[i];
  }
}

}  // namespace warpfold::capture::camera_pose

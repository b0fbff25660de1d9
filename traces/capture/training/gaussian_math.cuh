// SPDX-License-Identifier: Apache-2.0
// What a trained Gaussian is, and how the gradients that the backward render kernel adds up become
// gradients of its parameters. One Gaussian at a time; `Real` is float on the GPU and double in the
// tests, which hold every function here against finite differences.
#pragma once

#include "traces/capture/splat/scene.hpp"
#include "traces/capture/training/host_device.cuh"

namespace warpfold::capture::training {

inline constexpr int kMaxDegree = 3;
inline constexpr int kCoefficients = (kMaxDegree + 1) * (kMaxDegree + 1);

// The rows of a model's parameters: one value for each Gaussian in each row.
inline constexpr int kPositionRow = 0;  // 3
inline constexpr int kScaleRow = 3;     // 3, logarithm
inline constexpr int kRotationRow = 6;  // 4, quaternion w, x, y, z of any length
inline constexpr int kOpacityRow = 10;  // 1, before the logistic function
inline constexpr int kColorRow = 11;    // 3 for each coefficient of the spherical harmonics
inline constexpr int kRows = kColorRow + 3 * kCoefficients;

WARPFOLD_HOST_DEVICE constexpr int coefficients(int degree) {
  return (degree + 1) * (degree + 1);
}
// Rows that take part at a degree: those of higher coefficients come last.
WARPFOLD_HOST_DEVICE constexpr int active_rows(int degree) {
  return kColorRow + 3 * coefficients(degree);
}

// The parameters of one Gaussian.
template <class Real>
struct Parameters {
  Real row[kRows];
};

template <class Real>
WARPFOLD_HOST_DEVICE Real logistic(Real x) {
  return Real(1) / (Real(1) + exponential(-x));
}

// Real spherical harmonics up to degree 3 with the Condon-Shortley phase, at a unit vector, by
// degree and then order from -degree to degree.
template <class Real>
WARPFOLD_HOST_DEVICE void harmonics(int degree, Real x, Real y, Real z,
                                    Real (&out)[kCoefficients]) {
  out[0] = Real(0.28209479177387814);  // sqrt(1 / (4 pi))
  if (degree < 1) {
    return;
  }
  constexpr Real k1 = Real(0.4886025119029199);  // sqrt(3 / (4 pi))
  out[1] = -k1 * y;
  out[2] = k1 * z;
  out[3] = -k1 * x;
  if (degree < 2) {
    return;
  }
  constexpr Real k2a = Real(1.0925484305920792);   // sqrt(15 / (4 pi))
  constexpr Real k2b = Real(0.31539156525252005);  // sqrt(5 / (16 pi))
  constexpr Real k2c = Real(0.5462742152960396);   // sqrt(15 / (16 pi))
  out[4] = k2a * x * y;
  out[5] = -k2a * y * z;
  out[6] = k2b * (2 * z * z - x * x - y * y);
  out[7] = -k2a * x * z;
  out[8] = k2c * (x * x - y * y);
  if (degree < 3) {
    return;
  }
  constexpr Real k3a = Real(0.5900435899266435);  // sqrt(35 / (32 pi))
  constexpr Real k3b = Real(2.890611442640554);   // sqrt(105 / (4 pi))
  constexpr Real k3c = Real(0.4570457994644658);  // sqrt(21 / (32 pi))
  constexpr Real k3d = Real(0.3731763325901154);  // sqrt(7 / (16 pi))
  constexpr Real k3e = Real(1.445305721320277);   // sqrt(105 / (16 pi))
  out[9] = -k3a * y * (3 * x * x - y * y);
  out[10] = k3b * x * y * z;
  out[11] = -k3c * y * (4 * z * z - x * x - y * y);
  out[12] = k3d * z * (2 * z * z - 3 * x * x - 3 * y * y);
  out[13] = -k3c * x * (4 * z * z - x * x - y * y);
  out[14] = k3e * z * (x * x - y * y);
  out[15] = -k3a * x * (x * x - 3 * y * y);
}

// Gradient of sum_k weight[k] harmonic_k by the vector, all three components taken as free.
template <class Real>
WARPFOLD_HOST_DEVICE void harmonics_gradient(int degree, Real x, Real y, Real z,
                                             const Real (&weight)[kCoefficients], Real (&out)[3]) {
  out[0] = out[1] = out[2] = 0;
  if (degree < 1) {
    return;
  }
  constexpr Real k1 = Real(0.4886025119029199);
  out[0] -= k1 * weight[3];
  out[1] -= k1 * weight[1];
  out[2] += k1 * weight[2];
  if (degree < 2) {
    return;
  }
  constexpr Real k2a = Real(1.0925484305920792);
  constexpr Real k2b = Real(0.31539156525252005);
  constexpr Real k2c = Real(0.5462742152960396);
  out[0] +=
      k2a * (y * weight[4] - z * weight[7]) - 2 * k2b * x * weight[6] + 2 * k2c * x * weight[8];
  out[1] +=
      k2a * (x * weight[4] - z * weight[5]) - 2 * k2b * y * weight[6] - 2 * k2c * y * weight[8];
  out[2] += 4 * k2b * z * weight[6] - k2a * (y * weight[5] + x * weight[7]);
  if (degree < 3) {
    return;
  }
  constexpr Real k3a = Real(0.5900435899266435);
  constexpr Real k3b = Real(2.890611442640554);
  constexpr Real k3c = Real(0.4570457994644658);
  constexpr Real k3d = Real(0.3731763325901154);
  constexpr Real k3e = Real(1.445305721320277);
  const Real xx = x * x, yy = y * y, zz = z * z;
  out[0] += -6 * k3a * x * y * weight[9] + k3b * y * z * weight[10] + 2 * k3c * x * y * weight[11] -
            6 * k3d * x * z * weight[12] - k3c * (4 * zz - 3 * xx - yy) * weight[13] +
            2 * k3e * x * z * weight[14] - 3 * k3a * (xx - yy) * weight[15];
  out[1] += -3 * k3a * (xx - yy) * weight[9] + k3b * x * z * weight[10] -
            k3c * (4 * zz - xx - 3 * yy) * weight[11] - 6 * k3d * y * z * weight[12] +
            2 * k3c * x * y * weight[13] - 2 * k3e * y * z * weight[14] +
            6 * k3a * x * y * weight[15];
  out[2] += k3b * x * y * weight[10] - 8 * k3c * y * z * weight[11] +
            k3d * (6 * zz - 3 * xx - 3 * yy) * weight[12] - 8 * k3c * x * z * weight[13] +
            k3e * (xx - yy) * weight[14];
}

// Where the camera is in the world.
template <class Real>
WARPFOLD_HOST_DEVICE void camera_centre(const Camera& camera, Real (&out)[3]) {
  for (int axis = 0; axis < 3; ++axis) {
    out[axis] = 0;
    for (int r = 0; r < 3; ++r) {
      out[axis] -= Real(camera.view[4 * r + axis]) * Real(camera.view[4 * r + 3]);
    }
  }
}

// From the camera to the Gaussian: unit vector, and the distance.
template <class Real>
WARPFOLD_HOST_DEVICE Real direction(const Parameters<Real>& p, const Camera& camera,
                                    Real (&out)[3]) {
  camera_centre(camera, out);
  Real length2 = 0;
  for (int axis = 0; axis < 3; ++axis) {
    out[axis] = p.row[kPositionRow + axis] - out[axis];
    length2 += out[axis] * out[axis];
  }
  const Real length = square_root(length2);
  for (Real& value : out) {
    value /= length;
  }
  return length;
}

// The colour of one channel before it is cut off at zero.
template <class Real>
WARPFOLD_HOST_DEVICE Real raw_color(const Parameters<Real>& p, int degree, int channel,
                                    const Real (&basis)[kCoefficients]) {
  Real sum = Real(0.5);
  for (int k = 0; k < coefficients(degree); ++k) {
    sum += basis[k] * p.row[kColorRow + 3 * k + channel];
  }
  return sum;
}

// The Gaussian as the rasterizer takes it, seen by `camera`. SceneGaussian's numbers are floats, so
// in the tests `Out` is a struct of the same members in double.
template <class Real, class Out>
WARPFOLD_HOST_DEVICE void activate(const Parameters<Real>& p, int degree, const Camera& camera,
                                   Out& out) {
  for (int axis = 0; axis < 3; ++axis) {
    out.position[axis] = p.row[kPositionRow + axis];
    out.scale[axis] = exponential(p.row[kScaleRow + axis]);
  }
  for (int k = 0; k < 4; ++k) {
    out.rotation[k] = p.row[kRotationRow + k];
  }
  out.opacity = logistic(p.row[kOpacityRow]);
  Real d[3];
  direction(p, camera, d);
  Real basis[kCoefficients];
  harmonics(degree, d[0], d[1], d[2], basis);
  for (int channel = 0; channel < 3; ++channel) {
    const Real raw = raw_color(p, degree, channel, basis);
    out.color[channel] = raw > 0 ? raw : Real(0);
  }
}

// What the backward render kernel adds up for one Gaussian, in the order of kGradientSlots: by the
// mean in normalised device coordinates (2), by the conic's a, half of that by its b, and c (3), by
// the opacity, and by the colour (3).
template <class Real>
struct RenderGradients {
  Real mean[2];
  Real conic[3];
  Real opacity;
  Real color[3];
};

// Adds the part of the gradient that goes through the colour.
template <class Real>
WARPFOLD_HOST_DEVICE void color_backward(const Parameters<Real>& p, int degree,
                                         const Camera& camera, const RenderGradients<Real>& dl,
                                         Parameters<Real>& out) {
  Real d[3];
  const Real length = direction(p, camera, d);
  Real basis[kCoefficients];
  harmonics(degree, d[0], d[1], d[2], basis);
  Real weight[kCoefficients];
  for (int k = 0; k < coefficients(degree); ++k) {
    weight[k] = 0;
  }
  for (int channel = 0; channel < 3; ++channel) {
    if (!(raw_color(p, degree, channel, basis) > 0)) {
      continue;  // cut off
    }
    for (int k = 0; k < coefficients(degree); ++k) {
      const int row = kColorRow + 3 * k + channel;
      out.row[row] += basis[k] * dl.color[channel];
      weight[k] += p.row[row] * dl.color[channel];
    }
  }
  // By the position, through the unit vector: what lies across it, over the distance.
  Real by_direction[3];
  harmonics_gradient(degree, d[0], d[1], d[2], weight, by_direction);
  const Real along = d[0] * by_direction[0] + d[1] * by_direction[1] + d[2] * by_direction[2];
  for (int axis = 0; axis < 3; ++axis) {
    out.row[kPositionRow + axis] += (by_direction[axis] - along * d[axis]) / length;
  }
}

template <class Real>
WARPFOLD_HOST_DEVICE void rotation_matrix(const Parameters<Real>& p, Real (&out)[3][3]) {
  const Real* q = p.row + kRotationRow;
  const Real inverse = Real(1) / square_root(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  const Real w = q[0] * inverse, x = q[1] * inverse, y = q[2] * inverse, z = q[3] * inverse;
  out[0][0] = 1 - 2 * (y * y + z * z);
  out[0][1] = 2 * (x * y - w * z);
  out[0][2] = 2 * (x * z + w * y);
  out[1][0] = 2 * (x * y + w * z);
  out[1][1] = 1 - 2 * (x * x + z * z);
  out[1][2] = 2 * (y * z - w * x);
  out[2][0] = 2 * (x * z - w * y);
  out[2][1] = 2 * (y * z + w * x);
  out[2][2] = 1 - 2 * (x * x + y * y);
}

// Adds the part that goes through a rotation matrix's entries, dl[row][column], to the quaternion.
template <class Real>
WARPFOLD_HOST_DEVICE void rotation_backward(const Parameters<Real>& p, const Real (&dl)[3][3],
                                            Parameters<Real>& out) {
  const Real* q = p.row + kRotationRow;
  const Real inverse = Real(1) / square_root(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  const Real w = q[0] * inverse, x = q[1] * inverse, y = q[2] * inverse, z = q[3] * inverse;
  const Real unit[4] = {w, x, y, z};
  const Real by_unit[4] = {
      2 * (x * (dl[2][1] - dl[1][2]) + y * (dl[0][2] - dl[2][0]) + z * (dl[1][0] - dl[0][1])),
      2 * (w * (dl[2][1] - dl[1][2]) + y * (dl[0][1] + dl[1][0]) + z * (dl[0][2] + dl[2][0])) -
          4 * x * (dl[1][1] + dl[2][2]),
      2 * (w * (dl[0][2] - dl[2][0]) + x * (dl[0][1] + dl[1][0]) + z * (dl[1][2] + dl[2][1])) -
          4 * y * (dl[0][0] + dl[2][2]),
      2 * (w * (dl[1][0] - dl[0][1]) + x * (dl[0][2] + dl[2][0]) + y * (dl[1][2] + dl[2][1])) -
          4 * z * (dl[0][0] + dl[1][1])};
  Real along = 0;
  for (int k = 0; k < 4; ++k) {
    along += unit[k] * by_unit[k];
  }
  for (int k = 0; k < 4; ++k) {
    out.row[kRotationRow + k] += (by_unit[k] - along * unit[k]) * inverse;
  }
}

// Adds the part that goes through the projection: by position, scale and rotation. The names are
// those of the preprocess kernel, whose steps this takes back: cov2D = M M^T + low pass,
// M = J W R S, and conic = cov2D^-1.
template <class Real>
WARPFOLD_HOST_DEVICE void projection_backward(const Parameters<Real>& p, const Camera& camera,
                                              const RenderGradients<Real>& dl,
                                              Parameters<Real>& out) {
  constexpr Real kLowPass = Real(0.3F);
  const float* view = camera.view;
  Real t[3];
  for (int r = 0; r < 3; ++r) {
    t[r] = Real(view[4 * r + 3]);
    for (int axis = 0; axis < 3; ++axis) {
      t[r] += Real(view[4 * r + axis]) * p.row[kPositionRow + axis];
    }
  }
  const Real slope[2] = {t[0] / t[2], t[1] / t[2]};
  const Real limit[2] = {Real(1.3F) * Real(camera.tan_x), Real(1.3F) * Real(camera.tan_y)};
  const Real focal[2] = {Real(camera.focal_x), Real(camera.focal_y)};
  Real clamped[2];
  for (int r = 0; r < 2; ++r) {
    clamped[r] = slope[r] > limit[r] ? limit[r] : slope[r] < -limit[r] ? -limit[r] : slope[r];
  }

  Real rotation[3][3];
  rotation_matrix(p, rotation);
  Real turned[3][3];  // W R
  Real scale[3];
  Real m[2][3];
  for (int axis = 0; axis < 3; ++axis) {
    scale[axis] = exponential(p.row[kScaleRow + axis]);
    for (int r = 0; r < 3; ++r) {
      turned[r][axis] = Real(view[4 * r]) * rotation[0][axis] +
                        Real(view[4 * r + 1]) * rotation[1][axis] +
                        Real(view[4 * r + 2]) * rotation[2][axis];
    }
    for (int r = 0; r < 2; ++r) {
      m[r][axis] = focal[r] / t[2] * (turned[r][axis] - clamped[r] * turned[2][axis]) * scale[axis];
    }
  }
  const Real a = m[0][0] * m[0][0] + m[0][1] * m[0][1] + m[0][2] * m[0][2] + kLowPass;
  const Real b = m[0][0] * m[1][0] + m[0][1] * m[1][1] + m[0][2] * m[1][2];
  const Real c = m[1][0] * m[1][0] + m[1][1] * m[1][1] + m[1][2] * m[1][2] + kLowPass;
  const Real determinant = a * c - b * b;
  const Real conic[3] = {c / determinant, -b / determinant, a / determinant};

  // By cov2D = [a b; b c]: -K G K, with K the conic and G the gradient by it as a matrix.
  const Real g[2][2] = {{dl.conic[0], dl.conic[1]}, {dl.conic[1], dl.conic[2]}};
  const Real k[2][2] = {{conic[0], conic[1]}, {conic[1], conic[2]}};
  Real gk[2][2];
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      gk[i][j] = g[i][0] * k[0][j] + g[i][1] * k[1][j];
    }
  }
  Real by_cov[2][2];
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      by_cov[i][j] = -(k[i][0] * gk[0][j] + k[i][1] * gk[1][j]);
    }
  }

  Real by_clamped[2] = {0, 0};
  Real by_depth = 0;
  Real by_rotation[3][3];
  for (int axis = 0; axis < 3; ++axis) {
    Real by_scale = 0;
    Real by_turned[3] = {0, 0, 0};
    for (int r = 0; r < 2; ++r) {
      const Real by_m = 2 * (by_cov[r][0] * m[0][axis] + by_cov[r][1] * m[1][axis]);
      by_scale += by_m * m[r][axis];  // by its logarithm
      by_depth -= by_m * m[r][axis] / t[2];
      const Real by_inner = by_m * focal[r] / t[2] * scale[axis];
      by_turned[r] += by_inner;
      by_turned[2] -= by_inner * clamped[r];
      by_clamped[r] -= by_inner * turned[2][axis];
    }
    out.row[kScaleRow + axis] += by_scale;
    for (int j = 0; j < 3; ++j) {
      by_rotation[j][axis] = Real(view[j]) * by_turned[0] + Real(view[4 + j]) * by_turned[1] +
                             Real(view[8 + j]) * by_turned[2];
    }
  }
  rotation_backward(p, by_rotation, out);

  // By the position in front of the camera: through the mean and through the Jacobian.
  Real by_t[3] = {0, 0, by_depth};
  const Real half[2] = {Real(0.5) * Real(camera.width), Real(0.5) * Real(camera.height)};
  for (int r = 0; r < 2; ++r) {
    const Real by_slope =
        dl.mean[r] / half[r] * focal[r] + (clamped[r] == slope[r] ? by_clamped[r] : Real(0));
    by_t[r] += by_slope / t[2];
    by_t[2] -= by_slope * slope[r] / t[2];
  }
  for (int axis = 0; axis < 3; ++axis) {
    out.row[kPositionRow + axis] += Real(view[axis]) * by_t[0] + Real(view[4 + axis]) * by_t[1] +
                                    Real(view[8 + axis]) * by_t[2];
  }
}

// The whole gradient of one visible Gaussian. Rows beyond active_rows(degree) are left as they are.
template <class Real>
WARPFOLD_HOST_DEVICE void parameter_gradients(const Parameters<Real>& p, int degree,
                                              const Camera& camera, const RenderGradients<Real>& dl,
                                              Parameters<Real>& out) {
  for (int row = 0; row < active_rows(degree); ++row) {
    out.row[row] = 0;
  }
  projection_backward(p, camera, dl, out);
  color_backward(p, degree, camera, dl, out);
  const Real opacity = logistic(p.row[kOpacityRow]);
  out.row[kOpacityRow] = dl.opacity * opacity * (1 - opacity);
}

}  // namespace warpfold::capture::training

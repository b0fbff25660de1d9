// SPDX-License-Identifier: Apache-2.0
// Where a direction falls on a cubemap: one face, four texels, bilinear. Shared by the kernels and,
// on the host, their tests; explicit rounding, so that every kernel computes the same bits.
//
// Face 2 k is that of +x, +y, +z for k = 0, 1, 2, face 2 k + 1 its opposite. On a face u and v are
// the two other coordinates in the order x, y, z, over the largest, from -1 to 1; texel (i, j) has
// its centre at ((2 i + 1) / size - 1, (2 j + 1) / size - 1) and the index (face * size + j) * size
// + i. A footprint that reaches over the edge of a face takes the texels on the edge.
#pragma once

#include "traces/capture/common/kernel_math.cuh"

namespace warpfold::capture::envmap {

struct Direction {
  float x, y, z;
};

struct CubeFootprint {
  int face;
  int i0, i1;  // columns
  int j0, j1;  // rows
  float fi;    // share of column i1
  float fj;
};

// The direction need not be of length 1; not all of it is 0.
__device__ __forceinline__ CubeFootprint cube_footprint(Direction d, int size) {
  const float ax = fabsf(d.x);
  const float ay = fabsf(d.y);
  const float az = fabsf(d.z);
  const bool is_x = ax >= ay && ax >= az;
  const bool is_y = !is_x && ay >= az;
  const float major = is_x ? d.x : (is_y ? d.y : d.z);
  const float u = is_x ? d.y : d.x;
  const float v = is_x || is_y ? d.z : d.y;
  CubeFootprint f;
  f.face = (is_x ? 0 : (is_y ? 2 : 4)) + (major < 0.0F ? 1 : 0);
  const float inverse = reciprocal_approx(fabsf(major));
  const float half = __fmul_rn(0.5F, static_cast<float>(size));
  // In texels, from the centre of the first.
  const float offset = __fsub_rn(half, 0.5F);
  const float last = static_cast<float>(size - 1);
  const float s = fminf(fmaxf(__fmaf_rn(__fmul_rn(u, inverse), half, offset), 0.0F), last);
  const float t = fminf(fmaxf(__fmaf_rn(__fmul_rn(v, inverse), half, offset), 0.0F), last);
  f.i0 = static_cast<int>(s);
  f.j0 = static_cast<int>(t);
  f.i1 = f.i0 + 1 < size ? f.i0 + 1 : f.i0;
  f.j1 = f.j0 + 1 < size ? f.j0 + 1 : f.j0;
  f.fi = __fsub_rn(s, static_cast<float>(f.i0));
  f.fj = __fsub_rn(t, static_cast<float>(f.j0));
  return f;
}

// Corner 0 to 3: the texel's index and its share.
__device__ __forceinline__ int corner_texel(const CubeFootprint& f, int size, int corner) {
  const int i = (corner & 1) != 0 ? f.i1 : f.i0;
  const int j = (corner & 2) != 0 ? f.j1 : f.j0;
  return (f.face * size + j) * size + i;
}
__device__ __forceinline__ float corner_weight(const CubeFootprint& f, int corner) {
  const float wi = (corner & 1) != 0 ? f.fi : __fsub_rn(1.0F, f.fi);
  const float wj = (corner & 2) != 0 ? f.fj : __fsub_rn(1.0F, f.fj);
  return __fmul_rn(wi, wj);
}

}  // namespace warpfold::capture::envmap

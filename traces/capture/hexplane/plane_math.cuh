// SPDX-License-Identifier: Apache-2.0
// The six planes of a HexPlane and where a sample falls on them: four texels of each, bilinear, as
// PyTorch's grid_sample does with align_corners. Shared by the kernels and, on the host, their
// tests; explicit rounding, so that every kernel computes the same bits.
//
// Planes 0 to 2 are (x, y), (x, z), (y, z); planes 3 to 5 are (t, z), (t, y), (t, x). Plane k is
// multiplied with plane k + 3. All of them lie one behind the other in one array for each channel,
// row by row; texels are counted through.
#pragma once

#if !defined(__CUDACC__)
#include "traces/capture/common/cuda_on_host.hpp"
#endif

namespace warpfold::capture::hexplane {

inline constexpr int kPlanes = 6;
inline constexpr int kSpacePlanes = 3;
inline constexpr int kChannels = 24;
inline constexpr int kCorners = 4;

// Texels on a side, for x, y, z and for t.
struct Sizes {
  int space;
  int time;
};

struct Plane {
  int width;   // along u, the first of its two coordinates
  int height;  // along v
  int first;   // texel
};

__device__ __forceinline__ Plane plane_of(int plane, Sizes sizes) {
  const int space = sizes.space * sizes.space;
  const int time = sizes.space * sizes.time;
  const bool in_space = plane < kSpacePlanes;
  return {in_space ? sizes.space : sizes.time, sizes.space,
          in_space ? plane * space : kSpacePlanes * space + (plane - kSpacePlanes) * time};
}

__device__ __forceinline__ int texel_count(Sizes sizes) {
  return kSpacePlanes * sizes.space * (sizes.space + sizes.time);
}

// The two coordinates of a sample that a plane looks at.
__device__ __forceinline__ float2 plane_coordinates(int plane, float4 xyzt) {
  float2 uv;
  uv.x = plane >= kSpacePlanes ? xyzt.w : (plane == 2 ? xyzt.y : xyzt.x);
  uv.y = plane == 0 || plane == 4 ? xyzt.y : (plane == 5 ? xyzt.x : xyzt.z);
  return uv;
}

struct PlaneFootprint {
  int i0, i1;  // columns
  int j0, j1;  // rows
  float fi;    // share of column i1
  float fj;
};

// Coordinates from -1 to 1, the centres of the outermost texels. At 1 the far texel is the near one
// again, with a share of 0.
__device__ __forceinline__ PlaneFootprint plane_footprint(float2 uv, const Plane& plane) {
  const float last_u = static_cast<float>(plane.width - 1);
  const float last_v = static_cast<float>(plane.height - 1);
  const float s = __fmul_rn(__fmul_rn(__fadd_rn(uv.x, 1.0F), 0.5F), last_u);
  const float t = __fmul_rn(__fmul_rn(__fadd_rn(uv.y, 1.0F), 0.5F), last_v);
  const float column = fminf(fmaxf(s, 0.0F), last_u);
  const float row = fminf(fmaxf(t, 0.0F), last_v);
  PlaneFootprint f;
  f.i0 = static_cast<int>(column);
  f.j0 = static_cast<int>(row);
  f.i1 = f.i0 + 1 < plane.width ? f.i0 + 1 : f.i0;
  f.j1 = f.j0 + 1 < plane.height ? f.j0 + 1 : f.j0;
  f.fi = __fsub_rn(column, static_cast<float>(f.i0));
  f.fj = __fsub_rn(row, static_cast<float>(f.j0));
  return f;
}

// Corner 0 to 3: the texel's index and its share.
__device__ __forceinline__ int corner_texel(const PlaneFootprint& f, const Plane& plane,
                                            int corner) {
  const int i = (corner & 1) != 0 ? f.i1 : f.i0;
  const int j = (corner & 2) != 0 ? f.j1 : f.j0;
  return plane.first + j * plane.width + i;
}
__device__ __forceinline__ float corner_weight(const PlaneFootprint& f, int corner) {
  const float wi = (corner & 1) != 0 ? f.fi : __fsub_rn(1.0F, f.fi);
  const float wj = (corner & 2) != 0 ? f.fj : __fsub_rn(1.0F, f.fj);
  return __fmul_rn(wi, wj);
}

}  // namespace warpfold::capture::hexplane

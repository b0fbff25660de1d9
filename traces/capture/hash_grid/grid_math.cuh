// SPDX-License-Identifier: Apache-2.0
// Arithmetic of a multiresolution hash grid (Instant-NGP) that device and host share: the cell of a
// point on a level, the entries of its corners and their shares.
#pragma once

#ifndef __CUDACC__
#include "traces/capture/common/cuda_on_host.hpp"
#endif

namespace warpfold::capture::hash_grid {

inline constexpr int kLevels = 16;
inline constexpr int kFeatures = 2;  // of an entry
inline constexpr int kCorners = 8;

struct Level {
  float scale;          // cells on a side
  unsigned resolution;  // points on a side
  unsigned entries;     // of its table, a power of two where it is hashed
  unsigned first;       // entry in the grid
  unsigned hashed;      // 1: points share entries
};

struct Levels {
  Level level[kLevels];
};

struct Cell {
  unsigned x, y, z;
  float fx, fy, fz;  // share of the far corner along each axis
};

__device__ __forceinline__ Cell cell_of(float3 point, const Level& level) {
  const float x = __fmaf_rn(point.x, level.scale, 0.5F);
  const float y = __fmaf_rn(point.y, level.scale, 0.5F);
  const float z = __fmaf_rn(point.z, level.scale, 0.5F);
  Cell cell;
  cell.x = static_cast<unsigned>(x);
  cell.y = static_cast<unsigned>(y);
  cell.z = static_cast<unsigned>(z);
  cell.fx = __fsub_rn(x, static_cast<float>(cell.x));
  cell.fy = __fsub_rn(y, static_cast<float>(cell.y));
  cell.fz = __fsub_rn(z, static_cast<float>(cell.z));
  return cell;
}

// Corner 0 to 7: bit 0 is far along x, bit 1 along y, bit 2 along z.
__device__ __forceinline__ int corner_entry(const Cell& cell, const Level& level, int corner) {
  const unsigned x = cell.x + (static_cast<unsigned>(corner) & 1U);
  const unsigned y = cell.y + (static_cast<unsigned>(corner) >> 1U & 1U);
  const unsigned z = cell.z + (static_cast<unsigned>(corner) >> 2U & 1U);
  unsigned entry = x + level.resolution * (y + level.resolution * z);
  if (level.hashed != 0) {
    entry = (x ^ y * 2654435761U ^ z * 805459861U) & (level.entries - 1);
  }
  return static_cast<int>(level.first + entry);
}

__device__ __forceinline__ float corner_weight(const Cell& cell, int corner) {
  const float wx = (corner & 1) != 0 ? cell.fx : __fsub_rn(1.0F, cell.fx);
  const float wy = (corner & 2) != 0 ? cell.fy : __fsub_rn(1.0F, cell.fy);
  const float wz = (corner & 4) != 0 ? cell.fz : __fsub_rn(1.0F, cell.fz);
  return __fmul_rn(__fmul_rn(wx, wy), wz);
}

}  // namespace warpfold::capture::hash_grid

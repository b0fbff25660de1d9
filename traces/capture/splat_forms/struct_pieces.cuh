// SPDX-License-Identifier: Apache-2.0
// The nine sums of a warp on their way into the struct of a Gaussian, by recursive halving: nine
// lanes add a float each, or three lanes four each.
#pragma once

#include "traces/capture/reduce/fixed_point.cuh"
#include "traces/capture/reduce/halving.cuh"
#include "traces/capture/splat_forms/gradient_storage.cuh"

namespace warpfold::capture::splat_forms {

// The struct seen as pieces of so many floats; `idx` counts pieces.
template <int kFloats>
struct Pieces {
  float* gradient;
  __device__ __forceinline__ float* operator()(int idx, int parameter) const {
    return gradient + static_cast<long long>(idx) * kFloats + parameter;
  }
};

// A lane, and what it adds of the sums. Called by all lanes of the warp, whether they have
// something to add or not.
class NineLanes {
 public:
  static constexpr int kPieceFloats = 1;

  __device__ __forceinline__ explicit NineLanes(unsigned lane)
      : lane_(lane), sum_(sum_of_lane<kParameters>(lane)) {}
  // Where the lane adds: what `add` takes.
  __device__ __forceinline__ FixedElement target(float* gradient, const FixedWords& fixed) const {
    return {gradient, fixed, max(sum_, 0)};
  }
  template <class Mode, class Target>
  __device__ __forceinline__ void add(Mode& mode, unsigned never, int id, const Target& target,
                                      const float (&val)[kParameters]) const {
    const float sum[1] = {halve(val, lane_)};
    if (mode.leaves(sum_ >= 0, never)) {
      return;
    }
    mode.reduce(id * kStructFloats + sum_, target, sum);
  }

 private:
  unsigned lane_;
  int sum_;
};

class ThreeLanes {
 public:
  static constexpr int kPieceFloats = 4;

  __device__ __forceinline__ explicit ThreeLanes(unsigned lane) : lane_(lane) {
    const int sum = sum_of_lane<kParameters>(lane);
#pragma unroll
    for (int i = 0; i < kStructFloats; ++i) {
      const unsigned holders = __ballot_sync(0xffffffffU, sum == i);
      if (static_cast<int>(lane) == i / kPieceFloats) {
        from_[i % kPieceFloats] = __ffs(static_cast<int>(holders)) - 1;  // -1: nothing
      }
    }
  }
  __device__ __forceinline__ Pieces<kPieceFloats> target(float* gradient,
                                                         const FixedWords& /*fixed*/) const {
    return {gradient};
  }
  template <class Mode>
  __device__ __forceinline__ void add(Mode& mode, unsigned never, int id,
                                      const Pieces<kPieceFloats>& target,
                                      const float (&val)[kParameters]) const {
    const float sum = halve(val, lane_);
    float piece[kPieceFloats];
#pragma unroll
    for (int i = 0; i < kPieceFloats; ++i) {
      const float own = __shfl_sync(0xffffffffU, sum, from_[i] & 31);
      piece[i] = from_[i] >= 0 ? own : 0.0F;
    }
    constexpr int kPieces = kStructFloats / kPieceFloats;
    if (mode.leaves(lane_ < kPieces, never)) {
      return;
    }
    mode.reduce(id * kPieces + static_cast<int>(lane_), target, piece);
  }

 private:
  unsigned lane_;
  int from_[kPieceFloats] = {-1, -1, -1, -1};  // lanes that hold the sums of this lane's piece
};

// The least of the warp, the same in all lanes.
__device__ __forceinline__ int least_of_warp(int value) {
#pragma unroll
  for (int offset = 16; offset >= 1; offset /= 2) {
    value = min(value, __shfl_xor_sync(0xffffffffU, value, offset));
  }
  return value;
}

}  // namespace warpfold::capture::splat_forms

// SPDX-License-Identifier: Apache-2.0
// Buckets: up to 32 neighbours in the list of a tile, and what the forward pass keeps for each of
// them, so that a backward kernel can begin at any.
#pragma once

#include <cstdint>
#include <vector>

#include "traces/capture/common/device_buffer.hpp"
#include "traces/capture/splat/backward.cuh"

namespace warpfold::capture::splat_forms {

struct alignas(16) Bucket {
  std::uint32_t left, top;  // pixel of the tile
  std::uint32_t first;      // pair of tile and Gaussian
  std::uint32_t count;      // Gaussians, front to back
};

// By bucket and pixel of the tile.
struct BucketState {
  const Bucket* buckets;
  std::uint32_t count;
  const std::uint32_t* of_tile;  // the first bucket of each tile
  std::uint32_t* masks;          // which of its Gaussians count for the pixel
  float4* states;  // colour and transmittance in front of it; not set where the mask is 0
  float* image;    // planar: the picture without anything behind the Gaussians
};

// The buckets of a frame, filled by drawing it once more.
class FilledBuckets {
 public:
  void fill(dim3 grid, const BackwardArgs& frame, const TileLists& lists);
  [[nodiscard]] const BucketState& state() const { return state_; }
  [[nodiscard]] std::uint32_t count() const { return count_; }
  [[nodiscard]] std::vector<float> image() const { return image_.to_host(); }
  // Prints what they hold, and how long drawing takes with and without filling them.
  void print_cost(dim3 grid, const BackwardArgs& frame) const;

 private:
  std::uint32_t count_ = 0;
  DeviceBuffer<Bucket> buckets_;
  DeviceBuffer<std::uint32_t> of_tile_, masks_;
  DeviceBuffer<float4> states_;
  DeviceBuffer<float> image_;
  BucketState state_{};
};

}  // namespace warpfold::capture::splat_forms

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

// The buckets of a frame, filled by a forward pass: the picture that it draws is the frame's own.
// Buffers stay from frame to frame and grow. Everything runs on the default stream.
class FilledBuckets {
 public:
  // Of the lists of `frame`, whose tiles are `grid`; takes no more of it than a forward pass does.
  // Waits once in between, for the number of buckets.
  void fill(dim3 grid, const BackwardArgs& frame);
  [[nodiscard]] const BucketState& state() const { return state_; }
  [[nodiscard]] std::uint32_t count() const { return state_.count; }
  [[nodiscard]] std::vector<float> image() const;
  // Prints what they hold, and how long drawing takes with and without filling them.
  void print_cost(dim3 grid, const BackwardArgs& frame) const;

 private:
  void clear_masks() const;

  std::size_t pixels_ = 0;
  DeviceBuffer<Bucket> buckets_;
  DeviceBuffer<std::uint32_t> lengths_, of_tile_, masks_;
  DeviceBuffer<std::uint8_t> scratch_;
  DeviceBuffer<float4> states_;
  DeviceBuffer<float> image_;
  BucketState state_{};
};

}  // namespace warpfold::capture::splat_forms

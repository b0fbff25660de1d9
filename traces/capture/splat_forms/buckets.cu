// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <cub/device/device_scan.cuh>

#include "traces/capture/common/gpu_event.hpp"
#include "traces/capture/common/linear_grid.hpp"
#include "traces/capture/splat/gpu_frame.cuh"
#include "traces/capture/splat_forms/buckets.cuh"
#include "traces/capture/splat_forms/per_splat_math.cuh"

namespace warpfold::capture::splat_forms {
namespace {

struct SharedBatch {
  float4 conic[kBatch];  // scaled, with the opacity
  float4 color[kBatch];
  float2 mean[kBatch];
};

// A thread is a pixel, a CTA a tile, front to back, as in the frame's own forward kernel.
template <bool kKeep>
__global__ void __launch_bounds__(kTilePixels)
    draw(const __grid_constant__ BackwardArgs frame, const __grid_constant__ BucketState out) {
  __shared__ SharedBatch batch;
  const unsigned tile = blockIdx.y * gridDim.x + blockIdx.x;
  const uint2 range = frame.ranges[tile];
  const int total = static_cast<int>(range.y - range.x);
  const int rank = static_cast<int>(threadIdx.y * kTileSize + threadIdx.x);
  const int x = static_cast<int>(blockIdx.x * kTileSize + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * kTileSize + threadIdx.y);
  const bool inside = x < frame.width && y < frame.height;
  const float2 pixel = make_float2(static_cast<float>(x), static_cast<float>(y));
  bool done = !inside;
  float transmittance = 1;
  float color[3] = {0, 0, 0};
  std::size_t entry = std::size_t{out.of_tile[tile]} * kTilePixels + static_cast<unsigned>(rank);
  for (int base = 0; base < total; base += kBatch) {
    if (__syncthreads_count(done ? 1 : 0) == kTilePixels) {
      break;
    }
    if (base + rank < total) {
      const std::uint32_t id = frame.primitives[range.x + static_cast<unsigned>(base + rank)];
      batch.mean[rank] = frame.mean2d[id];
      batch.conic[rank] = scale_conic(frame.conic_opacity[id]);
      const float* from = frame.color + std::size_t{id} * 3;
      batch.color[rank] = make_float4(from[0], from[1], from[2], 0.0F);
    }
    __syncthreads();
    const int count = min(kBatch, total - base);
    for (int first = 0; !done && first < count; first += kBucket) {
      const float4 before = make_float4(color[0], color[1], color[2], transmittance);
      std::uint32_t mask = 0;
      const int end = min(first + kBucket, count);
      for (int j = first; !done && j < end; ++j) {
        const float4 conic = batch.conic[j];
        const Footprint f = footprint(batch.mean[j], conic, pixel);
        const float alpha_raw = __fmul_rn(conic.w, exp2_approx(f.power));
        if (f.power > 0.0F || alpha_raw < kMinAlpha) {
          continue;
        }
        const float alpha = fminf(kMaxAlpha, alpha_raw);
        const float next = __fmul_rn(transmittance, __fsub_rn(1.0F, alpha));
        if (next < kMinTransmittance) {
          done = true;
          continue;
        }
        const float4 c = batch.color[j];
        color[0] = __fmaf_rn(__fmul_rn(c.x, alpha), transmittance, color[0]);
        color[1] = __fmaf_rn(__fmul_rn(c.y, alpha), transmittance, color[1]);
        color[2] = __fmaf_rn(__fmul_rn(c.z, alpha), transmittance, color[2]);
        transmittance = next;
        mask |= 1U << (j - first);
      }
      if (kKeep && mask != 0) {
        out.masks[entry] = mask;
        out.states[entry] = before;
      }
      entry += kTilePixels;
    }
  }
  if (inside) {
    for (int c = 0; c < 3; ++c) {
      out.image[(c * frame.height + y) * frame.width + x] = color[c];
    }
  }
}

// Buckets of each tile; none behind the last, so that the running sum ends in the number of all.
__global__ void count_buckets(const uint2* ranges, std::uint32_t tiles, std::uint32_t* lengths) {
  const std::uint32_t tile = blockIdx.x * blockDim.x + threadIdx.x;
  if (tile < tiles) {
    lengths[tile] = (ranges[tile].y - ranges[tile].x + kBucket - 1) / kBucket;
  } else if (tile == tiles) {
    lengths[tile] = 0;
  }
}

// A warp a tile: its buckets, front to back.
__global__ void __launch_bounds__(kLinearBlock)
    list_buckets(const uint2* ranges, std::uint32_t tiles, std::uint32_t tiles_x,
                 const std::uint32_t* of_tile, Bucket* buckets) {
  const std::uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
  const std::uint32_t tile = thread / trace::kWarpLanes;
  if (tile >= tiles) {
    return;
  }
  const uint2 range = ranges[tile];
  for (std::uint32_t b = of_tile[tile] + thread % trace::kWarpLanes; b < of_tile[tile + 1];
       b += trace::kWarpLanes) {
    const std::uint32_t first = range.x + (b - of_tile[tile]) * kBucket;
    buckets[b] = {tile % tiles_x * kTileSize, tile / tiles_x * kTileSize, first,
                  min(static_cast<std::uint32_t>(kBucket), range.y - first)};
  }
}

// Median of some runs.
template <class Work>
float milliseconds(const Work& work) {
  constexpr std::size_t kRuns = 21;
  std::vector<float> times;
  const GpuEvent begin;
  const GpuEvent end;
  for (std::size_t i = 0; i < kRuns; ++i) {
    begin.record();
    work();
    end.record();
    end.wait();
    times.push_back(end.since(begin));
  }
  std::sort(times.begin(), times.end());
  return times[kRuns / 2];
}

}  // namespace

void FilledBuckets::fill(dim3 grid, const BackwardArgs& frame) {
  const std::uint32_t tiles = grid.x * grid.y;
  make_room(lengths_, tiles + 1);
  make_room(of_tile_, tiles + 1);
  count_buckets<<<linear_grid(tiles + 1), kLinearBlock>>>(frame.ranges, tiles, lengths_.data());
  check_launch("bucket counting kernel");
  std::size_t scratch_bytes = 0;
  const auto scan = [&](void* scratch) {
    return cub::DeviceScan::ExclusiveSum(scratch, scratch_bytes, lengths_.data(), of_tile_.data(),
                                         static_cast<int>(tiles + 1));
  };
  check(scan(nullptr), "size of the scan");
  make_room(scratch_, scratch_bytes);
  check(scan(scratch_.data()), "scan");
  std::uint32_t count = 0;
  check(cudaMemcpy(&count, of_tile_.data() + tiles, sizeof count, cudaMemcpyDeviceToHost),
        "number of buckets");
  pixels_ = static_cast<std::size_t>(frame.width) * static_cast<std::size_t>(frame.height);
  make_room(buckets_, count);
  make_room(masks_, std::size_t{count} * kTilePixels);
  make_room(states_, std::size_t{count} * kTilePixels);
  make_room(image_, 3 * pixels_);
  state_ = {buckets_.data(), count, of_tile_.data(), masks_.data(), states_.data(), image_.data()};
  if (count > 0) {
    list_buckets<<<linear_grid(std::size_t{tiles} * trace::kWarpLanes), kLinearBlock>>>(
        frame.ranges, tiles, grid.x, of_tile_.data(), buckets_.data());
    check_launch("bucket kernel");
    clear_masks();
  }
  draw<true><<<grid, dim3(kTileSize, kTileSize)>>>(frame, state_);
  check_launch("forward kernel with buckets");
}

void FilledBuckets::clear_masks() const {
  check(cudaMemsetAsync(masks_.data(), 0,
                        std::size_t{state_.count} * kTilePixels * sizeof(std::uint32_t)),
        "cudaMemset");
}

std::vector<float> FilledBuckets::image() const {
  return to_host(image_.data(), 3 * pixels_);
}

void FilledBuckets::print_cost(dim3 grid, const BackwardArgs& frame) const {
  const float kept = milliseconds([&] {
    clear_masks();
    draw<true><<<grid, dim3(kTileSize, kTileSize)>>>(frame, state_);
  });
  const float alone =
      milliseconds([&] { draw<false><<<grid, dim3(kTileSize, kTileSize)>>>(frame, state_); });
  check_launch("forward kernel");
  const auto masks = to_host(masks_.data(), std::size_t{count()} * kTilePixels);
  const auto used = static_cast<double>(
      std::count_if(masks.begin(), masks.end(), [](std::uint32_t mask) { return mask != 0; }));
  std::printf("  %u buckets, %.1f of %d pixels of each with a Gaussian that counts\n", count(),
              used / count(), kTilePixels);
  std::printf("  %.1f MB of masks and states written, room for %.1f MB\n",
              (4 * static_cast<double>(masks.size()) + 20 * used) * 1e-6,
              20e-6 * static_cast<double>(masks.size()));
  std::printf("  forward kernel %.4f ms, %.4f ms with buckets\n", static_cast<double>(alone),
              static_cast<double>(kept));
}

}  // namespace warpfold::capture::splat_forms

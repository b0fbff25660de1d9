// SPDX-License-Identifier: Apache-2.0
// The backward render kernel of 3D Gaussian Splatting in the shape of the original: a thread is a
// pixel, a CTA is a tile of 16x16, Gaussians come back to front in batches of 256 through shared
// memory, and each thread that a Gaussian contributes to adds nine gradients. One __global__
// function for each reduction policy, so that the code of each can be told apart in the
// disassembly.
#include "traces/capture/common/device_buffer.hpp"
#include "traces/capture/reduce/no_atomics.cuh"
#include "traces/capture/reduce/reduce_arc.cuh"
#include "traces/capture/reduce/reduce_cccl.cuh"
#include "traces/capture/splat/backward.cuh"

namespace warpfold::capture {
namespace {

// One batch of Gaussians in shared memory.
struct Batch {
  float4 conic[kBatch];     // scaled, with the opacity
  float4 color_id[kBatch];  // the Gaussian's index in w
  float2 mean[kBatch];
};

// This thread's pixel.
struct Thread {
  int rank;
  float2 pixel;
  PixelState state;
  int total;       // Gaussians of the tile
  int first_pass;  // passes before it lie beyond the last contributor
};

__device__ __forceinline__ Thread start(const BackwardArgs& args, uint2 range, int tile_x,
                                        int tile_y) {
  Thread thread;
  thread.rank = static_cast<int>(threadIdx.y * kTileSize + threadIdx.x);
  const int x = tile_x * kTileSize + static_cast<int>(threadIdx.x);
  const int y = tile_y * kTileSize + static_cast<int>(threadIdx.y);
  thread.pixel = make_float2(static_cast<float>(x), static_cast<float>(y));
  thread.total = static_cast<int>(range.y - range.x);
  thread.first_pass = thread.total;
  thread.state = PixelState{0.0F, 0.0F, make_float3(0.0F, 0.0F, 0.0F)};
  if (x < args.width && y < args.height) {
    const int at = y * args.width + x;
    const int pixels = args.width * args.height;
    thread.first_pass = thread.total - static_cast<int>(args.last[at]);
    thread.state.transmittance = args.final_t[at];
    thread.state.dl_dcolor = make_float3(args.dl_dpixels[at], args.dl_dpixels[pixels + at],
                                         args.dl_dpixels[2 * pixels + at]);
  }
  return thread;
}

// Fetches the batch whose first pass is `base`, between two barriers.
__device__ __forceinline__ void fetch(const BackwardArgs& args, uint2 range, const Thread& thread,
                                      int base, Batch& batch) {
  __syncthreads();
  const int pass = base + thread.rank;
  if (pass < thread.total) {
    const std::uint32_t id = args.primitives[range.y - 1 - static_cast<unsigned>(pass)];
    const float* color = args.color + std::size_t{id} * 3;
    batch.mean[thread.rank] = args.mean2d[id];
    batch.conic[thread.rank] = scale_conic(args.conic_opacity[id]);
    batch.color_id[thread.rank] =
        make_float4(color[0], color[1], color[2], __int_as_float(static_cast<int>(id)));
  }
  __syncthreads();
}

// The original shape: a thread leaves a pass as soon as the Gaussian does not concern it.
template <class Policy>
__device__ __forceinline__ void backward_divergent(const BackwardArgs& args, int threshold) {
  __shared__ Batch batch;
  const uint2 range = args.ranges[blockIdx.y * gridDim.x + blockIdx.x];
  Thread thread = start(args, range, static_cast<int>(blockIdx.x), static_cast<int>(blockIdx.y));
#pragma unroll 1
  for (int base = 0; base < thread.total; base += kBatch) {
    fetch(args, range, thread, base, batch);
    const int count = min(kBatch, thread.total - base);
    const int first = thread.first_pass - base;
#pragma unroll 1
    for (int j = 0; j < count; ++j) {
      if (j < first) {
        continue;
      }
      const float4 conic = batch.conic[j];
      const Footprint f = footprint(batch.mean[j], conic, thread.pixel);
      if (f.power > 0.0F) {
        continue;
      }
      const float falloff = exp2_approx(f.power);
      const float alpha_raw = __fmul_rn(conic.w, falloff);
      if (alpha_raw < kMinAlpha) {
        continue;
      }
      const float4 color = batch.color_id[j];
      float val[kParameters];
      gradients(f, conic, make_float3(color.x, color.y, color.z), falloff, alpha_raw,
                args.mean_scale, thread.state, val);
      reduce_arc<Policy>(__float_as_int(color.w), args.out, val, threshold);
    }
  }
}

// Does the policy reduce also where no lane of the warp is active?
template <class Policy>
constexpr bool kEveryPass = requires {
  Policy::kEveryPass;
};

// The transformed shape: the warp stays together, a thread that the Gaussian does not concern goes
// on with zeros, and the warp leaves the pass when it concerns no thread, unless the policy reduces
// in every pass.
template <class Policy>
__device__ __forceinline__ void backward_converged(const BackwardArgs& args, int threshold) {
  __shared__ Batch batch;
  const uint2 range = args.ranges[blockIdx.y * gridDim.x + blockIdx.x];
  Thread thread = start(args, range, static_cast<int>(blockIdx.x), static_cast<int>(blockIdx.y));
  int warp_first_pass = thread.first_pass;
  if constexpr (!kEveryPass<Policy>) {
#pragma unroll
    for (int offset = 16; offset >= 1; offset /= 2) {
      warp_first_pass = min(warp_first_pass, __shfl_xor_sync(kFullWarp, warp_first_pass, offset));
    }
  }
#pragma unroll 1
  for (int base = 0; base < thread.total; base += kBatch) {
    fetch(args, range, thread, base, batch);
    const int count = min(kBatch, thread.total - base);
    const int first = thread.first_pass - base;
    const int warp_first = warp_first_pass - base;
#pragma unroll 1
    for (int j = 0; j < count; ++j) {
      if (!kEveryPass<Policy> && j < warp_first) {
        continue;
      }
      const float4 conic = batch.conic[j];
      const Footprint f = footprint(batch.mean[j], conic, thread.pixel);
      float falloff = exp2_approx(f.power);
      float alpha_raw = __fmul_rn(conic.w, falloff);
      const bool was_active = j >= first && !(f.power > 0.0F) && !(alpha_raw < kMinAlpha);
      const unsigned lanes = __ballot_sync(kFullWarp, was_active);
      if (!kEveryPass<Policy> && lanes == 0) {
        continue;
      }
      falloff = was_active ? falloff : 0.0F;
      alpha_raw = was_active ? alpha_raw : 0.0F;
      const float4 color = batch.color_id[j];
      float val[kParameters];
      gradients(f, conic, make_float3(color.x, color.y, color.z), falloff, alpha_raw,
                args.mean_scale, thread.state, val);
      reduce_arc_ballot<Policy>(lanes, __float_as_int(color.w), args.out, val, threshold);
    }
  }
}

}  // namespace

extern "C" __global__ void __launch_bounds__(kTilePixels)
    warpfold_backward_baseline(const __grid_constant__ BackwardArgs args, int threshold) {
  backward_divergent<Baseline>(args, threshold);
}

extern "C" __global__ void __launch_bounds__(kTilePixels)
    warpfold_backward_sw_s(const __grid_constant__ BackwardArgs args, int threshold) {
  backward_divergent<SwS>(args, threshold);
}

extern "C" __global__ void __launch_bounds__(kTilePixels)
    warpfold_backward_sw_b(const __grid_constant__ BackwardArgs args, int threshold) {
  backward_converged<SwB>(args, threshold);
}

extern "C" __global__ void __launch_bounds__(kTilePixels)
    warpfold_backward_skip(const __grid_constant__ BackwardArgs args, int threshold) {
  backward_converged<Skip>(args, threshold);
}

extern "C" __global__ void __launch_bounds__(kTilePixels)
    warpfold_backward_sw_b_uniform(const __grid_constant__ BackwardArgs args, int threshold) {
  backward_converged<SwBUniform>(args, threshold);
}

extern "C" __global__ void __launch_bounds__(kTilePixels)
    warpfold_backward_cccl(const __grid_constant__ BackwardArgs args, int threshold) {
  backward_converged<Cccl>(args, threshold);
}

extern "C" __global__ void __launch_bounds__(kTilePixels)
    warpfold_backward_none(const __grid_constant__ BackwardArgs args, int threshold) {
  backward_divergent<NoAtomics>(args, threshold);
}

// The baseline with a pen: no lane leaves a pass, and what each would have done is noted for the
// warp. The values are those of the baseline bit for bit, since the arithmetic is shared.
extern "C" __global__ void __launch_bounds__(kTilePixels)
    warpfold_backward_recorder(const __grid_constant__ RecorderArgs recorder, int tiles_x) {
  __shared__ Batch batch;
  const BackwardArgs& args = recorder.backward;
  const unsigned tile = recorder.tiles != nullptr ? recorder.tiles[blockIdx.x] : blockIdx.x;
  const uint2 range = args.ranges[tile];
  Thread thread =
      start(args, range, static_cast<int>(tile) % tiles_x, static_cast<int>(tile) / tiles_x);
  const unsigned warp = static_cast<unsigned>(thread.rank) / trace::kWarpLanes;
  const unsigned lane = static_cast<unsigned>(thread.rank) % trace::kWarpLanes;
  std::uint64_t offset =
      recorder.offsets != nullptr ? recorder.offsets[blockIdx.x * kWarpsPerTile + warp] : 0;
#pragma unroll 1
  for (int base = 0; base < thread.total; base += kBatch) {
    fetch(args, range, thread, base, batch);
    const int count = min(kBatch, thread.total - base);
    const int first = thread.first_pass - base;
#pragma unroll 1
    for (int j = 0; j < count; ++j) {
      const float4 conic = batch.conic[j];
      const Footprint f = footprint(batch.mean[j], conic, thread.pixel);
      const float falloff = exp2_approx(f.power);
      const float alpha_raw = __fmul_rn(conic.w, falloff);
      const bool positioned = j >= first;
      const bool powered = positioned && !(f.power > 0.0F);
      const bool taken = powered && !(alpha_raw < kMinAlpha);
      const unsigned any_positioned = __ballot_sync(kFullWarp, positioned);
      const unsigned any_powered = __ballot_sync(kFullWarp, powered);
      const unsigned mask = __ballot_sync(kFullWarp, taken);
      if (recorder.masks != nullptr && lane == 0) {
        const Stage stage = mask != 0             ? Stage::kTaken
                            : any_powered != 0    ? Stage::kAlpha
                            : any_positioned != 0 ? Stage::kPower
                                                  : Stage::kPosition;
        const std::size_t at =
            (std::size_t{range.x} + static_cast<unsigned>(base + j)) * kWarpsPerTile + warp;
        recorder.masks[at] = mask;
        recorder.stages[at] = static_cast<std::uint8_t>(stage);
      }
      if (taken) {
        const float4 color = batch.color_id[j];
        float val[kParameters];
        gradients(f, conic, make_float3(color.x, color.y, color.z), falloff, alpha_raw,
                  args.mean_scale, thread.state, val);
        if (recorder.values != nullptr) {
          const unsigned active = static_cast<unsigned>(__popc(mask));
          const unsigned rank = static_cast<unsigned>(__popc(mask & ((1U << lane) - 1U)));
#pragma unroll
          for (unsigned i = 0; i < kParameters; ++i) {
            recorder.values[offset + i * active + rank] = val[i];
          }
        }
      }
      offset += static_cast<unsigned>(__popc(mask)) * kParameters;
    }
  }
}

const void* backward_kernel(int variant) {
  static const void* const kKernels[] = {
      reinterpret_cast<const void*>(warpfold_backward_baseline),
      reinterpret_cast<const void*>(warpfold_backward_sw_s),
      reinterpret_cast<const void*>(warpfold_backward_sw_b),
      reinterpret_cast<const void*>(warpfold_backward_skip),
      reinterpret_cast<const void*>(warpfold_backward_sw_b_uniform),
      reinterpret_cast<const void*>(warpfold_backward_cccl),
      reinterpret_cast<const void*>(warpfold_backward_none)};
  return kKernels[variant];
}

void launch_backward(int variant, dim3 grid, const BackwardArgs& args, int threshold) {
  void* params[] = {const_cast<BackwardArgs*>(&args), &threshold};
  check(cudaLaunchKernel(backward_kernel(variant), grid, dim3(kTileSize, kTileSize), params, 0,
                         nullptr),
        "launch of the backward kernel");
}

void launch_recorder(unsigned ctas, dim3 grid, const RecorderArgs& args) {
  warpfold_backward_recorder<<<ctas, dim3(kTileSize, kTileSize)>>>(args, static_cast<int>(grid.x));
  check_launch("recorder kernel");
}

}  // namespace warpfold::capture

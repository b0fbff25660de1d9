// SPDX-License-Identifier: Apache-2.0
// The backward kernel of 3D Gaussian Splatting with a tile a warp, as LiteGS has it, in single
// precision: a thread does eight pixels of a row and sums their gradients before the warp adds, so
// that each pair of tile and Gaussian is reduced once.
#include "traces/capture/splat_forms/frame_workload.cuh"
#include "traces/capture/splat_forms/kernels.cuh"
#include "traces/capture/splat_forms/per_splat_math.cuh"
#include "traces/capture/splat_forms/pixel_group.cuh"
#include "traces/capture/splat_forms/struct_pieces.cuh"
#include "traces/capture/workload/device.cuh"

namespace warpfold::capture::splat_forms {
namespace {

constexpr unsigned kPixels = kTileWarpPixels;
constexpr unsigned kThreadsX = kTileWarpThreadsX;
constexpr int kWarpBatch = trace::kWarpLanes;  // Gaussians fetched at once

enum Path : unsigned {
  kPrologue = 0,
  kBatchPath = 1,
  kSkipAlpha = 2,
  kTaken = 3,
  kEpilogue = 4,
  kNever = kSkipAlpha  // a warp with sums adds them
};

// A Gaussian of the batch.
struct SharedGaussian {
  float4 conic;  // scaled, with the opacity
  float4 color;  // the Gaussian's index in w
  float2 mean;
  float2 unused;
};

__device__ __forceinline__ void fetch(const BackwardArgs& frame, std::uint32_t pair,
                                      SharedGaussian& to) {
  const std::uint32_t id = frame.primitives[pair];
  const float* color = frame.color + std::size_t{id} * 3;
  to.mean = frame.mean2d[id];
  to.conic = scale_conic(frame.conic_opacity[id]);
  to.color = make_float4(color[0], color[1], color[2], __int_as_float(static_cast<int>(id)));
}

// Alphas of the thread's pixels, 0 where the Gaussian does not count. Does it for any?
__device__ __forceinline__ bool alphas(const PixelGroup<kPixels>& group, const SharedGaussian& g,
                                       int pass, float (&alpha_raw)[kPixels]) {
  const float4 conic = g.conic;
  const float2 mean = g.mean;
  bool any = false;
#pragma unroll
  for (unsigned i = 0; i < kPixels; ++i) {
    const float2 pixel = {__fadd_rn(group.pixel.x, static_cast<float>(i)), group.pixel.y};
    const Footprint f = footprint(mean, conic, pixel);
    const float raw = __fmul_rn(conic.w, exp2_approx(f.power));
    const bool counts = pass >= group.first_pass[i] && !(f.power > 0.0F) && !(raw < kMinAlpha);
    alpha_raw[i] = counts ? raw : 0.0F;
    any = any || counts;
  }
  return any;
}

// Gradients of the thread's pixels, summed.
__device__ __forceinline__ void sum_pixels(const SharedGaussian& g, MeanScale scale,
                                           const float (&alpha_raw)[kPixels],
                                           PixelGroup<kPixels>& group, float (&val)[kParameters]) {
  const float2 mean = g.mean;
  const float4 color = g.color;
  SplatSums sums{};
#pragma unroll
  for (unsigned i = 0; i < kPixels; ++i) {
    const float dx = __fsub_rn(mean.x, __fadd_rn(group.pixel.x, static_cast<float>(i)));
    const float dy = __fsub_rn(mean.y, group.pixel.y);
    meet_from_behind(dx, dy, make_float3(color.x, color.y, color.z), alpha_raw[i], group.state[i],
                     sums);
  }
  splat_gradients(sums, g.conic, scale, val);
}

template <bool kHalved>
struct TileWarp {
  using Args = StructArgs;
  static constexpr int kThreads = trace::kWarpLanes;

  template <class Mode>
  static __device__ __forceinline__ void run(const Args& args, Mode& mode) {
    __shared__ SharedGaussian batch[kWarpBatch];
    const BackwardArgs& frame = args.frame;
    const uint2 range = frame.ranges[blockIdx.y * gridDim.x + blockIdx.x];
    const int total = static_cast<int>(range.y - range.x);
    const unsigned lane = threadIdx.y * kThreadsX + threadIdx.x;
    PixelGroup<kPixels> group =
        load_group<kPixels>(frame, static_cast<int>(blockIdx.x * kTileSize + threadIdx.x * kPixels),
                            static_cast<int>(blockIdx.y * kTileSize + threadIdx.y), total);
    const int warp_first = least_of_warp(group.first());
    const NineLanes lanes(lane);
    mode.note(kPrologue);
#pragma unroll 1
    for (int base = warp_first / kWarpBatch * kWarpBatch; base < total; base += kWarpBatch) {
      mode.barrier();
      if (base + static_cast<int>(lane) < total) {
        fetch(frame, range.y - 1 - (static_cast<unsigned>(base) + lane), batch[lane]);
      }
      mode.barrier();
      mode.note(kBatchPath);
      const int count = min(kWarpBatch, total - base);
#pragma unroll 1
      for (int j = max(0, warp_first - base); j < count; ++j) {
        float alpha_raw[kPixels];
        const bool active = alphas(group, batch[j], base + j, alpha_raw);
        if (mode.leaves(kHalved ? __any_sync(kFullWarp, active) != 0 : active, kSkipAlpha)) {
          continue;
        }
        float val[kParameters];
        sum_pixels(batch[j], frame.mean_scale, alpha_raw, group, val);
        const int id = __float_as_int(batch[j].color.w);
        if constexpr (kHalved) {
          lanes.add(mode, kNever, id, Pieces<NineLanes::kPieceFloats>{args.out.gradient}, val);
        } else {
          mode.reduce(id, args.out, val);
        }
      }
    }
    mode.note(kEpilogue);
  }
};

using TileWarpPlain = TileWarp<false>;
using TileWarpHalved = TileWarp<true>;

}  // namespace

WARPFOLD_STRUCT_KERNELS(tile_warp, TileWarpPlain)
WARPFOLD_APART_KERNELS(tile_warp_halved, TileWarpHalved)

namespace {

class TileWarpWorkload final : public FrameWorkload {
 public:
  explicit TileWarpWorkload(bool halved) : halved_(halved) {}

  [[nodiscard]] std::string name() const override {
    return halved_ ? "tile_warp_halved" : "tile_warp";
  }
  [[nodiscard]] std::string kernel() const override {
    return std::string("3DGS backward render, a warp a tile of 16x16, gradients in one struct") +
           (halved_ ? ", recursive halving" : "");
  }
  [[nodiscard]] std::vector<std::string> paths() const override {
    return {"prologue", "batch", "skip_alpha", "taken", "epilogue"};
  }
  [[nodiscard]] workload::Kernels kernels() const override {
    return halved_ ? tile_warp_halved_kernels() : tile_warp_kernels();
  }
  void load() override {
    FrameWorkload::load();
    gradients_.allocate(FrameWorkload::primitive_count());
    args_ = {frame(), gradients_.pointers()};
  }
  [[nodiscard]] std::uint64_t primitive_count() const override {
    return FrameWorkload::primitive_count() * (halved_ ? kStructFloats : 1);
  }
  [[nodiscard]] Launch launch() const override {
    return {{tiles_x(), tiles_y(), 1}, {kThreadsX, kTileSize, 1}, &args_};
  }
  [[nodiscard]] std::vector<trace::Parameter> parameters() const override {
    return halved_ ? gradients_.pieces(NineLanes::kPieceFloats) : gradients_.parameters();
  }
  [[nodiscard]] std::vector<workload::Array> arrays() const override { return gradients_.arrays(); }
  [[nodiscard]] std::vector<double> reference() const override {
    return gradients_.arrange(reference_gradients());
  }

 private:
  bool halved_;
  StructStorage gradients_;
  StructArgs args_{};
};

}  // namespace

std::unique_ptr<workload::Workload> make_tile_warp() {
  return std::make_unique<TileWarpWorkload>(false);
}

std::unique_ptr<workload::Workload> make_tile_warp_halved() {
  return std::make_unique<TileWarpWorkload>(true);
}

}  // namespace warpfold::capture::splat_forms

// SPDX-License-Identifier: Apache-2.0
// The backward kernel of 3D Gaussian Splatting by Gaussian, as Taming-3DGS and others since have
// it: a warp takes a bucket of 32 Gaussians of a tile, one a lane, and the pixels of the tile pass
// from lane to lane, a step at a time. Each lane sums its own gradients in registers and adds them
// once. The forward pass has noted which Gaussians of a bucket count for which pixel: pixels with
// none do not come along.
#include "traces/capture/common/input.hpp"
#include "traces/capture/common/relative_error.hpp"
#include "traces/capture/splat_forms/frame_workload.cuh"
#include "traces/capture/splat_forms/kernels.cuh"
#include "traces/capture/splat_forms/per_splat_math.cuh"
#include "traces/capture/workload/device.cuh"

namespace warpfold::capture::splat_forms {
namespace {

constexpr int kUnroll = 4;                  // steps of a turn
constexpr int kAhead = kBucket - 1;         // steps until the last lane has its first pixel
constexpr int kBehind = kBucket + kUnroll;  // entries behind the last pixel that are read as well

enum Path : unsigned {
  kPrologue = 0,
  kCollect = 1,
  kSteps = 2,
  kIdle = 3,
  kTaken = 4,
  kEpilogue = 5
};

// The pixels that come along. Those in front and behind count for no lane.
struct Pixels {
  float4 dl_dcolor[kAhead + kTilePixels + kBehind];  // the mask in w
  float2 at[kAhead + kTilePixels + kBehind];
  PassingPixel state[kTilePixels + kBehind];
};

// A lane's Gaussian; nothing in lanes behind the bucket's last.
struct LaneSplat {
  int id = 0;
  float2 mean{0.0F, 0.0F};
  float4 conic{0.0F, 0.0F, 0.0F, 0.0F};  // scaled, with the opacity
  float3 color{0.0F, 0.0F, 0.0F};
};

__device__ __forceinline__ LaneSplat load_splat(const BackwardArgs& frame, const Bucket& bucket,
                                                unsigned lane) {
  LaneSplat splat;
  if (lane < bucket.count) {
    splat.id = static_cast<int>(frame.primitives[bucket.first + lane]);
    const float* color = frame.color + static_cast<long long>(splat.id) * 3;
    splat.mean = frame.mean2d[splat.id];
    splat.conic = scale_conic(frame.conic_opacity[splat.id]);
    splat.color = make_float3(color[0], color[1], color[2]);
  }
  return splat;
}

// A pixel comes along at place `slot`.
__device__ __forceinline__ void store_pixel(const BackwardArgs& frame, const BucketState& state,
                                            std::size_t entry, unsigned x, unsigned y,
                                            unsigned mask, int slot, Pixels& pixels) {
  const unsigned at = y * static_cast<unsigned>(frame.width) + x;
  const unsigned plane = static_cast<unsigned>(frame.width * frame.height);
  const float4 before = state.states[entry];
  const float red = frame.dl_dpixels[at];
  const float green = frame.dl_dpixels[plane + at];
  const float blue = frame.dl_dpixels[2 * plane + at];
  const float rest = __fmaf_rn(__fsub_rn(state.image[2 * plane + at], before.z), blue,
                               __fmaf_rn(__fsub_rn(state.image[plane + at], before.y), green,
                                         __fmul_rn(__fsub_rn(state.image[at], before.x), red)));
  pixels.dl_dcolor[kAhead + slot] = make_float4(red, green, blue, __uint_as_float(mask));
  pixels.at[kAhead + slot] = make_float2(static_cast<float>(x), static_cast<float>(y));
  pixels.state[slot] = {before.w, rest};
}

__device__ __forceinline__ void store_nobody(unsigned place, Pixels& pixels) {
  pixels.dl_dcolor[place] = make_float4(0.0F, 0.0F, 0.0F, 0.0F);
  pixels.at[place] = make_float2(0.0F, 0.0F);
}

// `count` pixels are there: those behind them, whose state must be a number.
__device__ __forceinline__ void store_end(unsigned count, unsigned lane, Pixels& pixels) {
#pragma unroll
  for (unsigned first = 0; first < kBehind; first += trace::kWarpLanes) {
    if (first + lane < kBehind) {
      store_nobody(kAhead + count + first + lane, pixels);
      pixels.state[count + first + lane] = {0.0F, 0.0F};
    }
  }
}

template <class Out>
struct PerSplat {
  using Args = PerSplatArgs<Out>;
  static constexpr int kThreads = trace::kWarpLanes;

  template <class Mode>
  static __device__ __forceinline__ void run(const Args& args, Mode& mode) {
    __shared__ Pixels pixels;
    const unsigned lane = threadIdx.x;
    store_nobody(lane, pixels);
    mode.note(kPrologue);
#pragma unroll 1
    for (unsigned b = blockIdx.x; b < args.state.count; b += gridDim.x) {
      const Bucket bucket = args.state.buckets[b];
      const LaneSplat splat = load_splat(args.frame, bucket, lane);
      __syncwarp();
      const int count = collect(args, bucket, b, lane, pixels, mode);
      store_end(static_cast<unsigned>(count), lane, pixels);
      __syncwarp();
      SplatSums sums{};
      pass_all(splat, count, lane, pixels, sums, mode);
      float val[kParameters];
      splat_gradients(sums, splat.conic, args.frame.mean_scale, val);
      // A Gaussian that never counted has nothing to add, and perhaps no opacity to divide by.
      const bool counted =
          sums.slope != 0.0F || sums.red != 0.0F || sums.green != 0.0F || sums.blue != 0.0F;
      if (mode.leaves(counted, kIdle)) {
        continue;
      }
      mode.reduce(splat.id, args.out, val);
    }
    mode.note(kEpilogue);
  }

  // The pixels of the tile for which a Gaussian of the bucket counts; how many.
  template <class Mode>
  static __device__ __forceinline__ int collect(const Args& args, const Bucket& bucket, unsigned b,
                                                unsigned lane, Pixels& pixels, Mode& mode) {
    int count = 0;
#pragma unroll 1
    for (unsigned first = 0; first < kTilePixels; first += trace::kWarpLanes) {
      const unsigned pixel = first + lane;
      const std::size_t entry = std::size_t{b} * kTilePixels + pixel;
      const unsigned mask = args.state.masks[entry];
      const unsigned along = __ballot_sync(kFullWarp, mask != 0);
      if (mask != 0) {
        store_pixel(args.frame, args.state, entry, bucket.left + pixel % kTileSize,
                    bucket.top + pixel / kTileSize, mask,
                    count + __popc(along & ((1U << lane) - 1U)), pixels);
      }
      count += __popc(along);
      mode.note(kCollect);
    }
    return count;
  }

  // Step s: lane l has pixel s - l.
  template <class Mode>
  static __device__ __forceinline__ void pass_all(const LaneSplat& splat, int count, unsigned lane,
                                                  const Pixels& pixels, SplatSums& sums,
                                                  Mode& mode) {
    PassingPixel passing{0.0F, 0.0F};
    const unsigned own = 1U << lane;
    const int steps = count == 0 ? 0 : count + kAhead;
#pragma unroll 1
    for (int base = 0; base < steps; base += kUnroll) {
#pragma unroll
      for (int i = 0; i < kUnroll; ++i) {
        const int step = base + i;
        passing.transmittance = __shfl_up_sync(kFullWarp, passing.transmittance, 1);
        passing.rest = __shfl_up_sync(kFullWarp, passing.rest, 1);
        if (lane == 0) {
          passing = pixels.state[step];
        }
        const int place = kAhead + step - static_cast<int>(lane);
        const float4 dl_dcolor = pixels.dl_dcolor[place];
        pass_pixel(splat.mean, splat.conic, splat.color, pixels.at[place],
                   make_float3(dl_dcolor.x, dl_dcolor.y, dl_dcolor.z),
                   (__float_as_uint(dl_dcolor.w) & own) != 0, passing, sums);
      }
      mode.note(kSteps);
    }
  }
};

using PerSplatArrays = PerSplat<GradientPointers>;
using PerSplatStructs = PerSplat<FixedStructs>;

}  // namespace

WARPFOLD_APART_KERNELS(per_splat, PerSplatArrays)
WARPFOLD_APART_STRUCT_FIXED_KERNELS(per_splat_struct, PerSplatStructs)

namespace {

template <class Storage, class Out>
class PerSplatWorkload final : public FrameWorkload {
 public:
  PerSplatWorkload(std::string name, std::string where, workload::Kernels kernels)
      : name_(std::move(name)), where_(std::move(where)), kernels_(kernels) {}

  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] std::string kernel() const override {
    return "3DGS backward render, 16x16 tiles, a Gaussian a lane, pixels pass by shuffle" + where_;
  }
  [[nodiscard]] std::vector<std::string> paths() const override {
    return {"prologue", "collect", "steps", "idle", "taken", "epilogue"};
  }
  [[nodiscard]] workload::Kernels kernels() const override { return kernels_; }
  void load() override {
    FrameWorkload::load();
    buckets_.fill({tiles_x(), tiles_y()}, frame());
    if (buckets_.count() == 0) {
      throw InputError("the camera sees no Gaussian");
    }
    gradients_.allocate(primitive_count());
    args_ = {frame(), buckets_.state(), {gradients_.pointers()}};
    if constexpr (requires { args_.out.sums; }) {
      // Of each tile.
      fixed_ = gradients_.in_fixed_point(std::uint64_t{tiles_x()} * tiles_y(), args_.out.sums);
    }
  }
  void check(Verdict& verdict) override {
    FrameWorkload::check(verdict);
    verdict.expect("picture of the pass that fills the buckets",
                   relative_error(buckets_.image(), image()), 1e-6);
    buckets_.print_cost({tiles_x(), tiles_y()}, frame());
  }
  [[nodiscard]] Launch launch() const override {
    return {{buckets_.count(), 1, 1}, {trace::kWarpLanes, 1, 1}, &args_};
  }
  [[nodiscard]] std::vector<trace::Parameter> parameters() const override {
    return gradients_.parameters();
  }
  [[nodiscard]] std::vector<workload::Array> arrays() const override { return gradients_.arrays(); }
  [[nodiscard]] std::vector<double> reference() const override {
    return gradients_.arrange(reference_gradients());
  }
  [[nodiscard]] workload::FixedSums* fixed() const override { return fixed_.get(); }

 private:
  std::string name_, where_;
  workload::Kernels kernels_;
  FilledBuckets buckets_;
  Storage gradients_;
  PerSplatArgs<Out> args_{};
  std::unique_ptr<workload::FixedSums> fixed_;
};

}  // namespace

std::unique_ptr<workload::Workload> make_per_splat() {
  return std::make_unique<PerSplatWorkload<ArrayStorage, GradientPointers>>("per_splat", "",
                                                                            per_splat_kernels());
}

std::unique_ptr<workload::Workload> make_per_splat_struct() {
  return std::make_unique<PerSplatWorkload<StructStorage, FixedStructs>>(
      "per_splat_struct", ", gradients in one struct", per_splat_struct_kernels());
}

}  // namespace warpfold::capture::splat_forms

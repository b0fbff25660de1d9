// SPDX-License-Identifier: Apache-2.0
// The backward kernel of 3D Gaussian Splatting with a pixel a thread, whose warps sum by recursive
// halving in every pass in which a lane is active: the sums end in nine lanes, which add them to
// the struct of the Gaussian in one RED, or in three lanes with four each. In fixed point the sums
// of a warp stay floats, as their order is always the same.
#include "traces/capture/splat_forms/frame_workload.cuh"
#include "traces/capture/splat_forms/kernels.cuh"
#include "traces/capture/splat_forms/pixel_group.cuh"
#include "traces/capture/splat_forms/struct_pieces.cuh"
#include "traces/capture/workload/device.cuh"

namespace warpfold::capture::splat_forms {
namespace {

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

template <class Lanes>
struct Halved {
  using Args = HalvedArgs;
  static constexpr int kThreads = kTilePixels;

  template <class Mode>
  static __device__ __forceinline__ void run(const Args& args, Mode& mode) {
    __shared__ SharedGaussian batch[kBatch];
    const BackwardArgs& frame = args.frame;
    const uint2 range = frame.ranges[blockIdx.y * gridDim.x + blockIdx.x];
    const int total = static_cast<int>(range.y - range.x);
    const int rank = static_cast<int>(threadIdx.y * kTileSize + threadIdx.x);
    PixelGroup<1> thread =
        load_group<1>(frame, static_cast<int>(blockIdx.x * kTileSize + threadIdx.x),
                      static_cast<int>(blockIdx.y * kTileSize + threadIdx.y), total);
    const int warp_first = least_of_warp(thread.first_pass[0]);
    const Lanes lanes(static_cast<unsigned>(rank) % trace::kWarpLanes);
    const auto target = lanes.target(args.gradient, args.fixed);
    mode.note(kPrologue);
#pragma unroll 1
    for (int base = 0; base < total; base += kBatch) {
      mode.barrier();
      if (base + rank < total) {
        const std::uint32_t id = frame.primitives[range.y - 1 - static_cast<unsigned>(base + rank)];
        const float* color = frame.color + std::size_t{id} * 3;
        SharedGaussian& own = batch[rank];
        own.mean = frame.mean2d[id];
        own.conic = scale_conic(frame.conic_opacity[id]);
        own.color = make_float4(color[0], color[1], color[2], __int_as_float(static_cast<int>(id)));
      }
      mode.barrier();
      mode.note(kBatchPath);
      const int count = min(kBatch, total - base);
      const int first = thread.first_pass[0] - base;
#pragma unroll 1
      for (int j = max(0, warp_first - base); j < count; ++j) {
        const float4 conic = batch[j].conic;
        const Footprint f = footprint(batch[j].mean, conic, thread.pixel);
        const float falloff = exp2_approx(f.power);
        const float alpha_raw = __fmul_rn(conic.w, falloff);
        const bool active = j >= first && !(f.power > 0.0F) && !(alpha_raw < kMinAlpha);
        if (mode.leaves(__any_sync(kFullWarp, active) != 0, kSkipAlpha)) {
          continue;
        }
        const float4 color = batch[j].color;
        float val[kParameters];
        gradients(f, conic, make_float3(color.x, color.y, color.z), active ? falloff : 0.0F,
                  active ? alpha_raw : 0.0F, frame.mean_scale, thread.state[0], val);
        lanes.add(mode, kNever, __float_as_int(color.w), target, val);
      }
    }
    mode.note(kEpilogue);
  }
};

using HalvedFloats = Halved<NineLanes>;
using HalvedVectors = Halved<ThreeLanes>;

}  // namespace

WARPFOLD_APART_FIXED_KERNELS(halved, HalvedFloats)
WARPFOLD_APART_STRUCT_KERNELS(halved_vector, HalvedVectors)

namespace {

template <class Lanes>
class HalvedWorkload final : public FrameWorkload {
 public:
  HalvedWorkload(std::string name, std::string how, workload::Kernels kernels)
      : name_(std::move(name)), how_(std::move(how)), kernels_(kernels) {}

  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] std::string kernel() const override {
    return "3DGS backward render, 16x16 tiles, recursive halving, " + how_;
  }
  [[nodiscard]] std::vector<std::string> paths() const override {
    return {"prologue", "batch", "skip_alpha", "taken", "epilogue"};
  }
  [[nodiscard]] workload::Kernels kernels() const override { return kernels_; }
  void load() override {
    FrameWorkload::load();
    gradients_.allocate(FrameWorkload::primitive_count());
    args_ = {frame(), gradients_.pointers().gradient, {}};
    if (kernels_.greatest != nullptr) {
      // Of each warp of each tile.
      fixed_ = gradients_.in_fixed_point(
          std::uint64_t{tiles_x()} * tiles_y() * (kTilePixels / trace::kWarpLanes), args_.fixed);
    }
  }
  [[nodiscard]] std::uint64_t primitive_count() const override {
    return FrameWorkload::primitive_count() * (kStructFloats / Lanes::kPieceFloats);
  }
  [[nodiscard]] Launch launch() const override {
    return {{tiles_x(), tiles_y(), 1}, {kTileSize, kTileSize, 1}, &args_};
  }
  [[nodiscard]] std::vector<trace::Parameter> parameters() const override {
    return gradients_.pieces(Lanes::kPieceFloats);
  }
  [[nodiscard]] std::vector<workload::Array> arrays() const override { return gradients_.arrays(); }
  [[nodiscard]] std::vector<double> reference() const override {
    return gradients_.arrange(reference_gradients());
  }
  [[nodiscard]] workload::FixedSums* fixed() const override { return fixed_.get(); }

 private:
  std::string name_, how_;
  workload::Kernels kernels_;
  StructStorage gradients_;
  HalvedArgs args_{};
  std::unique_ptr<workload::FixedSums> fixed_;
};

}  // namespace

std::unique_ptr<workload::Workload> make_halved() {
  return std::make_unique<HalvedWorkload<NineLanes>>("halved", "nine lanes add a float each",
                                                     halved_kernels());
}

std::unique_ptr<workload::Workload> make_halved_vector() {
  return std::make_unique<HalvedWorkload<ThreeLanes>>(
      "halved_vector", "three lanes add four floats each", halved_vector_kernels());
}

}  // namespace warpfold::capture::splat_forms

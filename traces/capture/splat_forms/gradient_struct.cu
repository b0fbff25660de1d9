// SPDX-License-Identifier: Apache-2.0
// The backward kernel of 3D Gaussian Splatting with structs in place of arrays, as Beinlich's
// thesis has it (6.3.2): what a batch holds of one Gaussian lies together in shared memory, and so
// do its gradients in global memory, in 12 floats of which the last three stay unused. All nine
// atomics of an event go to 36 bytes.
#include "traces/capture/splat_forms/frame_workload.cuh"
#include "traces/capture/splat_forms/kernels.cuh"
#include "traces/capture/splat_forms/pixel_group.cuh"
#include "traces/capture/workload/device.cuh"

namespace warpfold::capture::splat_forms {
namespace {

enum Path : unsigned {
  kPrologue = 0,
  kBatchPath = 1,
  kSkipPosition = 2,
  kSkipPower = 3,
  kSkipAlpha = 4,
  kTaken = 5,
  kEpilogue = 6
};

// A Gaussian of the batch.
struct SharedGaussian {
  float4 conic;  // scaled, with the opacity
  float4 color;  // the Gaussian's index in w
  float2 mean;
  float2 unused;
};

struct GradientStruct {
  using Args = StructArgs;
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
      for (int j = 0; j < count; ++j) {
        const bool reached = j >= first;
        if (mode.leaves(reached, kSkipPosition)) {
          continue;
        }
        const float4 conic = batch[j].conic;
        const Footprint f = footprint(batch[j].mean, conic, thread.pixel);
        const bool inside = reached && !(f.power > 0.0F);
        if (mode.leaves_alone(inside, kSkipPower)) {
          continue;
        }
        const float falloff = exp2_approx(f.power);
        const float alpha_raw = __fmul_rn(conic.w, falloff);
        const bool active = inside && !(alpha_raw < kMinAlpha);
        if (mode.leaves(active, kSkipAlpha)) {
          continue;
        }
        const float4 color = batch[j].color;
        float val[kParameters];
        gradients(f, conic, make_float3(color.x, color.y, color.z), mode.keep(active, falloff),
                  mode.keep(active, alpha_raw), frame.mean_scale, thread.state[0], val);
        mode.reduce(__float_as_int(color.w), args.out, val);
      }
    }
    mode.note(kEpilogue);
  }
};

}  // namespace

WARPFOLD_STRUCT_KERNELS(gradient_struct, GradientStruct)

namespace {

class GradientStructWorkload final : public FrameWorkload {
 public:
  [[nodiscard]] std::string name() const override { return "gradient_struct"; }
  [[nodiscard]] std::string kernel() const override {
    return "3DGS backward render, 16x16 tiles, gradients of a Gaussian in one struct";
  }
  [[nodiscard]] std::vector<std::string> paths() const override {
    return {"prologue", "batch", "skip_position", "skip_power", "skip_alpha", "taken", "epilogue"};
  }
  [[nodiscard]] workload::Kernels kernels() const override { return gradient_struct_kernels(); }
  void load() override {
    FrameWorkload::load();
    gradients_.allocate(primitive_count());
    args_ = {frame(), gradients_.pointers()};
  }
  [[nodiscard]] Launch launch() const override {
    return {{tiles_x(), tiles_y(), 1}, {kTileSize, kTileSize, 1}, &args_};
  }
  [[nodiscard]] std::vector<trace::Parameter> parameters() const override {
    return gradients_.parameters();
  }
  [[nodiscard]] std::vector<workload::Array> arrays() const override { return gradients_.arrays(); }
  [[nodiscard]] std::vector<double> reference() const override {
    return gradients_.arrange(reference_gradients());
  }

 private:
  StructStorage gradients_;
  StructArgs args_{};
};

}  // namespace

std::unique_ptr<workload::Workload> make_gradient_struct() {
  return std::make_unique<GradientStructWorkload>();
}

}  // namespace warpfold::capture::splat_forms

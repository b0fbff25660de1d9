// SPDX-License-Identifier: Apache-2.0
// The backward kernel of 3D Gaussian Splatting with four pixels for each thread, as Beinlich's
// thesis has it (6.3.2): a CTA of 64 threads does a tile of 16x16, and a thread adds the gradients
// of four pixels of a row up before it adds them to memory. A warp covers 16x8 pixels.
#include "traces/capture/splat_forms/frame_workload.cuh"
#include "traces/capture/splat_forms/gradient_storage.cuh"
#include "traces/capture/splat_forms/pixel_group.cuh"
#include "traces/capture/workload/device.cuh"

namespace warpfold::capture::splat_forms {
namespace {

constexpr unsigned kPixels = 4;  // of a thread
constexpr unsigned kThreadsX = kTileSize / kPixels;
constexpr int kGroupThreads = kTilePixels / static_cast<int>(kPixels);
constexpr int kFetches = kBatch / kGroupThreads;  // of a thread for a batch

enum Path : unsigned {
  kPrologue = 0,
  kBatchPath = 1,
  kSkipPosition = 2,
  kSkipAlpha = 3,
  kTaken = 4,
  kEpilogue = 5
};

struct FourPixels {
  using Args = BackwardArgs;
  static constexpr int kThreads = kGroupThreads;

  template <class Mode>
  static __device__ __forceinline__ void run(const Args& args, Mode& mode) {
    __shared__ float4 conics[kBatch];     // scaled, with the opacity
    __shared__ float4 color_ids[kBatch];  // the Gaussian's index in w
    __shared__ float2 means[kBatch];
    const uint2 range = args.ranges[blockIdx.y * gridDim.x + blockIdx.x];
    const int total = static_cast<int>(range.y - range.x);
    const int rank = static_cast<int>(threadIdx.y * kThreadsX + threadIdx.x);
    const int x = static_cast<int>(blockIdx.x * kTileSize + threadIdx.x * kPixels);
    const int y = static_cast<int>(blockIdx.y * kTileSize + threadIdx.y);
    PixelGroup<kPixels> group = load_group<kPixels>(args, x, y, total);
    const int first_pass = group.first();
    mode.note(kPrologue);
#pragma unroll 1
    for (int base = 0; base < total; base += kBatch) {
      mode.barrier();
#pragma unroll
      for (int i = 0; i < kFetches; ++i) {
        const int slot = i * kGroupThreads + rank;
        if (base + slot < total) {
          const std::uint32_t id =
              args.primitives[range.y - 1 - static_cast<unsigned>(base + slot)];
          const float* color = args.color + std::size_t{id} * 3;
          means[slot] = args.mean2d[id];
          conics[slot] = scale_conic(args.conic_opacity[id]);
          color_ids[slot] =
              make_float4(color[0], color[1], color[2], __int_as_float(static_cast<int>(id)));
        }
      }
      mode.barrier();
      mode.note(kBatchPath);
      const int count = min(kBatch, total - base);
#pragma unroll 1
      for (int j = 0; j < count; ++j) {
        const int pass = base + j;
        if (mode.leaves(pass >= first_pass, kSkipPosition)) {
          continue;
        }
        const float4 conic = conics[j];
        GroupFootprint<kPixels> footprint;
        const bool active = group_footprint(group, means[j], conic, pass, footprint);
        if (mode.leaves(active, kSkipAlpha)) {
          continue;
        }
        const float4 color = color_ids[j];
        float val[kParameters];
        group_gradients(footprint, conic, make_float3(color.x, color.y, color.z), args.mean_scale,
                        group, val);
        mode.reduce(__float_as_int(color.w), args.out, val);
      }
    }
    mode.note(kEpilogue);
  }
};

}  // namespace

WARPFOLD_PRIMITIVE_KERNELS(four_pixels, FourPixels)

namespace {

class FourPixelsWorkload final : public FrameWorkload {
 public:
  [[nodiscard]] std::string name() const override { return "four_pixels"; }
  [[nodiscard]] std::string kernel() const override {
    return "3DGS backward render, 16x16 tiles, four pixels a thread";
  }
  [[nodiscard]] std::vector<std::string> paths() const override {
    return {"prologue", "batch", "skip_position", "skip_alpha", "taken", "epilogue"};
  }
  [[nodiscard]] workload::Kernels kernels() const override { return four_pixels_kernels(); }
  void load() override {
    FrameWorkload::load();
    args_ = frame();
    gradients_.allocate(primitive_count());
    args_.out = gradients_.pointers();
  }
  [[nodiscard]] Launch launch() const override {
    return {{tiles_x(), tiles_y(), 1}, {kThreadsX, kTileSize, 1}, &args_};
  }
  [[nodiscard]] std::vector<trace::Parameter> parameters() const override {
    return gradients_.parameters();
  }
  [[nodiscard]] std::vector<workload::Array> arrays() const override { return gradients_.arrays(); }
  [[nodiscard]] std::vector<double> reference() const override {
    return gradients_.arrange(reference_gradients());
  }

 private:
  ArrayStorage gradients_;
  BackwardArgs args_{};
};

}  // namespace

std::unique_ptr<workload::Workload> make_four_pixels() {
  return std::make_unique<FourPixelsWorkload>();
}

}  // namespace warpfold::capture::splat_forms

// SPDX-License-Identifier: Apache-2.0
// The backward kernel of 3D Gaussian Splatting with a pixel a thread, whose CTA sums before it
// adds: warps sum by recursive halving into shared memory, a group of Gaussians behind the other,
// and what the eight warps have of a Gaussian leaves as one RED for each parameter, or as a struct.
#include "traces/capture/splat_forms/frame_workload.cuh"
#include "traces/capture/splat_forms/kernels.cuh"
#include "traces/capture/splat_forms/pixel_group.cuh"
#include "traces/capture/splat_forms/struct_pieces.cuh"
#include "traces/capture/splat_forms/warp_sums.cuh"
#include "traces/capture/workload/device.cuh"

namespace warpfold::capture::splat_forms {
namespace {

enum Path : unsigned {
  kPrologue = 0,
  kBatchPath = 1,
  kSum = 2,   // a Gaussian that counts for the warp, without what kMeet is
  kMeet = 3,  // a Gaussian that is looked at
  kIdle = 4,  // a group of which the warp has nothing to add
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

__device__ __forceinline__ void fetch(const BackwardArgs& frame, std::uint32_t pair,
                                      SharedGaussian& to) {
  const std::uint32_t id = frame.primitives[pair];
  const float* color = frame.color + std::size_t{id} * 3;
  to.mean = frame.mean2d[id];
  to.conic = scale_conic(frame.conic_opacity[id]);
  to.color = make_float4(color[0], color[1], color[2], __int_as_float(static_cast<int>(id)));
}

// A thread adds one sum of one Gaussian.
class FloatByFloat {
 public:
  static constexpr int kGroup = kTilePixels / kParameters;
  static constexpr int kBatch = 9 * kGroup;  // as many as threads, about
  static constexpr int kPieceFloats = 1;
  using Sums = WarpSums<kGroup, kParameters>;

  __device__ __forceinline__ explicit FloatByFloat(int rank)
      : works_(rank < kGroup * kParameters),
        gaussian_(works_ ? rank / kParameters : 0),
        parameter_(rank % kParameters) {}
  template <class Mode>
  __device__ __forceinline__ void add(Mode& mode, const Sums& sums, const SharedGaussian* group,
                                      float* gradient) const {
    const float sum[1] = {sums.of_block(gaussian_, parameter_)};
    if (mode.leaves(works_ && sums.counted(gaussian_), kIdle)) {
      return;
    }
    const int id = __float_as_int(group[gaussian_].color.w);
    mode.reduce(id * kStructFloats + parameter_, Pieces<1>{gradient}, sum);
  }

 private:
  bool works_;
  int gaussian_, parameter_;
};

// Structs, and where the sums for one of them are.
struct SummedStructs : GradientStructs {
  const float* summed;
};

// Each warp sums the structs of four Gaussians, which four lanes add.
class StructByStruct {
 public:
  static constexpr int kGroup = trace::kWarpLanes;
  static constexpr int kBatch = 4 * kGroup;
  static constexpr int kPieceFloats = kStructFloats;
  using Sums = WarpSums<kGroup, kStructFloats>;

  __device__ __forceinline__ explicit StructByStruct(int rank)
      : lane_(rank % trace::kWarpLanes), first_(rank / trace::kWarpLanes * kOfWarp) {}
  template <class Mode>
  __device__ __forceinline__ void add(Mode& mode, const Sums& sums, const SharedGaussian* group,
                                      float* gradient) const {
    __shared__ float4 structs[kGroup][kVectors];
    mode.sum_in_shared([&] {
      if (lane_ < kOfWarp * kVectors) {
        const int gaussian = first_ + lane_ / kVectors;
        structs[gaussian][lane_ % kVectors] = sums.vector_of_block(gaussian, lane_ % kVectors);
      }
    });
    const int own = first_ + lane_ % kOfWarp;
    if (mode.leaves(lane_ < kOfWarp && sums.counted(own), kIdle)) {
      return;
    }
    const float* const summed = reinterpret_cast<const float*>(structs[own]);
    float val[kParameters];
#pragma unroll
    for (int k = 0; k < kParameters; ++k) {
      val[k] = summed[k];
    }
    mode.reduce(__float_as_int(group[own].color.w), SummedStructs{{gradient}, summed}, val);
  }

 private:
  static constexpr int kVectors = kStructFloats / 4;
  static constexpr int kOfWarp = kGroup / kWarpsPerTile;

  int lane_, first_;
};

template <class Adder>
struct BlockReduced {
  using Args = HalvedArgs;
  static constexpr int kThreads = kTilePixels;
  static constexpr int kBatch = Adder::kBatch;
  static constexpr int kGroup = Adder::kGroup;

  template <class Mode>
  static __device__ __forceinline__ void run(const Args& args, Mode& mode) {
    __shared__ SharedGaussian batch[kBatch];
    __shared__ typename Adder::Sums sums[2];  // one is written while the other is added
    const BackwardArgs& frame = args.frame;
    const uint2 range = frame.ranges[blockIdx.y * gridDim.x + blockIdx.x];
    const int total = static_cast<int>(range.y - range.x);
    const int rank = static_cast<int>(threadIdx.y * kTileSize + threadIdx.x);
    PixelGroup<1> thread =
        load_group<1>(frame, static_cast<int>(blockIdx.x * kTileSize + threadIdx.x),
                      static_cast<int>(blockIdx.y * kTileSize + threadIdx.y), total);
    const int warp_first = least_of_warp(thread.first_pass[0]);
    const WarpSummer summer(rank);
    const Adder adder(rank);
    unsigned turn = 0;
    mode.note(kPrologue);
#pragma unroll 1
    for (int base = 0; base < total; base += kBatch) {
      mode.barrier();
      if (rank < kBatch && base + rank < total) {
        fetch(frame, range.y - 1 - static_cast<unsigned>(base + rank), batch[rank]);
      }
      mode.barrier();
      mode.note(kBatchPath);
      const int count = min(kBatch, total - base);
#pragma unroll 1
      for (int group = 0; group < count; group += kGroup) {
        const Passes passes{base, group, max(group, warp_first - base), min(count, group + kGroup)};
        turn ^= 1U;
        sum_group(frame, batch, passes, summer, thread, sums[turn], mode);
        mode.barrier();
        adder.add(mode, sums[turn], batch + group, args.gradient);
      }
    }
    mode.note(kEpilogue);
  }

  // Of a batch, those that the warp meets of a group.
  struct Passes {
    int base, group, first, end;
  };

  template <class Mode>
  static __device__ __forceinline__ void sum_group(const BackwardArgs& frame,
                                                   const SharedGaussian* batch,
                                                   const Passes& passes, const WarpSummer& summer,
                                                   PixelGroup<1>& thread,
                                                   typename Adder::Sums& sums, Mode& mode) {
    const int first_pass = thread.first_pass[0] - passes.base;
    unsigned counted = 0;
    int j = passes.first;
#pragma unroll 1
    while (j < passes.end) {
      bool active = false;
      Footprint f;
      float falloff = 0.0F;
      float alpha_raw = 0.0F;
#pragma unroll 1
      for (; j < passes.end; ++j) {
        const float4 conic = batch[j].conic;
        f = footprint(batch[j].mean, conic, thread.pixel);
        falloff = exp2_approx(f.power);
        alpha_raw = __fmul_rn(conic.w, falloff);
        active = j >= first_pass && !(f.power > 0.0F) && !(alpha_raw < kMinAlpha);
        mode.note(kMeet);
        if (__any_sync(kFullWarp, active) != 0) {
          break;
        }
      }
      if (j == passes.end) {
        break;
      }
      const float4 color = batch[j].color;
      float val[kParameters];
      gradients(f, batch[j].conic, make_float3(color.x, color.y, color.z), active ? falloff : 0.0F,
                active ? alpha_raw : 0.0F, frame.mean_scale, thread.state[0], val);
      summer.store(val, j - passes.group, sums);
      counted |= 1U << static_cast<unsigned>(j - passes.group);
      ++j;
      mode.note(kSum);
    }
    summer.end(counted, sums);
  }
};

using BlockReducedFloats = BlockReduced<FloatByFloat>;
using BlockReducedStructs = BlockReduced<StructByStruct>;

}  // namespace

WARPFOLD_APART_KERNELS(block_reduced, BlockReducedFloats)
WARPFOLD_APART_STRUCT_KERNELS(block_reduced_struct, BlockReducedStructs)

namespace {

template <class Adder>
class BlockReducedWorkload final : public FrameWorkload {
 public:
  BlockReducedWorkload(std::string name, std::string how, workload::Kernels kernels)
      : name_(std::move(name)), how_(std::move(how)), kernels_(kernels) {}

  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] std::string kernel() const override {
    return "3DGS backward render, 16x16 tiles, a CTA sums, " + how_;
  }
  [[nodiscard]] std::vector<std::string> paths() const override {
    return {"prologue", "batch", "sum", "meet", "idle", "taken", "epilogue"};
  }
  [[nodiscard]] workload::Kernels kernels() const override { return kernels_; }
  void load() override {
    FrameWorkload::load();
    gradients_.allocate(FrameWorkload::primitive_count());
    args_ = {frame(), gradients_.pointers().gradient};
  }
  [[nodiscard]] std::uint64_t primitive_count() const override {
    return FrameWorkload::primitive_count() * (kStructFloats / Adder::kPieceFloats);
  }
  [[nodiscard]] Launch launch() const override {
    return {{tiles_x(), tiles_y(), 1}, {kTileSize, kTileSize, 1}, &args_};
  }
  [[nodiscard]] std::vector<trace::Parameter> parameters() const override {
    return Adder::kPieceFloats == kStructFloats ? gradients_.parameters()
                                                : gradients_.pieces(Adder::kPieceFloats);
  }
  [[nodiscard]] std::vector<workload::Array> arrays() const override { return gradients_.arrays(); }
  [[nodiscard]] std::vector<double> reference() const override {
    return gradients_.arrange(reference_gradients());
  }

 private:
  std::string name_, how_;
  workload::Kernels kernels_;
  StructStorage gradients_;
  HalvedArgs args_{};
};

}  // namespace

std::unique_ptr<workload::Workload> make_block_reduced() {
  return std::make_unique<BlockReducedWorkload<FloatByFloat>>(
      "block_reduced", "a RED for each parameter", block_reduced_kernels());
}

std::unique_ptr<workload::Workload> make_block_reduced_struct() {
  return std::make_unique<BlockReducedWorkload<StructByStruct>>(
      "block_reduced_struct", "a lane adds a struct", block_reduced_struct_kernels());
}

}  // namespace warpfold::capture::splat_forms

// SPDX-License-Identifier: Apache-2.0
#include "traces/capture/splat_forms/frame_form.cuh"
#include "traces/capture/splat_forms/kernels.cuh"

namespace warpfold::capture::splat_forms {
namespace {

template <class Args>
void start(const void* kernel, dim3 grid, dim3 block, Args args) {
  int threshold = 0;
  void* arguments[] = {&args, &threshold};
  check(cudaLaunchKernel(kernel, grid, block, arguments, 0, nullptr), "backward kernel");
}

}  // namespace

const float* FrameForm::draw(GpuFrame& frame) {
  if (in_structs()) {
    make_room(structs_, frame.count() * kStructFloats, DeviceBuffer<float>::on_own_pages);
  }
  if (!by_splat()) {
    frame.draw();
    return frame.image();
  }
  buckets_.fill(frame.grid(), frame.backward_args(nullptr));
  return buckets_.state().image;
}

void FrameForm::clear_gradients(const GpuFrame& frame) const {
  if (!in_structs()) {
    frame.clear_gradients();
    return;
  }
  check(cudaMemsetAsync(structs_.data(), 0, frame.count() * kStructFloats * sizeof(float)),
        "cudaMemset");
}

void FrameForm::launch(const GpuFrame& frame, const float* dl_dpixels) const {
  using workload::Variant;
  const BackwardArgs args = frame.backward_args(dl_dpixels);
  const dim3 by_tile(kTileSize, kTileSize);
  const dim3 by_warp(kTileWarpThreadsX, kTileSize);
  const dim3 buckets(buckets_.count());
  if (by_splat() && buckets_.count() == 0) {
    return;
  }
  switch (form_) {
    case Form::kPerSplat:
      start(per_splat_kernels().of(Variant::kBaseline), buckets, trace::kWarpLanes,
            PerSplatArgs<GradientPointers>{args, buckets_.state(), args.out});
      break;
    case Form::kPerSplatStruct:
      start(per_splat_struct_kernels().of(Variant::kVector), buckets, trace::kWarpLanes,
            PerSplatArgs<FixedStructs>{args, buckets_.state(), {{structs_.data()}, {}}});
      break;
    case Form::kHalved:
      start(halved_kernels().of(Variant::kBaseline), frame.grid(), by_tile,
            HalvedArgs{args, structs_.data(), {}});
      break;
    case Form::kHalvedVector:
      start(halved_vector_kernels().of(Variant::kVector), frame.grid(), by_tile,
            HalvedArgs{args, structs_.data(), {}});
      break;
    case Form::kTileWarp:
      start(tile_warp_kernels().of(Variant::kSkip), frame.grid(), by_warp,
            TileWarpArgs{args, {structs_.data()}});
      break;
    case Form::kTileWarpHalved:
      start(tile_warp_halved_kernels().of(Variant::kBaseline), frame.grid(), by_warp,
            TileWarpArgs{args, {structs_.data()}});
      break;
  }
}

GradientView FrameForm::gradients(const GpuFrame& frame) const {
  if (!in_structs()) {
    return frame.gradients();
  }
  GradientView view{};
  for (int k = 0; k < static_cast<int>(kParameters); ++k) {
    view.first[k] = structs_.data() + k;
    view.stride[k] = kStructFloats;
  }
  return view;
}

}  // namespace warpfold::capture::splat_forms

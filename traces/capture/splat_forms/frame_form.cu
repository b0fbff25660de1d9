// SPDX-License-Identifier: Apache-2.0
#include "traces/capture/splat_forms/frame_form.cuh"
#include "traces/capture/splat_forms/kernels.cuh"

namespace warpfold::capture::splat_forms {
namespace {

using workload::Variant;

struct Implementation {
  workload::Kernels (*kernels)();
  Variant variant;
};

Implementation implementation(Form form) {
  switch (form) {
    case Form::kPerSplat:
      return {per_splat_kernels, Variant::kBaseline};
    case Form::kPerSplatStruct:
      return {per_splat_struct_kernels, Variant::kVector};
    case Form::kPerSplatBulk:
      return {per_splat_struct_kernels, Variant::kBulk};
    case Form::kPerSplatFixed:
      return {per_splat_struct_kernels, Variant::kFixed};
    case Form::kHalved:
      return {halved_kernels, Variant::kBaseline};
    case Form::kHalvedVector:
      return {halved_vector_kernels, Variant::kVector};
    case Form::kHalvedFixed:
      return {halved_kernels, Variant::kFixed};
    case Form::kBlockReduced:
      return {block_reduced_kernels, Variant::kBaseline};
    case Form::kSharedSlot:
      return {gradient_struct_kernels, Variant::kSharedSlot};
    case Form::kTileWarp:
      return {tile_warp_kernels, Variant::kSkip};
    case Form::kTileWarpHalved:
      return {tile_warp_halved_kernels, Variant::kBaseline};
  }
  return {};
}

template <class Args>
void start_with(const void* kernel, dim3 grid, dim3 block, Args args) {
  int threshold = 0;
  void* arguments[] = {&args, &threshold};
  check(cudaLaunchKernel(kernel, grid, block, arguments, 0, nullptr), "backward kernel");
}

}  // namespace

bool FrameForm::by_splat() const {
  return form_ == Form::kPerSplat || form_ == Form::kPerSplatStruct ||
         form_ == Form::kPerSplatBulk || form_ == Form::kPerSplatFixed;
}

const float* FrameForm::draw(GpuFrame& frame) {
  if (in_structs()) {
    make_room(structs_, frame.count() * kStructFloats, DeviceBuffer<float>::on_own_pages);
  }
  if (in_fixed_point(form_) && fixed_count_ != frame.count()) {
    make_words(frame);
  }
  if (!by_splat()) {
    frame.draw();
    return frame.image();
  }
  buckets_.fill(frame.grid(), frame.backward_args(nullptr));
  return buckets_.state().image;
}

void FrameForm::make_words(const GpuFrame& frame) {
  saturated_before_ = saturated();
  // A tile adds to a Gaussian once, or each of its warps does.
  const std::uint64_t tiles = std::uint64_t{frame.grid().x} * frame.grid().y;
  fixed_count_ = frame.count();
  fixed_.emplace(structs_.data(), fixed_count_ * kStructFloats, kStructFloats,
                 by_splat() ? tiles : tiles * kWarpsPerTile, words_);
  scaled_ = false;
}

void FrameForm::clear_gradients(const GpuFrame& frame) const {
  if (fixed_) {
    fixed_->clear();  // the last pass writes the floats
  } else if (in_structs()) {
    check(cudaMemsetAsync(structs_.data(), 0, frame.count() * kStructFloats * sizeof(float)),
          "cudaMemset");
  } else {
    frame.clear_gradients();
  }
}

void FrameForm::launch(const GpuFrame& frame, const float* dl_dpixels) {
  const Implementation form = implementation(form_);
  const workload::Kernels kernels = form.kernels();
  if (fixed_ && !scaled_) {
    start(kernels.greatest, frame, dl_dpixels);
    fixed_->find_scales();
    scaled_ = true;
  }
  start(kernels.of(form.variant), frame, dl_dpixels);
  if (fixed_) {
    fixed_->finish();
  }
}

void FrameForm::start(const void* kernel, const GpuFrame& frame, const float* dl_dpixels) const {
  const BackwardArgs args = frame.backward_args(dl_dpixels);
  const dim3 by_tile(kTileSize, kTileSize);
  const dim3 by_warp(kTileWarpThreadsX, kTileSize);
  const dim3 buckets(buckets_.count());
  if (by_splat() && buckets_.count() == 0) {
    return;
  }
  switch (form_) {
    case Form::kPerSplat:
      start_with(kernel, buckets, trace::kWarpLanes,
                 PerSplatArgs<GradientPointers>{args, buckets_.state(), args.out});
      break;
    case Form::kPerSplatStruct:
    case Form::kPerSplatBulk:
    case Form::kPerSplatFixed:
      start_with(kernel, buckets, trace::kWarpLanes,
                 PerSplatArgs<FixedStructs>{args, buckets_.state(), {{structs_.data()}, words_}});
      break;
    case Form::kHalved:
    case Form::kHalvedVector:
    case Form::kHalvedFixed:
    case Form::kBlockReduced:
      start_with(kernel, frame.grid(), by_tile, HalvedArgs{args, structs_.data(), words_});
      break;
    case Form::kSharedSlot:
      start_with(kernel, frame.grid(), by_tile, StructArgs{args, {structs_.data()}});
      break;
    case Form::kTileWarp:
    case Form::kTileWarpHalved:
      start_with(kernel, frame.grid(), by_warp, StructArgs{args, {structs_.data()}});
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

std::uint64_t FrameForm::saturated() const {
  return saturated_before_ + (fixed_ ? fixed_->saturated() : 0);
}

}  // namespace warpfold::capture::splat_forms

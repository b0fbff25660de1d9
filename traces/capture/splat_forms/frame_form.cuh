// SPDX-License-Identifier: Apache-2.0
// A form of the backward kernel behind a GpuFrame, with what it keeps from frame to frame: for
// trainings. Everything runs on the default stream. Throws CudaError when a CUDA call fails.
#pragma once

#include "traces/capture/splat/gpu_frame.cuh"
#include "traces/capture/splat_forms/buckets.cuh"
#include "traces/capture/splat_forms/form.hpp"

namespace warpfold::capture::splat_forms {

class FrameForm {
 public:
  explicit FrameForm(Form form) : form_(form) {}

  // The forward pass of an arranged frame. Returns the picture, planar.
  const float* draw(GpuFrame& frame);
  // The following three are of the frame that was drawn last.
  void clear_gradients(const GpuFrame& frame) const;
  // tile_warp adds by skip, the others have their own way.
  void launch(const GpuFrame& frame, const float* dl_dpixels) const;
  [[nodiscard]] GradientView gradients(const GpuFrame& frame) const;

 private:
  [[nodiscard]] bool by_splat() const {
    return form_ == Form::kPerSplat || form_ == Form::kPerSplatStruct;
  }
  [[nodiscard]] bool in_structs() const { return form_ != Form::kPerSplat; }

  Form form_;
  FilledBuckets buckets_;
  DeviceBuffer<float> structs_;  // kStructFloats for each Gaussian
};

}  // namespace warpfold::capture::splat_forms

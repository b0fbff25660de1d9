// SPDX-License-Identifier: Apache-2.0
// A form of the backward kernel behind a GpuFrame, with what it keeps from frame to frame: for
// trainings. Everything runs on the default stream. Throws CudaError when a CUDA call fails.
#pragma once

#include <cstdint>
#include <optional>

#include "traces/capture/splat/gpu_frame.cuh"
#include "traces/capture/splat_forms/buckets.cuh"
#include "traces/capture/splat_forms/form.hpp"
#include "traces/capture/workload/fixed_sums.cuh"

namespace warpfold::capture::splat_forms {

class FrameForm {
 public:
  // The GPU must have the form's least_capability().
  explicit FrameForm(Form form) : form_(form) {}
  FrameForm(const FrameForm&) = delete;  // fixed_ refers to words_
  FrameForm& operator=(const FrameForm&) = delete;

  // The forward pass of an arranged frame. Returns the picture, planar.
  const float* draw(GpuFrame& frame);
  // The following three are of the frame that was drawn last.
  void clear_gradients(const GpuFrame& frame) const;
  // tile_warp adds by skip, the others have their own way. In fixed point the scales are found
  // first where the number of Gaussians is another than before, which waits.
  void launch(const GpuFrame& frame, const float* dl_dpixels);
  [[nodiscard]] GradientView gradients(const GpuFrame& frame) const;

  // Additions in fixed point that did not fit, so far; 0 of other forms. Waits.
  [[nodiscard]] std::uint64_t saturated() const;

 private:
  [[nodiscard]] bool by_splat() const;
  [[nodiscard]] bool in_structs() const { return form_ != Form::kPerSplat; }
  void make_words(const GpuFrame& frame);
  void start(const void* kernel, const GpuFrame& frame, const float* dl_dpixels) const;

  Form form_;
  FilledBuckets buckets_;
  DeviceBuffer<float> structs_;  // kStructFloats for each Gaussian
  FixedWords words_{};
  std::optional<workload::FixedSums> fixed_;
  std::size_t fixed_count_ = 0;         // Gaussians of fixed_
  bool scaled_ = false;                 // fixed_ has its scales
  std::uint64_t saturated_before_ = 0;  // of former fixed_
};

}  // namespace warpfold::capture::splat_forms

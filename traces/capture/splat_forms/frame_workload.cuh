// SPDX-License-Identifier: Apache-2.0
// What the workloads have in common that are other forms of the backward kernel of 3D Gaussian
// Splatting: they start from a frame that the Rasterizer has drawn.
#pragma once

#include "traces/capture/common/device_buffer.hpp"
#include "traces/capture/splat/backward.cuh"
#include "traces/capture/splat/rasterizer.hpp"
#include "traces/capture/splat/reference.hpp"
#include "traces/capture/workload/workload.hpp"

namespace warpfold::capture::splat_forms {

class FrameWorkload : public workload::Workload {
 public:
  void add_options(CLI::App& app) override;
  void load() override;
  void check(Verdict& verdict) override;
  [[nodiscard]] double tolerance() const override { return 1e-4; }
  [[nodiscard]] std::uint64_t primitive_count() const override { return gaussians_.size(); }
  [[nodiscard]] std::map<std::string, std::string> provenance() const override;

 protected:
  // Everything but where the gradients go.
  [[nodiscard]] const BackwardArgs& frame() const { return frame_; }
  [[nodiscard]] const TileLists& lists() const { return lists_; }
  [[nodiscard]] const std::vector<float>& image() const { return rendered_.image; }
  [[nodiscard]] std::uint32_t tiles_x() const;
  [[nodiscard]] std::uint32_t tiles_y() const;
  // kParameters values for each Gaussian, in the order of kGradientSlots.
  [[nodiscard]] std::vector<double> reference_gradients() const;

 private:
  std::filesystem::path scene_path_, camera_path_;
  std::string viewpoint_;
  TileRule rule_ = TileRule::kBox;
  std::string description_;
  Camera camera_;
  TileLists lists_;
  RenderedFrame rendered_;
  std::vector<float> loss_gradient_;
  std::vector<reference::Gaussian> gaussians_;
  DeviceBuffer<uint2> ranges_;
  DeviceBuffer<std::uint32_t> primitives_, last_;
  DeviceBuffer<float2> mean2d_;
  DeviceBuffer<float4> conic_opacity_;
  DeviceBuffer<float> color_, final_t_, dl_dpixels_;
  BackwardArgs frame_{};
};

}  // namespace warpfold::capture::splat_forms

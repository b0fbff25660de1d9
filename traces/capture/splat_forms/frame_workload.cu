// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdio>

#include "traces/capture/splat/tiles_option.hpp"
#include "traces/capture/splat_forms/frame_workload.cuh"

namespace warpfold::capture::splat_forms {
namespace {

template <class T>
DeviceBuffer<T> upload(const std::vector<T>& host) {
  return DeviceBuffer<T>(std::span<const T>(host));
}

}  // namespace

void FrameWorkload::add_options(CLI::App& app) {
  app.add_option("--scene", scene_path_, "trained Gaussians, a .splat file")->required();
  app.add_option("--camera", camera_path_, "viewpoints, a cameras.json")->required();
  app.add_option("--viewpoint", viewpoint_, "which of them")->required();
  add_tiles_option(app, rule_);
}

void FrameWorkload::load() {
  const auto splats = load_splats(scene_path_);
  const Viewpoint viewpoint = load_viewpoint(camera_path_, viewpoint_);
  description_ = describe(viewpoint);
  camera_ = make_camera(viewpoint);
  Rasterizer rasterizer(decode(splats), camera_, {}, rule_);
  lists_ = rasterizer.lists();
  rendered_ = rasterizer.frame();
  loss_gradient_ = rasterizer.loss_gradient();

  std::vector<float2> mean;
  std::vector<float4> conic;
  std::vector<float> color;
  gaussians_.clear();
  for (const ProjectedGaussian& p : rasterizer.projected()) {
    mean.push_back(make_float2(p.x, p.y));
    conic.push_back(make_float4(p.conic[0], p.conic[1], p.conic[2], p.opacity));
    color.insert(color.end(), std::begin(p.color), std::end(p.color));
    reference::Gaussian g;
    g.x = static_cast<double>(p.x);
    g.y = static_cast<double>(p.y);
    g.opacity = static_cast<double>(p.opacity);
    for (int k = 0; k < 3; ++k) {
      g.conic[k] = static_cast<double>(p.conic[k]);
      g.color[k] = static_cast<double>(p.color[k]);
    }
    gaussians_.push_back(g);
  }
  std::vector<uint2> ranges;
  for (const TileRange& range : lists_.ranges) {
    ranges.push_back(make_uint2(range.begin, range.end));
  }
  ranges_ = upload(ranges);
  primitives_ = upload(lists_.primitives);
  mean2d_ = upload(mean);
  conic_opacity_ = upload(conic);
  color_ = upload(color);
  final_t_ = upload(rendered_.final_t);
  last_ = upload(rendered_.last);
  dl_dpixels_ = upload(loss_gradient_);
  frame_.ranges = ranges_.data();
  frame_.primitives = primitives_.data();
  frame_.width = camera_.width;
  frame_.height = camera_.height;
  frame_.mean2d = mean2d_.data();
  frame_.conic_opacity = conic_opacity_.data();
  frame_.color = color_.data();
  frame_.final_t = final_t_.data();
  frame_.last = last_.data();
  frame_.dl_dpixels = dl_dpixels_.data();
  frame_.mean_scale = {0.5F * static_cast<float>(camera_.width) * kLn2,
                       0.5F * static_cast<float>(camera_.height) * kLn2};
  std::printf("  %zu Gaussians, %zu pairs of tile and Gaussian\n", gaussians_.size(),
              lists_.primitives.size());
}

// `warpfold_capture check` compares the frame at length.
void FrameWorkload::check(Verdict& verdict) {
  const reference::Frame expected = reference::render(gaussians_, lists_, camera_);
  double error = 0;
  for (std::size_t i = 0; i < rendered_.image.size(); ++i) {
    error += std::abs(static_cast<double>(rendered_.image[i]) - expected.image[i]);
  }
  verdict.expect("picture, mean absolute difference",
                 error / static_cast<double>(rendered_.image.size()), 1e-5);
}

std::uint32_t FrameWorkload::tiles_x() const {
  return static_cast<std::uint32_t>(camera_.tiles_x());
}
std::uint32_t FrameWorkload::tiles_y() const {
  return static_cast<std::uint32_t>(camera_.tiles_y());
}

std::vector<double> FrameWorkload::reference_gradients() const {
  const reference::Frame frame = reference::render(gaussians_, lists_, camera_);
  return reference::backward(gaussians_, lists_, camera_, frame, loss_gradient_, nullptr);
}

std::map<std::string, std::string> FrameWorkload::provenance() const {
  std::map<std::string, std::string> result = {
      {"input",
       scene_path_.filename().string() + ", " + std::to_string(gaussians_.size()) + " Gaussians"},
      {"viewpoint", description_},
      {"loss", "mean squared error against waves"}};
  if (rule_ == TileRule::kTight) {
    result["tiles"] = kTightTiles;
  }
  return result;
}

}  // namespace warpfold::capture::splat_forms

// SPDX-License-Identifier: Apache-2.0
// Host side of the rasterizer; see rasterizer.hpp.
#include <algorithm>

#include "traces/capture/common/gpu_event.hpp"
#include "traces/capture/splat/gpu_frame.cuh"
#include "traces/capture/splat/rasterizer.hpp"

namespace warpfold::capture {

struct Rasterizer::State {
  Camera camera;
  GpuFrame frame;
  DeviceBuffer<float> dl_dpixels;
  TileLists lists;
  std::vector<float> loss_gradient;
  std::uint64_t visible = 0;
  std::vector<std::unique_ptr<GpuEvent>> begins;
  std::vector<std::unique_ptr<GpuEvent>> ends;

  [[nodiscard]] std::size_t pixels() const { return static_cast<std::size_t>(camera.pixels()); }
};

Rasterizer::Rasterizer(std::span<const SceneGaussian> gaussians, const Camera& camera,
                       std::span<const float> loss_gradient, TileRule rule)
    : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.camera = camera;
  const DeviceBuffer<SceneGaussian> device_gaussians(gaussians);
  s.frame.render(device_gaussians.data(), gaussians.size(), camera, rule);
  s.lists.tiles_x = camera.tiles_x();
  s.lists.tiles_y = camera.tiles_y();
  s.lists.primitives = to_host(s.frame.primitives(), s.frame.pairs());
  for (const uint2 range : to_host(s.frame.ranges(), static_cast<std::size_t>(camera.tiles()))) {
    s.lists.ranges.push_back({range.x, range.y});
  }
  for (const int r : to_host(s.frame.radius(), s.frame.count())) {
    s.visible += r > 0 ? 1 : 0;
  }
  s.loss_gradient.assign(loss_gradient.begin(), loss_gradient.end());
  if (s.loss_gradient.empty()) {
    s.loss_gradient = capture::loss_gradient(to_host(s.frame.image(), 3 * s.pixels()),
                                             target_image(camera.width, camera.height));
  }
  s.dl_dpixels = DeviceBuffer<float>(std::span<const float>(s.loss_gradient));
}

Rasterizer::~Rasterizer() = default;

std::vector<ProjectedGaussian> Rasterizer::projected() const {
  const State& s = *state_;
  const std::size_t count = s.frame.count();
  const auto mean = to_host(s.frame.mean2d(), count);
  const auto conic = to_host(s.frame.conic_opacity(), count);
  const auto color = to_host(s.frame.color(), 3 * count);
  const auto depth = to_host(s.frame.depth(), count);
  const auto radius = to_host(s.frame.radius(), count);
  std::vector<ProjectedGaussian> result(count);
  for (std::size_t i = 0; i < count; ++i) {
    result[i] = {mean[i].x,
                 mean[i].y,
                 {conic[i].x, conic[i].y, conic[i].z},
                 conic[i].w,
                 {color[3 * i], color[3 * i + 1], color[3 * i + 2]},
                 depth[i],
                 radius[i]};
  }
  return result;
}

const TileLists& Rasterizer::lists() const {
  return state_->lists;
}

RenderedFrame Rasterizer::frame() const {
  const State& s = *state_;
  return {to_host(s.frame.image(), 3 * s.pixels()), to_host(s.frame.final_t(), s.pixels()),
          to_host(s.frame.last(), s.pixels())};
}

const std::vector<float>& Rasterizer::loss_gradient() const {
  return state_->loss_gradient;
}

std::uint64_t Rasterizer::visible() const {
  return state_->visible;
}

void Rasterizer::backward(const Policy& policy) {
  const State& s = *state_;
  s.frame.clear_gradients();
  launch_backward(static_cast<int>(policy.variant), s.frame.grid(),
                  s.frame.backward_args(s.dl_dpixels.data()), policy.threshold);
  check(cudaDeviceSynchronize(), "backward kernel");
}

std::vector<float> Rasterizer::gradients() const {
  const GpuFrame& frame = state_->frame;
  std::vector<float> result(frame.count() * kParameters);
  for (int array = 0; array < kGradientArrays; ++array) {
    const auto host = to_host<float>(frame.gradient(array), frame.count() * kGradientFloats[array]);
    for (std::size_t i = 0; i < frame.count(); ++i) {
      for (std::size_t p = 0; p < kParameters; ++p) {
        if (kGradientSlots[p].array == array) {
          result[i * kParameters + p] = host[i * kGradientFloats[array] + kGradientSlots[p].offset];
        }
      }
    }
  }
  return result;
}

std::uint64_t Rasterizer::address(int parameter) const {
  const GradientSlot& slot = kGradientSlots[parameter];
  return reinterpret_cast<std::uintptr_t>(state_->frame.gradient(slot.array) + slot.offset);
}

void Rasterizer::queue_timed(const Policy& policy, int warmup, int runs) {
  State& s = *state_;
  while (s.begins.size() < static_cast<std::size_t>(runs)) {
    s.begins.push_back(std::make_unique<GpuEvent>());
    s.ends.push_back(std::make_unique<GpuEvent>());
  }
  const BackwardArgs args = s.frame.backward_args(s.dl_dpixels.data());
  const int variant = static_cast<int>(policy.variant);
  for (int i = -warmup; i < runs; ++i) {
    s.frame.clear_gradients();
    if (i < 0) {
      launch_backward(variant, s.frame.grid(), args, policy.threshold);
      continue;
    }
    const auto at = static_cast<std::size_t>(i);
    s.begins[at]->record();
    launch_backward(variant, s.frame.grid(), args, policy.threshold);
    s.ends[at]->record();
  }
}

Timing Rasterizer::collect_times(int runs) {
  check(cudaDeviceSynchronize(), "timed backward kernel");
  std::vector<double> ms;
  for (std::size_t i = 0; i < static_cast<std::size_t>(runs); ++i) {
    ms.push_back(static_cast<double>(state_->ends[i]->since(*state_->begins[i])));
  }
  std::sort(ms.begin(), ms.end());
  const std::size_t half = ms.size() / 2;
  const double median = ms.size() % 2 == 1 ? ms[half] : 0.5 * (ms[half - 1] + ms[half]);
  return {median, ms.front(), ms.back(), runs};
}

Recording Rasterizer::record() {
  const State& s = *state_;
  const std::size_t entries = s.lists.primitives.size() * kWarpsPerTile;
  DeviceBuffer<std::uint32_t> masks(entries);
  DeviceBuffer<std::uint8_t> stages(entries);
  const dim3 grid = s.frame.grid();
  const RecorderArgs args{s.frame.backward_args(s.dl_dpixels.data()),
                          masks.data(),
                          stages.data(),
                          nullptr,
                          nullptr,
                          nullptr};
  launch_recorder(grid.x * grid.y, grid, args);
  check(cudaDeviceSynchronize(), "recorder kernel");
  Recording recording;
  recording.masks = masks.to_host();
  for (const std::uint8_t stage : stages.to_host()) {
    recording.stages.push_back(static_cast<Stage>(stage));
  }
  return recording;
}

void Rasterizer::record_values(SampledValues& sample) {
  const State& s = *state_;
  const DeviceBuffer<std::uint32_t> tiles(std::span<const std::uint32_t>(sample.tiles));
  const DeviceBuffer<std::uint64_t> offsets(std::span<const std::uint64_t>(sample.offsets));
  const DeviceBuffer<float> values(sample.offsets.back());
  sample.values.assign(values.size(), 0);
  if (values.size() == 0) {
    return;
  }
  const RecorderArgs args{s.frame.backward_args(s.dl_dpixels.data()),
                          nullptr,
                          nullptr,
                          tiles.data(),
                          offsets.data(),
                          values.data()};
  launch_recorder(static_cast<unsigned>(sample.tiles.size()), s.frame.grid(), args);
  check(cudaDeviceSynchronize(), "recorder kernel");
  check(cudaMemcpy(sample.values.data(), values.data(), values.bytes(), cudaMemcpyDeviceToHost),
        "copy of the values");
}

KernelInfo kernel_info(Variant variant) {
  const void* kernel = backward_kernel(static_cast<int>(variant));
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, kernel), "cudaFuncGetAttributes");
  int ctas = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&ctas, kernel, kTilePixels, 0), "occupancy");
  return {static_cast<std::uint32_t>(attributes.numRegs),
          static_cast<std::uint32_t>(attributes.sharedSizeBytes), ctas};
}

}  // namespace warpfold::capture

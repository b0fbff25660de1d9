// SPDX-License-Identifier: Apache-2.0
// One frame on the GPU: Gaussians in, picture and gradients out. Its buffers stay from frame to
// frame and grow, so that a trainer allocates nothing in most iterations. Everything runs on the
// default stream.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "traces/capture/common/device_buffer.hpp"
#include "traces/capture/common/linear_grid.hpp"
#include "traces/capture/splat/backward.cuh"
#include "traces/capture/splat/scene.hpp"

namespace warpfold::capture {

// Makes room for `count`: exactly as much at first, half as much again later. Loses the content.
template <class T>
void make_room(
    DeviceBuffer<T>& buffer, std::size_t count,
    DeviceBuffer<T> (*allocate)(std::size_t) = [](std::size_t room) {
      return DeviceBuffer<T>(room);
    }) {
  if (buffer.size() < count) {
    const std::size_t room = buffer.size() == 0 ? count : count + count / 2;
    buffer = DeviceBuffer<T>();
    buffer = allocate(room);
  }
}

class GpuFrame {
 public:
  // Projects and bins. Waits once in between, for the number of pairs of tile and Gaussian; the
  // rest is queued.
  void arrange(const SceneGaussian* gaussians, std::size_t count, const Camera& camera,
               TileRule rule);
  // The forward pass of what was arranged.
  void draw();
  void render(const SceneGaussian* gaussians, std::size_t count, const Camera& camera,
              TileRule rule = TileRule::kBox) {
    arrange(gaussians, count, camera, rule);
    draw();
  }
  void clear_gradients() const;
  // What the backward kernels take. `dl_dpixels` is planar.
  [[nodiscard]] BackwardArgs backward_args(const float* dl_dpixels) const;
  [[nodiscard]] dim3 grid() const;

  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] std::size_t pairs() const { return pairs_; }
  // By Gaussian. Those that are not visible have radius 0 and zeros elsewhere.
  [[nodiscard]] const float2* mean2d() const { return mean2d_.data(); }
  [[nodiscard]] const float4* conic_opacity() const { return conic_opacity_.data(); }
  [[nodiscard]] const float* color() const { return color_.data(); }
  [[nodiscard]] const float* depth() const { return depth_.data(); }
  [[nodiscard]] const int* radius() const { return radius_.data(); }
  // By tile, and the pairs that they lead to.
  [[nodiscard]] const uint2* ranges() const { return ranges_.data(); }
  [[nodiscard]] const std::uint32_t* primitives() const { return primitives_.data(); }
  // By pixel; the picture is planar.
  [[nodiscard]] const float* image() const { return image_.data(); }
  [[nodiscard]] const float* final_t() const { return final_t_.data(); }
  [[nodiscard]] const std::uint32_t* last() const { return last_.data(); }
  [[nodiscard]] float* gradient(int array) const { return gradients_[array].data(); }
  [[nodiscard]] GradientView gradients() const;

 private:
  void project(const SceneGaussian* gaussians);
  void bin();

  Camera camera_;
  TileRule rule_ = TileRule::kBox;
  std::size_t count_ = 0;
  std::size_t pairs_ = 0;
  DeviceBuffer<float2> mean2d_;
  DeviceBuffer<float4> conic_opacity_;
  DeviceBuffer<float> color_;
  DeviceBuffer<float> depth_;
  DeviceBuffer<int> radius_;
  DeviceBuffer<std::uint32_t> touched_;  // tiles, by Gaussian
  DeviceBuffer<std::uint64_t> ends_;     // running sum of touched_
  DeviceBuffer<std::uint64_t> keys_, sorted_keys_;
  DeviceBuffer<std::uint32_t> unsorted_;
  DeviceBuffer<std::uint8_t> scratch_;
  DeviceBuffer<uint2> ranges_;
  DeviceBuffer<std::uint32_t> primitives_;
  DeviceBuffer<float> image_;
  DeviceBuffer<float> final_t_;
  DeviceBuffer<std::uint32_t> last_;
  DeviceBuffer<float> gradients_[kGradientArrays];
};

// The first `count` elements in host memory.
template <class T>
[[nodiscard]] std::vector<T> to_host(const T* device, std::size_t count) {
  std::vector<T> host(count);
  if (count > 0) {
    check(cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost),
          "copy to the host");
  }
  return host;
}

}  // namespace warpfold::capture

// SPDX-License-Identifier: Apache-2.0
// Forward pass and host side of the rasterizer. The steps and their constants are those of the
// original 3D Gaussian Splatting; see rasterizer.hpp.
#include <algorithm>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include "traces/capture/backward.cuh"
#include "traces/capture/device_buffer.hpp"
#include "traces/capture/rasterizer.hpp"

namespace warpfold::capture {
namespace {

constexpr float kNearPlane = 0.2F;
constexpr float kLowPass =
    0.3F;  // added to the diagonal of the 2D covariance: at least a pixel wide
constexpr float kGuardBand = 1.3F;
constexpr unsigned kLinearBlock = 256;

struct PreprocessArgs {
  const Splat* splats;
  int count;
  Camera camera;
  float2* mean2d;
  float4* conic_opacity;
  float* color;
  float* depth;
  int* radius;
  std::uint32_t* tiles_touched;
};

struct TileRect {
  int x_begin, x_end, y_begin, y_end;
};

__device__ TileRect tile_rect(float2 mean, int radius, int tiles_x, int tiles_y) {
  const float r = static_cast<float>(radius);
  const auto tile = [](float v, int tiles) {
    return min(tiles, max(0, static_cast<int>(v / kTileSize)));
  };
  return {tile(mean.x - r, tiles_x), tile(mean.x + r + (kTileSize - 1), tiles_x),
          tile(mean.y - r, tiles_y), tile(mean.y + r + (kTileSize - 1), tiles_y)};
}

// One thread a Gaussian: where it falls on the picture and which tiles it touches.
__global__ void preprocess(const __grid_constant__ PreprocessArgs args, int tiles_x, int tiles_y) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= args.count) {
    return;
  }
  args.radius[i] = 0;
  args.tiles_touched[i] = 0;
  args.depth[i] = 0;
  args.mean2d[i] = make_float2(0, 0);
  args.conic_opacity[i] = make_float4(0, 0, 0, 0);
  for (int c = 0; c < 3; ++c) {
    args.color[3 * i + c] = 0;
  }
  const Splat splat = args.splats[i];
  const Camera& camera = args.camera;
  float p[3];
  for (int r = 0; r < 3; ++r) {
    p[r] = camera.view[4 * r] * splat.position[0] + camera.view[4 * r + 1] * splat.position[1] +
           camera.view[4 * r + 2] * splat.position[2] + camera.view[4 * r + 3];
  }
  if (p[2] <= kNearPlane) {
    return;
  }

  // Rotation, from the quaternion w, x, y, z.
  float q[4];
  float length2 = 0;
  for (int k = 0; k < 4; ++k) {
    q[k] = (static_cast<float>(splat.rotation[k]) - 128.0F) / 128.0F;
    length2 += q[k] * q[k];
  }
  if (length2 == 0) {
    q[0] = length2 = 1;
  }
  const float inverse_length = 1.0F / sqrtf(length2);
  const float w = q[0] * inverse_length, x = q[1] * inverse_length;
  const float y = q[2] * inverse_length, z = q[3] * inverse_length;
  const float rotation[3][3] = {
      {1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
      {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
      {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}};

  // cov2D = M M^T with M = J W R S; J is the Jacobian of the projection at a clamped point.
  const float limit_x = kGuardBand * camera.tan_x, limit_y = kGuardBand * camera.tan_y;
  const float tx = fminf(limit_x, fmaxf(-limit_x, p[0] / p[2]));
  const float ty = fminf(limit_y, fmaxf(-limit_y, p[1] / p[2]));
  const float scale = camera.focal / p[2];
  float m[2][3];
  for (int axis = 0; axis < 3; ++axis) {
    float turned[3];
    for (int r = 0; r < 3; ++r) {
      turned[r] = camera.view[4 * r] * rotation[0][axis] +
                  camera.view[4 * r + 1] * rotation[1][axis] +
                  camera.view[4 * r + 2] * rotation[2][axis];
    }
    m[0][axis] = scale * (turned[0] - tx * turned[2]) * splat.scale[axis];
    m[1][axis] = scale * (turned[1] - ty * turned[2]) * splat.scale[axis];
  }
  const float a = m[0][0] * m[0][0] + m[0][1] * m[0][1] + m[0][2] * m[0][2] + kLowPass;
  const float b = m[0][0] * m[1][0] + m[0][1] * m[1][1] + m[0][2] * m[1][2];
  const float c = m[1][0] * m[1][0] + m[1][1] * m[1][1] + m[1][2] * m[1][2] + kLowPass;
  const float determinant = a * c - b * b;
  if (determinant == 0) {
    return;
  }
  const float mid = 0.5F * (a + c);
  const float largest = mid + sqrtf(fmaxf(0.1F, mid * mid - determinant));
  const int radius = static_cast<int>(fminf(ceilf(3.0F * sqrtf(largest)), 1e9F));
  const float2 mean =
      make_float2(camera.focal * p[0] / p[2] + 0.5F * static_cast<float>(camera.width) - 0.5F,
                  camera.focal * p[1] / p[2] + 0.5F * static_cast<float>(camera.height) - 0.5F);
  const TileRect rect = tile_rect(mean, radius, tiles_x, tiles_y);
  const int touched = (rect.x_end - rect.x_begin) * (rect.y_end - rect.y_begin);
  if (touched <= 0) {
    return;
  }
  args.mean2d[i] = mean;
  args.conic_opacity[i] = make_float4(c / determinant, -b / determinant, a / determinant,
                                      static_cast<float>(splat.rgba[3]) / 255.0F);
  for (int channel = 0; channel < 3; ++channel) {
    args.color[3 * i + channel] = static_cast<float>(splat.rgba[channel]) / 255.0F;
  }
  args.depth[i] = p[2];
  args.radius[i] = radius;
  args.tiles_touched[i] = static_cast<std::uint32_t>(touched);
}

// One key (tile, depth) for each pair of tile and Gaussian. Depths are positive, so that their bits
// sort as they do.
__global__ void duplicate(int count, const float2* mean2d, const float* depth, const int* radius,
                          const std::uint64_t* ends, int tiles_x, int tiles_y, std::uint64_t* keys,
                          std::uint32_t* primitives) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count || radius[i] == 0) {
    return;
  }
  std::uint64_t at = i == 0 ? 0 : ends[i - 1];
  const TileRect rect = tile_rect(mean2d[i], radius[i], tiles_x, tiles_y);
  for (int y = rect.y_begin; y < rect.y_end; ++y) {
    for (int x = rect.x_begin; x < rect.x_end; ++x) {
      keys[at] = static_cast<std::uint64_t>(y * tiles_x + x) << 32 | __float_as_uint(depth[i]);
      primitives[at] = static_cast<std::uint32_t>(i);
      ++at;
    }
  }
}

// Where each tile's pairs begin and end among the sorted keys.
__global__ void find_ranges(std::uint32_t pairs, const std::uint64_t* keys, uint2* ranges) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= pairs) {
    return;
  }
  const auto tile = static_cast<std::uint32_t>(keys[i] >> 32);
  if (i == 0 || tile != static_cast<std::uint32_t>(keys[i - 1] >> 32)) {
    ranges[tile].x = i;
  }
  if (i + 1 == pairs || tile != static_cast<std::uint32_t>(keys[i + 1] >> 32)) {
    ranges[tile].y = i + 1;
  }
}

struct ForwardArgs {
  const uint2* ranges;
  const std::uint32_t* primitives;
  int width, height;
  const float2* mean2d;
  const float4* conic_opacity;
  const float* color;
  float* image;
  float* final_t;
  std::uint32_t* last;
};

// One thread a pixel, one CTA a tile, front to back.
__global__ void __launch_bounds__(kTilePixels) forward(const __grid_constant__ ForwardArgs args) {
  __shared__ float4 conics[kBatch];
  __shared__ float4 colors[kBatch];
  __shared__ float2 means[kBatch];
  const uint2 range = args.ranges[blockIdx.y * gridDim.x + blockIdx.x];
  const int total = static_cast<int>(range.y - range.x);
  const int rank = static_cast<int>(threadIdx.y * kTileSize + threadIdx.x);
  const int x = static_cast<int>(blockIdx.x * kTileSize + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * kTileSize + threadIdx.y);
  const bool inside = x < args.width && y < args.height;
  const float2 pixel = make_float2(static_cast<float>(x), static_cast<float>(y));
  bool done = !inside;
  float transmittance = 1;
  float color[3] = {0, 0, 0};
  std::uint32_t last = 0;
  for (int base = 0; base < total; base += kBatch) {
    if (__syncthreads_count(done ? 1 : 0) == kTilePixels) {
      break;
    }
    if (base + rank < total) {
      const std::uint32_t id = args.primitives[range.x + static_cast<unsigned>(base + rank)];
      means[rank] = args.mean2d[id];
      conics[rank] = scale_conic(args.conic_opacity[id]);
      const float* from = args.color + std::size_t{id} * 3;
      colors[rank] = make_float4(from[0], from[1], from[2], 0.0F);
    }
    __syncthreads();
    const int count = min(kBatch, total - base);
    for (int j = 0; !done && j < count; ++j) {
      const float4 conic = conics[j];
      const Footprint f = footprint(means[j], conic, pixel);
      if (f.power > 0.0F) {
        continue;
      }
      const float alpha_raw = __fmul_rn(conic.w, exp2_approx(f.power));
      if (alpha_raw < kMinAlpha) {
        continue;
      }
      const float alpha = fminf(kMaxAlpha, alpha_raw);
      const float next = transmittance * (1.0F - alpha);
      if (next < kMinTransmittance) {
        done = true;
        continue;
      }
      const float4 c = colors[j];
      color[0] += c.x * alpha * transmittance;
      color[1] += c.y * alpha * transmittance;
      color[2] += c.z * alpha * transmittance;
      transmittance = next;
      last = static_cast<std::uint32_t>(base + j + 1);
    }
  }
  if (inside) {
    const int at = y * args.width + x;
    args.final_t[at] = transmittance;
    args.last[at] = last;
    for (int c = 0; c < 3; ++c) {
      args.image[c * args.width * args.height + at] = color[c];
    }
  }
}

// Sums counts of 32 bits in 64: a frame may have more pairs than 32 bits hold.
struct Sum64 {
  __host__ __device__ std::uint64_t operator()(std::uint64_t a, std::uint64_t b) const {
    return a + b;
  }
};

unsigned linear_grid(std::size_t count) {
  return static_cast<unsigned>((count + kLinearBlock - 1) / kLinearBlock);
}

class Event {
 public:
  Event() { check(cudaEventCreate(&event_), "cudaEventCreate"); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  void record() const { check(cudaEventRecord(event_), "cudaEventRecord"); }
  [[nodiscard]] float since(const Event& begin) const {
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin.event_, event_), "cudaEventElapsedTime");
    return ms;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace

struct Rasterizer::State {
  Camera camera;
  std::size_t count = 0;
  dim3 grid;
  DeviceBuffer<float2> mean2d;
  DeviceBuffer<float4> conic_opacity;
  DeviceBuffer<float> color;
  DeviceBuffer<float> depth;
  DeviceBuffer<int> radius;
  DeviceBuffer<uint2> ranges;
  DeviceBuffer<std::uint32_t> primitives;
  DeviceBuffer<float> image;
  DeviceBuffer<float> final_t;
  DeviceBuffer<std::uint32_t> last;
  DeviceBuffer<float> dl_dpixels;
  DeviceBuffer<float> gradients[kGradientArrays];
  TileLists lists;
  std::vector<float> loss_gradient;
  std::uint64_t visible = 0;
  std::vector<std::unique_ptr<Event>> begins;
  std::vector<std::unique_ptr<Event>> ends;

  void project_and_bin(std::span<const Splat> splats) {
    const DeviceBuffer<Splat> device_splats(splats);
    DeviceBuffer<std::uint32_t> touched(count);
    mean2d = DeviceBuffer<float2>(count);
    conic_opacity = DeviceBuffer<float4>(count);
    color = DeviceBuffer<float>(3 * count);
    depth = DeviceBuffer<float>(count);
    radius = DeviceBuffer<int>(count);
    const PreprocessArgs args{device_splats.data(), static_cast<int>(count), camera,
                              mean2d.data(),        conic_opacity.data(),    color.data(),
                              depth.data(),         radius.data(),           touched.data()};
    preprocess<<<linear_grid(count), kLinearBlock>>>(args, camera.tiles_x(), camera.tiles_y());
    check_launch("preprocess kernel");

    DeviceBuffer<std::uint64_t> ends_of(count);
    std::size_t scratch_bytes = 0;
    check(cub::DeviceScan::InclusiveScan(nullptr, scratch_bytes, touched.data(), ends_of.data(),
                                         Sum64{}, static_cast<int>(count)),
          "size of the scan");
    DeviceBuffer<std::uint8_t> scan_scratch(scratch_bytes);
    check(cub::DeviceScan::InclusiveScan(scan_scratch.data(), scratch_bytes, touched.data(),
                                         ends_of.data(), Sum64{}, static_cast<int>(count)),
          "scan");
    std::uint64_t pairs = 0;
    check(cudaMemcpy(&pairs, ends_of.data() + count - 1, sizeof pairs, cudaMemcpyDeviceToHost),
          "preprocess kernel");
    if (pairs > 0x10000000U) {
      throw InputError("the camera sees " + std::to_string(pairs) +
                       " pairs of tile and Gaussian: too many");
    }
    ranges = DeviceBuffer<uint2>(static_cast<std::size_t>(camera.tiles()));
    ranges.clear_async();
    primitives = DeviceBuffer<std::uint32_t>(pairs);
    if (pairs > 0) {
      sort_pairs(static_cast<std::uint32_t>(pairs), ends_of);
    }

    lists.tiles_x = camera.tiles_x();
    lists.tiles_y = camera.tiles_y();
    lists.primitives = primitives.to_host();
    for (const uint2 range : ranges.to_host()) {
      lists.ranges.push_back({range.x, range.y});
    }
    for (const int r : radius.to_host()) {
      visible += r > 0 ? 1 : 0;
    }
  }

  void render() {
    const auto pixels = static_cast<std::size_t>(camera.pixels());
    image = DeviceBuffer<float>(3 * pixels);
    final_t = DeviceBuffer<float>(pixels);
    last = DeviceBuffer<std::uint32_t>(pixels);
    const ForwardArgs args{ranges.data(),  primitives.data(),    camera.width, camera.height,
                           mean2d.data(),  conic_opacity.data(), color.data(), image.data(),
                           final_t.data(), last.data()};
    forward<<<grid, dim3(kTileSize, kTileSize)>>>(args);
    check_launch("forward kernel");
    loss_gradient =
        capture::loss_gradient(image.to_host(), target_image(camera.width, camera.height));
    dl_dpixels = DeviceBuffer<float>(std::span<const float>(loss_gradient));
    for (int i = 0; i < kGradientArrays; ++i) {
      gradients[i] = DeviceBuffer<float>::on_own_pages(count * kGradientFloats[i]);
    }
  }

  [[nodiscard]] BackwardArgs backward_args() const {
    BackwardArgs args{};
    args.ranges = ranges.data();
    args.primitives = primitives.data();
    args.width = camera.width;
    args.height = camera.height;
    args.mean2d = mean2d.data();
    args.conic_opacity = conic_opacity.data();
    args.color = color.data();
    args.final_t = final_t.data();
    args.last = last.data();
    args.dl_dpixels = dl_dpixels.data();
    args.mean_scale = {0.5F * static_cast<float>(camera.width) * kLn2,
                       0.5F * static_cast<float>(camera.height) * kLn2};
    for (int i = 0; i < kGradientArrays; ++i) {
      args.out.array[i] = gradients[i].data();
    }
    return args;
  }

  void clear_gradients() const {
    for (const auto& array : gradients) {
      array.clear_async();
    }
  }

  void sort_pairs(std::uint32_t pairs, const DeviceBuffer<std::uint64_t>& ends_of) {
    DeviceBuffer<std::uint64_t> keys(pairs), sorted_keys(pairs);
    DeviceBuffer<std::uint32_t> unsorted(pairs);
    duplicate<<<linear_grid(count), kLinearBlock>>>(
        static_cast<int>(count), mean2d.data(), depth.data(), radius.data(), ends_of.data(),
        camera.tiles_x(), camera.tiles_y(), keys.data(), unsorted.data());
    check_launch("duplicate kernel");
    int tile_bits = 0;
    while (camera.tiles() >> tile_bits != 0) {
      ++tile_bits;
    }
    std::size_t scratch_bytes = 0;
    const auto sort = [&](void* scratch) {
      return cub::DeviceRadixSort::SortPairs(scratch, scratch_bytes, keys.data(),
                                             sorted_keys.data(), unsorted.data(), primitives.data(),
                                             static_cast<int>(pairs), 0, 32 + tile_bits);
    };
    check(sort(nullptr), "size of the sort");
    DeviceBuffer<std::uint8_t> scratch(scratch_bytes);
    check(sort(scratch.data()), "sort");
    find_ranges<<<linear_grid(pairs), kLinearBlock>>>(pairs, sorted_keys.data(), ranges.data());
    check_launch("range kernel");
    check(cudaDeviceSynchronize(), "sort of the pairs");
  }
};

Rasterizer::Rasterizer(std::span<const Splat> splats, const Camera& camera)
    : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.camera = camera;
  s.count = splats.size();
  s.grid = dim3(static_cast<unsigned>(camera.tiles_x()), static_cast<unsigned>(camera.tiles_y()));
  s.project_and_bin(splats);
  s.render();
}

Rasterizer::~Rasterizer() = default;

std::vector<ProjectedGaussian> Rasterizer::projected() const {
  const State& s = *state_;
  const auto mean = s.mean2d.to_host();
  const auto conic = s.conic_opacity.to_host();
  const auto color = s.color.to_host();
  const auto depth = s.depth.to_host();
  const auto radius = s.radius.to_host();
  std::vector<ProjectedGaussian> result(s.count);
  for (std::size_t i = 0; i < s.count; ++i) {
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
  return {state_->image.to_host(), state_->final_t.to_host(), state_->last.to_host()};
}

const std::vector<float>& Rasterizer::loss_gradient() const {
  return state_->loss_gradient;
}

std::uint64_t Rasterizer::visible() const {
  return state_->visible;
}

void Rasterizer::backward(const Policy& policy) {
  state_->clear_gradients();
  launch_backward(static_cast<int>(policy.variant), state_->grid, state_->backward_args(),
                  policy.threshold);
  check(cudaDeviceSynchronize(), "backward kernel");
}

std::vector<float> Rasterizer::gradients() const {
  std::vector<float> result(state_->count * kParameters);
  for (int array = 0; array < kGradientArrays; ++array) {
    const auto host = state_->gradients[array].to_host();
    for (std::size_t i = 0; i < state_->count; ++i) {
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
  return reinterpret_cast<std::uintptr_t>(state_->gradients[slot.array].data() + slot.offset);
}

void Rasterizer::queue_timed(const Policy& policy, int warmup, int runs) {
  State& s = *state_;
  while (s.begins.size() < static_cast<std::size_t>(runs)) {
    s.begins.push_back(std::make_unique<Event>());
    s.ends.push_back(std::make_unique<Event>());
  }
  const BackwardArgs args = s.backward_args();
  const int variant = static_cast<int>(policy.variant);
  for (int i = -warmup; i < runs; ++i) {
    s.clear_gradients();
    if (i < 0) {
      launch_backward(variant, s.grid, args, policy.threshold);
      continue;
    }
    const auto at = static_cast<std::size_t>(i);
    s.begins[at]->record();
    launch_backward(variant, s.grid, args, policy.threshold);
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
  RecorderArgs args{s.backward_args(), masks.data(), stages.data(), nullptr, nullptr, nullptr};
  launch_recorder(s.grid.x * s.grid.y, s.grid, args);
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
  const RecorderArgs args{s.backward_args(), nullptr,        nullptr,
                          tiles.data(),      offsets.data(), values.data()};
  launch_recorder(static_cast<unsigned>(sample.tiles.size()), s.grid, args);
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

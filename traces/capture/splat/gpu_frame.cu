// SPDX-License-Identifier: Apache-2.0
// The forward pass. Its steps and their constants are those of the original 3D Gaussian Splatting.
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <string>

#include "traces/capture/common/input.hpp"
#include "traces/capture/splat/gpu_frame.cuh"
#include "traces/capture/splat/tile_overlap.cuh"

namespace warpfold::capture {
namespace {

constexpr float kNearPlane = 0.2F;
constexpr float kLowPass =
    0.3F;  // added to the diagonal of the 2D covariance: at least a pixel wide
constexpr float kGuardBand = 1.3F;

struct PreprocessArgs {
  const SceneGaussian* gaussians;
  int count;
  Camera camera;
  TileRule rule;
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

// Calls visit(x, y) for each tile that the Gaussian is put on; how many these are.
template <class Visit>
__device__ int for_each_touched(TileRect rect, TileRule rule, float2 mean, float4 conic_opacity,
                                const Visit& visit) {
  const float4 conic = scale_conic(conic_opacity);
  int count = 0;
  for (int y = rect.y_begin; y < rect.y_end; ++y) {
    for (int x = rect.x_begin; x < rect.x_end; ++x) {
      if (rule == TileRule::kBox || touches_tile(mean, conic, x, y)) {
        visit(x, y);
        ++count;
      }
    }
  }
  return count;
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
  const SceneGaussian g = args.gaussians[i];
  const Camera& camera = args.camera;
  float p[3];
  for (int r = 0; r < 3; ++r) {
    p[r] = camera.view[4 * r] * g.position[0] + camera.view[4 * r + 1] * g.position[1] +
           camera.view[4 * r + 2] * g.position[2] + camera.view[4 * r + 3];
  }
  if (p[2] <= kNearPlane) {
    return;
  }

  const float* q = g.rotation;
  const float inverse_length = 1.0F / sqrtf(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
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
  const float scale_x = camera.focal_x / p[2], scale_y = camera.focal_y / p[2];
  float m[2][3];
  for (int axis = 0; axis < 3; ++axis) {
    float turned[3];
    for (int r = 0; r < 3; ++r) {
      turned[r] = camera.view[4 * r] * rotation[0][axis] +
                  camera.view[4 * r + 1] * rotation[1][axis] +
                  camera.view[4 * r + 2] * rotation[2][axis];
    }
    m[0][axis] = scale_x * (turned[0] - tx * turned[2]) * g.scale[axis];
    m[1][axis] = scale_y * (turned[1] - ty * turned[2]) * g.scale[axis];
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
      make_float2(camera.focal_x * p[0] / p[2] + 0.5F * static_cast<float>(camera.width) - 0.5F,
                  camera.focal_y * p[1] / p[2] + 0.5F * static_cast<float>(camera.height) - 0.5F);
  const TileRect rect = tile_rect(mean, radius, tiles_x, tiles_y);
  int touched = (rect.x_end - rect.x_begin) * (rect.y_end - rect.y_begin);
  if (touched <= 0) {
    return;
  }
  const float4 conic_opacity =
      make_float4(c / determinant, -b / determinant, a / determinant, g.opacity);
  if (args.rule == TileRule::kTight) {
    touched = for_each_touched(rect, args.rule, mean, conic_opacity, [](int, int) {});
  }
  args.mean2d[i] = mean;
  args.conic_opacity[i] = conic_opacity;
  for (int channel = 0; channel < 3; ++channel) {
    args.color[3 * i + channel] = g.color[channel];
  }
  args.depth[i] = p[2];
  args.radius[i] = radius;
  args.tiles_touched[i] = static_cast<std::uint32_t>(touched);
}

// One key (tile, depth) for each pair of tile and Gaussian. Depths are positive, so that their bits
// sort as they do.
__global__ void duplicate(int count, TileRule rule, const float2* mean2d,
                          const float4* conic_opacity, const float* depth, const int* radius,
                          const std::uint64_t* ends, int tiles_x, int tiles_y, std::uint64_t* keys,
                          std::uint32_t* primitives) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count || radius[i] == 0) {
    return;
  }
  std::uint64_t at = i == 0 ? 0 : ends[i - 1];
  const TileRect rect = tile_rect(mean2d[i], radius[i], tiles_x, tiles_y);
  for_each_touched(rect, rule, mean2d[i], conic_opacity[i], [&](int x, int y) {
    keys[at] = static_cast<std::uint64_t>(y * tiles_x + x) << 32 | __float_as_uint(depth[i]);
    primitives[at] = static_cast<std::uint32_t>(i);
    ++at;
  });
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

}  // namespace

void GpuFrame::arrange(const SceneGaussian* gaussians, std::size_t count, const Camera& camera,
                       TileRule rule) {
  camera_ = camera;
  rule_ = rule;
  count_ = count;
  project(gaussians);
  bin();
}

void GpuFrame::project(const SceneGaussian* gaussians) {
  make_room(mean2d_, count_);
  make_room(conic_opacity_, count_);
  make_room(color_, 3 * count_);
  make_room(depth_, count_);
  make_room(radius_, count_);
  make_room(touched_, count_);
  make_room(ends_, count_);
  for (int i = 0; i < kGradientArrays; ++i) {
    make_room(gradients_[i], count_ * kGradientFloats[i], DeviceBuffer<float>::on_own_pages);
  }
  const PreprocessArgs args{gaussians,      static_cast<int>(count_), camera_,       rule_,
                            mean2d_.data(), conic_opacity_.data(),    color_.data(), depth_.data(),
                            radius_.data(), touched_.data()};
  preprocess<<<linear_grid(count_), kLinearBlock>>>(args, camera_.tiles_x(), camera_.tiles_y());
  check_launch("preprocess kernel");
  std::size_t scratch_bytes = 0;
  const auto scan = [&](void* scratch) {
    return cub::DeviceScan::InclusiveScan(scratch, scratch_bytes, touched_.data(), ends_.data(),
                                          Sum64{}, static_cast<int>(count_));
  };
  check(scan(nullptr), "size of the scan");
  make_room(scratch_, scratch_bytes);
  check(scan(scratch_.data()), "scan");
}

void GpuFrame::bin() {
  std::uint64_t pairs = 0;
  check(cudaMemcpy(&pairs, ends_.data() + count_ - 1, sizeof pairs, cudaMemcpyDeviceToHost),
        "preprocess kernel");
  if (pairs > 0x10000000U) {
    throw InputError("the camera sees " + std::to_string(pairs) +
                     " pairs of tile and Gaussian: too many");
  }
  pairs_ = pairs;
  make_room(ranges_, static_cast<std::size_t>(camera_.tiles()));
  ranges_.clear_async();
  make_room(primitives_, pairs_);
  if (pairs_ == 0) {
    return;
  }
  make_room(keys_, pairs_);
  make_room(sorted_keys_, pairs_);
  make_room(unsorted_, pairs_);
  duplicate<<<linear_grid(count_), kLinearBlock>>>(
      static_cast<int>(count_), rule_, mean2d_.data(), conic_opacity_.data(), depth_.data(),
      radius_.data(), ends_.data(), camera_.tiles_x(), camera_.tiles_y(), keys_.data(),
      unsorted_.data());
  check_launch("duplicate kernel");
  int tile_bits = 0;
  while (camera_.tiles() >> tile_bits != 0) {
    ++tile_bits;
  }
  std::size_t scratch_bytes = 0;
  const auto sort = [&](void* scratch) {
    return cub::DeviceRadixSort::SortPairs(
        scratch, scratch_bytes, keys_.data(), sorted_keys_.data(), unsorted_.data(),
        primitives_.data(), static_cast<int>(pairs_), 0, 32 + tile_bits);
  };
  check(sort(nullptr), "size of the sort");
  make_room(scratch_, scratch_bytes);
  check(sort(scratch_.data()), "sort");
  find_ranges<<<linear_grid(pairs_), kLinearBlock>>>(static_cast<std::uint32_t>(pairs_),
                                                     sorted_keys_.data(), ranges_.data());
  check_launch("range kernel");
}

void GpuFrame::draw() {
  const auto pixels = static_cast<std::size_t>(camera_.pixels());
  make_room(image_, 3 * pixels);
  make_room(final_t_, pixels);
  make_room(last_, pixels);
  const ForwardArgs args{ranges_.data(),  primitives_.data(),    camera_.width, camera_.height,
                         mean2d_.data(),  conic_opacity_.data(), color_.data(), image_.data(),
                         final_t_.data(), last_.data()};
  forward<<<grid(), dim3(kTileSize, kTileSize)>>>(args);
  check_launch("forward kernel");
}

void GpuFrame::clear_gradients() const {
  for (int i = 0; i < kGradientArrays; ++i) {
    check(cudaMemsetAsync(gradients_[i].data(), 0, count_ * kGradientFloats[i] * sizeof(float)),
          "cudaMemset");
  }
}

GradientView GpuFrame::gradients() const {
  GradientView view{};
  for (int k = 0; k < static_cast<int>(kParameters); ++k) {
    const GradientSlot& slot = kGradientSlots[k];
    view.first[k] = gradients_[slot.array].data() + slot.offset;
    view.stride[k] = static_cast<int>(kGradientFloats[slot.array]);
  }
  return view;
}

dim3 GpuFrame::grid() const {
  return {static_cast<unsigned>(camera_.tiles_x()), static_cast<unsigned>(camera_.tiles_y())};
}

BackwardArgs GpuFrame::backward_args(const float* dl_dpixels) const {
  BackwardArgs args{};
  args.ranges = ranges_.data();
  args.primitives = primitives_.data();
  args.width = camera_.width;
  args.height = camera_.height;
  args.mean2d = mean2d_.data();
  args.conic_opacity = conic_opacity_.data();
  args.color = color_.data();
  args.final_t = final_t_.data();
  args.last = last_.data();
  args.dl_dpixels = dl_dpixels;
  args.mean_scale = {0.5F * static_cast<float>(camera_.width) * kLn2,
                     0.5F * static_cast<float>(camera_.height) * kLn2};
  for (int i = 0; i < kGradientArrays; ++i) {
    args.out.array[i] = gradients_[i].data();
  }
  return args;
}

}  // namespace warpfold::capture

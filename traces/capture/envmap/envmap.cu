// SPDX-License-Identifier: Apache-2.0
// Learns a specular cubemap from pictures of a mirroring mesh, as nvdiffrast's and nvdiffrec's
// samples do: rasterize, mirror the ray, look it up, compare, scatter the gradient into the texels,
// step by Adam. The scatter is the kernel that is captured: a thread is a pixel, a CTA a square of
// 8x8 of them, and each pixel adds to the four texels of its footprint, one after the other.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "traces/capture/common/device_buffer.hpp"
#include "traces/capture/common/linear_grid.hpp"
#include "traces/capture/envmap/cube_math.cuh"
#include "traces/capture/envmap/scene.hpp"
#include "traces/capture/workload/device.cuh"
#include "traces/capture/workload/workload.hpp"

namespace warpfold::capture::envmap {
namespace {

constexpr int kTile = 8;  // pixels on a side of a CTA
constexpr int kCorners = 4;
constexpr int kChannels = 3;

enum Path : unsigned { kOutside = 0, kPrologue = 1, kTaken = 2, kEpilogue = 3 };

// ---- the scatter ----------------------------------------------------------------------------

struct ScatterArgs {
  const float4* directions;  // by pixel; w is 0 where nothing is
  const float* dl_dpicture;  // 3 for each pixel
  float* gradient;           // 3 for each texel
  int pixels;                // on a side of the picture
  int texels;                // on a side of a face
};

struct Texels {
  float* gradient;
  __device__ __forceinline__ float* operator()(int idx, int parameter) const {
    return gradient + static_cast<long long>(idx) * kChannels + parameter;
  }
};

struct Scatter {
  using Args = ScatterArgs;
  static constexpr int kThreads = kTile * kTile;

  template <class Mode>
  static __device__ __forceinline__ void run(const Args& args, Mode& mode) {
    const int x = static_cast<int>(blockIdx.x * kTile + threadIdx.x);
    const int y = static_cast<int>(blockIdx.y * kTile + threadIdx.y);
    const int pixel = y * args.pixels + x;
    float4 d = make_float4(0.0F, 0.0F, 0.0F, 0.0F);
    if (x < args.pixels && y < args.pixels) {
      d = args.directions[pixel];
    }
    const bool active = d.w != 0.0F;
    if (mode.ends(active, kOutside)) {
      return;
    }
    float dl[kChannels] = {0.0F, 0.0F, 0.0F};
    if (active) {
#pragma unroll
      for (int c = 0; c < kChannels; ++c) {
        dl[c] = args.dl_dpicture[kChannels * pixel + c];
      }
    }
    // An inactive lane looks along +x, so that its texels are some.
    const Direction direction = {active ? d.x : 1.0F, d.y, d.z};
    const CubeFootprint f = cube_footprint(direction, args.texels);
    mode.note(kPrologue);
#pragma unroll 1
    for (int corner = 0; corner < kCorners; ++corner) {
      const float weight = corner_weight(f, corner);
      const float val[kChannels] = {__fmul_rn(weight, dl[0]), __fmul_rn(weight, dl[1]),
                                    __fmul_rn(weight, dl[2])};
      mode.reduce(corner_texel(f, args.texels, corner), Texels{args.gradient}, val);
    }
    mode.note(kEpilogue);
  }
};

}  // namespace

WARPFOLD_SLOT_KERNELS(envmap, Scatter)

namespace {

// ---- what comes before and after it -----------------------------------------------------------

// Pixels from the middle of pixel (0, 0), and the depth.
__global__ void project(int count, const float* positions, View view, float3* screen) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) {
    return;
  }
  float d[3];
  for (int k = 0; k < 3; ++k) {
    d[k] = positions[3 * i + k] - view.eye[k];
  }
  const auto along = [&](const float(&axis)[3]) {
    return d[0] * axis[0] + d[1] * axis[1] + d[2] * axis[2];
  };
  const float depth = along(view.forward);
  const float middle = 0.5F * static_cast<float>(view.size) - 0.5F;
  const float scale = 0.5F * static_cast<float>(view.size) / view.tan_half;
  screen[i] = make_float3(middle + scale * along(view.right) / depth,
                          middle - scale * along(view.up) / depth, depth);
}

struct Corners {
  float3 c[3];
};

__device__ __forceinline__ float edge(float3 a, float3 b, float x, float y) {
  return (b.x - a.x) * (y - a.y) - (b.y - a.y) * (x - a.x);
}

// Perspective-correct shares of the corners; false if the pixel is outside. `depth` is that of the
// point.
__device__ __forceinline__ bool barycentric(const Corners& t, float x, float y, float (&share)[3],
                                            float& depth) {
  const float area = edge(t.c[0], t.c[1], t.c[2].x, t.c[2].y);
  if (area == 0.0F) {
    return false;
  }
  float inverse = 0;
  for (int k = 0; k < 3; ++k) {
    const float b = edge(t.c[(k + 1) % 3], t.c[(k + 2) % 3], x, y) / area;
    if (b < 0.0F) {
      return false;
    }
    share[k] = b / t.c[k].z;
    inverse += share[k];
  }
  depth = 1.0F / inverse;
  for (int k = 0; k < 3; ++k) {
    share[k] *= depth;
  }
  return true;
}

__device__ __forceinline__ Corners corners_of(const int* triangles, const float3* screen, int t) {
  return {{screen[triangles[3 * t]], screen[triangles[3 * t + 1]], screen[triangles[3 * t + 2]]}};
}

// One thread a triangle. The nearest wins a pixel: depths are positive, so that their bits sort as
// they do.
__global__ void rasterize(int count, const int* triangles, const float3* screen, int size,
                          unsigned long long* nearest) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) {
    return;
  }
  const Corners t = corners_of(triangles, screen, i);
  const auto last = static_cast<float>(size - 1);
  const float low_x = fmaxf(0.0F, ceilf(fminf(t.c[0].x, fminf(t.c[1].x, t.c[2].x))));
  const float high_x = fminf(last, floorf(fmaxf(t.c[0].x, fmaxf(t.c[1].x, t.c[2].x))));
  const float low_y = fmaxf(0.0F, ceilf(fminf(t.c[0].y, fminf(t.c[1].y, t.c[2].y))));
  const float high_y = fminf(last, floorf(fmaxf(t.c[0].y, fmaxf(t.c[1].y, t.c[2].y))));
  for (float y = low_y; y <= high_y; y += 1.0F) {
    for (float x = low_x; x <= high_x; x += 1.0F) {
      float share[3];
      float depth = 0;
      if (barycentric(t, x, y, share, depth)) {
        const unsigned long long key = static_cast<unsigned long long>(__float_as_uint(depth))
                                           << 32 |
                                       static_cast<unsigned>(i);
        atomicMin(&nearest[static_cast<int>(y) * size + static_cast<int>(x)], key);
      }
    }
  }
}

// Where the surface in a pixel mirrors the ray to.
__global__ void mirror(const int* triangles, const float3* screen, const float* normals, View view,
                       const unsigned long long* nearest, float4* directions) {
  const int at = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (at >= view.size * view.size) {
    return;
  }
  directions[at] = make_float4(0.0F, 0.0F, 0.0F, 0.0F);
  if (nearest[at] == ~0ULL) {
    return;
  }
  const int t = static_cast<int>(nearest[at] & 0xffffffffU);
  const auto x = static_cast<float>(at % view.size);
  const auto y = static_cast<float>(at / view.size);
  float share[3];
  float depth = 0;
  if (!barycentric(corners_of(triangles, screen, t), x, y, share, depth)) {
    return;
  }
  const float scale = 0.5F * static_cast<float>(view.size) / view.tan_half;
  const float across = (x + 0.5F - 0.5F * static_cast<float>(view.size)) / scale;
  const float down = (y + 0.5F - 0.5F * static_cast<float>(view.size)) / scale;
  float normal[3];
  float ray[3];
  float normal2 = 0;
  float ray2 = 0;
  for (int i = 0; i < 3; ++i) {
    normal[i] = 0;
    for (int k = 0; k < 3; ++k) {
      normal[i] += share[k] * normals[3 * triangles[3 * t + k] + i];
    }
    ray[i] = view.forward[i] + view.right[i] * across - view.up[i] * down;
    normal2 += normal[i] * normal[i];
    ray2 += ray[i] * ray[i];
  }
  float along = 0;
  for (int i = 0; i < 3; ++i) {
    normal[i] *= rsqrtf(normal2);
    ray[i] *= rsqrtf(ray2);
    along += 2.0F * ray[i] * normal[i];
  }
  directions[at] = make_float4(ray[0] - along * normal[0], ray[1] - along * normal[1],
                               ray[2] - along * normal[2], 1.0F);
}

// Looks both cubemaps up, adds up the loss, and leaves its gradient.
__global__ void compare(int pixels, const float4* directions, int texels, const float* cubemap,
                        const float* target, float* dl_dpicture, double* loss) {
  const int at = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  double sum = 0;
  if (at < pixels) {
    const float4 d = directions[at];
    const double scale = 1.0 / (static_cast<double>(kChannels) * pixels);
    float difference[kChannels] = {0.0F, 0.0F, 0.0F};
    if (d.w != 0.0F) {
      const CubeFootprint f = cube_footprint({d.x, d.y, d.z}, texels);
      for (int corner = 0; corner < kCorners; ++corner) {
        const int texel = kChannels * corner_texel(f, texels, corner);
        const float weight = corner_weight(f, corner);
        for (int c = 0; c < kChannels; ++c) {
          difference[c] += weight * (cubemap[texel + c] - target[texel + c]);
        }
      }
    }
    for (int c = 0; c < kChannels; ++c) {
      dl_dpicture[kChannels * at + c] = static_cast<float>(2 * scale) * difference[c];
      sum += scale * static_cast<double>(difference[c]) * static_cast<double>(difference[c]);
    }
  }
  for (int offset = 16; offset >= 1; offset /= 2) {
    sum += __shfl_xor_sync(kFullWarp, sum, offset);
  }
  if (threadIdx.x % 32 == 0) {
    atomicAdd(loss, sum);
  }
}

struct AdamArgs {
  float rate;
  float correction1, correction2;  // 1 / (1 - beta^t)
};
__global__ void adam(int count, AdamArgs args, float* gradient, float* mean, float* square,
                     float* value) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) {
    return;
  }
  constexpr float kBeta1 = 0.9F;
  constexpr float kBeta2 = 0.999F;
  const float g = gradient[i];
  mean[i] = kBeta1 * mean[i] + (1.0F - kBeta1) * g;
  square[i] = kBeta2 * square[i] + (1.0F - kBeta2) * g * g;
  value[i] -=
      args.rate * (mean[i] * args.correction1) / (sqrtf(square[i] * args.correction2) + 1e-15F);
  gradient[i] = 0;
}

class EnvironmentMap final : public workload::Workload {
 public:
  [[nodiscard]] std::string name() const override { return "envmap"; }
  [[nodiscard]] std::string kernel() const override {
    return "cubemap texture backward, bilinear, one thread a pixel, 8x8 tiles";
  }
  [[nodiscard]] std::vector<std::string> paths() const override {
    return {"outside", "prologue", "taken", "epilogue"};
  }
  [[nodiscard]] workload::Kernels kernels() const override { return envmap_kernels(); }
  void add_options(CLI::App& app) override {
    app.add_option("--mesh", mesh_path_, "Wavefront OBJ of what mirrors")->required();
    app.add_option("--environment", environment_path_, "Radiance HDR panorama to be learned")
        ->required();
    app.add_option("--pixels", pixels_, "on a side of the picture")
        ->capture_default_str()
        ->check(CLI::Range(8, 8192));
    app.add_option("--texels", texels_, "on a side of a face of the cubemap")
        ->capture_default_str()
        ->check(CLI::Range(2, 4096));
    app.add_option("--iterations", iterations_, "of the optimisation; the last one is captured")
        ->capture_default_str()
        ->check(CLI::Range(1, 1000000));
    app.add_option("--rate", rate_, "learning rate")->capture_default_str();
    app.add_option("--limit", limit_, "largest radiance that is learned")->capture_default_str();
    app.add_option("--seed", seed_, "of the views")->capture_default_str();
  }

  void load() override {
    mesh_ = load_obj(mesh_path_);
    target_host_ = to_cubemap(load_hdr(environment_path_), texels_, limit_);
    positions_ = upload(mesh_.positions);
    normals_ = upload(mesh_.normals);
    triangles_ = upload(mesh_.triangles);
    screen_ = DeviceBuffer<float3>(mesh_.positions.size());
    const auto pixels = static_cast<std::size_t>(pixels_) * static_cast<std::size_t>(pixels_);
    nearest_ = DeviceBuffer<unsigned long long>(pixels);
    directions_ = DeviceBuffer<float4>(pixels);
    dl_dpicture_ = DeviceBuffer<float>(pixels * kChannels);
    target_ = DeviceBuffer<float>(std::span<const float>(target_host_));
    const std::vector<float> grey(target_host_.size(), 0.5F);
    cubemap_ = DeviceBuffer<float>(std::span<const float>(grey));
    gradient_ = zeros(grey.size());
    mean_ = zeros(grey.size());
    square_ = zeros(grey.size());
    loss_ = DeviceBuffer<double>(static_cast<std::size_t>(iterations_));
    loss_.clear_async();
    args_ = {directions_.data(), dl_dpicture_.data(), gradient_.data(), pixels_, texels_};
    double power1 = 1;
    double power2 = 1;
    for (int i = 0; i < iterations_; ++i) {
      look(i);
      if (i + 1 == iterations_) {
        break;
      }
      const dim3 grid(launch().grid[0], launch().grid[1]);
      warpfold_envmap_baseline<<<grid, dim3(kTile, kTile)>>>(args_, 0);
      check_launch("scatter kernel");
      power1 *= 0.9;
      power2 *= 0.999;
      const AdamArgs step = {rate_, static_cast<float>(1 / (1 - power1)),
                             static_cast<float>(1 / (1 - power2))};
      adam<<<linear_grid(grey.size()), kLinearBlock>>>(static_cast<int>(grey.size()), step,
                                                       gradient_.data(), mean_.data(),
                                                       square_.data(), cubemap_.data());
      check_launch("Adam kernel");
    }
    capture::check(cudaDeviceSynchronize(), "optimisation");
    losses_ = loss_.to_host();
    const int step = iterations_ > 10 ? iterations_ / 10 : 1;
    for (int i = 0; i < iterations_; i += step) {
      std::printf("  iteration %5d  loss %.6f\n", i + 1, losses_[static_cast<std::size_t>(i)]);
    }
    std::printf("  iteration %5d  loss %.6f\n", iterations_, losses_.back());
  }
  [[nodiscard]] Launch launch() const override {
    const auto ctas = static_cast<std::uint32_t>((pixels_ + kTile - 1) / kTile);
    return {{ctas, ctas, 1}, {kTile, kTile, 1}, &args_};
  }
  [[nodiscard]] std::uint64_t primitive_count() const override {
    return target_host_.size() / kChannels;
  }
  [[nodiscard]] std::vector<trace::Parameter> parameters() const override {
    std::vector<trace::Parameter> result;
    for (int c = 0; c < kChannels; ++c) {
      result.push_back({std::string("dL_dtexel.") + "rgb"[c],
                        reinterpret_cast<std::uintptr_t>(gradient_.data() + c),
                        kChannels * sizeof(float)});
    }
    return result;
  }
  [[nodiscard]] std::vector<workload::Array> arrays() const override {
    return {{"dL_dtexel", gradient_.data(), gradient_.size()}};
  }
  [[nodiscard]] std::vector<double> reference() const override {
    return reference::backward(directions(), texels_, dl_dpicture_.to_host());
  }
  [[nodiscard]] double tolerance() const override { return 1e-4; }
  void check(Verdict& verdict) override {
    // The picture against a rasterizer on the CPU.
    const auto gpu = directions();
    const auto cpu = reference::rasterize(mesh_, make_view(seed_, iterations_ - 1, pixels_));
    std::size_t differ = 0;
    std::size_t both = 0;
    double error = 0;
    for (std::size_t i = 0; i < gpu.size(); ++i) {
      differ += gpu[i].covered != cpu[i].covered ? 1U : 0U;
      if (gpu[i].covered != 0 && cpu[i].covered != 0) {
        ++both;
        error += std::hypot(static_cast<double>(gpu[i].x) - static_cast<double>(cpu[i].x),
                            static_cast<double>(gpu[i].y) - static_cast<double>(cpu[i].y),
                            static_cast<double>(gpu[i].z) - static_cast<double>(cpu[i].z));
      }
    }
    std::printf("  %zu of %zu pixels are covered\n", both, gpu.size());
    verdict.expect("pixels covered on one side only, share",
                   static_cast<double>(differ) / static_cast<double>(gpu.size()), 1e-4);
    verdict.expect("mirrored direction, mean difference",
                   error / static_cast<double>(std::max<std::size_t>(both, 1)), 1e-3);
    // Look-up and loss, from the GPU's directions.
    const auto cubemap = cubemap_.to_host();
    const auto learned =
        reference::sample(gpu, texels_, std::vector<double>(cubemap.begin(), cubemap.end()));
    const auto target = reference::sample(
        gpu, texels_, std::vector<double>(target_host_.begin(), target_host_.end()));
    const double loss = reference::loss(learned, target);
    verdict.expect("loss, relative difference", std::abs(losses_.back() - loss) / loss, 1e-3);
    // The optimisation gets somewhere.
    const std::size_t part = std::max<std::size_t>(losses_.size() / 10, 1);
    double first = 0;
    double last = 0;
    for (std::size_t i = 0; i < part; ++i) {
      first += losses_[i];
      last += losses_[losses_.size() - 1 - i];
    }
    verdict.expect("loss of the last tenth of iterations over the first", last / first, 0.5);
  }
  [[nodiscard]] std::map<std::string, std::string> provenance() const override {
    return {{"input", std::to_string(mesh_.triangles.size()) + " triangles, " +
                          environment_path_.filename().string() + ", " + std::to_string(pixels_) +
                          " x " + std::to_string(pixels_) + " pixels, 6 x " +
                          std::to_string(texels_) + " x " + std::to_string(texels_) + " texels"},
            {"iteration", std::to_string(iterations_)},
            {"loss", "mean squared error, first " + std::to_string(losses_.front()) + ", here " +
                         std::to_string(losses_.back())}};
  }

 private:
  template <class T>
  static DeviceBuffer<T> upload(const std::vector<std::array<T, 3>>& rows) {
    std::vector<T> flat;
    for (const auto& row : rows) {
      flat.insert(flat.end(), row.begin(), row.end());
    }
    return DeviceBuffer<T>(std::span<const T>(flat));
  }
  static DeviceBuffer<float> zeros(std::size_t count) {
    DeviceBuffer<float> buffer(count);
    buffer.clear_async();
    return buffer;
  }
  [[nodiscard]] std::vector<Reflection> directions() const {
    std::vector<Reflection> result;
    for (const float4& d : directions_.to_host()) {
      result.push_back({d.x, d.y, d.z, d.w});
    }
    return result;
  }

  // View `i`: directions, loss and its gradient.
  void look(int i) {
    const View view = make_view(seed_, i, pixels_);
    const auto pixels = directions_.size();
    const auto triangles = triangles_.size() / 3;
    project<<<linear_grid(screen_.size()), kLinearBlock>>>(static_cast<int>(screen_.size()),
                                                           positions_.data(), view, screen_.data());
    check_launch("projection kernel");
    capture::check(cudaMemsetAsync(nearest_.data(), 0xff, nearest_.bytes()), "cudaMemset");
    rasterize<<<linear_grid(triangles), kLinearBlock>>>(
        static_cast<int>(triangles), triangles_.data(), screen_.data(), pixels_, nearest_.data());
    check_launch("rasterizer kernel");
    mirror<<<linear_grid(pixels), kLinearBlock>>>(triangles_.data(), screen_.data(),
                                                  normals_.data(), view, nearest_.data(),
                                                  directions_.data());
    check_launch("mirror kernel");
    compare<<<linear_grid(pixels), kLinearBlock>>>(static_cast<int>(pixels), directions_.data(),
                                                   texels_, cubemap_.data(), target_.data(),
                                                   dl_dpicture_.data(), loss_.data() + i);
    check_launch("comparison kernel");
  }

  std::filesystem::path mesh_path_, environment_path_;
  int pixels_ = 1024;
  int texels_ = 512;
  int iterations_ = 200;
  float rate_ = 0.02F;
  float limit_ = 2.0F;
  std::uint64_t seed_ = 1;

  Mesh mesh_;
  std::vector<float> target_host_;
  std::vector<double> losses_;
  DeviceBuffer<float> positions_, normals_;
  DeviceBuffer<std::int32_t> triangles_;
  DeviceBuffer<float3> screen_;
  DeviceBuffer<unsigned long long> nearest_;
  DeviceBuffer<float4> directions_;
  DeviceBuffer<float> dl_dpicture_, target_, cubemap_, gradient_, mean_, square_;
  DeviceBuffer<double> loss_;
  ScatterArgs args_{};
};

}  // namespace

std::unique_ptr<workload::Workload> make_workload() {
  return std::make_unique<EnvironmentMap>();
}

}  // namespace warpfold::capture::envmap

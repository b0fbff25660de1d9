// SPDX-License-Identifier: Apache-2.0
// Trains the density planes of a HexPlane on silhouettes: samples along rays, six bilinear look-ups
// each, opacity of the ray, squared error, Adam. The kernel that is captured is the backward pass
// of the look-ups, that of PyTorch's grid_sample: a thread is a sample and adds the gradients of
// all channels to four texels, one after the other. The six calls are one launch with a row of CTAs
// for each plane. Sample coordinates get no gradient, as HexPlane detaches them.
//
// The samples come in the order of the rays, or (--sorted) each plane is given them by texel, with
// coordinates and gradients permuted ahead of the launch.
#include <CLI/CLI.hpp>
#include <array>
#include <cmath>
#include <cstdio>

#include "traces/capture/common/device_buffer.hpp"
#include "traces/capture/common/input.hpp"
#include "traces/capture/common/linear_grid.hpp"
#include "traces/capture/common/relative_error.hpp"
#include "traces/capture/hexplane/plane_math.cuh"
#include "traces/capture/hexplane/samples.hpp"
#include "traces/capture/workload/device.cuh"
#include "traces/capture/workload/workload.hpp"

namespace warpfold::capture::hexplane {
namespace {

constexpr int kThreads = 256;

enum Path : unsigned { kOutside = 0, kPrologue = 1, kTaken = 2, kEpilogue = 3 };

// ---- the scatter ----------------------------------------------------------------------------

struct ScatterArgs {
  const float2* coordinates;  // [plane][sample]
  const float* dl;            // [plane][channel][sample]
  float* gradient;            // [channel][texel]
  int samples;
  Sizes sizes;
};

struct Texels {
  float* gradient;
  int count;
  __device__ __forceinline__ float* operator()(int idx, int channel) const {
    return gradient + idx + static_cast<long long>(count) * channel;
  }
};

struct Scatter {
  using Args = ScatterArgs;
  static constexpr int kThreads = hexplane::kThreads;

  template <class Mode>
  static __device__ __forceinline__ void run(const Args& args, Mode& mode) {
    const int k = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);
    const int p = static_cast<int>(blockIdx.y);
    const bool active = k < args.samples;
    if (mode.ends(active, kOutside)) {
      return;
    }
    const Plane plane = plane_of(p, args.sizes);
    float2 uv = make_float2(0.0F, 0.0F);
    float dl[kChannels] = {};
    if (active) {
      uv = args.coordinates[static_cast<long long>(args.samples) * p + k];
      const float* at = args.dl + static_cast<long long>(args.samples) * (kChannels * p) + k;
#pragma unroll
      for (int c = 0; c < kChannels; ++c) {
        dl[c] = at[static_cast<long long>(args.samples) * c];
      }
    }
    const PlaneFootprint f = plane_footprint(uv, plane);
    mode.note(kPrologue);
#pragma unroll 1
    for (int corner = 0; corner < kCorners; ++corner) {
      const float weight = corner_weight(f, corner);
      float val[kChannels];
#pragma unroll
      for (int c = 0; c < kChannels; ++c) {
        val[c] = __fmul_rn(weight, dl[c]);
      }
      mode.reduce(corner_texel(f, plane, corner), Texels{args.gradient, texel_count(args.sizes)},
                  val);
    }
    mode.note(kEpilogue);
  }
};

}  // namespace

WARPFOLD_SCATTER_KERNELS(hexplane, Scatter)

namespace {

// ---- what comes before and after it -----------------------------------------------------------

struct Model {
  const float* planes;  // [channel][texel]
  Sizes sizes;

  __device__ void sample(int plane, float4 xyzt, float (&values)[kChannels]) const {
    const Plane shape = plane_of(plane, sizes);
    const PlaneFootprint f = plane_footprint(plane_coordinates(plane, xyzt), shape);
    const int texels = texel_count(sizes);
    for (int c = 0; c < kChannels; ++c) {
      values[c] = 0.0F;
    }
    for (int corner = 0; corner < kCorners; ++corner) {
      const float weight = corner_weight(f, corner);
      const float* at = planes + corner_texel(f, shape, corner);
      for (int c = 0; c < kChannels; ++c) {
        values[c] += weight * at[c * texels];
      }
    }
  }
};

__global__ void densities(Model model, int samples, const float4* xyzt, float* features) {
  const int k = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (k >= samples) {
    return;
  }
  float sum = 0;
  for (int p = 0; p < kSpacePlanes; ++p) {
    float space[kChannels];
    float time[kChannels];
    model.sample(p, xyzt[k], space);
    model.sample(p + kSpacePlanes, xyzt[k], time);
    for (int c = 0; c < kChannels; ++c) {
      sum += space[c] * time[c];
    }
  }
  features[k] = sum;
}

// A thread is a ray: its squared error, and features become dL/dfeature.
__global__ void render(int rays, const std::uint32_t* begin, const float* lengths,
                       const float* target, float* features, float* errors) {
  const int r = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (r >= rays) {
    return;
  }
  constexpr auto kShift = static_cast<float>(kDensityShift);
  float sum = 0;
  for (std::uint32_t k = begin[r]; k < begin[r + 1]; ++k) {
    sum += log1pf(expf(features[k] + kShift)) * lengths[k];
  }
  const float passed = expf(-sum);
  const float difference = -expm1f(-sum) - target[r];
  errors[r] = difference * difference;
  const float dl_dopacity = 2.0F * difference / static_cast<float>(rays);
  for (std::uint32_t k = begin[r]; k < begin[r + 1]; ++k) {
    features[k] = dl_dopacity * passed * lengths[k] / (1.0F + expf(-features[k] - kShift));
  }
}

// What comes back to each look-up: dL/dfeature times the other plane of the pair.
__global__ void spread(Model model, int samples, const std::uint32_t* order, const float4* xyzt,
                       const float* dl_dfeature, float* dl) {
  const int at = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int p = static_cast<int>(blockIdx.y);
  if (at >= samples) {
    return;
  }
  const std::uint32_t k = order[static_cast<long long>(samples) * p + at];
  float other[kChannels];
  model.sample((p + kSpacePlanes) % kPlanes, xyzt[k], other);
  for (int c = 0; c < kChannels; ++c) {
    dl[static_cast<long long>(samples) * (kChannels * p + c) + at] = dl_dfeature[k] * other[c];
  }
}

struct AdamStep {
  float rate, first_scale, second_scale;  // the scales undo the bias of the moments
};
__global__ void adam(int count, AdamStep step, const float* gradient, float2* moments,
                     float* values) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) {
    return;
  }
  float2 m = moments[i];
  m.x = 0.9F * m.x + 0.1F * gradient[i];
  m.y = 0.99F * m.y + 0.01F * gradient[i] * gradient[i];
  moments[i] = m;
  values[i] -= step.rate * m.x * step.first_scale / (sqrtf(m.y * step.second_scale) + 1e-8F);
}

class HexPlane final : public workload::Workload {
 public:
  [[nodiscard]] std::string name() const override { return "hexplane"; }
  [[nodiscard]] std::string kernel() const override {
    return "backward pass of HexPlane's look-ups in six planes, one thread a sample of a plane";
  }
  [[nodiscard]] std::vector<std::string> paths() const override {
    return {"outside", "prologue", "taken", "epilogue"};
  }
  [[nodiscard]] workload::Kernels kernels() const override { return hexplane_kernels(); }
  void add_options(CLI::App& app) override {
    app.add_option("--cameras", path_, "transforms_train.json of a NeRF synthetic scene")
        ->required();
    app.add_flag("--sorted", sorted_, "each plane is given its samples by texel");
    app.add_option("--rays", options_.rays, "of a batch")
        ->capture_default_str()
        ->check(CLI::Range(1, 1 << 16));
    app.add_option("--space", sizes_.space, "texels on a side of a plane along x, y, z")
        ->capture_default_str()
        ->check(CLI::Range(2, 512));
    app.add_option("--time", sizes_.time, "texels along t")
        ->capture_default_str()
        ->check(CLI::Range(2, 512));
    app.add_option("--iterations", iterations_, "of Adam before the pass that is captured")
        ->capture_default_str()
        ->check(CLI::NonNegativeNumber);
    app.add_option("--seed", options_.seed)->capture_default_str();
  }

  void load() override {
    batch_ = make_batch(load_cameras(path_), options_, sizes_);
    const std::size_t count = batch_.samples.size();
    if (count == 0) {
      throw InputError(path_.string() + ": no ray has a sample in the box");
    }
    if (count > std::size_t{1} << 23) {
      throw InputError("more than 8,388,608 samples: fewer rays or texels");
    }
    std::vector<float4> xyzt;
    for (const Sample& s : batch_.samples) {
      xyzt.push_back(make_float4(s.x, s.y, s.z, s.t));
    }
    std::vector<std::uint32_t> order;
    std::vector<float2> coordinates;
    for (int p = 0; p < kPlanes; ++p) {
      auto& own = order_[static_cast<std::size_t>(p)];
      own = plane_order(batch_.samples, sizes_, p, sorted_);
      order.insert(order.end(), own.begin(), own.end());
      for (const auto& uv : plane_coordinates(batch_.samples, own, p)) {
        coordinates.push_back(make_float2(uv[0], uv[1]));
      }
    }
    const std::vector<float> planes = make_planes(sizes_, options_.seed);
    xyzt_ = DeviceBuffer<float4>(std::span<const float4>(xyzt));
    order_of_planes_ = DeviceBuffer<std::uint32_t>(std::span<const std::uint32_t>(order));
    coordinates_ = DeviceBuffer<float2>(std::span<const float2>(coordinates));
    begin_ = DeviceBuffer<std::uint32_t>(std::span<const std::uint32_t>(batch_.begin));
    lengths_ = DeviceBuffer<float>(std::span<const float>(batch_.lengths));
    target_ = DeviceBuffer<float>(std::span<const float>(batch_.target));
    planes_ = DeviceBuffer<float>(std::span<const float>(planes));
    gradient_ = DeviceBuffer<float>::on_own_pages(planes.size());
    moments_ = DeviceBuffer<float2>(planes.size());
    moments_.clear_async();
    features_ = DeviceBuffer<float>(count);
    errors_ = DeviceBuffer<float>(batch_.rays());
    dl_ = DeviceBuffer<float>(std::size_t{kPlanes} * kChannels * count);
    args_ = {coordinates_.data(), dl_.data(), gradient_.data(), static_cast<int>(count), sizes_};

    first_loss_ = forward();
    const dim3 grid(launch().grid[0], launch().grid[1]);
    for (int i = 1; i <= iterations_; ++i) {
      gradient_.clear_async();
      warpfold_hexplane_baseline<<<grid, kThreads>>>(args_, 0);
      check_launch("scatter kernel");
      const AdamStep step = {0.02F, static_cast<float>(1 / (1 - std::pow(0.9, i))),
                             static_cast<float>(1 / (1 - std::pow(0.99, i)))};
      adam<<<linear_grid(planes.size()), kLinearBlock>>>(
          static_cast<int>(planes.size()), step, gradient_.data(), moments_.data(), planes_.data());
      check_launch("Adam kernel");
      last_loss_ = forward();
    }
    std::printf("%zu rays, %zu samples in the box; loss %.4f, after %d iterations %.4f\n",
                batch_.rays(), count, first_loss_, iterations_,
                iterations_ > 0 ? last_loss_ : first_loss_);
  }
  [[nodiscard]] Launch launch() const override {
    return {{linear_grid(batch_.samples.size(), kThreads), kPlanes, 1}, {kThreads, 1, 1}, &args_};
  }
  [[nodiscard]] std::uint64_t primitive_count() const override {
    return gradient_.size() / kChannels;
  }
  [[nodiscard]] std::vector<trace::Parameter> parameters() const override {
    std::vector<trace::Parameter> result;
    for (int c = 0; c < kChannels; ++c) {
      result.push_back({"dL_dplanes." + std::to_string(c),
                        reinterpret_cast<std::uintptr_t>(gradient_.data()) +
                            static_cast<std::uintptr_t>(c) * primitive_count() * sizeof(float),
                        sizeof(float)});
    }
    return result;
  }
  [[nodiscard]] std::vector<workload::Array> arrays() const override {
    return {{"dL_dplanes", gradient_.data(), gradient_.size()}};
  }
  [[nodiscard]] std::vector<double> reference() const override {
    return reference::backward(sizes_, batch_.samples, order_, dl_.to_host());
  }
  [[nodiscard]] double tolerance() const override { return 1e-4; }
  void check(Verdict& verdict) override {
    const std::vector<float> planes = planes_.to_host();
    const std::vector<double> exact(planes.begin(), planes.end());
    const auto features = reference::features(sizes_, exact, batch_.samples);
    const double loss = reference::loss(batch_, features);
    verdict.expect("loss", std::abs(forward() - loss) / loss, 1e-4);
    if (iterations_ > 0) {
      verdict.expect("loss after the iterations over that before", last_loss_ / first_loss_, 0.99);
    }
    const auto dl_dfeature = reference::feature_gradient(batch_, features);
    verdict.expect("dL/dfeature", relative_error(features_.to_host(), dl_dfeature), 1e-3);
    const auto by_sample = reference::sampled_gradient(sizes_, exact, batch_.samples, dl_dfeature);
    std::vector<double> expected(by_sample.size());
    const std::size_t count = batch_.samples.size();
    for (std::size_t row = 0; row < std::size_t{kPlanes} * kChannels; ++row) {
      for (std::size_t k = 0; k < count; ++k) {
        expected[row * count + k] = by_sample[row * count + order_[row / kChannels][k]];
      }
    }
    verdict.expect("gradient of the look-ups", relative_error(dl_.to_host(), expected), 1e-3);
  }
  [[nodiscard]] std::map<std::string, std::string> provenance() const override {
    return {{"input", std::to_string(batch_.rays()) + " rays of " + path_.filename().string() +
                          ", " + std::to_string(batch_.samples.size()) + " samples, planes of " +
                          std::to_string(sizes_.space) + " and " + std::to_string(sizes_.time) +
                          " texels on a side, " + std::to_string(kChannels) + " channels"},
            {"order", sorted_ ? "by texel, for each plane" : "along the rays"},
            {"iteration", std::to_string(iterations_ + 1)}};
  }

 private:
  // Forward pass, and backward up to what the scatter takes. The loss.
  double forward() {
    const auto count = static_cast<int>(batch_.samples.size());
    const auto rays = static_cast<int>(batch_.rays());
    const Model model{planes_.data(), sizes_};
    const unsigned grid = linear_grid(batch_.samples.size());
    densities<<<grid, kLinearBlock>>>(model, count, xyzt_.data(), features_.data());
    check_launch("density kernel");
    render<<<linear_grid(batch_.rays()), kLinearBlock>>>(
        rays, begin_.data(), lengths_.data(), target_.data(), features_.data(), errors_.data());
    check_launch("render kernel");
    spread<<<dim3(grid, kPlanes), kLinearBlock>>>(model, count, order_of_planes_.data(),
                                                  xyzt_.data(), features_.data(), dl_.data());
    check_launch("spread kernel");
    double sum = 0;
    for (const float error : errors_.to_host()) {
      sum += static_cast<double>(error);
    }
    return sum / static_cast<double>(rays);
  }

  std::filesystem::path path_;
  BatchOptions options_;
  Sizes sizes_{64, 16};
  bool sorted_ = false;
  int iterations_ = 15;
  double first_loss_ = 0;
  double last_loss_ = 0;
  Batch batch_;
  std::array<std::vector<std::uint32_t>, kPlanes> order_;
  DeviceBuffer<float4> xyzt_;
  DeviceBuffer<float2> coordinates_, moments_;
  DeviceBuffer<std::uint32_t> order_of_planes_, begin_;
  DeviceBuffer<float> lengths_, target_, planes_, gradient_, features_, errors_, dl_;
  ScatterArgs args_{};
};

}  // namespace

std::unique_ptr<workload::Workload> make_workload() {
  return std::make_unique<HexPlane>();
}

}  // namespace warpfold::capture::hexplane

// SPDX-License-Identifier: Apache-2.0
// A picture of many spheres and its gradients, in the shape of Pulsar: the forward kernel blends
// all spheres of a pixel and keeps the nearest few; in the backward kernel, which is captured, a
// thread is a pixel, a CTA a square of 16x16 of them, and each thread walks its own short list. So
// the lanes of a warp need not be at the same sphere, and the warp cannot stay together: sw-b does
// not apply.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "traces/capture/common/device_buffer.hpp"
#include "traces/capture/spheres/spheres.hpp"
#include "traces/capture/workload/device.cuh"
#include "traces/capture/workload/workload.hpp"

namespace warpfold::capture::spheres {
namespace {

constexpr int kTile = 16;  // pixels on a side of a CTA
constexpr int kTileThreads = kTile * kTile;
constexpr int kTrack = 5;  // spheres of a pixel that get gradients; Pulsar's default
constexpr int kChannels = 3;

enum Path : unsigned { kOutside = 0, kPrologue = 1, kEmpty = 2, kTaken = 3, kEpilogue = 4 };

// ---- the backward kernel ------------------------------------------------------------------------

struct BackwardArgs {
  SphereCamera camera;
  const float4* spheres;  // centre and radius
  const float4* colors;   // colour and opacity
  const int* nearest;     // kTrack pictures: the nearest sphere of each pixel, the next; -1: none
  const float* greatest;  // by pixel
  const float* inverse;   // by pixel: 1 / sum of the weights
  const float* image;     // planar
  const float* dl_dimage;
  float* position;  // gradients
  float* radius;
  float* opacity;
  float* color;
};

struct Gradients {
  float* position;
  float* radius;
  float* opacity;
  float* color;

  __device__ __forceinline__ float* operator()(int idx, int parameter) const {
    switch (parameter) {
      case 0:
      case 1:
      case 2:
        return position + static_cast<long long>(idx) * 3 + parameter;
      case 3:
        return radius + idx;
      case 4:
        return opacity + idx;
      default:
        return color + static_cast<long long>(idx) * kChannels + (parameter - 5);
    }
  }
};

struct Backward {
  using Args = BackwardArgs;
  static constexpr int kThreads = kTileThreads;

  template <class Mode>
  static __device__ __forceinline__ void run(const Args& args, Mode& mode) {
    const int x = static_cast<int>(blockIdx.x * kTile + threadIdx.x);
    const int y = static_cast<int>(blockIdx.y * kTile + threadIdx.y);
    const bool inside = x < args.camera.width && y < args.camera.height;
    if (mode.ends(inside, kOutside)) {
      return;
    }
    const int pixels = args.camera.width * args.camera.height;
    const int at = inside ? y * args.camera.width + x : 0;
    SpherePixel pixel;
    pixel.ray = pixel_ray(args.camera, x, y);
    pixel.greatest = args.greatest[at];
    pixel.inverse = args.inverse[at];
    pixel.dl_dcolor = make_float3(args.dl_dimage[at], args.dl_dimage[pixels + at],
                                  args.dl_dimage[2 * pixels + at]);
    pixel.mean =
        dot3(make_float3(args.image[at], args.image[pixels + at], args.image[2 * pixels + at]),
             pixel.dl_dcolor);
    mode.note(kPrologue);
#pragma unroll 1
    for (int i = 0; i < kTrack; ++i) {
      const int sphere = inside ? args.nearest[i * pixels + at] : -1;
      const bool active = sphere >= 0;
      if (mode.leaves(active, kEmpty)) {
        continue;
      }
      float val[kSphereParameters] = {};
      if (active) {
        sphere_gradients(args.camera, pixel, args.spheres[sphere], args.colors[sphere], val);
      }
      mode.reduce(sphere, Gradients{args.position, args.radius, args.opacity, args.color}, val);
    }
    mode.note(kEpilogue);
  }
};

}  // namespace

WARPFOLD_DIVERGENT_KERNELS(spheres, Backward)

namespace {

// ---- the forward kernel -------------------------------------------------------------------------

struct ForwardArgs {
  SphereCamera camera;
  int count;
  const Box* boxes;
  const float4* spheres;
  const float4* colors;
  const float* target;  // planar
  int* nearest;
  float* greatest;
  float* inverse;
  float* image;
  float* dl_dimage;
  double* loss;
};

// Every CTA goes through all spheres, 256 at a time: those that its pixels can meet go to shared
// memory in their order, so that the sums are the same in each run.
__global__ void __launch_bounds__(kTileThreads) render(const __grid_constant__ ForwardArgs args) {
  __shared__ float4 near_spheres[kTileThreads];
  __shared__ float4 near_colors[kTileThreads];
  __shared__ int near_ids[kTileThreads];
  __shared__ int found[kTileThreads / trace::kWarpLanes];
  const int rank = static_cast<int>(threadIdx.y * kTile + threadIdx.x);
  const int left = static_cast<int>(blockIdx.x) * kTile;
  const int top = static_cast<int>(blockIdx.y) * kTile;
  const int x = left + static_cast<int>(threadIdx.x);
  const int y = top + static_cast<int>(threadIdx.y);
  const float3 ray = pixel_ray(args.camera, x, y);
  const float background = __fmul_rn(kBackground, args.camera.exponent);
  float greatest = background;
  float sum = 1.0F;
  float color[kChannels] = {0.0F, 0.0F, 0.0F};
  int nearest[kTrack];
  float depths[kTrack];
#pragma unroll
  for (int i = 0; i < kTrack; ++i) {
    nearest[i] = -1;
    depths[i] = 1e30F;
  }
  for (int base = 0; base < args.count; base += kTileThreads) {
    const int i = base + rank;
    bool near = false;
    if (i < args.count) {
      const Box box = args.boxes[i];
      near = box.x0 < left + kTile && box.x1 > left && box.y0 < top + kTile && box.y1 > top;
    }
    const unsigned lanes = __ballot_sync(kFullWarp, near);
    if (rank % trace::kWarpLanes == 0) {
      found[rank / trace::kWarpLanes] = __popc(lanes);
    }
    __syncthreads();
    int total = 0;
    int before = 0;
#pragma unroll
    for (int w = 0; w < kTileThreads / trace::kWarpLanes; ++w) {
      before += w < rank / trace::kWarpLanes ? found[w] : 0;
      total += found[w];
    }
    if (near) {
      const int slot = before + __popc(lanes & ((1U << rank % trace::kWarpLanes) - 1U));
      near_spheres[slot] = args.spheres[i];
      near_colors[slot] = args.colors[i];
      near_ids[slot] = i;
    }
    __syncthreads();
    for (int k = 0; k < total; ++k) {
      const float4 sphere = near_spheres[k];
      const SphereHit hit = intersect(ray, sphere);
      if (!(hit.h2 > 0.0F)) {
        continue;
      }
      const float4 own = near_colors[k];
      const SphereShade s = shade(args.camera, hit, sphere.w, own.w);
      if (s.exponent > greatest) {
        const float fade = exp2_approx(greatest - s.exponent);
        sum *= fade;
        color[0] *= fade;
        color[1] *= fade;
        color[2] *= fade;
        greatest = s.exponent;
      }
      const float weight = own.w * s.closeness * exp2_approx(s.exponent - greatest);
      sum += weight;
      color[0] += weight * own.x;
      color[1] += weight * own.y;
      color[2] += weight * own.z;
      if (s.depth < depths[kTrack - 1]) {
        depths[kTrack - 1] = s.depth;
        nearest[kTrack - 1] = near_ids[k];
#pragma unroll
        for (int n = kTrack - 1; n > 0; --n) {
          if (depths[n] < depths[n - 1]) {
            const float depth = depths[n];
            depths[n] = depths[n - 1];
            depths[n - 1] = depth;
            const int id = nearest[n];
            nearest[n] = nearest[n - 1];
            nearest[n - 1] = id;
          }
        }
      }
    }
    __syncthreads();
  }
  double loss = 0;
  if (x < args.camera.width && y < args.camera.height) {
    const int pixels = args.camera.width * args.camera.height;
    const int at = y * args.camera.width + x;
    const float inverse = 1.0F / sum;
    const double share = 1.0 / (static_cast<double>(kChannels) * pixels);
    args.greatest[at] = greatest;
    args.inverse[at] = inverse;
#pragma unroll
    for (int i = 0; i < kTrack; ++i) {
      args.nearest[i * pixels + at] = nearest[i];
    }
#pragma unroll
    for (int c = 0; c < kChannels; ++c) {
      const float mean = color[c] * inverse;
      const float difference = mean - args.target[c * pixels + at];
      args.image[c * pixels + at] = mean;
      args.dl_dimage[c * pixels + at] = static_cast<float>(2 * share) * difference;
      loss += share * static_cast<double>(difference) * static_cast<double>(difference);
    }
  }
  for (int offset = 16; offset >= 1; offset /= 2) {
    loss += __shfl_xor_sync(kFullWarp, loss, offset);
  }
  if (rank % trace::kWarpLanes == 0) {
    atomicAdd(args.loss, loss);
  }
}

class SphereRenderer final : public workload::Workload {
 public:
  [[nodiscard]] std::string name() const override { return "spheres"; }
  [[nodiscard]] std::string kernel() const override {
    return "sphere renderer backward in the shape of Pulsar, one thread a pixel, 16x16 tiles";
  }
  [[nodiscard]] std::vector<std::string> paths() const override {
    return {"outside", "prologue", "empty", "taken", "epilogue"};
  }
  [[nodiscard]] workload::Kernels kernels() const override { return spheres_kernels(); }
  void add_options(CLI::App& app) override {
    app.add_option("--spheres", count_, "how many")
        ->capture_default_str()
        ->check(CLI::Range(1, 100000000));
    app.add_option("--radius", radius_, "of all spheres")
        ->capture_default_str()
        ->check(CLI::Range(1e-3, 4.0));
    app.add_flag("--random-radius", random_radius_, "uniform from 0 to --radius");
    app.add_option("--gamma", gamma_, "how softly the spheres blend: 1e-5 the nearest alone, 1 all")
        ->capture_default_str()
        ->check(CLI::Range(1e-5, 1.0));
    app.add_option("--pixels", pixels_, "on a side of the picture")
        ->capture_default_str()
        ->check(CLI::Range(8, 8192));
    app.add_option("--seed", seed_, "of the spheres")->capture_default_str();
  }

  void load() override {
    camera_ = make_camera(pixels_, pixels_, gamma_);
    spheres_ = random_spheres(static_cast<std::size_t>(count_), radius_, random_radius_, seed_);
    std::vector<Box> boxes;
    std::vector<float4> places, colors;
    for (const Sphere& s : spheres_) {
      boxes.push_back(bounds(s, camera_));
      places.push_back(make_float4(s.position[0], s.position[1], s.position[2], s.radius));
      colors.push_back(make_float4(s.color[0], s.color[1], s.color[2], s.opacity));
    }
    const std::size_t pixels = this->pixels();
    std::vector<float> target_image(kChannels * pixels);
    for (std::size_t i = 0; i < target_image.size(); ++i) {
      const auto at = static_cast<int>(i % pixels);
      target_image[i] = target(at % pixels_, at / pixels_, static_cast<int>(i / pixels));
    }
    const DeviceBuffer<Box> device_boxes{std::span<const Box>(boxes)};
    const DeviceBuffer<float> device_target{std::span<const float>(target_image)};
    places_ = DeviceBuffer<float4>(std::span<const float4>(places));
    colors_ = DeviceBuffer<float4>(std::span<const float4>(colors));
    nearest_ = DeviceBuffer<int>(kTrack * pixels);
    greatest_ = DeviceBuffer<float>(pixels);
    inverse_ = DeviceBuffer<float>(pixels);
    image_ = DeviceBuffer<float>(kChannels * pixels);
    dl_dimage_ = DeviceBuffer<float>(kChannels * pixels);
    position_ = DeviceBuffer<float>::on_own_pages(3 * spheres_.size());
    radius_gradient_ = DeviceBuffer<float>::on_own_pages(spheres_.size());
    opacity_ = DeviceBuffer<float>::on_own_pages(spheres_.size());
    color_ = DeviceBuffer<float>::on_own_pages(kChannels * spheres_.size());
    const DeviceBuffer<double> loss(1);
    loss.clear_async();
    const dim3 grid(launch().grid[0], launch().grid[1]);
    render<<<grid, dim3(kTile, kTile)>>>({camera_, count_, device_boxes.data(), places_.data(),
                                          colors_.data(), device_target.data(), nearest_.data(),
                                          greatest_.data(), inverse_.data(), image_.data(),
                                          dl_dimage_.data(), loss.data()});
    check_launch("forward kernel");
    loss_ = loss.to_host()[0];
    std::printf("  %d spheres, loss %.6f\n", count_, loss_);
    args_ = {camera_,          places_.data(),          colors_.data(),  nearest_.data(),
             greatest_.data(), inverse_.data(),         image_.data(),   dl_dimage_.data(),
             position_.data(), radius_gradient_.data(), opacity_.data(), color_.data()};
  }
  [[nodiscard]] Launch launch() const override {
    const auto ctas = static_cast<std::uint32_t>((pixels_ + kTile - 1) / kTile);
    return {{ctas, ctas, 1}, {kTile, kTile, 1}, &args_};
  }
  [[nodiscard]] std::uint64_t primitive_count() const override { return spheres_.size(); }
  [[nodiscard]] std::vector<trace::Parameter> parameters() const override {
    std::vector<trace::Parameter> result;
    const auto add = [&](const std::string& name, const float* base, std::uint32_t stride) {
      result.push_back({name, reinterpret_cast<std::uintptr_t>(base), stride});
    };
    for (int i = 0; i < 3; ++i) {
      add(std::string("dL_dposition.") + "xyz"[i], position_.data() + i, 3 * sizeof(float));
    }
    add("dL_dradius", radius_gradient_.data(), sizeof(float));
    add("dL_dopacity", opacity_.data(), sizeof(float));
    for (int c = 0; c < kChannels; ++c) {
      add(std::string("dL_dcolor.") + "rgb"[c], color_.data() + c, kChannels * sizeof(float));
    }
    return result;
  }
  [[nodiscard]] std::vector<workload::Array> arrays() const override {
    return {{"dL_dposition", position_.data(), position_.size()},
            {"dL_dradius", radius_gradient_.data(), radius_gradient_.size()},
            {"dL_dopacity", opacity_.data(), opacity_.size()},
            {"dL_dcolor", color_.data(), color_.size()}};
  }
  [[nodiscard]] std::vector<double> reference() const override {
    const auto nearest = nearest_.to_host();
    const auto dl = dl_dimage_.to_host();
    const std::size_t n = spheres_.size();
    std::vector<double> result(kSphereParameters * n, 0.0);
    const std::vector<Pixel<double>> forward = forward_pixels();
    for (std::size_t at = 0; at < pixels(); ++at) {
      double dl_dcolor[kChannels];
      for (std::size_t c = 0; c < kChannels; ++c) {
        dl_dcolor[c] = static_cast<double>(dl[c * pixels() + at]);
      }
      for (std::size_t i = 0; i < kTrack; ++i) {
        const int id = nearest[i * pixels() + at];
        if (id < 0) {
          break;
        }
        double out[kSphereParameters];
        const auto s = static_cast<std::size_t>(id);
        reference::gradients(spheres_[s], camera_, column(at), row(at), forward[at], dl_dcolor,
                             out);
        for (std::size_t k = 0; k < 3; ++k) {
          result[3 * s + k] += out[k];
          result[5 * n + 3 * s + k] += out[5 + k];
        }
        result[3 * n + s] += out[3];
        result[4 * n + s] += out[4];
      }
    }
    return result;
  }
  // The forward pass, at pixels all over the picture.
  void check(Verdict& verdict) override {
    // The reference goes through all spheres for each of them.
    const std::size_t samples = std::clamp<std::size_t>(100000000 / spheres_.size(), 50, 500);
    const auto nearest = nearest_.to_host();
    const std::vector<Pixel<double>> forward = forward_pixels();
    double color = 0;
    double depth = 0;
    double sum = 0;
    std::size_t missing = 0;
    for (std::size_t n = 0; n < samples; ++n) {
      const std::size_t at = n * 7919 * 127 % pixels();
      std::vector<std::uint32_t> ids;
      const Pixel<double> expected =
          reference::render(spheres_, camera_, column(at), row(at), kTrack, ids);
      for (int c = 0; c < kChannels; ++c) {
        color = std::max(color, std::abs(forward[at].color[c] - expected.color[c]));
      }
      const double weights =
          forward[at].sum * std::exp2(forward[at].greatest - expected.greatest) / expected.sum;
      sum = std::max(sum, std::abs(weights - 1));
      for (std::size_t i = 0; i < kTrack; ++i) {
        const int id = nearest[i * pixels() + at];
        if (i >= ids.size() || id < 0) {
          missing += (i < ids.size()) != (id >= 0) ? 1U : 0U;
          continue;
        }
        const auto at_depth = [&](std::size_t s) {
          return reference::depth(spheres_[s], camera_, column(at), row(at));
        };
        depth =
            std::max(depth, std::abs(at_depth(static_cast<std::size_t>(id)) - at_depth(ids[i])));
      }
    }
    verdict.expect("picture at sampled pixels, largest difference", color, 1e-4);
    verdict.expect("sum of the weights, largest relative difference", sum, 1e-3);
    verdict.expect("depth of the nearest spheres, largest difference", depth, 1e-3);
    verdict.expect("spheres too many or too few among the nearest", static_cast<double>(missing),
                   0);
  }
  [[nodiscard]] std::map<std::string, std::string> provenance() const override {
    char numbers[160];
    std::snprintf(numbers, sizeof(numbers), "%d spheres, radius %s%g, gamma %g, seed %llu, %d x %d",
                  count_, random_radius_ ? "uniform up to " : "", static_cast<double>(radius_),
                  static_cast<double>(gamma_), static_cast<unsigned long long>(seed_), pixels_,
                  pixels_);
    return {{"input", numbers},
            {"limit", "gradients for the nearest " + std::to_string(kTrack) +
                          " spheres of a pixel; all are blended"},
            {"loss", "mean squared error against waves: " + std::to_string(loss_)}};
  }

 private:
  [[nodiscard]] std::size_t pixels() const {
    return static_cast<std::size_t>(pixels_) * static_cast<std::size_t>(pixels_);
  }
  [[nodiscard]] int column(std::size_t at) const { return static_cast<int>(at) % pixels_; }
  [[nodiscard]] int row(std::size_t at) const { return static_cast<int>(at) / pixels_; }
  // As the GPU left them.
  [[nodiscard]] std::vector<Pixel<double>> forward_pixels() const {
    const auto greatest = greatest_.to_host();
    const auto inverse = inverse_.to_host();
    const auto image = image_.to_host();
    std::vector<Pixel<double>> result(pixels());
    for (std::size_t at = 0; at < pixels(); ++at) {
      result[at].greatest = static_cast<double>(greatest[at]);
      result[at].sum = 1 / static_cast<double>(inverse[at]);
      for (std::size_t c = 0; c < kChannels; ++c) {
        result[at].color[c] = static_cast<double>(image[c * pixels() + at]);
      }
    }
    return result;
  }

  int count_ = 10000;
  float radius_ = 0.3F;
  bool random_radius_ = false;
  float gamma_ = 1.0F;
  int pixels_ = 1000;
  std::uint64_t seed_ = 1;

  SphereCamera camera_{};
  std::vector<Sphere> spheres_;
  double loss_ = 0;
  DeviceBuffer<float4> places_, colors_;
  DeviceBuffer<int> nearest_;
  DeviceBuffer<float> greatest_, inverse_, image_, dl_dimage_;
  DeviceBuffer<float> position_, radius_gradient_, opacity_, color_;
  BackwardArgs args_{};
};

}  // namespace

std::unique_ptr<workload::Workload> make_workload() {
  return std::make_unique<SphereRenderer>();
}

}  // namespace warpfold::capture::spheres

// SPDX-License-Identifier: Apache-2.0
// DynIBaR's motion trajectories: each point on a ray has coefficients, each frame a row of a shared
// basis, and their product is where the point is in that frame. The kernel that is captured is the
// backward pass: a CTA is a ray, a thread one direction of one of its points, as in the fused
// forward kernel; it goes through the seven frames, keeps dL/dcoefficients to itself, and adds to
// the frame's row of dL/dbasis, which all threads of the launch share: 42 addresses in all.
#include <CLI/CLI.hpp>
#include <cmath>

#include "traces/capture/common/device_buffer.hpp"
#include "traces/capture/common/linear_grid.hpp"
#include "traces/capture/common/relative_error.hpp"
#include "traces/capture/dynibar/trajectory.hpp"
#include "traces/capture/dynibar/trajectory_math.cuh"
#include "traces/capture/workload/device.cuh"
#include "traces/capture/workload/workload.hpp"

namespace warpfold::capture::dynibar {
namespace {

constexpr int kMaxSamples = 128;  // of a ray, threads of a CTA along x

enum Path : unsigned { kOutside = 0, kPrologue = 1, kTaken = 2, kEpilogue = 3 };

// ---- forward ----------------------------------------------------------------------------------

struct TrajectoryArgs {
  const float* coefficients;  // [point][direction][basis]
  const float* basis;         // [frame][basis], from the first of the seven
  const float* dl;            // [neighbour][point][direction]
  float* basis_gradient;      // like basis, from the first of the video
  float* coefficient_gradient;
  int samples;  // of a ray
  int points;
  int first_frame;
};

// blockIdx.x is the neighbour, blockIdx.y the ray.
__global__ void forward(TrajectoryArgs args, float* trajectories) {
  const int sample = static_cast<int>(threadIdx.x);
  if (sample >= args.samples) {
    return;
  }
  const int point = static_cast<int>(blockIdx.y) * args.samples + sample;
  const int o = static_cast<int>(blockIdx.x);
  const int direction = static_cast<int>(threadIdx.y);
  float coefficients[kBasis];
  float basis[kBasis];
  for (int i = 0; i < kBasis; ++i) {
    coefficients[i] = args.coefficients[point * kCoefficients + direction * kBasis + i];
    basis[i] = args.basis[o * kBasis + i];
  }
  trajectories[(o * args.points + point) * kDirections + direction] =
      trajectory(coefficients, basis);
}

// A thread is one direction of a point; trajectories become dL/dtrajectories.
__global__ void compare(int points, const float* targets, const float* weights,
                        float* trajectories) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int values = points * kDirections;
  if (i >= values) {
    return;
  }
  const float scale = weights[i / kDirections] / static_cast<float>(points);
  const float centre = trajectories[kCentre * values + i];
  float others = 0.0F;
  for (int o = 0; o < kFrames; ++o) {
    if (o != kCentre) {
      const int at = o * values + i;
      const float dl = scale * (trajectories[at] - centre - targets[at]);
      others += dl;
      trajectories[at] = dl;
    }
  }
  trajectories[kCentre * values + i] = -others;
}

// ---- backward ---------------------------------------------------------------------------------

struct BasisRows {
  float* gradient;
  __device__ __forceinline__ float* operator()(int idx, int i) const {
    return gradient + static_cast<long long>(idx) * kBasis + i;
  }
};

struct Backward {
  using Args = TrajectoryArgs;
  static constexpr int kThreads = kMaxSamples * kDirections;

  template <class Mode>
  static __device__ __forceinline__ void run(const Args& args, Mode& mode) {
    const int sample = static_cast<int>(threadIdx.x);
    const int direction = static_cast<int>(threadIdx.y);
    const bool active = sample < args.samples;
    if (mode.ends(active, kOutside)) {
      return;
    }
    const int point = static_cast<int>(blockIdx.x) * args.samples + sample;
    const int own = point * kCoefficients + direction * kBasis;
    float coefficients[kBasis] = {};
    float gradient[kBasis] = {};
    if (active) {
#pragma unroll
      for (int i = 0; i < kBasis; ++i) {
        coefficients[i] = args.coefficients[own + i];
      }
    }
    mode.note(kPrologue);
#pragma unroll 1
    for (int o = 0; o < kFrames; ++o) {
      const float dl = active ? args.dl[(o * args.points + point) * kDirections + direction] : 0.0F;
      float basis[kBasis];
#pragma unroll
      for (int i = 0; i < kBasis; ++i) {
        basis[i] = args.basis[o * kBasis + i];
      }
      add_coefficient_gradient(basis, dl, gradient);
      float val[kBasis];
      basis_gradient(coefficients, dl, val);
      mode.reduce(args.first_frame + o, BasisRows{args.basis_gradient}, val);
    }
    if (active) {
#pragma unroll
      for (int i = 0; i < kBasis; ++i) {
        args.coefficient_gradient[own + i] = gradient[i];
      }
    }
    mode.note(kEpilogue);
  }
};

}  // namespace

WARPFOLD_PRIMITIVE_KERNELS(dynibar, Backward)

namespace {

class Dynibar final : public workload::Workload {
 public:
  [[nodiscard]] std::string name() const override { return "dynibar"; }
  [[nodiscard]] std::string kernel() const override {
    return "backward pass of DynIBaR's motion trajectories, one thread a direction of a point";
  }
  [[nodiscard]] std::vector<std::string> paths() const override {
    return {"outside", "prologue", "taken", "epilogue"};
  }
  [[nodiscard]] workload::Kernels kernels() const override { return dynibar_kernels(); }
  void add_options(CLI::App& app) override {
    app.add_option("--rays", options_.rays, "of a batch")
        ->capture_default_str()
        ->check(CLI::Range(1, 32768));
    app.add_option("--samples", options_.samples, "of a ray")
        ->capture_default_str()
        ->check(CLI::Range(1, kMaxSamples));
    app.add_option("--frames", options_.frames, "of the video")
        ->capture_default_str()
        ->check(CLI::Range(kFrames, 1 << 20));
    app.add_option("--frame", options_.frame, "that is rendered")->capture_default_str();
    app.add_option("--seed", options_.seed)->capture_default_str();
  }

  void load() override {
    scene_ = make_scene(options_);
    coefficients_ = DeviceBuffer<float>(std::span<const float>(scene_.coefficients));
    basis_ = DeviceBuffer<float>(std::span<const float>(scene_.basis));
    gradient_ = DeviceBuffer<float>::on_own_pages(scene_.basis.size());
    coefficient_gradient_ = DeviceBuffer<float>(scene_.coefficients.size());
    dl_ = DeviceBuffer<float>(scene_.targets.size());
    const int first = options_.frame - kCentre;
    args_ = {coefficients_.data(),
             basis_.data() + std::ptrdiff_t{first} * kBasis,
             dl_.data(),
             gradient_.data(),
             coefficient_gradient_.data(),
             options_.samples,
             static_cast<int>(scene_.points()),
             first};
    run_forward();
    const DeviceBuffer<float> targets{std::span<const float>(scene_.targets)};
    const DeviceBuffer<float> weights{std::span<const float>(scene_.weights)};
    compare<<<linear_grid(scene_.points() * kDirections), kLinearBlock>>>(
        args_.points, targets.data(), weights.data(), dl_.data());
    check_launch("loss kernel");
    capture::check(cudaDeviceSynchronize(), "loss kernel");
  }
  [[nodiscard]] Launch launch() const override {
    return {
        {static_cast<std::uint32_t>(options_.rays), 1, 1}, {kMaxSamples, kDirections, 1}, &args_};
  }
  [[nodiscard]] std::uint64_t primitive_count() const override {
    return static_cast<std::uint64_t>(options_.frames);
  }
  [[nodiscard]] std::vector<trace::Parameter> parameters() const override {
    std::vector<trace::Parameter> result;
    for (std::size_t i = 0; i < kBasis; ++i) {
      result.push_back({"dL_dbasis." + std::to_string(i),
                        reinterpret_cast<std::uintptr_t>(gradient_.data() + i),
                        kBasis * sizeof(float)});
    }
    return result;
  }
  [[nodiscard]] std::vector<workload::Array> arrays() const override {
    return {{"dL_dbasis", gradient_.data(), gradient_.size()}};
  }
  [[nodiscard]] std::vector<double> reference() const override {
    return reference::basis_gradient(scene_, dl_.to_host());
  }
  // Each address gets all points one after the other, and most of their sum cancels: errors grow as
  // a random walk does.
  [[nodiscard]] double tolerance() const override {
    return 2e-6 * std::sqrt(static_cast<double>(scene_.points()));
  }
  void check(Verdict& verdict) override {
    const std::vector<double> coefficients(scene_.coefficients.begin(), scene_.coefficients.end());
    const std::vector<double> basis(scene_.basis.begin(), scene_.basis.end());
    const auto trajectories = reference::trajectories(scene_, coefficients, basis);
    const std::vector<float> dl = dl_.to_host();
    verdict.expect("dL/dtrajectories",
                   relative_error(dl, reference::trajectory_gradient(scene_, trajectories)), 1e-5);
    run_forward();
    verdict.expect("trajectories", relative_error(dl_.to_host(), trajectories), 1e-6);
    dl_ = DeviceBuffer<float>(std::span<const float>(dl));
    args_.dl = dl_.data();
    const auto expected = reference::coefficient_gradient(scene_, dl);
    const auto expect = [&](const char* what, auto kernel) {
      gradient_.clear_async();
      coefficient_gradient_.clear_async();
      const auto launched = launch();
      kernel<<<launched.grid[0], dim3(launched.block[0], launched.block[1])>>>(args_, 0);
      check_launch("backward kernel");
      verdict.expect(what, relative_error(coefficient_gradient_.to_host(), expected), 1e-6);
    };
    expect("dL/dcoefficients, baseline", warpfold_dynibar_baseline);
    expect("dL/dcoefficients, sw-b:0", warpfold_dynibar_sw_b);
  }
  [[nodiscard]] std::map<std::string, std::string> provenance() const override {
    return {
        {"input", std::to_string(options_.rays) + " generated rays of " +
                      std::to_string(options_.samples) + " points, frame " +
                      std::to_string(options_.frame) + " of " + std::to_string(options_.frames)},
        {"iteration", "1"}};
  }

 private:
  // Leaves the trajectories in dl_.
  void run_forward() {
    forward<<<dim3(kFrames, static_cast<unsigned>(options_.rays)),
              dim3(kMaxSamples, kDirections)>>>(args_, dl_.data());
    check_launch("forward kernel");
  }

  SceneOptions options_;
  Scene scene_;
  DeviceBuffer<float> coefficients_, basis_, gradient_, coefficient_gradient_, dl_;
  TrajectoryArgs args_{};
};

}  // namespace

std::unique_ptr<workload::Workload> make_workload() {
  return std::make_unique<Dynibar>();
}

}  // namespace warpfold::capture::dynibar

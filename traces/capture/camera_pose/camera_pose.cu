// SPDX-License-Identifier: Apache-2.0
// Gradient of camera poses, in the backward pass of a projection as gsplat and fvdb have it: a
// thread is a Gaussian and adds twelve values, dL/dR and dL/dt, to the matrix of each camera that
// sees it. All warps of the GPU add to the same few words. Halved: the warps sum by recursive
// halving, and twelve lanes add a word each. In fixed point the sums of a warp stay floats, as
// their order is always the same.
#include <CLI/CLI.hpp>

#include "traces/capture/camera_pose/cameras.hpp"
#include "traces/capture/common/device_buffer.hpp"
#include "traces/capture/common/linear_grid.hpp"
#include "traces/capture/reduce/halving.cuh"
#include "traces/capture/workload/device.cuh"
#include "traces/capture/workload/fixed_sums.cuh"
#include "traces/capture/workload/workload.hpp"

namespace warpfold::capture::camera_pose {
namespace {

constexpr int kThreads = 256;
constexpr int kMatrix = 16;  // floats of a camera's matrix

enum Path : unsigned { kOutside = 0, kPrologue = 1, kUnseen = 2, kTaken = 3, kEpilogue = 4 };
constexpr unsigned kNever = kUnseen;  // a warp with sums adds them

struct PoseArgs {
  const float* means;
  const float* covariances;
  const Camera* cameras;
  const std::int32_t* radii;
  const float* mean_gradients;
  const float* covariance_gradients;
  float* sums;
  int count;
  int camera_count;
  FixedWords fixed;
};

struct Matrices {
  float* sums;
  __device__ __forceinline__ float* operator()(int idx, int parameter) const {
    return sums + static_cast<long long>(idx) * kMatrix + parameter;
  }
};

template <int N>
__device__ __forceinline__ void load(const float* from, float (&to)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) {
    to[i] = from[i];
  }
}

// A Gaussian, and what it adds to a camera.
struct Thread {
  int k;
  bool inside;
  float mean[3];
  float covariance[kSymmetric];

  __device__ __forceinline__ Thread(const PoseArgs& args, int number)
      : k(number), inside(number < args.count), mean{}, covariance{} {}
  __device__ __forceinline__ void load_gaussian(const PoseArgs& args) {
    if (inside) {
      load(args.means + static_cast<long long>(k) * 3, mean);
      load(args.covariances + static_cast<long long>(k) * kSymmetric, covariance);
    }
  }
  // Where what camera `c` has of the Gaussian is.
  __device__ __forceinline__ long long place(const PoseArgs& args, int c) const {
    return static_cast<long long>(args.count) * c + k;
  }
  // Zeros where not `active`.
  __device__ __forceinline__ void gradient(const PoseArgs& args, int c, long long at, bool active,
                                           float (&val)[kPoseValues]) const {
    float d_mean[3] = {};
    float d_covariance[kSymmetric] = {};
    if (active) {
      load(args.mean_gradients + at * 3, d_mean);
      load(args.covariance_gradients + at * kSymmetric, d_covariance);
    }
    float rotation[9];
    load(args.cameras[c].rotation, rotation);
    pose_gradient(rotation, mean, covariance, d_mean, d_covariance, val);
  }
};

struct Poses {
  using Args = PoseArgs;
  static constexpr int kThreads = camera_pose::kThreads;

  template <class Mode>
  static __device__ __forceinline__ void run(const Args& args, Mode& mode) {
    Thread thread(args, static_cast<int>(blockIdx.x * kThreads + threadIdx.x));
    if (mode.ends(thread.inside, kOutside)) {
      return;
    }
    thread.load_gaussian(args);
    mode.note(kPrologue);
#pragma unroll 1
    for (int c = 0; c < args.camera_count; ++c) {
      const long long at = thread.place(args, c);
      const bool active = thread.inside && args.radii[at] > 0;
      if (mode.leaves(active, kUnseen)) {
        continue;
      }
      float val[kPoseValues];
      thread.gradient(args, c, at, active, val);
      mode.reduce(c, Matrices{args.sums}, val);
    }
    mode.note(kEpilogue);
  }
};

struct HalvedPoses {
  using Args = PoseArgs;
  static constexpr int kThreads = camera_pose::kThreads;

  template <class Mode>
  static __device__ __forceinline__ void run(const Args& args, Mode& mode) {
    Thread thread(args, static_cast<int>(blockIdx.x * kThreads + threadIdx.x));
    if (mode.ends(__any_sync(kFullWarp, thread.inside) != 0, kOutside)) {
      return;
    }
    thread.load_gaussian(args);
    const unsigned lane = threadIdx.x % trace::kWarpLanes;
    const int own = sum_of_lane<kPoseValues>(lane);
    const FixedElement target(args.sums, args.fixed, max(own, 0));
    mode.note(kPrologue);
#pragma unroll 1
    for (int c = 0; c < args.camera_count; ++c) {
      const long long at = thread.place(args, c);
      const bool active = thread.inside && args.radii[at] > 0;
      if (mode.leaves(__any_sync(kFullWarp, active) != 0, kUnseen)) {
        continue;
      }
      float val[kPoseValues];
      thread.gradient(args, c, at, active, val);
      const float sum[1] = {halve(val, lane)};
      if (mode.leaves(own >= 0, kNever)) {
        continue;
      }
      mode.reduce(c * kMatrix + own, target, sum);
    }
    mode.note(kEpilogue);
  }
};

}  // namespace

WARPFOLD_PRIMITIVE_KERNELS(camera_pose, Poses)
WARPFOLD_APART_FIXED_KERNELS(camera_pose_halved, HalvedPoses)

namespace {

class CameraPose final : public workload::Workload {
 public:
  explicit CameraPose(bool halved) : halved_(halved) {}

  [[nodiscard]] std::string name() const override {
    return halved_ ? "camera_pose_halved" : "camera_pose";
  }
  [[nodiscard]] std::string kernel() const override {
    return std::string("gradient of camera poses, one thread a Gaussian") +
           (halved_ ? ", recursive halving" : "");
  }
  [[nodiscard]] std::vector<std::string> paths() const override {
    return {"outside", "prologue", "unseen", "taken", "epilogue"};
  }
  [[nodiscard]] workload::Kernels kernels() const override {
    return halved_ ? camera_pose_halved_kernels() : camera_pose_kernels();
  }
  void add_options(CLI::App& app) override {
    app.add_option("--gaussians", options_.gaussians)
        ->capture_default_str()
        ->check(CLI::Range(1, 1 << 22));
    app.add_option("--cameras", options_.cameras, "that the Gaussians are seen by")
        ->capture_default_str()
        ->check(CLI::Range(1, 64));
    app.add_option("--seed", options_.seed)->capture_default_str();
  }

  void load() override {
    host_ = make_gaussians(options_);
    means_ = DeviceBuffer<float>(std::span<const float>(host_.means));
    covariances_ = DeviceBuffer<float>(std::span<const float>(host_.covariances));
    cameras_ = DeviceBuffer<Camera>(std::span<const Camera>(host_.cameras));
    radii_ = DeviceBuffer<std::int32_t>(std::span<const std::int32_t>(host_.radii));
    mean_gradients_ = DeviceBuffer<float>(std::span<const float>(host_.mean_gradients));
    covariance_gradients_ = DeviceBuffer<float>(std::span<const float>(host_.covariance_gradients));
    sums_ = DeviceBuffer<float>::on_own_pages(host_.cameras.size() * kMatrix);
    args_ = {means_.data(),          covariances_.data(),
             cameras_.data(),        radii_.data(),
             mean_gradients_.data(), covariance_gradients_.data(),
             sums_.data(),           options_.gaussians,
             options_.cameras,       {}};
    if (halved_) {
      fixed_ = std::make_unique<workload::FixedSums>(
          sums_.data(), sums_.size(), kMatrix,
          linear_grid(host_.count(), kThreads) * (kThreads / trace::kWarpLanes), args_.fixed);
    }
  }
  [[nodiscard]] Launch launch() const override {
    return {{linear_grid(host_.count(), kThreads), 1, 1}, {kThreads, 1, 1}, &args_};
  }
  [[nodiscard]] std::uint64_t primitive_count() const override {
    return host_.cameras.size() * (halved_ ? kMatrix : 1);
  }
  [[nodiscard]] std::vector<trace::Parameter> parameters() const override {
    if (halved_) {
      return {{"word of dL_dpose", reinterpret_cast<std::uintptr_t>(sums_.data()), sizeof(float)}};
    }
    std::vector<trace::Parameter> result;
    for (int i = 0; i < kPoseValues; ++i) {
      result.push_back({"dL_dpose." + std::to_string(i),
                        reinterpret_cast<std::uintptr_t>(sums_.data() + i),
                        kMatrix * sizeof(float)});
    }
    return result;
  }
  [[nodiscard]] std::vector<workload::Array> arrays() const override {
    return {{"dL_dpose", sums_.data(), sums_.size()}};
  }
  [[nodiscard]] std::vector<double> reference() const override { return backward(host_); }
  [[nodiscard]] workload::FixedSums* fixed() const override { return fixed_.get(); }
  [[nodiscard]] double tolerance() const override { return 1e-4; }
  [[nodiscard]] std::map<std::string, std::string> provenance() const override {
    return {{"input", std::to_string(options_.gaussians) + " Gaussians, " +
                          std::to_string(options_.cameras) + " cameras"},
            {"seed", std::to_string(options_.seed)}};
  }

 private:
  bool halved_;
  CameraOptions options_;
  Gaussians host_;
  DeviceBuffer<float> means_, covariances_, mean_gradients_, covariance_gradients_, sums_;
  DeviceBuffer<Camera> cameras_;
  DeviceBuffer<std::int32_t> radii_;
  PoseArgs args_{};
  std::unique_ptr<workload::FixedSums> fixed_;
};

}  // namespace

std::unique_ptr<workload::Workload> make_workload() {
  return std::make_unique<CameraPose>(false);
}

std::unique_ptr<workload::Workload> make_halved() {
  return std::make_unique<CameraPose>(true);
}

}  // namespace warpfold::capture::camera_pose

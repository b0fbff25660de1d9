// SPDX-License-Identifier: Apache-2.0
// Backward pass of a multiresolution hash grid in the shape of Instant-NGP: a thread is a sample on
// one level and adds two features, in floats, to each of the eight corners of its cell; a row of
// CTAs for each level. On coarse levels neighbours of a ray share a cell, on fine ones they hardly
// do. Or, as tiny-cuda-nn has it, in halves: the two features of an entry fill a word, and one
// packed RED adds to both.
#include <CLI/CLI.hpp>

#include "traces/capture/common/device_buffer.hpp"
#include "traces/capture/common/linear_grid.hpp"
#include "traces/capture/common/relative_error.hpp"
#include "traces/capture/hash_grid/grid.hpp"
#include "traces/capture/workload/device.cuh"
#include "traces/capture/workload/workload.hpp"

namespace warpfold::capture::hash_grid {
namespace {

constexpr int kThreads = 256;

enum Path : unsigned { kOutside = 0, kPrologue = 1, kTaken = 2, kEpilogue = 3 };

struct GridArgs {
  const float* samples;     // [sample][axis]
  const float2* gradients;  // [level][sample]
  float* sums;              // [entry][feature]; of halves, [entry]
  int count;                // of samples
  Levels levels;
};

struct Entries {
  float* sums;
  __device__ __forceinline__ float* operator()(int idx, int feature) const {
    return sums + static_cast<long long>(idx) * kFeatures + feature;
  }
};

// Words of two halves.
struct HalfEntries {
  float* sums;
  __device__ __forceinline__ float* operator()(int idx, int /*feature*/) const {
    return sums + idx;
  }
};

template <class Out>
struct Scatter {
  using Args = GridArgs;
  static constexpr int kThreads = hash_grid::kThreads;

  template <class Mode>
  static __device__ __forceinline__ void run(const Args& args, Mode& mode) {
    const int s = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);
    const bool active = s < args.count;
    if (mode.ends(active, kOutside)) {
      return;
    }
    const Level level = args.levels.level[blockIdx.y];
    float3 point = make_float3(0.0F, 0.0F, 0.0F);
    float2 gradient = make_float2(0.0F, 0.0F);
    if (active) {
      const float* const at = args.samples + static_cast<long long>(s) * 3;
      point = make_float3(at[0], at[1], at[2]);
      gradient = args.gradients[static_cast<long long>(args.count) * blockIdx.y + s];
    }
    const Cell cell = cell_of(point, level);
    mode.note(kPrologue);
#pragma unroll 1
    for (int corner = 0; corner < kCorners; ++corner) {
      const float weight = corner_weight(cell, corner);
      const float val[kFeatures] = {as_added(__fmul_rn(weight, gradient.x)),
                                    as_added(__fmul_rn(weight, gradient.y))};
      mode.reduce(corner_entry(cell, level, corner), Out{args.sums}, val);
    }
    mode.note(kEpilogue);
  }

  static __device__ __forceinline__ float as_added(float x) {
    return std::is_same_v<Out, HalfEntries> ? __half2float(__float2half_rn(x)) : x;
  }
};

using ScatterFloats = Scatter<Entries>;
using ScatterHalves = Scatter<HalfEntries>;

}  // namespace

WARPFOLD_SCATTER_KERNELS(hash_grid, ScatterFloats)
WARPFOLD_HALF_KERNELS(hash_grid_half, ScatterHalves)

namespace {

class HashGrid final : public workload::Workload {
 public:
  explicit HashGrid(bool halves) : halves_(halves) {}

  [[nodiscard]] std::string name() const override {
    return halves_ ? "hash_grid_half" : "hash_grid";
  }
  [[nodiscard]] std::string kernel() const override {
    return std::string("backward pass of a hash grid, one thread a sample of a level") +
           (halves_ ? ", in pairs of halves" : "");
  }
  [[nodiscard]] std::vector<std::string> paths() const override {
    return {"outside", "prologue", "taken", "epilogue"};
  }
  [[nodiscard]] workload::Kernels kernels() const override {
    return halves_ ? hash_grid_half_kernels() : hash_grid_kernels();
  }
  void add_options(CLI::App& app) override {
    app.add_option("--rays", options_.rays, "of a batch")
        ->capture_default_str()
        ->check(CLI::Range(1, 1 << 16));
    app.add_option("--samples", options_.samples, "of a ray")
        ->capture_default_str()
        ->check(CLI::Range(1, 256));
    app.add_option("--table-bits", options_.table_bits, "a level has at most 2^N entries")
        ->capture_default_str()
        ->check(CLI::Range(10, 22));
    app.add_option("--seed", options_.seed)->capture_default_str();
  }

  void load() override {
    const Levels levels = make_levels(options_);
    host_samples_ = make_samples(options_);
    host_gradients_ = make_gradients(host_samples_.size(), options_.seed);
    std::vector<float> points;
    for (const auto& sample : host_samples_) {
      points.insert(points.end(), sample.begin(), sample.end());
    }
    std::vector<float2> pairs;
    for (std::size_t i = 0; i < host_gradients_.size(); i += kFeatures) {
      pairs.push_back(make_float2(host_gradients_[i], host_gradients_[i + 1]));
    }
    samples_ = DeviceBuffer<float>(std::span<const float>(points));
    gradients_ = DeviceBuffer<float2>(std::span<const float2>(pairs));
    sums_ = DeviceBuffer<float>::on_own_pages(entry_count(levels) * entry_floats());
    args_ = {samples_.data(), gradients_.data(), sums_.data(),
             static_cast<int>(host_samples_.size()), levels};
  }
  [[nodiscard]] Launch launch() const override {
    return {{linear_grid(host_samples_.size(), kThreads), kLevels, 1}, {kThreads, 1, 1}, &args_};
  }
  [[nodiscard]] std::uint64_t primitive_count() const override {
    return sums_.size() / entry_floats();
  }
  [[nodiscard]] std::vector<trace::Parameter> parameters() const override {
    std::vector<trace::Parameter> result;
    const std::size_t entry_bytes = entry_floats() * sizeof(float);
    for (unsigned f = 0; f < kFeatures; ++f) {
      result.push_back(
          {"dL_dgrid." + std::to_string(f),
           reinterpret_cast<std::uintptr_t>(sums_.data()) + f * entry_bytes / kFeatures,
           static_cast<std::uint32_t>(entry_bytes)});
    }
    return result;
  }
  [[nodiscard]] std::vector<workload::Array> arrays() const override {
    return {{"dL_dgrid", sums_.data(), sums_.size(), halves_}};
  }
  [[nodiscard]] std::vector<double> reference() const override {
    return backward(args_.levels, host_samples_, host_gradients_);
  }
  void check(Verdict& verdict) override {
    if (halves_) {
      const auto sums = backward_in_halves(args_.levels, host_samples_, host_gradients_);
      const auto exact = reference();
      half_error_ = relative_error(std::span<const float>(sums), std::span<const double>(exact));
      verdict.expect("the same additions in halves on the CPU", half_error_, kMostHalfError);
    }
  }
  // Of halves: what rounding takes on the CPU, where the order of the additions is another.
  [[nodiscard]] double tolerance() const override {
    return halves_ ? kOtherOrder * half_error_ : 1e-4;
  }
  [[nodiscard]] std::map<std::string, std::string> provenance() const override {
    return {
        {"input", std::to_string(options_.rays) + " rays of " + std::to_string(options_.samples) +
                      " samples, " + std::to_string(kLevels) + " levels of at most 2^" +
                      std::to_string(options_.table_bits) + " entries of two " +
                      (halves_ ? "halves" : "floats")},
        {"seed", std::to_string(options_.seed)}};
  }

 private:
  static constexpr double kMostHalfError = 0.02;
  static constexpr double kOtherOrder = 1.5;

  [[nodiscard]] std::size_t entry_floats() const { return halves_ ? 1 : kFeatures; }

  bool halves_;
  double half_error_ = 0;
  GridOptions options_;
  std::vector<std::array<float, 3>> host_samples_;
  std::vector<float> host_gradients_;
  DeviceBuffer<float> samples_;
  DeviceBuffer<float2> gradients_;
  DeviceBuffer<float> sums_;
  GridArgs args_{};
};

}  // namespace

std::unique_ptr<workload::Workload> make_workload() {
  return std::make_unique<HashGrid>(false);
}

std::unique_ptr<workload::Workload> make_half() {
  return std::make_unique<HashGrid>(true);
}

}  // namespace warpfold::capture::hash_grid

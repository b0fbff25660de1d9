// SPDX-License-Identifier: Apache-2.0
// PageRank by pushing: a thread is a vertex and adds its share to each out-neighbour, as the
// strongly atomic kernel of Pannotia does. Active lanes of a warp hardly ever share an address.
#include <CLI/CLI.hpp>
#include <cmath>

#include "traces/capture/common/device_buffer.hpp"
#include "traces/capture/common/linear_grid.hpp"
#include "traces/capture/pagerank/graph.hpp"
#include "traces/capture/workload/device.cuh"
#include "traces/capture/workload/workload.hpp"

namespace warpfold::capture::pagerank {
namespace {

constexpr int kThreads = 256;

enum Path : unsigned { kPrologue = 0, kTaken = 1, kEpilogue = 2 };

struct PushArgs {
  const std::uint32_t* begin;
  const std::uint32_t* target;
  const float* rank;
  float* sum;
  int vertices;
};

struct Sums {
  float* sum;
  __device__ __forceinline__ float* operator()(int idx, int /*parameter*/) const {
    return sum + idx;
  }
};

// A page with n links to it is the sum of n numbers in any order: off by some sqrt(n) roundings of
// 6e-8. The most popular page of web-Stanford has 38,606 and most of the norm.
constexpr double kRounding = 1e-4;

struct Push {
  using Args = PushArgs;
  static constexpr int kThreads = pagerank::kThreads;

  template <class Mode>
  static __device__ __forceinline__ void run(const Args& args, Mode& mode) {
    const int v = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);
    int begin = 0;
    int degree = 0;
    float share = 0;
    if (v < args.vertices) {
      begin = static_cast<int>(args.begin[v]);
      degree = static_cast<int>(args.begin[v + 1]) - begin;
      share = __fdividef(args.rank[v], static_cast<float>(degree));
    }
    mode.note(kPrologue);
    const int trips = mode.trips(degree);
#pragma unroll 1
    for (int i = 0; i < trips; ++i) {
      const bool active = i < degree;
      // A warp never leaves here: some lane is active as long as there are trips.
      if (mode.leaves(active, kTaken)) {
        continue;
      }
      const int target = active ? static_cast<int>(args.target[begin + i]) : 0;
      const float val[1] = {mode.keep(active, share)};
      mode.reduce(target, Sums{args.sum}, val);
    }
    mode.note(kEpilogue);
  }
};

}  // namespace

WARPFOLD_SCATTER_KERNELS(pagerank, Push)

namespace {

// From the sums of a push to the next ranks; the sums start again at 0.
__global__ void update(int vertices, float* rank, float* sum) {
  const int v = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (v < vertices) {
    constexpr auto kFloatDamping = static_cast<float>(kDamping);
    rank[v] = (1.0F - kFloatDamping) / static_cast<float>(vertices) + kFloatDamping * sum[v];
    sum[v] = 0;
  }
}

class PageRank final : public workload::Workload {
 public:
  [[nodiscard]] std::string name() const override { return "pagerank"; }
  [[nodiscard]] std::string kernel() const override { return "PageRank push, one thread a vertex"; }
  [[nodiscard]] std::vector<std::string> paths() const override {
    return {"prologue", "taken", "epilogue"};
  }
  [[nodiscard]] workload::Kernels kernels() const override { return pagerank_kernels(); }
  // Each lane goes along the links of its page.
  [[nodiscard]] bool lanes_read_on() const override { return true; }
  void add_options(CLI::App& app) override {
    app.add_option("--graph", path_, "edge list as SNAP has it")->required();
    app.add_option("--iterations", iterations_, "before the push that is captured")
        ->capture_default_str()
        ->check(CLI::NonNegativeNumber);
  }

  void load() override {
    graph_ = load_edges(path_);
    const std::size_t count = graph_.vertices();
    begin_ = DeviceBuffer<std::uint32_t>(std::span<const std::uint32_t>(graph_.begin));
    target_ = DeviceBuffer<std::uint32_t>(std::span<const std::uint32_t>(graph_.target));
    const std::vector<float> first(count, 1.0F / static_cast<float>(count));
    rank_ = DeviceBuffer<float>(std::span<const float>(first));
    sum_ = DeviceBuffer<float>(count);
    sum_.clear_async();
    args_ = {begin_.data(), target_.data(), rank_.data(), sum_.data(), static_cast<int>(count)};
    const unsigned grid = launch().grid[0];
    for (int i = 0; i < iterations_; ++i) {
      warpfold_pagerank_baseline<<<grid, kThreads>>>(args_, 0);
      check_launch("push kernel");
      update<<<grid, kThreads>>>(args_.vertices, rank_.data(), sum_.data());
      check_launch("update kernel");
    }
    capture::check(cudaDeviceSynchronize(), "iterations");
  }
  [[nodiscard]] Launch launch() const override {
    return {{linear_grid(graph_.vertices(), kThreads), 1, 1}, {kThreads, 1, 1}, &args_};
  }
  [[nodiscard]] std::uint64_t primitive_count() const override { return graph_.vertices(); }
  [[nodiscard]] std::vector<trace::Parameter> parameters() const override {
    return {{"sum", reinterpret_cast<std::uintptr_t>(sum_.data()), sizeof(float)}};
  }
  [[nodiscard]] std::vector<workload::Array> arrays() const override {
    return {{"sum", sum_.data(), sum_.size()}};
  }
  [[nodiscard]] std::vector<double> reference() const override {
    const std::vector<float> rank = rank_.to_host();
    return push<float>(graph_, rank);
  }
  [[nodiscard]] double tolerance() const override { return kRounding; }
  void check(Verdict& verdict) override {
    const std::vector<float> rank = rank_.to_host();
    const std::vector<double> expected = ranks(graph_, iterations_);
    double difference = 0;
    double norm = 0;
    for (std::size_t v = 0; v < rank.size(); ++v) {
      const double d = static_cast<double>(rank[v]) - expected[v];
      difference += d * d;
      norm += expected[v] * expected[v];
    }
    verdict.expect("ranks after the iterations", std::sqrt(difference / norm), kRounding);
  }
  [[nodiscard]] std::map<std::string, std::string> provenance() const override {
    return {{"input", std::to_string(graph_.vertices()) + " vertices, " +
                          std::to_string(graph_.edges()) + " edges"},
            {"iteration", std::to_string(iterations_ + 1)}};
  }

 private:
  std::filesystem::path path_;
  int iterations_ = 10;
  Graph graph_;
  DeviceBuffer<std::uint32_t> begin_, target_;
  DeviceBuffer<float> rank_, sum_;
  PushArgs args_{};
};

}  // namespace

std::unique_ptr<workload::Workload> make_workload() {
  return std::make_unique<PageRank>();
}

}  // namespace warpfold::capture::pagerank

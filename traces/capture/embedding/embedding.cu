// SPDX-License-Identifier: Apache-2.0
// Backward pass of an embedding: each token adds its gradient, 32 floats, to the row of its word.
// Words come by Zipf's law, so some rows are hot.
//
// Two forms. In `embedding` a lane is a column and a warp a token, as elements are dealt out to
// threads in index_add of PyTorch: a warp's addresses lie side by side. In `embedding_rows` a lane
// is a token and adds a whole row: its lanes have different rows but for those of frequent words.
#include <CLI/CLI.hpp>
#include <algorithm>

#include "traces/capture/common/device_buffer.hpp"
#include "traces/capture/common/linear_grid.hpp"
#include "traces/capture/embedding/tokens.hpp"
#include "traces/capture/workload/device.cuh"
#include "traces/capture/workload/workload.hpp"

namespace warpfold::capture::embedding {
namespace {

constexpr int kThreads = 128;
constexpr unsigned kMostCtas = 1024;  // of `embedding`, whose threads go on to further elements

enum Path : unsigned { kOutside = 0, kPrologue = 1, kTaken = 2, kEpilogue = 3 };

struct EmbeddingArgs {
  const std::int32_t* tokens;
  const float* gradients;  // [token][column]
  float* sums;             // [row][column]
  int count;               // of tokens
};

struct Words {
  float* sums;
  __device__ __forceinline__ float* operator()(int idx, int /*parameter*/) const {
    return sums + idx;
  }
};

struct Columns {
  using Args = EmbeddingArgs;
  static constexpr int kThreads = embedding::kThreads;

  template <class Mode>
  static __device__ __forceinline__ void run(const Args& args, Mode& mode) {
    const int column = static_cast<int>(threadIdx.x) % kColumns;
    int token = static_cast<int>((blockIdx.x * kThreads + threadIdx.x) / kColumns);
    if (mode.ends(token < args.count, kOutside)) {
      return;
    }
    const int step = static_cast<int>(gridDim.x) * (kThreads / kColumns);
    mode.note(kPrologue);
#pragma unroll 1
    for (; token < args.count; token += step) {
      const float val[1] = {args.gradients[static_cast<long long>(token) * kColumns + column]};
      mode.reduce(args.tokens[token] * kColumns + column, Words{args.sums}, val);
    }
    mode.note(kEpilogue);
  }
};

// A row in parts, so that its values fit the registers.
constexpr int kPart = 8;

struct Part {
  float* sums;
  __device__ __forceinline__ float* operator()(int idx, int parameter) const {
    return sums + static_cast<long long>(idx) * kPart + parameter;
  }
};

struct Rows {
  using Args = EmbeddingArgs;
  static constexpr int kThreads = embedding::kThreads;

  template <class Mode>
  static __device__ __forceinline__ void run(const Args& args, Mode& mode) {
    const int token = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);
    const bool active = token < args.count;
    if (mode.ends(active, kOutside)) {
      return;
    }
    const int row = active ? args.tokens[token] : 0;
    mode.note(kPrologue);
#pragma unroll 1
    for (int part = 0; part < kColumns / kPart; ++part) {
      float val[kPart] = {};
      if (active) {
        const auto* const from = reinterpret_cast<const float4*>(
            args.gradients + static_cast<long long>(token) * kColumns + part * kPart);
        const float4 low = from[0];
        const float4 high = from[1];
        val[0] = low.x;
        val[1] = low.y;
        val[2] = low.z;
        val[3] = low.w;
        val[4] = high.x;
        val[5] = high.y;
        val[6] = high.z;
        val[7] = high.w;
      }
      mode.reduce(row * (kColumns / kPart) + part, Part{args.sums}, val);
    }
    mode.note(kEpilogue);
  }
};

}  // namespace

WARPFOLD_SCATTER_KERNELS(embedding, Columns)
WARPFOLD_SCATTER_KERNELS(embedding_rows, Rows)

namespace {

class Embedding final : public workload::Workload {
 public:
  explicit Embedding(bool rows) : rows_(rows) {}

  [[nodiscard]] std::string name() const override { return rows_ ? "embedding_rows" : "embedding"; }
  [[nodiscard]] std::string kernel() const override {
    return rows_ ? "backward pass of an embedding, one thread a token"
                 : "backward pass of an embedding, one warp a token, one thread a column";
  }
  [[nodiscard]] std::vector<std::string> paths() const override {
    return {"outside", "prologue", "taken", "epilogue"};
  }
  [[nodiscard]] workload::Kernels kernels() const override {
    return rows_ ? embedding_rows_kernels() : embedding_kernels();
  }
  void add_options(CLI::App& app) override {
    app.add_option("--tokens", options_.tokens)
        ->capture_default_str()
        ->check(CLI::Range(32, 1 << 22));
    app.add_option("--rows", options_.rows, "of the embedding")
        ->capture_default_str()
        ->check(CLI::Range(1, 1 << 20));
    app.add_option("--exponent", options_.exponent, "of Zipf's law")
        ->capture_default_str()
        ->check(CLI::Range(0.0, 4.0));
    app.add_option("--seed", options_.seed)->capture_default_str();
  }

  void load() override {
    host_tokens_ = make_tokens(options_);
    host_gradients_ = make_gradients(host_tokens_.size(), options_.seed);
    tokens_ = DeviceBuffer<std::int32_t>(std::span<const std::int32_t>(host_tokens_));
    gradients_ = DeviceBuffer<float>(std::span<const float>(host_gradients_));
    sums_ = DeviceBuffer<float>::on_own_pages(static_cast<std::size_t>(options_.rows) * kColumns);
    args_ = {tokens_.data(), gradients_.data(), sums_.data(), options_.tokens};
  }
  [[nodiscard]] Launch launch() const override {
    const std::size_t threads = host_tokens_.size() * (rows_ ? 1 : kColumns);
    const unsigned grid = linear_grid(threads, kThreads);
    return {{rows_ ? grid : std::min(grid, kMostCtas), 1, 1}, {kThreads, 1, 1}, &args_};
  }
  [[nodiscard]] std::uint64_t primitive_count() const override {
    return sums_.size() / static_cast<std::size_t>(rows_ ? kPart : 1);
  }
  [[nodiscard]] std::vector<trace::Parameter> parameters() const override {
    std::vector<trace::Parameter> result;
    const int count = rows_ ? kPart : 1;
    for (int i = 0; i < count; ++i) {
      result.push_back({"dL_dembedding." + std::to_string(i),
                        reinterpret_cast<std::uintptr_t>(sums_.data() + i),
                        static_cast<std::uint32_t>(count * static_cast<int>(sizeof(float)))});
    }
    return result;
  }
  [[nodiscard]] std::vector<workload::Array> arrays() const override {
    return {{"dL_dembedding", sums_.data(), sums_.size()}};
  }
  [[nodiscard]] std::vector<double> reference() const override {
    return backward(host_tokens_, host_gradients_, options_.rows);
  }
  [[nodiscard]] double tolerance() const override { return 1e-4; }
  [[nodiscard]] std::map<std::string, std::string> provenance() const override {
    return {
        {"input", std::to_string(options_.tokens) + " tokens of " + std::to_string(options_.rows) +
                      " words by Zipf's law, rows of " + std::to_string(kColumns) + " floats"},
        {"seed", std::to_string(options_.seed)}};
  }

 private:
  bool rows_;
  TokenOptions options_;
  std::vector<std::int32_t> host_tokens_;
  std::vector<float> host_gradients_;
  DeviceBuffer<std::int32_t> tokens_;
  DeviceBuffer<float> gradients_, sums_;
  EmbeddingArgs args_{};
};

}  // namespace

std::unique_ptr<workload::Workload> make_columns() {
  return std::make_unique<Embedding>(false);
}
std::unique_ptr<workload::Workload> make_rows() {
  return std::make_unique<Embedding>(true);
}

}  // namespace warpfold::capture::embedding

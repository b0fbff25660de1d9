// SPDX-License-Identifier: Apache-2.0
// Fits 2D Gaussians to a picture, in the two forms of SlangPy's samples that its article on
// balloted splatting compares. A CTA is one warp and a tile of 8x4 pixels; the kernel that is
// captured finds the blobs of its tile, paints them front to back, and goes back through them with
// the gradients of the loss. The staged form collects its list out of order, fills it up, and sorts
// it before it paints; the balloted form tests 32 blobs at a time, and the ballot is their order.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "traces/capture/common/device_buffer.hpp"
#include "traces/capture/common/linear_grid.hpp"
#include "traces/capture/image_fit/picture.hpp"
#include "traces/capture/workload/device.cuh"
#include "traces/capture/workload/workload.hpp"

namespace warpfold::capture::image_fit {
namespace {

constexpr int kLanes = trace::kWarpLanes;
constexpr int kChannels = 3;
constexpr int kMaxBlobs = 65536;  // indices of 16 bits in the balloted form
static_assert(kTileX * kTileY == kLanes);

// ---- the kernels that are captured --------------------------------------------------------------

struct FitArgs {
  int width, height;
  int count;
  const float2* mean;
  const float4* conic;  // scaled, with the opacity
  const float4* color;
  const float4* box;
  const float* target;  // planar
  float weight;         // 2 / (3 width height)
  float* gradient;      // kBlobParameters arrays, one behind the other
};

struct Gradients {
  float* gradient;
  int count;
  __device__ __forceinline__ float* operator()(int idx, int parameter) const {
    return gradient + static_cast<long long>(parameter) * count + idx;
  }
};

// This thread's pixel.
struct Painter {
  int tile_x, tile_y;
  int lane;
  float2 pixel;
  bool inside;
  float3 target;
  Canvas canvas;
};

__device__ __forceinline__ Painter start(const FitArgs& args) {
  Painter p;
  p.tile_x = static_cast<int>(blockIdx.x) * kTileX;
  p.tile_y = static_cast<int>(blockIdx.y) * kTileY;
  p.lane = static_cast<int>(threadIdx.y * kTileX + threadIdx.x);
  const int x = p.tile_x + static_cast<int>(threadIdx.x);
  const int y = p.tile_y + static_cast<int>(threadIdx.y);
  p.pixel = make_float2(static_cast<float>(x), static_cast<float>(y));
  p.inside = x < args.width && y < args.height;
  p.target = make_float3(0.0F, 0.0F, 0.0F);
  if (p.inside) {
    const int at = y * args.width + x;
    const int pixels = args.width * args.height;
    p.target = make_float3(args.target[at], args.target[pixels + at], args.target[2 * pixels + at]);
  }
  p.canvas = {make_float3(0.0F, 0.0F, 0.0F), 1.0F, 0};
  return p;
}

// Does the blob touch the tile? No branch: in a warp some lane has one.
__device__ __forceinline__ bool is_near(const FitArgs& args, int id, const Painter& p) {
  const int known = min(id, args.count - 1);
  const bool near = touches(args.mean[known], args.box[known], p.tile_x, p.tile_y);
  return near && id < args.count;
}

__device__ __forceinline__ void paint(const FitArgs& args, int id, Painter& p) {
  blend(stroke(args.mean[id], args.conic[id], p.pixel), args.color[id], p.canvas);
}

// Back through the list. What a pixel has not painted does not concern it.
template <class Mode, class Index>
__device__ __forceinline__ void go_back(const FitArgs& args, const Painter& p, const Index* list,
                                        int length, unsigned skip, Mode& mode) {
  const auto dl = [&](float color, float target) {
    return p.inside ? __fmul_rn(args.weight, __fsub_rn(color, target)) : 0.0F;
  };
  PixelState state = {
      p.canvas.transmittance, 0.0F,
      make_float3(dl(p.canvas.color.x, p.target.x), dl(p.canvas.color.y, p.target.y),
                  dl(p.canvas.color.z, p.target.z))};
  const int applied = p.inside ? p.canvas.applied : 0;
#pragma unroll 1
  for (int i = length - 1; i >= 0; --i) {
    const bool active = i < applied;
    if (mode.leaves(active, skip)) {
      continue;
    }
    const int id = list[i];
    const float4 conic = args.conic[id];
    const float4 color = args.color[id];
    const Stroke s = stroke(args.mean[id], conic, p.pixel);
    float val[kBlobParameters];
    gradients(s.footprint, conic, make_float3(color.x, color.y, color.z),
              mode.keep(active, s.falloff), mode.keep(active, s.alpha_raw), MeanScale{kLn2, kLn2},
              state, val);
    mode.reduce(id, Gradients{args.gradient, args.count}, val);
  }
}

struct Staged {
  using Args = FitArgs;
  static constexpr int kThreads = kLanes;
  enum Path : unsigned {
    kPrologue = 0,
    kGroup = 1,
    kCollect = 2,
    kAppend = 3,
    kSort = 4,
    kPaint = 5,
    kSkip = 6,
    kTaken = 7,
    kEpilogue = 8
  };

  template <class Mode>
  static __device__ __forceinline__ void run(const Args& args, Mode& mode) {
    __shared__ int list[kListLength];
    __shared__ int found;
    Painter p = start(args);
    if (p.lane == 0) {
      found = 0;
    }
    mode.barrier();
#pragma unroll 1
    for (int first = 0; first < args.count; first += kLanes * kLanes) {
      // Bit k: this lane's blob of the k-th 32 is near.
      unsigned hits = 0;
      const int rounds = min(kLanes, (args.count - first + kLanes - 1) / kLanes);
#pragma unroll 1
      for (int k = 0; k < rounds; ++k) {
        hits |= is_near(args, first + k * kLanes + p.lane, p) ? 1U << k : 0U;
        mode.note(kCollect);
      }
#pragma unroll 1
      while (__any_sync(kFullWarp, hits != 0) != 0) {
        if (hits != 0) {
          const int k = __ffs(static_cast<int>(hits)) - 1;
          hits &= hits - 1;
          const int slot = atomicAdd(&found, 1);
          if (slot < kListLength) {
            list[slot] = first + k * kLanes + p.lane;
          }
        }
        __syncwarp();
        mode.note(kAppend);
      }
      mode.note(kGroup);
    }
    mode.barrier();
    const int length = min(found, kListLength);
#pragma unroll
    for (int i = 0; i < kListLength / kLanes; ++i) {
      if (i * kLanes + p.lane >= length) {
        list[i * kLanes + p.lane] = kMaxBlobs;
      }
    }
    mode.note(kPrologue);
    // Bitonic: runs of 2, 4, ... kListLength, each merged from its half down to pairs.
    int run_length = 2;
    int distance = 1;
#pragma unroll 1
    for (bool sorted = false; !sorted;) {
      mode.barrier();
#pragma unroll
      for (int i = 0; i < kListLength / 2 / kLanes; ++i) {
        const int pair = i * kLanes + p.lane;
        const int low = (pair & -distance) * 2 + (pair & (distance - 1));
        const int first = list[low];
        const int second = list[low + distance];
        const bool rising = (low & run_length) == 0;
        list[low] = rising ? min(first, second) : max(first, second);
        list[low + distance] = rising ? max(first, second) : min(first, second);
      }
      mode.note(kSort);
      distance /= 2;
      if (distance == 0) {
        distance = run_length;
        run_length *= 2;
      }
      sorted = run_length > kListLength;
    }
    mode.barrier();
#pragma unroll 1
    for (int i = 0; i < length; ++i) {
      paint(args, list[i], p);
      mode.note(kPaint);
    }
    go_back(args, p, list, length, kSkip, mode);
    mode.note(kEpilogue);
  }
};

struct Balloted {
  using Args = FitArgs;
  static constexpr int kThreads = kLanes;
  enum Path : unsigned {
    kPrologue = 0,
    kCull = 1,
    kPaint = 2,
    kSkip = 3,
    kTaken = 4,
    kEpilogue = 5
  };

  template <class Mode>
  static __device__ __forceinline__ void run(const Args& args, Mode& mode) {
    __shared__ unsigned short list[kListLength];
    Painter p = start(args);
    mode.note(kPrologue);
    int length = 0;
#pragma unroll 1
    for (int base = 0; base < args.count; base += kLanes) {
      unsigned rest = __ballot_sync(kFullWarp, is_near(args, base + p.lane, p));
      mode.note(kCull);
#pragma unroll 1
      while (rest != 0 && length < kListLength) {
        const int id = base + __ffs(static_cast<int>(rest)) - 1;
        rest &= rest - 1;
        paint(args, id, p);
        list[length] = static_cast<unsigned short>(id);  // the same from all lanes
        ++length;
        mode.note(kPaint);
      }
      if (__all_sync(kFullWarp, p.canvas.transmittance < kOpaque)) {
        break;
      }
    }
    mode.barrier();
    go_back(args, p, list, length, kSkip, mode);
    mode.note(kEpilogue);
  }
};

}  // namespace

WARPFOLD_PRIMITIVE_KERNELS(fit_staged, Staged)
WARPFOLD_PRIMITIVE_KERNELS(fit_ballot, Balloted)

namespace {

// ---- what comes before and after them -----------------------------------------------------------

struct RawBlobs {
  float* raw;
  int count;
  __device__ __forceinline__ void get(int i, float (&out)[kBlobParameters]) const {
    for (int k = 0; k < kBlobParameters; ++k) {
      out[k] = raw[k * count + i];
    }
  }
};

__global__ void prepare(RawBlobs blobs, float2* mean, float4* conic, float4* color, float4* box) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= blobs.count) {
    return;
  }
  float raw[kBlobParameters];
  blobs.get(i, raw);
  const Blob<float> b = make_blob(raw);
  mean[i] = make_float2(b.mean[0], b.mean[1]);
  conic[i] = scale_conic(make_float4(b.conic[0], b.conic[1], b.conic[2], b.opacity));
  color[i] = make_float4(b.color[0], b.color[1], b.color[2], 0.0F);
  box[i] = make_float4(b.axis[0], b.axis[1], b.extent[0], b.extent[1]);
}

// The picture and its loss, by the balloted way.
__global__ void draw(FitArgs args, float* picture, double* loss) {
  Painter p = start(args);
  int length = 0;
  for (int base = 0; base < args.count; base += kLanes) {
    unsigned rest = __ballot_sync(kFullWarp, is_near(args, base + p.lane, p));
    for (; rest != 0 && length < kListLength; rest &= rest - 1, ++length) {
      paint(args, base + __ffs(static_cast<int>(rest)) - 1, p);
    }
  }
  double sum = 0;
  if (p.inside) {
    const int pixels = args.width * args.height;
    const int at = static_cast<int>(p.pixel.y) * args.width + static_cast<int>(p.pixel.x);
    const float color[kChannels] = {p.canvas.color.x, p.canvas.color.y, p.canvas.color.z};
    for (int c = 0; c < kChannels; ++c) {
      picture[c * pixels + at] = color[c];
      const auto d = static_cast<double>(color[c] - args.target[c * pixels + at]);
      sum += d * d / (static_cast<double>(kChannels) * pixels);
    }
  }
  for (int offset = 16; offset >= 1; offset /= 2) {
    sum += __shfl_xor_sync(kFullWarp, sum, offset);
  }
  if (p.lane == 0) {
    atomicAdd(loss, sum);
  }
}

struct AdamArgs {
  float rate;  // of everything but the mean, which moves by pixels
  float mean_rate;
  float correction1, correction2;  // 1 / (1 - beta^t)
};
__global__ void adam(RawBlobs blobs, AdamArgs args, const float* gradient, float* mean,
                     float* square) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= blobs.count) {
    return;
  }
  constexpr float kBeta1 = 0.9F;
  constexpr float kBeta2 = 0.999F;
  float raw[kBlobParameters];
  float by_stored[kBlobParameters];
  float by_raw[kBlobParameters];
  blobs.get(i, raw);
  for (int k = 0; k < kBlobParameters; ++k) {
    by_stored[k] = gradient[k * blobs.count + i];
  }
  chain(raw, by_stored, by_raw);
  for (int k = 0; k < kBlobParameters; ++k) {
    const int at = k * blobs.count + i;
    const float g = by_raw[k];
    mean[at] = kBeta1 * mean[at] + (1.0F - kBeta1) * g;
    square[at] = kBeta2 * square[at] + (1.0F - kBeta2) * g * g;
    blobs.raw[at] -= (k < 2 ? args.mean_rate : args.rate) * (mean[at] * args.correction1) /
                     (sqrtf(square[at] * args.correction2) + 1e-15F);
  }
}

constexpr const char* kGradientNames[kBlobParameters] = {
    "dL_dmean.x",  "dL_dmean.y",  "dL_dconic.a", "dL_dconic.b", "dL_dconic.c",
    "dL_dopacity", "dL_dcolor.r", "dL_dcolor.g", "dL_dcolor.b"};

class ImageFit final : public workload::Workload {
 public:
  explicit ImageFit(bool staged) : staged_(staged) {}

  [[nodiscard]] std::string name() const override { return staged_ ? "fit_staged" : "fit_ballot"; }
  [[nodiscard]] std::string kernel() const override {
    return staged_ ? "2D Gaussian image fitting, staged: collect, sort, paint, gradients; 8x4 tiles"
                   : "2D Gaussian image fitting, balloted: cull and paint, gradients; 8x4 tiles";
  }
  [[nodiscard]] std::vector<std::string> paths() const override {
    if (staged_) {
      return {"prologue", "group", "collect", "append",  "sort",
              "paint",    "skip",  "taken",   "epilogue"};
    }
    return {"prologue", "cull", "paint", "skip", "taken", "epilogue"};
  }
  [[nodiscard]] workload::Kernels kernels() const override {
    return staged_ ? fit_staged_kernels() : fit_ballot_kernels();
  }
  void add_options(CLI::App& app) override {
    app.add_option("--image", image_path_, "binary PPM that is fitted")->required();
    app.add_option("--blobs", count_, "how many")
        ->capture_default_str()
        ->check(CLI::Range(1, kMaxBlobs - 1));
    app.add_option("--iterations", iterations_, "of the fit; the last one is captured")
        ->capture_default_str()
        ->check(CLI::Range(1, 1000000));
    app.add_option("--rate", rate_, "learning rate")->capture_default_str();
    app.add_option("--mean-rate", mean_rate_, "of the means, in pixels")->capture_default_str();
    app.add_option("--seed", seed_, "of the first blobs")->capture_default_str();
    app.add_option("--picture", picture_path_, "write what has been painted there, as PPM");
  }

  void load() override {
    target_ = load_ppm(image_path_);
    const std::vector<float> first = first_blobs(count_, target_.width, target_.height, seed_);
    const auto n = static_cast<std::size_t>(count_);
    raw_ = DeviceBuffer<float>(std::span<const float>(first));
    mean_ = DeviceBuffer<float2>(n);
    conic_ = DeviceBuffer<float4>(n);
    color_ = DeviceBuffer<float4>(n);
    box_ = DeviceBuffer<float4>(n);
    target_planes_ = DeviceBuffer<float>(std::span<const float>(target_.planes));
    picture_ = DeviceBuffer<float>(target_.planes.size());
    gradient_ = DeviceBuffer<float>::on_own_pages(first.size());
    const DeviceBuffer<float> moment1(first.size());
    const DeviceBuffer<float> moment2(first.size());
    moment1.clear_async();
    moment2.clear_async();
    args_ = {target_.width,
             target_.height,
             count_,
             mean_.data(),
             conic_.data(),
             color_.data(),
             box_.data(),
             target_planes_.data(),
             static_cast<float>(2.0 / (3.0 * static_cast<double>(target_.pixels()))),
             gradient_.data()};
    const RawBlobs raw{raw_.data(), count_};
    const DeviceBuffer<double> loss(static_cast<std::size_t>(iterations_));
    loss.clear_async();
    const dim3 grid(launch().grid[0], launch().grid[1]);
    const dim3 block(kTileX, kTileY);
    double power1 = 1;
    double power2 = 1;
    for (int i = 0; i < iterations_; ++i) {
      prepare<<<linear_grid(n), kLinearBlock>>>(raw, mean_.data(), conic_.data(), color_.data(),
                                                box_.data());
      check_launch("preparation kernel");
      if (i % kLossEvery == 0 || i + 1 == iterations_) {
        draw<<<grid, block>>>(args_, picture_.data(), loss.data() + i);
        check_launch("drawing kernel");
      }
      if (i + 1 == iterations_) {
        break;
      }
      gradient_.clear_async();
      if (staged_) {
        warpfold_fit_staged_baseline<<<grid, block>>>(args_, 0);
      } else {
        warpfold_fit_ballot_baseline<<<grid, block>>>(args_, 0);
      }
      check_launch("gradient kernel");
      power1 *= 0.9;
      power2 *= 0.999;
      adam<<<linear_grid(n), kLinearBlock>>>(
          raw,
          {rate_, mean_rate_, static_cast<float>(1 / (1 - power1)),
           static_cast<float>(1 / (1 - power2))},
          gradient_.data(), moment1.data(), moment2.data());
      check_launch("Adam kernel");
    }
    capture::check(cudaDeviceSynchronize(), "fit");
    const std::vector<double> losses = loss.to_host();
    first_loss_ = losses.front();
    last_loss_ = losses.back();
    const int step = std::max(iterations_ / 10 / kLossEvery, 1) * kLossEvery;
    for (int i = 0; i < iterations_; i += step) {
      std::printf("  iteration %5d  loss %.6f\n", i + 1, losses[static_cast<std::size_t>(i)]);
    }
    std::printf("  iteration %5d  loss %.6f\n", iterations_, last_loss_);
    if (!picture_path_.empty()) {
      write_ppm(picture_path_, {target_.width, target_.height, picture_.to_host()});
    }
  }
  [[nodiscard]] Launch launch() const override {
    return {{static_cast<std::uint32_t>((target_.width + kTileX - 1) / kTileX),
             static_cast<std::uint32_t>((target_.height + kTileY - 1) / kTileY), 1},
            {kTileX, kTileY, 1},
            &args_};
  }
  [[nodiscard]] std::uint64_t primitive_count() const override {
    return static_cast<std::uint64_t>(count_);
  }
  [[nodiscard]] std::vector<trace::Parameter> parameters() const override {
    std::vector<trace::Parameter> result;
    for (std::size_t k = 0; k < kBlobParameters; ++k) {
      result.push_back({kGradientNames[k],
                        reinterpret_cast<std::uintptr_t>(gradient_.data() + k * primitive_count()),
                        sizeof(float)});
    }
    return result;
  }
  [[nodiscard]] std::vector<workload::Array> arrays() const override {
    std::vector<workload::Array> result;
    for (std::size_t k = 0; k < kBlobParameters; ++k) {
      result.push_back({kGradientNames[k], gradient_.data() + k * primitive_count(),
                        static_cast<std::size_t>(primitive_count())});
    }
    return result;
  }
  [[nodiscard]] std::vector<double> reference() const override {
    const auto stored = stored_blobs();
    return reference::backward(exact_blobs(stored),
                               reference::lists(stored, target_.width, target_.height), target_);
  }
  void check(Verdict& verdict) override {
    const auto stored = stored_blobs();
    const auto lists = reference::lists(stored, target_.width, target_.height);
    const auto expected =
        reference::render(exact_blobs(stored), lists, target_.width, target_.height);
    const auto picture = picture_.to_host();
    double difference = 0;
    for (std::size_t i = 0; i < picture.size(); ++i) {
      difference += std::abs(static_cast<double>(picture[i]) - expected[i]);
    }
    std::size_t longest = 0;
    for (const auto& list : lists) {
      longest = std::max(longest, list.size());
    }
    verdict.expect("picture, mean absolute difference",
                   difference / static_cast<double>(picture.size()), 1e-5);
    verdict.expect("loss, relative difference",
                   std::abs(last_loss_ / reference::loss(expected, target_) - 1), 1e-3);
    // Of more the staged form keeps whatever comes first.
    verdict.expect("blobs of a tile", static_cast<double>(longest), kListLength - 1);
    if (iterations_ > kLossEvery) {
      verdict.expect("last loss over the first", last_loss_ / first_loss_, 0.5);
    }
  }
  [[nodiscard]] std::map<std::string, std::string> provenance() const override {
    return {{"input", image_path_.filename().string() + ", " + std::to_string(target_.width) +
                          " x " + std::to_string(target_.height) + ", " + std::to_string(count_) +
                          " blobs, seed " + std::to_string(seed_)},
            {"iteration", std::to_string(iterations_)},
            {"loss", "mean squared error, first " + std::to_string(first_loss_) + ", here " +
                         std::to_string(last_loss_)}};
  }

 private:
  static constexpr int kLossEvery = 10;  // iterations

  // As the GPU has them.
  [[nodiscard]] std::vector<StoredBlob> stored_blobs() const {
    const auto mean = mean_.to_host();
    const auto conic = conic_.to_host();
    const auto color = color_.to_host();
    const auto box = box_.to_host();
    std::vector<StoredBlob> result;
    for (std::size_t i = 0; i < mean.size(); ++i) {
      result.push_back({{mean[i].x, mean[i].y},
                        {conic[i].x, conic[i].y, conic[i].z, conic[i].w},
                        {color[i].x, color[i].y, color[i].z, color[i].w},
                        {box[i].x, box[i].y, box[i].z, box[i].w}});
    }
    return result;
  }
  static std::vector<Blob<double>> exact_blobs(const std::vector<StoredBlob>& stored) {
    std::vector<Blob<double>> result;
    for (const StoredBlob& blob : stored) {
      result.push_back(exact(blob));
    }
    return result;
  }

  bool staged_;
  std::filesystem::path image_path_, picture_path_;
  int count_ = 8192;
  int iterations_ = 1000;
  float rate_ = 0.02F;
  float mean_rate_ = 0.1F;
  std::uint64_t seed_ = 1;

  Picture target_;
  double first_loss_ = 0;
  double last_loss_ = 0;
  DeviceBuffer<float> raw_, target_planes_, picture_, gradient_;
  DeviceBuffer<float2> mean_;
  DeviceBuffer<float4> conic_, color_, box_;
  FitArgs args_{};
};

}  // namespace

std::unique_ptr<workload::Workload> make_staged() {
  return std::make_unique<ImageFit>(true);
}
std::unique_ptr<workload::Workload> make_balloted() {
  return std::make_unique<ImageFit>(false);
}

}  // namespace warpfold::capture::image_fit

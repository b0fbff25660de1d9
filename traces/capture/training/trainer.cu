// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <cub/block/block_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <optional>

#include "traces/capture/common/gpu_event.hpp"
#include "traces/capture/common/input.hpp"
#include "traces/capture/splat/gpu_frame.cuh"
#include "traces/capture/splat_forms/frame_form.cuh"
#include "traces/capture/training/adam.cuh"
#include "traces/capture/training/densify.cuh"
#include "traces/capture/training/gaussian_math.cuh"
#include "traces/capture/training/image_loss.cuh"
#include "traces/capture/training/trainer.hpp"

namespace warpfold::capture::training {
namespace {

constexpr unsigned kGaussianBlock = 128;  // threads, where each holds a whole Gaussian
constexpr int kSide = 16;                 // pixels of a block's side in the loss kernels
constexpr int kHalo = kSide + 2 * kWindowRadius;
constexpr int kChannels = 3;
constexpr int kFields = 3;           // derivatives of SSIM that the second pass of the window takes
constexpr std::size_t kClocks = 64;  // launches that may be queued before times are read

unsigned gaussian_grid(std::size_t count) {
  return linear_grid(count, kGaussianBlock);
}

// kRows rows of one value for each Gaussian.
struct Rows {
  float* data;
  std::size_t stride;

  __device__ __forceinline__ float& at(int row, int i) const {
    return data[static_cast<std::size_t>(row) * stride + static_cast<std::size_t>(i)];
  }
};

class RowBuffer {
 public:
  // Loses the content where it must grow.
  void make_room(std::size_t count) {
    if (stride_ < count) {
      const std::size_t room = stride_ == 0 ? count : count + count / 2;
      stride_ = (room + kLinearBlock - 1) / kLinearBlock * kLinearBlock;
      data_ = DeviceBuffer<float>();
      data_ = DeviceBuffer<float>(kRows * stride_);
    }
  }
  void clear() const { data_.clear_async(); }
  [[nodiscard]] Rows rows() const { return {data_.data(), stride_}; }

  void upload(const Model& model) {
    make_room(model.size());
    std::vector<float> host(kRows * stride_, 0.0F);
    for (std::size_t i = 0; i < model.size(); ++i) {
      for (std::size_t row = 0; row < kRows; ++row) {
        host[row * stride_ + i] = model[i].row[row];
      }
    }
    data_ = DeviceBuffer<float>(std::span<const float>(host));
  }
  // The first `rows` rows of `count` Gaussians, which must have been written; zero in the others.
  [[nodiscard]] Model download(std::size_t count, std::size_t rows = kRows) const {
    std::vector<float> host(rows * count);
    const std::size_t width = count * sizeof(float);
    check(cudaMemcpy2D(host.data(), width, data_.data(), stride_ * sizeof(float), width, rows,
                       cudaMemcpyDeviceToHost),
          "copy to the host");
    Model model(count);
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t row = 0; row < rows; ++row) {
        model[i].row[row] = host[row * count + i];
      }
    }
    return model;
  }

 private:
  DeviceBuffer<float> data_;
  std::size_t stride_ = 0;
};

template <int kDegree>
__device__ __forceinline__ Parameters<float> load(const Rows& rows, int i) {
  Parameters<float> p;
#pragma unroll
  for (int row = 0; row < active_rows(kDegree); ++row) {
    p.row[row] = rows.at(row, i);
  }
  return p;
}

// One thread a Gaussian: as the rasterizer takes it.
template <int kDegree>
__global__ void __launch_bounds__(kGaussianBlock)
    activate_kernel(Rows model, int count, const __grid_constant__ Camera camera,
                    SceneGaussian* out) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) {
    return;
  }
  const Parameters<float> p = load<kDegree>(model, i);
  SceneGaussian gaussian;
  activate(p, kDegree, camera, gaussian);
  out[i] = gaussian;
}

struct GradientArgs {
  Rows model;
  int count;
  const int* radius;
  GradientView added;  // by the backward render kernel
  Rows out;
  float* norms;  // sums of the norm of the gradient by position on the picture
  int* seen;     // how many were summed
};

// One thread a Gaussian: from what the render kernel added to gradients of the parameters.
template <int kDegree>
__global__ void __launch_bounds__(kGaussianBlock)
    gradient_kernel(const __grid_constant__ GradientArgs args,
                    const __grid_constant__ Camera camera) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= args.count) {
    return;
  }
  Parameters<float> out;
  if (args.radius[i] == 0) {
#pragma unroll
    for (int row = 0; row < active_rows(kDegree); ++row) {
      out.row[row] = 0;
    }
  } else {
    RenderGradients<float> dl;
    for (int k = 0; k < 2; ++k) {
      dl.mean[k] = args.added(i, k);
    }
    for (int k = 0; k < 3; ++k) {
      dl.conic[k] = args.added(i, 2 + k);
    }
    dl.opacity = args.added(i, 5);
    for (int k = 0; k < 3; ++k) {
      dl.color[k] = args.added(i, 6 + k);
    }
    parameter_gradients(load<kDegree>(args.model, i), kDegree, camera, dl, out);
    args.norms[i] += sqrtf(dl.mean[0] * dl.mean[0] + dl.mean[1] * dl.mean[1]);
    args.seen[i] += 1;
  }
#pragma unroll
  for (int row = 0; row < active_rows(kDegree); ++row) {
    args.out.at(row, i) = out.row[row];
  }
}

__device__ __forceinline__ float rate_of(int row, const Rates& rates) {
  return row < kScaleRow       ? rates.position
         : row < kRotationRow  ? rates.scale
         : row < kOpacityRow   ? rates.rotation
         : row < kColorRow     ? rates.opacity
         : row < kColorRow + 3 ? rates.color
                               : rates.harmonics;
}

// One thread a parameter; blockIdx.y is its row.
__global__ void adam_kernel(Rows model, Rows gradients, Rows means, Rows variances, int count,
                            Rates rates, AdamStep<float> step) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int row = static_cast<int>(blockIdx.y);
  if (i < count) {
    adam(gradients.at(row, i), rate_of(row, rates), step, means.at(row, i), variances.at(row, i),
         model.at(row, i));
  }
}

struct LossArgs {
  const float* image;         // planar
  const std::uint8_t* photo;  // planar
  int width, height;
  WindowWeights<float> window;
  float* fields;    // kFields times the picture
  float* gradient;  // planar
  float2* sums;     // by block: SSIM, and absolute difference
};

__device__ __forceinline__ float photo_at(const LossArgs& args, std::size_t at) {
  return static_cast<float>(args.photo[at]) * (1.0F / 255.0F);
}

// One CTA is 16x16 pixels of one channel: the window's moments, SSIM and its derivatives.
__global__ void __launch_bounds__(kSide* kSide) ssim_kernel(const __grid_constant__ LossArgs args) {
  __shared__ float x[kHalo][kHalo], y[kHalo][kHalo];
  __shared__ Moments<float> rows[kHalo][kSide];
  const auto pixels = static_cast<std::size_t>(args.width) * static_cast<std::size_t>(args.height);
  const std::size_t plane = blockIdx.z * pixels;
  const int left = static_cast<int>(blockIdx.x) * kSide - kWindowRadius;
  const int top = static_cast<int>(blockIdx.y) * kSide - kWindowRadius;
  const int rank = static_cast<int>(threadIdx.y * kSide + threadIdx.x);
  for (int k = rank; k < kHalo * kHalo; k += kSide * kSide) {
    const int column = left + k % kHalo;
    const int row = top + k / kHalo;
    const bool inside = column >= 0 && column < args.width && row >= 0 && row < args.height;
    const std::size_t at = plane + static_cast<std::size_t>(inside ? row * args.width + column : 0);
    x[k / kHalo][k % kHalo] = inside ? args.image[at] : 0.0F;
    y[k / kHalo][k % kHalo] = inside ? photo_at(args, at) : 0.0F;
  }
  __syncthreads();
  for (int k = rank; k < kHalo * kSide; k += kSide * kSide) {
    const int row = k / kSide, column = k % kSide;
    Moments<float> sum{};
#pragma unroll
    for (int t = 0; t < kWindow; ++t) {
      const float a = x[row][column + t], b = y[row][column + t], w = args.window.at[t];
      sum.x += w * a;
      sum.y += w * b;
      sum.xx += w * a * a;
      sum.yy += w * b * b;
      sum.xy += w * a * b;
    }
    rows[row][column] = sum;
  }
  __syncthreads();
  const int column = left + kWindowRadius + static_cast<int>(threadIdx.x);
  const int row = top + kWindowRadius + static_cast<int>(threadIdx.y);
  float2 sums = make_float2(0, 0);
  if (column < args.width && row < args.height) {
    Moments<float> m{};
#pragma unroll
    for (int t = 0; t < kWindow; ++t) {
      const Moments<float>& from = rows[threadIdx.y + static_cast<unsigned>(t)][threadIdx.x];
      const float w = args.window.at[t];
      m.x += w * from.x;
      m.y += w * from.y;
      m.xx += w * from.xx;
      m.yy += w * from.yy;
      m.xy += w * from.xy;
    }
    const Ssim<float> s = ssim(m);
    const std::size_t at = plane + static_cast<std::size_t>(row * args.width + column);
    args.fields[at] = s.by_x;
    args.fields[kChannels * pixels + at] = s.by_xx;
    args.fields[2 * kChannels * pixels + at] = s.by_xy;
    sums = make_float2(s.value, fabsf(x[threadIdx.y + kWindowRadius][threadIdx.x + kWindowRadius] -
                                      y[threadIdx.y + kWindowRadius][threadIdx.x + kWindowRadius]));
  }
  using Reduce = cub::BlockReduce<float, kSide, cub::BLOCK_REDUCE_WARP_REDUCTIONS, kSide>;
  __shared__ typename Reduce::TempStorage scratch[2];
  const float ssim_sum = Reduce(scratch[0]).Sum(sums.x);
  const float difference_sum = Reduce(scratch[1]).Sum(sums.y);
  if (rank == 0) {
    args.sums[(blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x] =
        make_float2(ssim_sum, difference_sum);
  }
}

// The window once more, over the derivatives, and the loss gradient of each element.
__global__ void __launch_bounds__(kSide* kSide)
    loss_gradient_kernel(const __grid_constant__ LossArgs args) {
  __shared__ float halo[kFields][kHalo][kHalo];
  __shared__ float rows[kFields][kHalo][kSide];
  const auto pixels = static_cast<std::size_t>(args.width) * static_cast<std::size_t>(args.height);
  const std::size_t plane = blockIdx.z * pixels;
  const int left = static_cast<int>(blockIdx.x) * kSide - kWindowRadius;
  const int top = static_cast<int>(blockIdx.y) * kSide - kWindowRadius;
  const int rank = static_cast<int>(threadIdx.y * kSide + threadIdx.x);
  for (int k = rank; k < kHalo * kHalo; k += kSide * kSide) {
    const int column = left + k % kHalo;
    const int row = top + k / kHalo;
    const bool inside = column >= 0 && column < args.width && row >= 0 && row < args.height;
    const std::size_t at = plane + static_cast<std::size_t>(inside ? row * args.width + column : 0);
#pragma unroll
    for (int f = 0; f < kFields; ++f) {
      halo[f][k / kHalo][k % kHalo] =
          inside ? args.fields[static_cast<std::size_t>(f) * kChannels * pixels + at] : 0.0F;
    }
  }
  __syncthreads();
  for (int k = rank; k < kHalo * kSide; k += kSide * kSide) {
    const int row = k / kSide, column = k % kSide;
#pragma unroll
    for (int f = 0; f < kFields; ++f) {
      float sum = 0;
#pragma unroll
      for (int t = 0; t < kWindow; ++t) {
        sum += args.window.at[t] * halo[f][row][column + t];
      }
      rows[f][row][column] = sum;
    }
  }
  __syncthreads();
  const int column = left + kWindowRadius + static_cast<int>(threadIdx.x);
  const int row = top + kWindowRadius + static_cast<int>(threadIdx.y);
  if (column >= args.width || row >= args.height) {
    return;
  }
  float sums[kFields];
#pragma unroll
  for (int f = 0; f < kFields; ++f) {
    sums[f] = 0;
#pragma unroll
    for (int t = 0; t < kWindow; ++t) {
      sums[f] += args.window.at[t] * rows[f][threadIdx.y + static_cast<unsigned>(t)][threadIdx.x];
    }
  }
  const std::size_t at = plane + static_cast<std::size_t>(row * args.width + column);
  const Ssim<float> s{0.0F, sums[0], sums[1], sums[2]};
  args.gradient[at] = loss_gradient_at(args.image[at], photo_at(args, at), s,
                                       static_cast<float>(kChannels * pixels));
}

// Squared differences of the picture, cut off at 0 and 1, from the photo; sums by block.
__global__ void __launch_bounds__(kLinearBlock)
    squared_error_kernel(const float* image, const std::uint8_t* photo, std::size_t elements,
                         float2* sums) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  float squared = 0;
  if (i < elements) {
    const float difference = __saturatef(image[i]) - static_cast<float>(photo[i]) * (1.0F / 255.0F);
    squared = difference * difference;
  }
  using Reduce = cub::BlockReduce<float, kLinearBlock>;
  __shared__ typename Reduce::TempStorage scratch;
  const float sum = Reduce(scratch).Sum(squared);
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = make_float2(sum, 0);
  }
}

// What becomes of each Gaussian, and how many take its place.
__global__ void fate_kernel(Rows model, int count, const float* norms, const int* seen,
                            float extent, bool prune_large,
                            const __grid_constant__ Settings settings, int* fates,
                            int* successor_counts) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) {
    return;
  }
  Parameters<float> p;
  for (int axis = 0; axis < 3; ++axis) {
    p.row[kScaleRow + axis] = model.at(kScaleRow + axis, i);
  }
  p.row[kOpacityRow] = model.at(kOpacityRow, i);
  const float gradient = seen[i] == 0 ? 0.0F : norms[i] / static_cast<float>(seen[i]);
  const Fate fate = fate_of(p, gradient, extent, prune_large, settings);
  fates[i] = static_cast<int>(fate);
  successor_counts[i] = successors(fate);
}

struct GatherArgs {
  Rows model, means, variances;              // from
  Rows new_model, new_means, new_variances;  // to
  int count;
  const int* fates;
  const int* ends;  // running sum of successors
  std::uint64_t seed;
};

// Writes the successors of each Gaussian. A clone and the halves of a split one have no past in
// Adam.
__global__ void __launch_bounds__(kGaussianBlock)
    gather_kernel(const __grid_constant__ GatherArgs args) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= args.count) {
    return;
  }
  const auto fate = static_cast<Fate>(args.fates[i]);
  const int begin = i == 0 ? 0 : args.ends[i - 1];
  for (int s = 0; s < successors(fate); ++s) {
    const bool has_past = s == 0 && fate != Fate::kSplit;
    Parameters<float> p;
    for (int row = 0; row < kColorRow; ++row) {
      p.row[row] = args.model.at(row, i);
    }
    if (fate == Fate::kSplit) {
      halve(p, args.seed, 2 * static_cast<std::uint64_t>(i) + static_cast<std::uint64_t>(s));
    }
    for (int row = 0; row < kRows; ++row) {
      args.new_model.at(row, begin + s) = row < kColorRow ? p.row[row] : args.model.at(row, i);
      args.new_means.at(row, begin + s) = has_past ? args.means.at(row, i) : 0.0F;
      args.new_variances.at(row, begin + s) = has_past ? args.variances.at(row, i) : 0.0F;
    }
  }
}

__global__ void reset_kernel(Rows model, Rows means, Rows variances, int count, float highest) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) {
    model.at(kOpacityRow, i) = fminf(model.at(kOpacityRow, i), highest);
    means.at(kOpacityRow, i) = 0;
    variances.at(kOpacityRow, i) = 0;
  }
}

WindowWeights<float> window_weights() {
  const WindowWeights<double> exact = make_window();
  WindowWeights<float> window{};
  for (int t = 0; t < kWindow; ++t) {
    window.at[t] = static_cast<float>(exact.at[t]);
  }
  return window;
}

// Begin and end of launches whose times have not been read yet.
struct Clock {
  GpuEvent begin, end;
  bool pending = false;
};

}  // namespace

struct Trainer::State {
  Settings settings;
  double extent = 0;
  std::vector<Camera> cameras;
  std::size_t elements = 0;  // of a picture: pixels times channels
  DeviceBuffer<std::uint8_t> photos;

  std::size_t count = 0;
  RowBuffer model, means, variances;
  RowBuffer next_model, next_means, next_variances;
  RowBuffer gradients;
  DeviceBuffer<float> norms;
  DeviceBuffer<int> seen, fates, successor_counts, ends;
  DeviceBuffer<std::uint8_t> scratch;

  std::size_t view = 0;
  int degree = 0;
  DeviceBuffer<SceneGaussian> active;
  TileRule tiles = TileRule::kBox;
  GpuFrame frame;
  std::optional<splat_forms::FrameForm> form;
  const float* image = nullptr;  // of the last forward pass, planar
  DeviceBuffer<float> fields, dl_dpixels;
  DeviceBuffer<float2> sums;
  std::size_t used_sums = 0;

  std::array<Clock, kClocks> clocks;
  std::size_t next_clock = 0;
  double backward_ms = 0;
  GpuEvent timing_begin, timing_end;
  bool timing = false;

  [[nodiscard]] const std::uint8_t* photo() const { return photos.data() + view * elements; }

  void render() {
    make_room(active, count);
    const Camera& camera = cameras[view];
    const auto start = [&](auto kernel) {
      kernel<<<gaussian_grid(count), kGaussianBlock>>>(model.rows(), static_cast<int>(count),
                                                       camera, active.data());
    };
    start(degree == 0   ? activate_kernel<0>
          : degree == 1 ? activate_kernel<1>
          : degree == 2 ? activate_kernel<2>
                        : activate_kernel<3>);
    check_launch("activation kernel");
    frame.arrange(active.data(), count, camera, tiles);
    if (form) {
      image = form->draw(frame);
    } else {
      frame.draw();
      image = frame.image();
    }
  }

  void take_loss() {
    const Camera& camera = cameras[view];
    const dim3 grid(static_cast<unsigned>((camera.width + kSide - 1) / kSide),
                    static_cast<unsigned>((camera.height + kSide - 1) / kSide), kChannels);
    used_sums = std::size_t{grid.x} * grid.y * grid.z;
    make_room(sums, used_sums);
    const LossArgs args{
        image,         photo(),           camera.width, camera.height, window_weights(),
        fields.data(), dl_dpixels.data(), sums.data()};
    ssim_kernel<<<grid, dim3(kSide, kSide)>>>(args);
    check_launch("SSIM kernel");
    loss_gradient_kernel<<<grid, dim3(kSide, kSide)>>>(args);
    check_launch("loss gradient kernel");
  }

  void read(Clock& clock) {
    if (clock.pending) {
      clock.end.wait();
      backward_ms += static_cast<double>(clock.end.since(clock.begin));
      clock.pending = false;
    }
  }

  void clear_statistics() {
    make_room(norms, count);
    make_room(seen, count);
    norms.clear_async();
    seen.clear_async();
  }
};

Trainer::Trainer(std::span<const View> views, const Model& model, double extent,
                 const Settings& settings, const Rendering& rendering)
    : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.settings = settings;
  s.tiles = rendering.tiles;
  if (rendering.form) {
    s.form.emplace(*rendering.form);
  }
  s.extent = extent;
  if (views.empty() || model.empty()) {
    throw InputError("a training needs views and Gaussians to start from");
  }
  s.elements = views.front().photo.size();
  s.photos = DeviceBuffer<std::uint8_t>(views.size() * s.elements);
  for (std::size_t v = 0; v < views.size(); ++v) {
    const Camera& camera = views[v].camera;
    if (views[v].photo.size() != s.elements ||
        s.elements != kChannels * static_cast<std::size_t>(camera.pixels())) {
      throw InputError("view " + views[v].name + " has no photo of the size of the others");
    }
    s.cameras.push_back(camera);
    check(cudaMemcpy(s.photos.data() + v * s.elements, views[v].photo.data(), s.elements,
                     cudaMemcpyHostToDevice),
          "copy of a photo");
  }
  s.count = model.size();
  s.model.upload(model);
  for (RowBuffer* rows : {&s.means, &s.variances, &s.gradients}) {
    rows->make_room(s.count);
    rows->clear();
  }
  s.fields = DeviceBuffer<float>(kFields * s.elements);
  s.dl_dpixels = DeviceBuffer<float>(s.elements);
  s.clear_statistics();
}

Trainer::~Trainer() = default;

void Trainer::forward(std::size_t view, int degree) {
  State& s = *state_;
  s.view = view;
  s.degree = degree;
  s.render();
  s.take_loss();
}

double Trainer::squared_error(std::size_t view, int degree) {
  State& s = *state_;
  s.view = view;
  s.degree = degree;
  s.render();
  const unsigned blocks = linear_grid(s.elements);
  make_room(s.sums, blocks);
  squared_error_kernel<<<blocks, kLinearBlock>>>(s.image, s.photo(), s.elements, s.sums.data());
  check_launch("squared error kernel");
  double sum = 0;
  for (const float2 part : to_host(s.sums.data(), blocks)) {
    sum += static_cast<double>(part.x);
  }
  return sum / static_cast<double>(s.elements);
}

void Trainer::clear_gradients() {
  if (state_->form) {
    state_->form->clear_gradients(state_->frame);
  } else {
    state_->frame.clear_gradients();
  }
}

void Trainer::launch(const Policy& policy) {
  State& s = *state_;
  Clock& clock = s.clocks[s.next_clock];
  if (!s.timing) {
    s.read(clock);
    clock.begin.record();
  }
  if (s.form) {
    s.form->launch(s.frame, s.dl_dpixels.data());
  } else {
    launch_backward(static_cast<int>(policy.variant), s.frame.grid(),
                    s.frame.backward_args(s.dl_dpixels.data()), policy.threshold);
  }
  if (!s.timing) {
    clock.end.record();
    clock.pending = true;
    s.next_clock = (s.next_clock + 1) % kClocks;
  }
}

void Trainer::start_timing() {
  state_->timing = true;
  state_->timing_begin.record();
}

double Trainer::stop_timing() {
  State& s = *state_;
  s.timing_end.record();
  s.timing_end.wait();
  s.timing = false;
  return static_cast<double>(s.timing_end.since(s.timing_begin));
}

void Trainer::finish_backward() {
  State& s = *state_;
  GradientArgs args{};
  args.model = s.model.rows();
  args.count = static_cast<int>(s.count);
  args.radius = s.frame.radius();
  args.added = s.form ? s.form->gradients(s.frame) : s.frame.gradients();
  args.out = s.gradients.rows();
  args.norms = s.norms.data();
  args.seen = s.seen.data();
  const auto start = [&](auto kernel) {
    kernel<<<gaussian_grid(s.count), kGaussianBlock>>>(args, s.cameras[s.view]);
  };
  start(s.degree == 0   ? gradient_kernel<0>
        : s.degree == 1 ? gradient_kernel<1>
        : s.degree == 2 ? gradient_kernel<2>
                        : gradient_kernel<3>);
  check_launch("gradient kernel");
}

void Trainer::update(int step, const Rates& rates) {
  State& s = *state_;
  const AdamStep<float> unbias{static_cast<float>(1 / (1 - std::pow(kBeta1, step))),
                               static_cast<float>(1 / (1 - std::pow(kBeta2, step)))};
  const dim3 grid(linear_grid(s.count), static_cast<unsigned>(active_rows(s.degree)));
  adam_kernel<<<grid, kLinearBlock>>>(s.model.rows(), s.gradients.rows(), s.means.rows(),
                                      s.variances.rows(), static_cast<int>(s.count), rates, unbias);
  check_launch("Adam kernel");
}

void Trainer::densify(int iteration) {
  State& s = *state_;
  const int count = static_cast<int>(s.count);
  make_room(s.fates, s.count);
  make_room(s.successor_counts, s.count);
  make_room(s.ends, s.count);
  fate_kernel<<<linear_grid(s.count), kLinearBlock>>>(
      s.model.rows(), count, s.norms.data(), s.seen.data(), static_cast<float>(s.extent),
      iteration > s.settings.reset_every, s.settings, s.fates.data(), s.successor_counts.data());
  check_launch("fate kernel");
  std::size_t bytes = 0;
  const auto scan = [&](void* scratch) {
    return cub::DeviceScan::InclusiveSum(scratch, bytes, s.successor_counts.data(), s.ends.data(),
                                         count);
  };
  check(scan(nullptr), "size of the scan");
  make_room(s.scratch, bytes);
  check(scan(s.scratch.data()), "scan");
  int total = 0;
  check(cudaMemcpy(&total, s.ends.data() + count - 1, sizeof total, cudaMemcpyDeviceToHost),
        "number of Gaussians");
  if (total <= 0) {
    throw InputError("iteration " + std::to_string(iteration) + ": every Gaussian was pruned");
  }
  const auto grown = static_cast<std::size_t>(total);
  for (RowBuffer* rows : {&s.next_model, &s.next_means, &s.next_variances}) {
    rows->make_room(grown);
  }
  const GatherArgs args{s.model.rows(),
                        s.means.rows(),
                        s.variances.rows(),
                        s.next_model.rows(),
                        s.next_means.rows(),
                        s.next_variances.rows(),
                        count,
                        s.fates.data(),
                        s.ends.data(),
                        random_bits(s.settings.seed, static_cast<std::uint64_t>(iteration))};
  gather_kernel<<<gaussian_grid(s.count), kGaussianBlock>>>(args);
  check_launch("gather kernel");
  std::swap(s.model, s.next_model);
  std::swap(s.means, s.next_means);
  std::swap(s.variances, s.next_variances);
  s.gradients.make_room(grown);
  s.count = grown;
  s.clear_statistics();
}

void Trainer::reset_opacities() {
  State& s = *state_;
  const float highest = s.settings.reset_opacity;
  reset_kernel<<<linear_grid(s.count), kLinearBlock>>>(
      s.model.rows(), s.means.rows(), s.variances.rows(), static_cast<int>(s.count),
      std::log(highest / (1 - highest)));
  check_launch("reset kernel");
}

std::size_t Trainer::count() const {
  return state_->count;
}

double Trainer::backward_ms() {
  for (Clock& clock : state_->clocks) {
    state_->read(clock);
  }
  return state_->backward_ms;
}

std::uint64_t Trainer::saturated() const {
  return state_->form ? state_->form->saturated() : 0;
}

std::vector<float> Trainer::image() const {
  return to_host(state_->image, state_->elements);
}

double Trainer::loss() const {
  const State& s = *state_;
  double similarity = 0;
  double difference = 0;
  for (const float2 part : to_host(s.sums.data(), s.used_sums)) {
    similarity += static_cast<double>(part.x);
    difference += static_cast<double>(part.y);
  }
  const auto elements = static_cast<double>(s.elements);
  return (1 - kSsimWeight) * difference / elements + kSsimWeight * (1 - similarity / elements);
}

std::vector<float> Trainer::loss_gradient() const {
  return state_->dl_dpixels.to_host();
}

std::vector<SceneGaussian> Trainer::scene_gaussians() const {
  return to_host<SceneGaussian>(state_->active.data(), state_->count);
}

std::vector<int> Trainer::radii() const {
  return to_host(state_->frame.radius(), state_->count);
}

Model Trainer::gradients() const {
  const auto rows = static_cast<std::size_t>(active_rows(state_->degree));
  return state_->gradients.download(state_->count, rows);
}

Model Trainer::model() const {
  return state_->model.download(state_->count);
}

std::vector<float> Trainer::picture_gradients() const {
  const auto norms = to_host<float>(state_->norms.data(), state_->count);
  const auto seen = to_host<int>(state_->seen.data(), state_->count);
  std::vector<float> result(state_->count, 0.0F);
  for (std::size_t i = 0; i < result.size(); ++i) {
    result[i] = seen[i] == 0 ? 0.0F : norms[i] / static_cast<float>(seen[i]);
  }
  return result;
}

void Trainer::wait() const {
  check(cudaDeviceSynchronize(), "training");
}

}  // namespace warpfold::capture::training

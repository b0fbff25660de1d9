// SPDX-License-Identifier: Apache-2.0
// A program that records two of its kernels with <warpfold/record.cuh>: sums of points by cell in
// double, with blocks that are no multiple of a warp, then the gradients of a splat, whose weights
// go through dynamic shared memory. Its recordings are held against what it leaves in memory.
//   usage: record_header [FOLDER]     makes FOLDER/sums.wfrec and FOLDER/splat.wfrec
#include <cmath>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>
#include <warpfold/record.cuh>

namespace {

namespace record = warpfold::record;

void check(cudaError_t error) {
  if (error != cudaSuccess) {
    throw std::runtime_error(cudaGetErrorString(error));
  }
}

template <typename T>
class Buffer {
 public:
  explicit Buffer(std::size_t count) : count_(count) {
    check(cudaMalloc(&data_, count * sizeof(T)));
    check(cudaMemset(data_, 0, count * sizeof(T)));
  }
  ~Buffer() { cudaFree(data_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] std::size_t bytes() const { return count_ * sizeof(T); }
  [[nodiscard]] double sum() const {
    std::vector<T> host(count_);
    check(cudaMemcpy(host.data(), data_, bytes(), cudaMemcpyDeviceToHost));
    double total = 0;
    for (const T value : host) {
      total += value;
    }
    return total;
  }

 private:
  T* data_ = nullptr;
  std::size_t count_;
};

__device__ unsigned hash(unsigned x) {
  x = (x ^ x >> 16U) * 0x7feb352dU;
  x = (x ^ x >> 15U) * 0x846ca68bU;
  return x ^ x >> 16U;
}

enum Site : unsigned { kCell, kColor, kOpacity };

template <class Log>
__global__ void sum_points(double* cells, unsigned cell_count, unsigned points, Log log) {
  const auto warp = log.warp();
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= points) {
    return;
  }
  double* cell = cells + hash(i / 8) % cell_count;
  const double weight = 1.0 + hash(i) % 4;
  log.event(kCell, record::Operand(cell, weight));
  atomicAdd(cell, weight);
}

template <class Log>
__global__ void splat(float* color, float* opacity, unsigned count, Log log) {
  extern __shared__ float weights[];
  const auto warp = log.warp();
  const unsigned thread = threadIdx.y * blockDim.x + threadIdx.x;
  const unsigned block = blockDim.x * blockDim.y;
  for (unsigned first = 0; first < count; first += block) {
    log.barrier();
    __syncthreads();
    weights[thread] = static_cast<float>(hash(first + thread + 977 * blockIdx.x) % 64);
    log.barrier();
    __syncthreads();
    for (unsigned i = 0; i < block && first + i < count; ++i) {
      const float x = fabsf(static_cast<float>(threadIdx.x) - 8.0F) * weights[i];
      if (x > 128.0F) {
        continue;
      }
      const unsigned g = first + i;
      log.event(kColor, color + 3 * g, color + 3 * g + 1, color + 3 * g + 2);
      atomicAdd(color + 3 * g, 1.0F);
      atomicAdd(color + 3 * g + 1, 1.0F);
      atomicAdd(color + 3 * g + 2, 1.0F);
      if (x < 16.0F) {
        log.event(kOpacity, opacity + g);
        atomicAdd(opacity + g, 1.0F);
      }
    }
  }
}

void run_sums(const std::string& folder) {
  constexpr unsigned kPoints = 100'000, kCells = 5'000, kThreads = 200;
  constexpr unsigned kBlocks = (kPoints + kThreads - 1) / kThreads;
  const Buffer<double> cells(kCells);
  record::Session session(folder + "/sums");
  session.kernel("sum_points", sum_points<record::NoLog>);
  session.site(kCell, "cell");
  session.array("cells", cells.data(), cells.bytes());
  const std::string path = session.launch([&](record::Log log) {
    sum_points<<<kBlocks, kThreads>>>(cells.data(), kCells, kPoints, log);
  });
  std::printf("%s: %.0f in all cells\n", path.c_str(), cells.sum());
}

void run_splat(const std::string& folder) {
  constexpr unsigned kCount = 400, kTiles = 12;
  const dim3 threads(16, 12);
  const std::size_t shared = threads.x * threads.y * sizeof(float);
  const Buffer<float> color(3 * kCount), opacity(kCount), unused(4 * kCount);
  // A small ring, which is filled many times over.
  record::Session session(folder + "/splat", std::size_t{1} << 20U);
  session.kernel("splat", splat<record::NoLog>);
  session.site(kColor, "color");
  session.site(kOpacity, "opacity");
  session.array("color", color.data(), color.bytes());
  session.array("opacity", opacity.data(), opacity.bytes());
  session.time(5, [&] {
    splat<<<kTiles, threads, shared>>>(unused.data(), unused.data() + 3 * kCount, kCount,
                                       record::NoLog());
  });
  const std::string path = session.launch([&](record::Log log) {
    splat<<<kTiles, threads, shared>>>(color.data(), opacity.data(), kCount, log);
  });
  std::printf("%s: %.0f in color, %.0f in opacity\n", path.c_str(), color.sum(), opacity.sum());
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::string folder = argc > 1 ? argv[1] : ".";
    run_sums(folder);
    run_splat(folder);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "record_header: %s\n", error.what());
    return 2;
  }
  return 0;
}

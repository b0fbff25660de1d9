// SPDX-License-Identifier: Apache-2.0
// A program to be recorded: kernels that add 1 in many ways, and the arrays that they leave, so
// that what was recorded can be held against them address by address. One argument: the file for
// the arrays.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <cstdio>

#include "arrays.cuh"

namespace {

// Tiles that walk a list, leave passes early and add nine values to one primitive: the form of a
// splatting kernel.
__global__ void splat(float* color, float* mean, float* conic, float* opacity, int count) {
  __shared__ float size[256];
  const int pixel = threadIdx.y * 16 + threadIdx.x;
  for (int first = 0; first < count; first += 256) {
    __syncthreads();
    if (first + pixel < count) {
      size[pixel] = static_cast<float>(hash(first + pixel + 977 * blockIdx.x) & 255U);
    }
    __syncthreads();
    for (int i = 0; i < min(256, count - first); ++i) {
      const float distance = abs(static_cast<float>(threadIdx.x) - 8.0F) * size[i];
      if (distance > 700.0F) {
        continue;
      }
      if (__expf(-distance * 0.01F) < 0.1F) {
        continue;
      }
      const int g = first + i;
      for (int c = 0; c < 3; ++c) {
        atomicAdd(color + 3 * g + c, 1.0F);
      }
      atomicAdd(mean + 2 * g, 1.0F);
      atomicAdd(mean + 2 * g + 1, 1.0F);
      atomicAdd(conic + 4 * g, 1.0F);
      atomicAdd(conic + 4 * g + 1, 1.0F);
      atomicAdd(conic + 4 * g + 3, 1.0F);
      atomicAdd(opacity + g, 1.0F);
    }
  }
}

// Lanes that go anywhere, with blocks that are no whole number of warps and shared memory that the
// launch asks for.
__global__ void scatter(float* array, std::uint32_t size, int rounds) {
  extern __shared__ std::uint32_t kept[];
  kept[threadIdx.x] = hash(blockIdx.x * blockDim.x + threadIdx.x);
  for (int i = 0; i < rounds; ++i) {
    kept[threadIdx.x] = hash(kept[threadIdx.x]);
    if ((kept[threadIdx.x] & 7U) != 0) {
      atomicAdd(array + kept[threadIdx.x] % size, 1.0F);
    }
  }
}

__global__ void other_types(__half2* halves, __nv_bfloat162* brains, double* doubles,
                            float4* vectors, int* integers, float* used, std::uint32_t size) {
  const std::uint32_t at = hash(blockIdx.x * blockDim.x + threadIdx.x) % size;
  atomicAdd(halves + at, __floats2half2_rn(1.0F, 1.0F));
  atomicAdd(brains + at, __floats2bfloat162_rn(1.0F, 1.0F));
  atomicAdd(doubles + at, 1.0);
#if __CUDA_ARCH__ >= 900
  atomicAdd(vectors + at, make_float4(1.0F, 1.0F, 1.0F, 1.0F));
#endif
  atomicAdd(integers + at, 1);
  atomicMax(integers + size + at, static_cast<int>(threadIdx.x));
  used[blockIdx.x * blockDim.x + threadIdx.x] = atomicAdd(used + (1U << 20U) + at, 1.0F);
}

}  // namespace

int main(int argc, char** argv) {
  constexpr int kCount = 600;
  constexpr std::uint32_t kSize = 4096;
  auto* gradients = zeros<float>(10 * kCount);
  splat<<<96, dim3(16, 16)>>>(gradients, gradients + 3 * kCount, gradients + 5 * kCount,
                              gradients + 9 * kCount, kCount);
  auto* array = zeros<float>(kSize);
  scatter<<<200, 100, 100 * sizeof(std::uint32_t)>>>(array, kSize, 12);
  auto* halves = zeros<__half2>(kSize);
  auto* brains = zeros<__nv_bfloat162>(kSize);
  auto* doubles = zeros<double>(kSize);
  auto* vectors = zeros<float4>(kSize);
  auto* integers = zeros<int>(2 * kSize);
  auto* used = zeros<float>((1U << 20U) + kSize);
  other_types<<<64, 128>>>(halves, brains, doubles, vectors, integers, used, kSize);
  check(cudaDeviceSynchronize(), "the kernels");
  std::FILE* file = argc > 1 ? std::fopen(argv[1], "wb") : nullptr;
  if (file == nullptr) {
    std::fprintf(stderr, "usage: additions FILE\n");
    return 2;
  }
  save<float>(file, gradients, 10 * kCount);
  save<float>(file, array, kSize);
  save<__half>(file, halves, 2 * kSize);
  save<__nv_bfloat16>(file, brains, 2 * kSize);
  save<double>(file, doubles, kSize);
  save<float>(file, vectors, 4 * kSize);
  save<float>(file, used + (1U << 20U), kSize);
  return std::fclose(file) == 0 ? 0 : 1;
}

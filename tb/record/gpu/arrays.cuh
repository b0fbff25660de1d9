// SPDX-License-Identifier: Apache-2.0
// What the programs to be recorded share: arrays of zeros, and the file of what kernels left in
// them. For each array, as little-endian numbers: address, elements, bytes of an element; then its
// elements as FP32.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

inline void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) {
    std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
    std::exit(1);
  }
}

__device__ inline std::uint32_t hash(std::uint32_t x) {
  x ^= x >> 16U;
  x *= 0x7feb352dU;
  x ^= x >> 15U;
  x *= 0x846ca68bU;
  return x ^ x >> 16U;
}

template <typename T>
T* zeros(std::size_t count) {
  T* data = nullptr;
  check(cudaMalloc(&data, count * sizeof(T)), "cudaMalloc");
  check(cudaMemset(data, 0, count * sizeof(T)), "cudaMemset");
  return data;
}

inline float plain(float x) {
  return x;
}
inline float plain(double x) {
  return static_cast<float>(x);
}
inline float plain(__half x) {
  return __half2float(x);
}
inline float plain(__nv_bfloat16 x) {
  return __bfloat162float(x);
}

template <typename T>
void save(std::FILE* file, const void* device, std::size_t count) {
  std::vector<T> data(count);
  check(cudaMemcpy(data.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
  const std::uint64_t head[3] = {reinterpret_cast<std::uint64_t>(device), count, sizeof(T)};
  std::fwrite(head, sizeof head, 1, file);
  for (const T& x : data) {
    const float value = plain(x);
    std::fwrite(&value, sizeof value, 1, file);
  }
}

// SPDX-License-Identifier: Apache-2.0
// A program to be recorded: kernels whose loads and stores touch a known number of sectors, each
// with an addition, so that it is recorded. One argument: the file for what it expects of each
// kernel's instructions, a line each: kernel, kind, bytes of a lane, cache, executions, lanes,
// sectors.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <vector>

#include "arrays.cuh"

namespace {

constexpr std::uint32_t kGrid = 24, kBlock = 160, kThreads = kGrid * kBlock, kWarps = kThreads / 32;
constexpr std::uint32_t kWords = 1U << 20U;
constexpr std::uint32_t kWordMask = kWords - 1;

__device__ std::uint32_t thread() {
  return blockIdx.x * blockDim.x + threadIdx.x;
}

// Each lane a word behind the last one's.
__global__ void words_in_a_row(const float* from, float* sum) {
  float value;
  asm volatile("ld.global.f32 %0, [%1];" : "=f"(value) : "l"(from + thread()));
  atomicAdd(sum, value);
}

__global__ void sixteen_bytes_in_a_row(const float4* from, float* sum) {
  float4 value;
  asm volatile("ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(value.x), "=f"(value.y), "=f"(value.z), "=f"(value.w)
               : "l"(from + thread()));
  atomicAdd(sum, value.x + value.y + value.z + value.w);
}

__global__ void one_word_for_all(const float* from, float* sum) {
  float value;
  asm volatile("ld.global.cg.f32 %0, [%1];" : "=f"(value) : "l"(from + thread() / 32));
  atomicAdd(sum, value);
}

// A sector for each lane, of which those left out touch nothing.
__global__ void odd_lanes_apart(const double* from, float* sum) {
  if (threadIdx.x % 2 != 0) {
    double value;
    asm volatile("ld.global.f64 %0, [%1];" : "=d"(value) : "l"(from + 8 * thread()));
    atomicAdd(sum, static_cast<float>(value));
  }
}

// Anywhere, as often as the warp's number says.
__global__ void anywhere(const std::uint8_t* from, float* sum) {
  std::uint32_t all = 0;
#pragma unroll 1
  for (std::uint32_t pass = 0; pass <= thread() / 32 % 4; ++pass) {
    std::uint32_t value;
    asm volatile("ld.global.u8 %0, [%1];"
                 : "=r"(value)
                 : "l"(from + (hash(4 * thread() + pass) & kWordMask)));
    all += value;
  }
  atomicAdd(sum, static_cast<float>(all));
}

// Backwards, with a gap in each line.
__global__ void stores_backwards(std::uint16_t* to, float* sum) {
  const std::uint32_t at = 2 * kThreads - 2 * thread();
  asm volatile("st.global.u16 [%0], %1;" ::"l"(to + 8 * (at + at / 16)), "h"(std::uint16_t{1}));
  atomicAdd(sum, 1.0F);
}

std::uint32_t host_hash(std::uint32_t x) {
  x ^= x >> 16U;
  x *= 0x7feb352dU;
  x ^= x >> 15U;
  x *= 0x846ca68bU;
  return x ^ x >> 16U;
}

// Sectors that warps touch: byte(thread), or a negative number where a lane is left out.
template <typename Byte>
std::uint64_t sectors(Byte byte) {
  std::uint64_t found = 0;
  for (std::uint32_t warp = 0; warp < kWarps; ++warp) {
    std::set<std::int64_t> touched;
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      const std::int64_t at = byte(32 * warp + lane);
      if (at >= 0) {
        touched.insert(at / 32);
      }
    }
    found += touched.size();
  }
  return found;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: loads FILE\n");
    return 2;
  }
  auto* const data = zeros<std::uint8_t>(std::size_t{64} * kWords);
  auto* const sum = zeros<float>(1);
  words_in_a_row<<<kGrid, kBlock>>>(reinterpret_cast<float*>(data), sum);
  sixteen_bytes_in_a_row<<<kGrid, kBlock>>>(reinterpret_cast<float4*>(data), sum);
  one_word_for_all<<<kGrid, kBlock>>>(reinterpret_cast<float*>(data), sum);
  odd_lanes_apart<<<kGrid, kBlock>>>(reinterpret_cast<double*>(data), sum);
  anywhere<<<kGrid, kBlock>>>(data, sum);
  stores_backwards<<<kGrid, kBlock>>>(reinterpret_cast<std::uint16_t*>(data), sum);
  check(cudaDeviceSynchronize(), "the kernels");

  std::FILE* const file = std::fopen(argv[1], "w");
  if (file == nullptr) {
    std::perror(argv[1]);
    return 1;
  }
  const auto expect = [file](const char* kernel, const char* kind, unsigned bytes,
                             const char* cache, std::uint64_t times, std::uint64_t lanes,
                             std::uint64_t touched) {
    std::fprintf(file, "%s %s %u %s %llu %llu %llu\n", kernel, kind, bytes, cache,
                 static_cast<unsigned long long>(times), static_cast<unsigned long long>(lanes),
                 static_cast<unsigned long long>(touched));
  };
  expect("words_in_a_row", "load", 4, "ca", kWarps, kThreads,
         sectors([](std::uint32_t t) { return std::int64_t{4} * t; }));
  expect("sixteen_bytes_in_a_row", "load", 16, "nc", kWarps, kThreads,
         sectors([](std::uint32_t t) { return std::int64_t{16} * t; }));
  expect("one_word_for_all", "load", 4, "cg", kWarps, kThreads,
         sectors([](std::uint32_t t) { return std::int64_t{4} * (t / 32); }));
  expect("odd_lanes_apart", "load", 8, "ca", kWarps, kThreads / 2, sectors([](std::uint32_t t) {
           return t % 2 != 0 ? std::int64_t{64} * t : std::int64_t{-1};
         }));
  std::uint64_t times = 0, touched = 0;
  for (std::uint32_t pass = 0; pass < 4; ++pass) {
    for (std::uint32_t warp = 0; warp < kWarps; ++warp) {
      times += pass <= warp % 4 ? 1 : 0;
    }
    touched += sectors([pass](std::uint32_t t) {
      return pass <= t / 32 % 4 ? static_cast<std::int64_t>(host_hash(4 * t + pass) & kWordMask)
                                : std::int64_t{-1};
    });
  }
  expect("anywhere", "load", 1, "ca", times, 32 * times, touched);
  expect("stores_backwards", "store", 2, "ca", kWarps, kThreads, sectors([](std::uint32_t t) {
           const std::uint32_t at = 2 * kThreads - 2 * t;
           return std::int64_t{16} * (at + at / 16);
         }));
  return std::fclose(file) == 0 ? 0 : 1;
}

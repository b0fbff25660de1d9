// SPDX-License-Identifier: Apache-2.0
// What red.global.add.noftz.f16x2 and .bf16x2 answer to all 2^32 pairs of numbers, in the lower
// half of a word and, memory and operand exchanged, in the upper half: beside the sum in binary32
// rounded once to nearest even, NaNs as 7fff. Binary32 has twice the bits of either format and two
// more, so that its own rounding does not show.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "traces/capture/common/device_buffer.hpp"
#include "traces/capture/microbench/benches.hpp"

namespace warpfold::microbench {
namespace {

constexpr int kBrainCapability = 90;
constexpr std::uint32_t kNumbers = 1U << 16U;
constexpr std::uint32_t kRows = 256;  // values of one of the two numbers that a launch takes
constexpr std::uint32_t kShown = 16;  // of the answers that differ

enum class Half { kBinary16, kBrain };

struct Found {
  unsigned long long sums, differ, nans, other_nans, subnormals, flushed;
  // memory << 16 | operand, and answer << 16 | rounded sum
  std::uint32_t pair[kShown], answer[kShown];
};

template <Half kHalf>
__device__ void red_halves(std::uint32_t* address, std::uint32_t operand) {
  if constexpr (kHalf == Half::kBinary16) {
    asm volatile("red.relaxed.gpu.global.add.noftz.f16x2 [%0], %1;" ::"l"(address), "r"(operand)
                 : "memory");
  } else {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    asm volatile("red.relaxed.gpu.global.add.noftz.bf16x2 [%0], %1;" ::"l"(address), "r"(operand)
                 : "memory");
#endif
  }
}

template <Half kHalf>
__device__ std::uint32_t rounded_sum(std::uint32_t a, std::uint32_t b) {
  const auto bits_of = [](std::uint32_t number) { return static_cast<unsigned short>(number); };
  if constexpr (kHalf == Half::kBinary16) {
    const float sum = __fadd_rn(__half2float(__ushort_as_half(bits_of(a))),
                                __half2float(__ushort_as_half(bits_of(b))));
    return isnan(sum) ? 0x7fffU : __half_as_ushort(__float2half_rn(sum));
  } else {
    const float sum = __fadd_rn(__uint_as_float(a << 16U), __uint_as_float(b << 16U));
    const std::uint32_t bits = __float_as_uint(sum);
    return isnan(sum) ? 0x7fffU : (bits + 0x7fffU + (bits >> 16U & 1U)) >> 16U;
  }
}

// Place i has the pair of number first + i / 2^16 and number i mod 2^16.
__global__ void set_memory(std::uint32_t* memory, std::uint32_t first) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  memory[i] = (first + i / kNumbers) | i << 16U;
}

template <Half kHalf>
__global__ void add_halves(std::uint32_t* memory, std::uint32_t first) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  red_halves<kHalf>(memory + i, (first + i / kNumbers) << 16U | (i & 0xffffU));
}

template <Half kHalf>
__device__ void judge(Found& found, std::uint32_t memory, std::uint32_t operand,
                      std::uint32_t answer) {
  constexpr std::uint32_t kInfinity = kHalf == Half::kBinary16 ? 0x7c00U : 0x7f80U;
  constexpr std::uint32_t kFirstNormal = kHalf == Half::kBinary16 ? 0x0400U : 0x0080U;
  const std::uint32_t sum = rounded_sum<kHalf>(memory, operand);
  const std::uint32_t magnitude = answer & 0x7fffU;
  const std::uint32_t expected = sum & 0x7fffU;
  if (magnitude > kInfinity) {
    atomicAdd(&found.nans, 1ULL);
    if (answer != 0x7fffU) {
      atomicAdd(&found.other_nans, 1ULL);
    }
  }
  if (expected != 0 && expected < kFirstNormal) {
    atomicAdd(&found.subnormals, 1ULL);
    if (magnitude == 0) {
      atomicAdd(&found.flushed, 1ULL);
    }
  }
  if (answer != sum) {
    const unsigned long long at = atomicAdd(&found.differ, 1ULL);
    if (at < kShown) {
      found.pair[at] = memory << 16U | operand;
      found.answer[at] = answer << 16U | sum;
    }
  }
}

template <Half kHalf>
__global__ void judge_sums(const std::uint32_t* memory, std::uint32_t first, Found* found) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  const std::uint32_t row = first + i / kNumbers;
  const std::uint32_t column = i & 0xffffU;
  judge<kHalf>(*found, row, column, memory[i] & 0xffffU);
  judge<kHalf>(*found, column, row, memory[i] >> 16U);
  if (threadIdx.x == 0) {
    atomicAdd(&found->sums, 2ULL * blockDim.x);
  }
}

template <Half kHalf>
Json all_pairs() {
  const DeviceBuffer<std::uint32_t> memory(kRows * kNumbers);
  const Found none{};
  const DeviceBuffer<Found> found(std::span<const Found>{&none, 1});
  constexpr unsigned kThreads = 256;
  for (std::uint32_t first = 0; first < kNumbers; first += kRows) {
    constexpr unsigned kBlocks = kRows * kNumbers / kThreads;
    set_memory<<<kBlocks, kThreads>>>(memory.data(), first);
    add_halves<kHalf><<<kBlocks, kThreads>>>(memory.data(), first);
    judge_sums<kHalf><<<kBlocks, kThreads>>>(memory.data(), first, found.data());
    check_launch("halves");
  }
  check(cudaDeviceSynchronize(), "halves");
  const Found all = found.to_host().front();
  Json examples = Json::array();
  for (std::size_t i = 0; i < std::min<unsigned long long>(all.differ, kShown); ++i) {
    std::array<char, 32> line{};
    std::snprintf(line.data(), line.size(), "%04X %04X %04X %04X", all.pair[i] >> 16U,
                  all.pair[i] & 0xffffU, all.answer[i] >> 16U, all.answer[i] & 0xffffU);
    examples.push_back(line.data());
  }
  return {{"sums", all.sums},
          {"differ", all.differ},
          {"nans", all.nans},
          {"nans_other_than_7fff", all.other_nans},
          {"subnormal", all.subnormals},
          {"subnormal_flushed", all.flushed},
          {"memory_operand_answer_rounded", examples}};
}

}  // namespace

void bench_halves(Harness& harness) {
  Json json;
  json["f16x2"] = all_pairs<Half::kBinary16>();
  if (harness.device().compute_capability >= kBrainCapability) {
    json["bf16x2"] = all_pairs<Half::kBrain>();
  }
  harness.report().set("halves", json);
}

}  // namespace warpfold::microbench

// SPDX-License-Identifier: Apache-2.0
// A program to be recorded: kernels that add 1 by vectors, by bulk and tensor reductions, in shared
// memory, by additions whose results are used and by loops of compare-and-swap, and the arrays that
// they leave. One argument: the file for the arrays. With "tiles" behind it what tensor maps add,
// too. For compute capability 9.0 and later.
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <cstdio>

#include "arrays.cuh"

namespace {

constexpr std::uint32_t kSize = 4096;  // structs of an array
constexpr int kGrid = 48;
constexpr int kBlock = 160;

__device__ std::uint32_t place() {
  return hash(blockIdx.x * blockDim.x + threadIdx.x) % kSize;
}

__global__ void two_floats(float2* array) {
  asm volatile("red.global.add.v2.f32 [%0], {%1, %1};" ::"l"(array + place()), "f"(1.0F)
               : "memory");
}

// Lanes in a row, as compilers write them.
__global__ void four_floats(float4* array) {
  float4* at = array + (blockIdx.x * blockDim.x + threadIdx.x) % kSize;
  if (threadIdx.x % 5 != 0) {
    asm volatile("red.global.add.v4.f32 [%0], {%1, %1, %1, %1};" ::"l"(at), "f"(1.0F) : "memory");
  }
}

// Nine gradients of a struct of twelve floats: two vectors and a float.
__global__ void nine_floats(float* array) {
  float* at = array + 12 * place();
  asm volatile(
      "red.global.add.v4.f32 [%0], {%1, %1, %1, %1};\n"
      "red.global.add.v4.f32 [%0+16], {%1, %1, %1, %1};\n"
      "red.global.add.f32 [%0+32], %1;" ::"l"(at),
      "f"(1.0F)
      : "memory");
}

__global__ void eight_halves(__half2* array) {
  asm volatile("red.global.add.noftz.v4.f16x2 [%0], {%1, %1, %1, %1};" ::"l"(array + 4 * place()),
               "r"(0x3c003c00U)
               : "memory");
}

__global__ void four_brains(__nv_bfloat162* array) {
  asm volatile("red.global.add.noftz.v2.bf16x2 [%0], {%1, %1};" ::"l"(array + 2 * place()),
               "r"(0x3f803f80U)
               : "memory");
}

__device__ std::uint32_t shared_address(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

// Each warp adds a row of 32 floats from shared memory in one operation.
__global__ void rows_of_floats(float* array) {
  __shared__ alignas(128) float row[kBlock];
  row[threadIdx.x] = 1.0F;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    float* at = array + (hash(blockIdx.x * blockDim.x + threadIdx.x) % (kSize / 32)) * 32;
    asm volatile(
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;\n"
        "cp.async.bulk.commit_group;\n"
        "cp.async.bulk.wait_group 0;" ::"l"(at),
        "r"(shared_address(row + threadIdx.x)), "r"(128U)
        : "memory");
  }
}

// The same of a whole block, of 160 brain floats.
__global__ void rows_of_brains(__nv_bfloat16* array) {
  __shared__ alignas(128) __nv_bfloat16 row[kBlock];
  row[threadIdx.x] = __float2bfloat16(1.0F);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    __nv_bfloat16* at = array + hash(blockIdx.x) % (kSize - kBlock) / 8 * 8;
    asm volatile(
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.bf16 [%0], [%1], %2;\n"
        "cp.async.bulk.commit_group;\n"
        "cp.async.bulk.wait_group 0;" ::"l"(at),
        "r"(shared_address(row)), "r"(320U)
        : "memory");
  }
}

// A tile of 8 x 16 floats by a tensor map of 64 x 64.
__global__ void tiles(const __grid_constant__ CUtensorMap map) {
  __shared__ alignas(128) float tile[128];
  if (threadIdx.x < 128) {
    tile[threadIdx.x] = 1.0F;
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    const int x = static_cast<int>(hash(blockIdx.x) % 14U * 4U);
    const int y = static_cast<int>(hash(blockIdx.x + 77) % 48U);
    asm volatile(
        "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group [%0, {%1, %2}], [%3];\n"
        "cp.async.bulk.commit_group;\n"
        "cp.async.bulk.wait_group 0;" ::"l"(&map),
        "r"(x), "r"(y), "r"(shared_address(tile))
        : "memory");
  }
}

// Sums of a block in shared memory, then one addition for each word.
__global__ void bins(float* array, std::uint32_t* counts) {
  __shared__ float sums[64];
  __shared__ std::uint32_t seen[64];
  for (std::uint32_t i = threadIdx.x; i < 64; i += blockDim.x) {
    sums[i] = 0;
    seen[i] = 0;
  }
  __syncthreads();
  const std::uint32_t at = place();
  atomicAdd(sums + at % 64, 1.0F);
  atomicAdd(seen + at % 64, 1U);
  __syncthreads();
  for (std::uint32_t i = threadIdx.x; i < 64; i += blockDim.x) {
    atomicAdd(array + i, sums[i] < 0 ? 0.0F : 1.0F);
    atomicAdd(counts + i, seen[i]);
  }
}

// The next step depends on what was there.
__global__ void chained(float* array, float* last) {
  std::uint32_t at = place();
  float was = 0;
  for (int i = 0; i < 4; ++i) {
    was = atomicAdd(array + at, 1.0F);
    at = (at + static_cast<std::uint32_t>(was) + 1U) % kSize;
  }
  last[blockIdx.x * blockDim.x + threadIdx.x] = was;
}

// One half by compare-and-swap, beside additions of floats.
__global__ void swapped(__half* halves, float* array) {
  const std::uint32_t at = place();
  auto* word = reinterpret_cast<std::uint32_t*>(halves) + at / 2;
  const std::uint32_t shift = 16U * (at % 2U);
  std::uint32_t was = *word, seen = 0;
  do {
    seen = was;
    const __half sum =
        __hadd(__ushort_as_half(static_cast<unsigned short>(seen >> shift)), __float2half(1.0F));
    const std::uint32_t next = (seen & ~(0xffffU << shift)) | std::uint32_t{__half_as_ushort(sum)}
                                                                  << shift;
    was = atomicCAS(word, seen, next);
  } while (was != seen);
  atomicAdd(array + at, 1.0F);
}

CUtensorMap map_of(float* array) {
  using Encode =
      CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*,
                   const cuuint64_t*, const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave,
                   CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
  void* found = nullptr;
  cudaDriverEntryPointQueryResult known{};
  check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault,
                                         &known),
        "cuTensorMapEncodeTiled");
  CUtensorMap map{};
  const cuuint64_t sizes[] = {64, 60};
  const cuuint64_t strides[] = {64 * sizeof(float)};
  const cuuint32_t box[] = {8, 16};
  const cuuint32_t steps[] = {1, 1};
  const CUresult made = reinterpret_cast<Encode>(found)(
      &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, array, sizes, strides, box, steps,
      CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (made != CUDA_SUCCESS) {
    std::fprintf(stderr, "a tensor map: error %d\n", static_cast<int>(made));
    std::exit(1);
  }
  return map;
}

}  // namespace

int main(int argc, char** argv) {
  std::FILE* file = argc == 2 || argc == 3 ? std::fopen(argv[1], "wb") : nullptr;
  if (file == nullptr) {
    std::fprintf(stderr, "usage: vectors FILE\n");
    return 2;
  }
  auto* twos = zeros<float2>(kSize);
  two_floats<<<kGrid, kBlock>>>(twos);
  auto* fours = zeros<float4>(kSize);
  four_floats<<<kGrid, kBlock>>>(fours);
  auto* nines = zeros<float>(12 * kSize);
  nine_floats<<<kGrid, kBlock>>>(nines);
  auto* halves = zeros<__half2>(4 * kSize);
  eight_halves<<<kGrid, kBlock>>>(halves);
  auto* brains = zeros<__nv_bfloat162>(2 * kSize);
  four_brains<<<kGrid, kBlock>>>(brains);
  auto* rows = zeros<float>(kSize);
  rows_of_floats<<<kGrid, kBlock>>>(rows);
  auto* brain_rows = zeros<__nv_bfloat16>(kSize);
  rows_of_brains<<<kGrid, kBlock>>>(brain_rows);
  auto* tiled = zeros<float>(64 * 64);
  if (argc == 3) {
    tiles<<<kGrid, kBlock>>>(map_of(tiled));
  }
  auto* binned = zeros<float>(64);
  auto* counts = zeros<std::uint32_t>(64);
  bins<<<kGrid, kBlock>>>(binned, counts);
  auto* chain = zeros<float>(kSize);
  auto* last = zeros<float>(kGrid * kBlock);
  chained<<<kGrid, kBlock>>>(chain, last);
  auto* words = zeros<__half>(kSize);
  auto* beside = zeros<float>(kSize);
  swapped<<<kGrid, kBlock>>>(words, beside);
  check(cudaDeviceSynchronize(), "the kernels");
  save<float>(file, twos, 2 * kSize);
  save<float>(file, fours, 4 * kSize);
  save<float>(file, nines, 12 * kSize);
  save<__half>(file, halves, 8 * kSize);
  save<__nv_bfloat16>(file, brains, 4 * kSize);
  save<float>(file, rows, kSize);
  save<__nv_bfloat16>(file, brain_rows, kSize);
  save<float>(file, tiled, 64 * 64);
  save<float>(file, binned, 64);
  save<float>(file, chain, kSize);
  save<float>(file, beside, kSize);
  return std::fclose(file) == 0 ? 0 : 1;
}

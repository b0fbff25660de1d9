// SPDX-License-Identifier: Apache-2.0
// A program to be recorded: kernels whose flow of control is hard to follow in machine code, all of
// which add 1, and the arrays that they leave. Arguments: the file for the arrays; the name of a
// kernel that is to write where it must not, so that the program ends there. It prints how long
// each kernel takes, so that a run with the recorder in it can be held against one without.
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "arrays.cuh"

namespace {

constexpr int kThreads = 128;
constexpr int kBlocks = 128;
constexpr std::uint32_t kSize = 1U << 14U;
constexpr int kKernels = 7;

__device__ std::uint32_t thread() {
  return blockIdx.x * blockDim.x + threadIdx.x;
}

// No loop at all.
__global__ void straight(float* array, int) {
  const std::uint32_t at = hash(thread());
  if ((at & 3U) != 0) {
    atomicAdd(array + (at >> 2U) % kSize, 1.0F);
  }
}

// A loop that the compiler unrolls, with a rest of passes behind it.
__global__ void unrolled(float* array, int passes) {
  std::uint32_t at = thread();
#pragma unroll 4
  for (int i = 0; i < passes; ++i) {
    at = hash(at + i);
    if ((at & 1U) != 0) {
      atomicAdd(array + at % kSize, 1.0F);
    }
  }
}

// The addition in a subroutine, which two places call.
__device__ __noinline__ void add_in_subroutine(float* array, std::uint32_t at) {
  for (; (at & 7U) != 0; at >>= 3U) {
    atomicAdd(array + at % kSize, 1.0F);
  }
}

__global__ void subroutine(float* array, int passes) {
  for (int i = 0; i < passes; ++i) {
    add_in_subroutine(array, hash(thread() + i));
  }
  add_in_subroutine(array, hash(~thread()));
}

// A subroutine that calls itself, so the depth of its returns is known nowhere.
__device__ __noinline__ void add_recursively(float* array, std::uint32_t at, int depth) {
  if (depth > 0 && (at & 15U) != 0) {
    add_recursively(array, hash(at), depth - 1);
    atomicAdd(array + at % kSize, 1.0F);
  }
}

__global__ void recursive(float* array, int passes) {
  add_recursively(array, hash(thread()), passes);
}

// A jump through a table.
__global__ void switched(float* array, int passes) {
  std::uint32_t at = thread();
  for (int i = 0; i < passes; ++i) {
    at = hash(at);
    switch (at % 9U) {
      case 0:
        at += __popc(at);
        break;
      case 1:
        at ^= at << 3U;
        break;
      case 2:
        at *= 5U;
        break;
      case 3:
        atomicAdd(array + at % kSize, 1.0F);
        break;
      case 4:
        at = __brev(at);
        break;
      case 5:
        at += __clz(at);
        break;
      case 6:
        atomicAdd(array + (at >> 5U) % kSize, 1.0F);
        break;
      case 7:
        at -= passes;
        break;
      default:
        at = ~at;
    }
  }
}

// Passes that leave early in several places and a search without any access to memory, as in
// published splatting kernels.
__global__ void early_out(float* array, int passes) {
  for (int i = 0; i < passes; ++i) {
    const std::uint32_t at = hash(thread() / 32 + 977 * i);
    if ((at & 1U) != 0) {
      continue;
    }
    const float distance = static_cast<float>((at ^ threadIdx.x) & 63U) * 0.1F;
    if (distance > 4.0F) {
      continue;
    }
    const float alpha = __expf(-distance);
    if (alpha < 0.05F) {
      continue;
    }
    std::uint32_t found = at;
    while ((found & 3U) != 0) {
      found = hash(found);
    }
    atomicAdd(array + found % kSize, 1.0F);
  }
}

// A function that is known at run time alone.
using Adder = void (*)(float*, std::uint32_t);
__device__ __noinline__ void add_low(float* array, std::uint32_t at) {
  atomicAdd(array + at % kSize, 1.0F);
}
__device__ __noinline__ void add_high(float* array, std::uint32_t at) {
  atomicAdd(array + (at >> 7U) % kSize, 1.0F);
}
__device__ Adder adders[2] = {add_low, add_high};

__global__ void indirect(float* array, int passes) {
  for (int i = 0; i < passes; ++i) {
    adders[(i + blockIdx.x) & 1U](array, hash(thread() + i));
  }
}

}  // namespace

int main(int argc, char** argv) {
  using Kernel = void (*)(float*, int);
  const struct {
    const char* name;
    Kernel run;
    int passes;
  } kernels[kKernels] = {{"straight", straight, 0},     {"unrolled", unrolled, 23},
                         {"subroutine", subroutine, 9}, {"recursive", recursive, 5},
                         {"switched", switched, 20},    {"early_out", early_out, 40},
                         {"indirect", indirect, 8}};
  std::FILE* file = argc > 1 ? std::fopen(argv[1], "wb") : nullptr;
  if (file == nullptr) {
    std::fprintf(stderr, "usage: flow FILE [KERNEL]\n");
    return 2;
  }
  cudaEvent_t begin = nullptr;
  cudaEvent_t end = nullptr;
  check(cudaEventCreate(&begin), "cudaEventCreate");
  check(cudaEventCreate(&end), "cudaEventCreate");
  float* arrays[kKernels] = {};
  for (float*& array : arrays) {
    array = zeros<float>(kSize);
  }
  for (int k = 0; k < kKernels; ++k) {
    check(cudaEventRecord(begin), "cudaEventRecord");
    const bool wrong = argc > 2 && std::strcmp(argv[2], kernels[k].name) == 0;
    kernels[k].run<<<kBlocks, kThreads>>>(wrong ? nullptr : arrays[k], kernels[k].passes);
    check(cudaEventRecord(end), "cudaEventRecord");
    check(cudaEventSynchronize(end), kernels[k].name);
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin, end), "cudaEventElapsedTime");
    std::printf("%s %.4f ms\n", kernels[k].name, ms);
  }
  for (float* array : arrays) {
    save<float>(file, array, kSize);
  }
  return std::fclose(file) == 0 ? 0 : 1;
}

// SPDX-License-Identifier: Apache-2.0
// Kernels whose machine code the tests read. It lies beside this file, so that they need no CUDA;
// after a change:
//   nvcc -std=c++17 -arch=sm_90 -cubin -o kernels.cubin kernels.cu   (CUDA 13.0)
//   ./make_fixtures.py kernels.cubin
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" {

// A loop of atomics that the compiler unrolls, and the rest of it.
__global__ void unrolled(float* out, const float* in, int n, float scale) {
  float value = in[threadIdx.x] * scale;
#pragma unroll 4
  for (int i = 0; i < n; ++i) {
    atomicAdd(out + i * 32, value);
    value *= scale;
  }
}

__global__ void without_loop(float* out, const float* in, const int* where, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) {
    atomicAdd(out + where[i], in[i]);
  }
}

// Slow paths of a division and a root are subroutines without a marker.
__global__ void divides(double* out, const double* in, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) {
    return;
  }
  const double quotient = in[i] / in[i + n];
  const double root = sqrt(in[i + 2 * n]);
  atomicAdd(out, quotient * root);
}

// A loop without a marker.
__global__ void computes(float* out, const float* in, int n) {
  float value = in[threadIdx.x];
#pragma unroll 1
  for (int i = 0; i < n; ++i) {
    value = value * value + 0.5F;
  }
  atomicAdd(out, value);
}

// A subroutine with markers, called twice.
__device__ __noinline__ float sum_of(float value, const float* in, int n) {
#pragma unroll 1
  for (int j = 0; j < n; ++j) {
    value += in[j] * value;
  }
  return value;
}

__global__ void calls(float* out, const float* in, int n) {
  const float value = sum_of(in[threadIdx.x], in, n);
  atomicAdd(out, value);
  atomicAdd(out + 1, sum_of(value + 1, in + 1, n + 2));
}

// A jump table.
__global__ void chooses(float* out, const float* in, const int* kind) {
  float value = in[threadIdx.x];
  switch (kind[threadIdx.x]) {
    case 0:
      value = value * 3;
      break;
    case 1:
      value = value * value + 3;
      out[5] = value;
      break;
    case 2:
      value = value / 3.5F;
      break;
    case 3:
      value = out[11];
      break;
    case 4:
      atomicAdd(out + 7, value * 2);
      break;
    case 5:
      out[4] = value + 1;
      break;
    case 6:
      value = __logf(value);
      break;
    case 7:
      atomicAdd(out + 9, value * 2);
      value += in[4];
      break;
    default:
      break;
  }
  atomicAdd(out, value);
}

__global__ void types(double* d, __half2* h, __nv_bfloat162* b, float2* f2, float4* f4) {
  const unsigned t = threadIdx.x;
  atomicAdd(d, d[t + 1]);
  atomicAdd(h, h[t + 1]);
  atomicAdd(b, b[t + 1]);
  atomicAdd(f2, f2[t + 1]);
  atomicAdd(f4, f4[t + 1]);
}

// Vectors of halves; and what is no addition of floats.
__global__ void vectors(void* p, unsigned a, unsigned b, int* i, unsigned long long* u, float* f) {
  asm volatile("red.global.add.noftz.v2.f16x2 [%0], {%1,%2};" ::"l"(p), "r"(a), "r"(b));
  asm volatile("red.global.add.noftz.v4.f16x2 [%0], {%1,%2,%1,%2};" ::"l"(p), "r"(a), "r"(b));
  asm volatile("red.global.add.noftz.v2.bf16x2 [%0], {%1,%2};" ::"l"(p), "r"(a), "r"(b));
  asm volatile("red.global.add.noftz.v4.bf16x2 [%0], {%1,%2,%1,%2};" ::"l"(p), "r"(a), "r"(b));
  asm volatile("red.global.max.noftz.v2.f16x2 [%0], {%1,%2};" ::"l"(p), "r"(a), "r"(b));
  atomicAdd(i, 5);  // by one lane for all
  atomicCAS(u, u[1], u[2]);
  atomicExch(f, 3.0F);
}

// What Triton makes of its additions by default: a fence, an addition whose result nobody reads but
// which is waited for, and an L1 without lines; and a fence of the CTA.
__global__ void ordered(float* out, const float* in) {
  asm volatile(
      "{.reg .f32 old; atom.acq_rel.gpu.global.add.f32 old, [%0], %1;}" ::"l"(out + threadIdx.x),
      "f"(in[threadIdx.x])
      : "memory");
  atomicAdd(out + 64 + threadIdx.x, 1.0F);
  __threadfence();
  __threadfence_block();
  out[threadIdx.x + 128] = 2.0F;
}

// The result is read; and two REDs under predicates.
__global__ void results(float* out, const float* in) {
  const float value = in[threadIdx.x];
  const float old = atomicAdd(out, value);
  out[threadIdx.x + 32] = old;
  asm volatile(
      "{.reg .pred p; setp.gt.f32 p, %1, 0f40000000;\n"
      "@p red.global.add.f32 [%0], %1;\n"
      "@!p red.global.add.f32 [%0+4], %1;}" ::"l"(out + 8),
      "f"(value)
      : "memory");
  out[threadIdx.x + 64] = value;
}

// Both sides of a branch have markers, and its lanes meet again.
__global__ void parts(float* out, const float* in, int n) {
  float value = in[threadIdx.x];
  if (value > 1) {
#pragma unroll 1
    for (int i = 0; i < n; ++i) {
      value += in[i * 32];
    }
  } else {
    value = out[threadIdx.x] * in[40];
  }
  __syncwarp();
  atomicAdd(out + 64, value);
}

}  // extern "C"

// SPDX-License-Identifier: Apache-2.0
// Marks functions that a CUDA compiler makes for GPU and host, and a host compiler for the host.
#pragma once

#if defined(__CUDACC__)
#define WARPFOLD_HOST_DEVICE __host__ __device__ __forceinline__
#else
#define WARPFOLD_HOST_DEVICE inline
#endif

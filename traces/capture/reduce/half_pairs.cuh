// SPDX-License-Identifier: Apache-2.0
// A policy of reduce_arc.cuh for pairs of parameters in binary16, of which each fills a word: one
// packed RED for both.
#pragma once

#include <cuda_fp16.h>

#include "traces/capture/reduce/reduce_arc.cuh"

namespace warpfold {

// `params` gives the words of the pairs. The values are rounded to binary16; where they are numbers
// of binary16 already, they are added as they are.
struct HalfPairs {
  static constexpr bool kConverged = false;

  template <class Parameters>
  static __device__ __forceinline__ void reduce(int idx, const Parameters& params,
                                                const float (&val)[2], int /*threshold*/) {
    const __half2 pair = __floats2half2_rn(val[0], val[1]);
    // atomicAdd would ask whether the address is in shared memory.
    asm volatile("red.relaxed.gpu.global.add.noftz.f16x2 [%0], %1;"
                 :
                 : "l"(__cvta_generic_to_global(params(idx, 0))),
                   "r"(*reinterpret_cast<const unsigned*>(&pair))
                 : "memory");
  }
};

}  // namespace warpfold

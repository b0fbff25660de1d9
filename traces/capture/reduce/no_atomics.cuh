// SPDX-License-Identifier: Apache-2.0
// A policy of reduce_arc.cuh that adds nothing: with it a kernel takes the time that no reduction
// can beat.
#pragma once

namespace warpfold::capture {

// In place of Baseline: a store that hardly ever happens keeps index and values alive. It asks
// whether their bits, exclusive-ored, are one pattern.
struct NoAtomics {
  static constexpr bool kConverged = false;

  template <int N, class Parameters>
  static __device__ __forceinline__ void reduce(int idx, const Parameters& params,
                                                const float (&val)[N], int /*threshold*/) {
    unsigned bits = static_cast<unsigned>(idx);
#pragma unroll
    for (int i = 0; i < N; ++i) {
      bits ^= __float_as_uint(val[i]);
    }
    if (bits == 0x7fadf00dU) {
      *params(idx, 0) = val[0];
    }
  }
};

}  // namespace warpfold::capture

// SPDX-License-Identifier: Apache-2.0
// Sums of N values over the 32 lanes of a warp by recursive halving: in each step a lane gives half
// of its values to its partner and adds what it gets to the other half, so that the sums end in N
// lanes, one in each. Nine values take 12 shuffles, where a butterfly takes 45.
//
// The functions without shuffles are for host and device.
#pragma once

#include "traces/capture/reduce/host_device.cuh"

namespace warpfold {

// Values of a lane after a step that began with `values`.
WARPFOLD_HOST_DEVICE constexpr unsigned halved(unsigned values) {
  return (values + 1) / 2;
}

// In the step between lanes whose numbers differ by a power of two, `upper` being the one with the
// greater: what a lane gives of its `values`, and what it keeps, as the i-th of those left.
template <unsigned N>
WARPFOLD_HOST_DEVICE float given(const float (&val)[N], unsigned values, unsigned i, bool upper) {
  const unsigned half = halved(values);
  return upper ? val[i] : (half + i < values ? val[half + i] : 0.0F);
}
template <unsigned N>
WARPFOLD_HOST_DEVICE float kept(const float (&val)[N], unsigned values, unsigned i, bool upper) {
  const unsigned half = halved(values);
  return upper ? (half + i < values ? val[half + i] : 0.0F) : val[i];
}

// Which of N sums ends in a lane; -1 in lanes that hold none, or one that another lane has too.
template <unsigned N>
WARPFOLD_HOST_DEVICE int sum_of_lane(unsigned lane) {
  unsigned first = 0;
  unsigned end = N;
  unsigned values = N;
  for (unsigned offset = 16; offset >= 1; offset /= 2) {
    const bool upper = (lane & offset) != 0;
    if (values == 1) {  // both have the same
      end = upper ? first : end;
      continue;
    }
    values = halved(values);
    if (upper) {
      first += values;
    } else {
      end = end < first + values ? end : first + values;
    }
  }
  return first < end ? static_cast<int>(first) : -1;
}

#if defined(__CUDACC__)
// The sum of lane `lane`, as sum_of_lane says. Called by all lanes.
template <unsigned N>
__device__ __forceinline__ float halve(const float (&val)[N], unsigned lane) {
  float rest[N];
#pragma unroll
  for (unsigned i = 0; i < N; ++i) {
    rest[i] = val[i];
  }
  unsigned values = N;
#pragma unroll
  for (unsigned offset = 16; offset >= 1; offset /= 2) {
    const bool upper = (lane & offset) != 0;
    if (values == 1) {
      rest[0] += __shfl_xor_sync(0xffffffffU, rest[0], static_cast<int>(offset));
      continue;
    }
#pragma unroll
    for (unsigned i = 0; i < (N + 1) / 2; ++i) {
      if (i < halved(values)) {
        const float away = given(rest, values, i, upper);
        rest[i] = kept(rest, values, i, upper) +
                  __shfl_xor_sync(0xffffffffU, away, static_cast<int>(offset));
      }
    }
    values = halved(values);
  }
  return rest[0];
}
#endif

}  // namespace warpfold

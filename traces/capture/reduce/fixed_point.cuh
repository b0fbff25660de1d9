// SPDX-License-Identifier: Apache-2.0
// Sums whose bits do not depend on the order of the additions, as those of floats do: an addition
// is rounded to a whole number of steps of a fixed size and goes to a 64-bit word in one RED. A
// pass at the end makes floats of the words.
//
// The arithmetic is for host and device; the policies of reduce_arc.cuh are for the device.
#pragma once

#include <cmath>

#include "traces/capture/reduce/host_device.cuh"

namespace warpfold {

inline constexpr int kFixedPlaces = 16;  // a struct of words has no more

// What a kernel takes. A word lies where the float lies in its array, and its place in its struct
// says how long its steps are.
struct FixedWords {
  unsigned long long* words;
  unsigned long long* saturated;  // counts the additions that did not fit
  unsigned* greatest;             // by place: the bits of the greatest absolute addition
  float scale[kFixedPlaces];      // steps in one: powers of two
  float limit;                    // the most steps of an addition, a whole number
};

// Steps of an addition: to nearest, ties to even. Beyond the limit it saturates and `lost` grows;
// what is no number counts as the least.
WARPFOLD_HOST_DEVICE long long to_steps(float value, float scale, float limit, unsigned& lost) {
  const float steps = value * scale;  // exact but where it is far from fitting, or below any step
  lost += fabsf(steps) <= limit ? 0U : 1U;
  const float kept = fminf(fmaxf(steps, -limit), limit);
#if defined(__CUDA_ARCH__)
  return __float2ll_rn(kept);
#else
  return static_cast<long long>(nearbyintf(kept));
#endif
}

// The float nearest to the sum in a word. `step`: 1 / scale.
WARPFOLD_HOST_DEVICE float from_steps(unsigned long long word, float step) {
  return static_cast<float>(static_cast<long long>(word)) * step;
}

#if defined(__CUDACC__)

// As these policies want parameters: an element of an array of floats, which `idx` counts, and the
// word in its place.
class FixedElement {
 public:
  // `place` of the lane's words in their structs.
  __device__ __forceinline__ FixedElement(float* floats, const FixedWords& fixed, int place)
      : floats_(floats), fixed_(fixed), place_(place), scale_(fixed.scale[place]) {}
  __device__ __forceinline__ float* operator()(int idx, int /*parameter*/) const {
    return floats_ + idx;
  }
  __device__ __forceinline__ const FixedWords& fixed() const { return fixed_; }
  __device__ __forceinline__ unsigned long long* word(int idx, int /*parameter*/) const {
    return fixed_.words + idx;
  }
  __device__ __forceinline__ int place(int /*parameter*/) const { return place_; }
  __device__ __forceinline__ float scale(int /*parameter*/) const { return scale_; }

 private:
  float* floats_;
  const FixedWords& fixed_;
  int place_;
  float scale_;
};

struct FixedPoint {
  static constexpr bool kConverged = false;

  template <int N, class Parameters>
  static __device__ __forceinline__ void reduce(int idx, const Parameters& params,
                                                const float (&val)[N], int /*threshold*/) {
    const float limit = params.fixed().limit;
    unsigned lost = 0;
#pragma unroll
    for (int i = 0; i < N; ++i) {
      const long long steps = to_steps(val[i], params.scale(i), limit, lost);
      // atomicAdd would ask whether the address is in shared memory.
      asm volatile("red.relaxed.gpu.global.add.u64 [%0], %1;"
                   :
                   : "l"(__cvta_generic_to_global(params.word(idx, i))), "l"(steps)
                   : "memory");
    }
    if (lost != 0) {
      atomicAdd(params.fixed().saturated, static_cast<unsigned long long>(lost));
    }
  }
};

// Adds nothing: finds the greatest absolute addition of each place, for the length of the steps.
struct Greatest {
  static constexpr bool kConverged = false;

  template <int N, class Parameters>
  static __device__ __forceinline__ void reduce(int /*idx*/, const Parameters& params,
                                                const float (&val)[N], int /*threshold*/) {
#pragma unroll
    for (int i = 0; i < N; ++i) {
      unsigned* const greatest = params.fixed().greatest + params.place(i);
      const unsigned bits = __float_as_uint(fabsf(val[i]));  // of greater numbers they are greater
      if (bits > __ldcg(greatest)) {
        atomicMax(greatest, bits);
      }
    }
  }
};

#endif

}  // namespace warpfold

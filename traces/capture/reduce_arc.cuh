// SPDX-License-Identifier: Apache-2.0
// ARC-SW: atomic reduction of several parameters of one primitive within a warp, for any kernel
// whose threads atomically add gradients. After ARC (ASPLOS '25), section 5.5, figures 15 to 17.
// Header only; CUDA 12 or newer, compute capability 7.0 or newer, no other include needed.
//
// A reduce call stands where a kernel has N atomicAdds, one for each parameter of primitive `idx`:
//
//     float val[N] = {...};                                   // this thread's gradients
//     warpfold::reduce_arc<warpfold::SwS>(idx, params, val, threshold);
//
// Policies:
//   Baseline  N atomicAdds by every calling thread.
//   SwS       Serialized (figure 15). The calling threads of a warp that hold the same idx form a
//   group.
//             Where a group has at least `threshold` threads, its lowest lane takes the values of
//             the others one by one with shuffles and adds the sums: N atomicAdds for the group. A
//             smaller group does what Baseline does. Callable in divergent code.
//   SwB       Butterfly (figure 16). Where at least `threshold` lanes are active and all of them
//   hold
//             the same idx, the warp sums by butterfly and its lowest active lane adds: N
//             atomicAdds for the warp. Otherwise the active lanes do what Baseline does.
//   Skip      As SwB at threshold 0, without looking at idx (Atomic Aggregation for 3DGS, figure
//   8):
//             all active lanes must hold the same idx.
//
// SwB and Skip need all 32 lanes of the warp at the call, converged: instead of leaving the
// iteration early a thread calls with was_active = false, with zero in every val (figure 17). A
// warp without an active lane adds nothing. A kernel that has the ballot of its active lanes
// already, to leave the iteration together, passes it to reduce_arc_ballot.
//
// `threshold` is the balancing threshold X, 0 to 32 (33 never reduces): it splits the work between
// the SM, which reduces, and the atomic units behind L2. It is uniform over the warp. Good values
// differ from scene to scene: time a few.
//
// `params` says where the parameters lie: any object with `float* operator()(int idx, int
// parameter)`, called with constants for `parameter` once loops are unrolled. StridedParameters is
// a ready one.
//
// Float addition is not associative, so the policies differ in the last bits of a sum, as atomicAdd
// does from run to run.
#pragma once

namespace warpfold {

inline constexpr unsigned kFullWarp = 0xffffffffU;

// Parameter p of primitive idx is the float at base[p] + idx * stride[p].
template <int N>
struct StridedParameters {
  float* base[N];
  int stride[N];  // floats

  __device__ __forceinline__ float* operator()(int idx, int parameter) const {
    return base[parameter] + static_cast<long long>(idx) * stride[parameter];
  }
};

namespace detail {

__device__ __forceinline__ unsigned lane_id() {
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}

// Is the calling lane the lowest of `lanes`?
__device__ __forceinline__ bool is_lowest(unsigned lanes) {
  return static_cast<int>(lane_id()) == __ffs(static_cast<int>(lanes)) - 1;
}

template <int N, class Parameters>
__device__ __forceinline__ void add_all(int idx, const Parameters& params, const float (&val)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) {
    atomicAdd(params(idx, i), val[i]);
  }
}

// Sum over all 32 lanes, the same in each of them.
template <int N>
__device__ __forceinline__ void butterfly(const float (&val)[N], float (&sum)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) {
    sum[i] = val[i];
  }
#pragma unroll
  for (int offset = 16; offset >= 1; offset /= 2) {
#pragma unroll
    for (int i = 0; i < N; ++i) {
      sum[i] += __shfl_xor_sync(kFullWarp, sum[i], offset);
    }
  }
}

}  // namespace detail

struct Baseline {
  static constexpr bool kConverged = false;

  template <int N, class Parameters>
  static __device__ __forceinline__ void reduce(int idx, const Parameters& params,
                                                const float (&val)[N], int /*threshold*/) {
    detail::add_all(idx, params, val);
  }
};

struct SwS {
  static constexpr bool kConverged = false;

  template <int N, class Parameters>
  static __device__ __forceinline__ void reduce(int idx, const Parameters& params,
                                                const float (&val)[N], int threshold) {
    // Whoever is here together: a subset of the lanes that will come is as good as all of them.
    const unsigned group = __match_any_sync(__activemask(), idx);
    if (__popc(group) < threshold) {
      detail::add_all(idx, params, val);
      return;
    }
    // Every lane of the group accumulates, so that no shuffle is predicated; the leader's sums
    // count.
    float sum[N];
#pragma unroll
    for (int i = 0; i < N; ++i) {
      sum[i] = val[i];
    }
#pragma unroll 1
    for (unsigned rest = group & (group - 1); rest != 0; rest &= rest - 1) {
      const int source = __ffs(static_cast<int>(rest)) - 1;
#pragma unroll
      for (int i = 0; i < N; ++i) {
        sum[i] += __shfl_sync(group, val[i], source);
      }
    }
    if (detail::is_lowest(group)) {
      detail::add_all(idx, params, sum);
    }
  }
};

// kUniformIndex: the caller promises that all active lanes hold the same idx, and the test is left
// out.
template <bool kUniformIndex>
struct SwBWith {
  static constexpr bool kConverged = true;

  template <int N, class Parameters>
  static __device__ __forceinline__ void reduce(unsigned lanes, int idx, const Parameters& params,
                                                const float (&val)[N], int threshold) {
    if (lanes == 0) {
      return;
    }
    const bool was_active = (lanes >> detail::lane_id() & 1U) != 0;
    bool together = __popc(lanes) >= threshold;
    if (!kUniformIndex && together) {
      const int first = __shfl_sync(kFullWarp, idx, __ffs(static_cast<int>(lanes)) - 1);
      together = __all_sync(kFullWarp, !was_active || idx == first) != 0;
    }
    if (together) {
      float sum[N];
      detail::butterfly(val, sum);
      if (detail::is_lowest(lanes)) {
        detail::add_all(idx, params, sum);
      }
    } else if (was_active) {
      detail::add_all(idx, params, val);
    }
  }
};
using SwB = SwBWith<false>;
using SwBUniform = SwBWith<true>;

struct Skip {
  static constexpr bool kConverged = true;

  template <int N, class Parameters>
  static __device__ __forceinline__ void reduce(unsigned lanes, int idx, const Parameters& params,
                                                const float (&val)[N], int /*threshold*/) {
    if (lanes == 0) {
      return;
    }
    float sum[N];
    detail::butterfly(val, sum);
    if (detail::is_lowest(lanes)) {
      detail::add_all(idx, params, sum);
    }
  }
};

// Divergent policies (Baseline, SwS): called by the threads that have something to add, and only
// them.
template <class Policy, int N, class Parameters>
__device__ __forceinline__ void reduce_arc(int idx, const Parameters& params, const float (&val)[N],
                                           int threshold) {
  static_assert(!Policy::kConverged, "this policy needs the whole warp: pass was_active");
  Policy::reduce(idx, params, val, threshold);
}

// Converged policies (SwB, Skip): called by all 32 lanes, val zero where was_active is false.
template <class Policy, int N, class Parameters>
__device__ __forceinline__ void reduce_arc(int idx, const Parameters& params, const float (&val)[N],
                                           int threshold, bool was_active) {
  static_assert(Policy::kConverged, "this policy takes no was_active: only active threads call");
  Policy::reduce(__ballot_sync(kFullWarp, was_active), idx, params, val, threshold);
}

// The same with the ballot of was_active, for kernels that have it.
template <class Policy, int N, class Parameters>
__device__ __forceinline__ void reduce_arc_ballot(unsigned lanes, int idx, const Parameters& params,
                                                  const float (&val)[N], int threshold) {
  static_assert(Policy::kConverged, "this policy takes no ballot: only active threads call");
  Policy::reduce(lanes, idx, params, val, threshold);
}

}  // namespace warpfold

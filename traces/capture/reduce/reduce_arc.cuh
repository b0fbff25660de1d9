// SPDX-License-Identifier: Apache-2.0
// ARC-SW: atomic reduction of several parameters of one primitive within a warp, for any kernel
// whose threads atomically add gradients. After ARC (ASPLOS '25), section 5.5, figures 13 to 17.
// Header only, no other include needed. C++17; CUDA 12 and 13; compute capability 7.0 and up, as
// far down as the toolkit goes (CUDA 13: 7.5). A complete program: reduce_arc_example.cu.
//
// A reduce call stands where a kernel has N atomicAdds, one for each parameter of primitive `idx`:
//
//     float val[N] = {...};                                   // this thread's gradients
//     warpfold::reduce_arc<warpfold::SwS>(idx, params, val, threshold);              // divergent
//     warpfold::reduce_arc<warpfold::SwB>(idx, params, val, threshold, was_active);  // converged
//     warpfold::reduce_arc(policy, idx, params, val, threshold, was_active);  // chosen at run time
//
// After the kernel, parameter i of primitive idx has grown by the val[i] of all calls with that
// idx, whatever the policy.
//
// Policies, and who may call (X is `threshold`):
//
//   Baseline  Divergent. N atomicAdds by every calling thread (ARC, figure 5).
//   SwS       Divergent. Serialized (5.5.1, figure 15). The calling threads of a warp that hold the
//             same idx form a group. Where a group has at least X threads, its lowest lane takes
//             the values of the others one by one with shuffles and adds the sums: N atomicAdds for
//             the group. A smaller group does what Baseline does.
//   SwB       Converged. Butterfly (5.5.2, figure 16). Where at least X lanes are active and all of
//             them hold the same idx, the warp sums by butterfly and its lowest active lane adds: N
//             atomicAdds for the warp. Otherwise the active lanes do what Baseline does.
//   Skip      Converged. As SwB at threshold 0, without looking at idx: all active lanes of a warp
//             must hold the same (Atomic Aggregation for 3DGS, figure 8).
//
//   Divergent: called by the threads that have something to add, in any control flow. Lanes of a
//             warp that come at different times are reduced apart.
//   Converged: called by all 32 lanes of the warp together, so the threads of a block are a
//             multiple of 32 and none has returned. A thread with nothing to add does not leave
//             early: it calls with was_active = false and zero in every val (figure 17); its idx is
//             not looked at. A warp without an active lane adds nothing. A kernel that has the
//             ballot of its active lanes already passes it to reduce_arc_ballot.
//
// `threshold` is the balancing threshold (4.4), 0 to 32 (33 never reduces): it splits the work
// between the SM, which reduces, and the atomic units behind the L2. It is the same in all lanes of
// a warp. Good values differ from scene to scene: time a few, or let reduce_arc_tuner.hpp do it.
//
// `params` says where the parameters lie: any object with `float* operator()(int idx, int
// parameter) const`, called with constants for `parameter` once loops are unrolled, and only for
// the idx of active lanes. It gives any address that atomicAdd takes, in global or shared memory.
// StridedParameters is a ready one.
//
// Errors: the wrong form of the call for a policy does not compile. At run time nothing is checked:
// an idx out of range, lanes missing at a converged call, and a threshold or policy that differs
// within a warp are undefined behaviour, as for atomicAdd and the warp shuffles.
//
// Limits: FP32 only. N is a compile-time constant; val and its sums take 2 N registers. Nothing is
// returned. Ordering is that of atomicAdd: relaxed, at the scope of the GPU. Float addition is not
// associative, so the policies differ in the last bits of a sum, as atomicAdd does from run to run.
// atomicAdd flushes subnormal numbers to zero in global memory; the sums within a warp keep them
// unless the program is compiled with -ftz=true.
#pragma once

namespace warpfold {

inline constexpr unsigned kFullWarp = 0xffffffffU;

// Parameter p of primitive idx is the float at base[p] + idx * stride[p]: one array for each
// parameter, or the fields of one struct.
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

// Adds val[i] to *params(idx, i), for i below N, by a divergent policy (Baseline, SwS): called by
// the threads that have something to add, and only them.
template <class Policy, int N, class Parameters>
__device__ __forceinline__ void reduce_arc(int idx, const Parameters& params, const float (&val)[N],
                                           int threshold) {
  static_assert(!Policy::kConverged, "this policy needs the whole warp: pass was_active");
  Policy::reduce(idx, params, val, threshold);
}

// The same by a converged policy (SwB, Skip): called by all 32 lanes, val zero where was_active is
// false.
template <class Policy, int N, class Parameters>
__device__ __forceinline__ void reduce_arc(int idx, const Parameters& params, const float (&val)[N],
                                           int threshold, bool was_active) {
  static_assert(Policy::kConverged, "this policy takes no was_active: only active threads call");
  Policy::reduce(__ballot_sync(kFullWarp, was_active), idx, params, val, threshold);
}

// The same with the ballot of was_active over the warp, for kernels that have it.
template <class Policy, int N, class Parameters>
__device__ __forceinline__ void reduce_arc_ballot(unsigned lanes, int idx, const Parameters& params,
                                                  const float (&val)[N], int threshold) {
  static_assert(Policy::kConverged, "this policy takes no ballot: only active threads call");
  Policy::reduce(lanes, idx, params, val, threshold);
}

// A policy that is chosen at run time.
enum class ReducePolicy { kBaseline, kSwS, kSwB, kSkip };

// Adds by `policy`: called by all 32 lanes whichever it is, val zero where was_active is false.
// The kernel holds the code of all four; one kernel for each policy, chosen on the host, takes
// fewer registers.
template <int N, class Parameters>
__device__ __forceinline__ void reduce_arc(ReducePolicy policy, int idx, const Parameters& params,
                                           const float (&val)[N], int threshold, bool was_active) {
  if (policy == ReducePolicy::kSwB) {
    reduce_arc<SwB>(idx, params, val, threshold, was_active);
  } else if (policy == ReducePolicy::kSkip) {
    reduce_arc<Skip>(idx, params, val, threshold, was_active);
  } else if (was_active && policy == ReducePolicy::kSwS) {
    reduce_arc<SwS>(idx, params, val, threshold);
  } else if (was_active) {
    reduce_arc<Baseline>(idx, params, val, threshold);
  }
}

}  // namespace warpfold

// SPDX-License-Identifier: Apache-2.0
// A workload's kernel is written once, as a struct
//
//     struct Body {
//       using Args = ...;                          // plain data, passed by value
//       static constexpr int kThreads = 256;       // of a CTA, a multiple of 32
//       template <class Mode>
//       static __device__ __forceinline__ void run(const Args& args, Mode& mode);
//     };
//
// and compiled once for each variant and once for the recorder; the macros at the end make the
// __global__ functions. `mode` is what differs between them:
//
//   mode.note(path)              one pass along `path`, an index into Workload::paths(). Costs
//                                nothing but in the recorder.
//   mode.leaves(active, path)    Does this thread leave here? `if (mode.leaves(a, kPathSkip))
//                                continue;`. Divergent kernels: !active. Converged kernels: no
//                                thread of the warp is active; the others stay. cccl: never. The
//                                recorder notes `path` when the warp leaves.
//   mode.leaves_alone(active, path)   The same at a place where converged kernels do not vote:
//                                they go on to the next `leaves` with that thread inactive.
//   mode.ends(active, path)      Does this thread have no part at all? `if (mode.ends(a, kOutside))
//                                return;`. Like `leaves`, and cccl ends as well.
//   mode.trips(n)                trips of a loop whose thread has n: the warp's most in converged
//                                kernels. Follow it with `leaves(i < n, path)` in the loop.
//   mode.keep(active, x)         x; 0 in threads that are not active
//   mode.reduce(idx, params, val)     the reduce call. Those that the last `leaves` let through are
//                                its active lanes. In converged kernels the others are here too:
//                                their val must be 0 (keep), and their idx is not looked at. Where
//                                the macro is WARPFOLD_PRIMITIVE_KERNELS, every lane must have the
//                                idx of the active ones (a warp without any: some primitive), as
//                                cccl adds by lane 0 and reduces in every pass.
//   mode.barrier()               __syncthreads()
//   mode.sum_in_shared(write)    write(), by all lanes of the warp: sums in shared memory, from
//                                where the next reduce may take them (reduce_bulk.cuh)
//
// Rules, for the recorder and the converged kernels: a warp is converged at each of these calls, so
// no thread returns, continues or breaks but by way of `leaves` or on a condition that the whole
// warp shares; `run` is left by all lanes of a warp together. The order of the calls is the order
// of the records. What is added must not depend on the mode: use __fmul_rn and the like where the
// compiler could contract differently.
#pragma once

#include "traces/capture/reduce/fixed_point.cuh"
#include "traces/capture/reduce/half_pairs.cuh"
#include "traces/capture/reduce/no_atomics.cuh"
#include "traces/capture/reduce/reduce_arc.cuh"
#include "traces/capture/reduce/reduce_bulk.cuh"
#include "traces/capture/reduce/reduce_cccl.cuh"
#include "traces/capture/reduce/reduce_slot.cuh"
#include "traces/capture/reduce/reduce_vector.cuh"
#include "traces/capture/workload/log.hpp"
#include "traces/capture/workload/variant.hpp"

namespace warpfold::capture::workload {

// Adds by a policy of reduce_arc.cuh.
template <class Policy>
class Adding {
 public:
  static constexpr bool kConverged = Policy::kConverged;
  // Does the policy reduce also where no lane of the warp is active?
  static constexpr bool kEveryPass = requires { Policy::kEveryPass; };

  __device__ __forceinline__ explicit Adding(int threshold) : threshold_(threshold) {}

  __device__ __forceinline__ void note(unsigned /*path*/) {}
  __device__ __forceinline__ bool leaves(bool active, unsigned path) {
    const bool gone = ends(active, path);
    return !kEveryPass && gone;
  }
  __device__ __forceinline__ bool ends(bool active, unsigned /*path*/) {
    if constexpr (kConverged) {
      lanes_ = __ballot_sync(kFullWarp, active);
      return lanes_ == 0;
    } else {
      return !active;
    }
  }
  __device__ __forceinline__ bool leaves_alone(bool active, unsigned /*path*/) {
    return !kConverged && !active;
  }
  __device__ __forceinline__ int trips(int n) const {
    if constexpr (kConverged) {
#pragma unroll
      for (int offset = 16; offset >= 1; offset /= 2) {
        n = max(n, __shfl_xor_sync(kFullWarp, n, offset));
      }
    }
    return n;
  }
  __device__ __forceinline__ float keep(bool active, float x) const {
    return !kConverged || active ? x : 0.0F;
  }
  template <int N, class Parameters>
  __device__ __forceinline__ void reduce(int idx, const Parameters& params, const float (&val)[N]) {
    if constexpr (kConverged) {
      reduce_arc_ballot<Policy>(lanes_, idx, params, val, threshold_);
    } else {
      reduce_arc<Policy>(idx, params, val, threshold_);
    }
  }
  __device__ __forceinline__ void barrier() {
    __syncthreads();
  }
  template <class Write>
  __device__ __forceinline__ void sum_in_shared(Write&& write) {
    if constexpr (requires { Policy::ready_to_write(); }) {
      Policy::ready_to_write();
      __syncwarp();
    }
    write();
    if constexpr (requires { Policy::written(); }) {
      Policy::written();
    }
    __syncwarp();
  }
  __device__ __forceinline__ void finish() {
    if constexpr (requires { Policy::finish(); }) {
      Policy::finish();
    }
  }

 private:
  int threshold_;
  unsigned lanes_ = 0;
};

// Writes a log (log.hpp) instead of adding.
class Recording {
 public:
  static constexpr bool kConverged = true;

  __device__ __forceinline__ explicit Recording(const RecorderArgs& args) : args_(args) {
    const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const unsigned long long cta =
        blockIdx.x + static_cast<unsigned long long>(gridDim.x) *
                         (blockIdx.y + static_cast<unsigned long long>(gridDim.y) * blockIdx.z);
    lane_ = thread % trace::kWarpLanes;
    const unsigned warps = blockDim.x * blockDim.y * blockDim.z / trace::kWarpLanes;
    warp_ = cta * warps + thread / trace::kWarpLanes;
    const std::uint64_t offset = args.words != nullptr ? args.offsets[warp_] : kNotLogged;
    words_ = offset != kNotLogged ? args.words + offset : nullptr;
  }

  __device__ __forceinline__ void note(unsigned path) {
    if (passes_ > 0 && (path != path_ || passes_ == kLogPasses)) {
      flush();
    }
    path_ = path;
    ++passes_;
  }
  __device__ __forceinline__ bool leaves(bool active, unsigned path) {
    lanes_ = __ballot_sync(kFullWarp, active);
    if (lanes_ == 0) {
      note(path);
    }
    return lanes_ == 0;
  }
  __device__ __forceinline__ bool ends(bool active, unsigned path) { return leaves(active, path); }
  __device__ __forceinline__ bool leaves_alone(bool active, unsigned path) {
    return leaves(active, path);
  }
  __device__ __forceinline__ int trips(int n) const {
#pragma unroll
    for (int offset = 16; offset >= 1; offset /= 2) {
      n = max(n, __shfl_xor_sync(kFullWarp, n, offset));
    }
    return n;
  }
  __device__ __forceinline__ float keep(bool active, float x) const {
    return active ? x : 0.0F;
  }
  template <int N, class Parameters>
  __device__ __forceinline__ void reduce(int idx, const Parameters& /*params*/,
                                         const float (&val)[N]) {
    flush();
    const bool active = (lanes_ >> lane_ & 1U) != 0;
    const int first = __shfl_sync(kFullWarp, idx, __ffs(static_cast<int>(lanes_)) - 1);
    const bool uniform = __all_sync(kFullWarp, !active || idx == first) != 0;
    const unsigned count = static_cast<unsigned>(__popc(lanes_));
    const unsigned rank = static_cast<unsigned>(__popc(lanes_ & ((1U << lane_) - 1U)));
    const unsigned primitives = uniform ? 1 : count;
    if (words_ != nullptr) {
      std::uint32_t* const entry = words_ + at_;
      if (lane_ == 0) {
        entry[0] = (uniform ? kLogEvent : kLogLaneEvent) << kLogKindShift;
        entry[1] = lanes_;
      }
      if (active && rank < primitives) {
        entry[2 + rank] = static_cast<std::uint32_t>(idx);
      }
      if (active && args_.with_values != 0) {
#pragma unroll
        for (unsigned i = 0; i < N; ++i) {
          entry[2 + primitives + i * count + rank] = __float_as_uint(val[i]);
        }
      }
    }
    at_ += 2 + primitives + (args_.with_values != 0 ? N * count : 0);
  }
  __device__ __forceinline__ void barrier() {
    flush();
    put(kLogBarrier << kLogKindShift);
    __syncthreads();
  }
  template <class Write>
  __device__ __forceinline__ void sum_in_shared(Write&& write) {
    write();
    __syncwarp();
  }
  __device__ __forceinline__ void finish() {
    flush();
    if (args_.counts != nullptr && lane_ == 0) {
      args_.counts[warp_] = at_;
    }
  }

 private:
  __device__ __forceinline__ void put(std::uint32_t word) {
    if (words_ != nullptr && lane_ == 0) {
      words_[at_] = word;
    }
    ++at_;
  }
  __device__ __forceinline__ void flush() {
    if (passes_ > 0) {
      put(kLogWork << kLogKindShift | path_ << kLogPathShift | passes_);
      passes_ = 0;
    }
  }

  const RecorderArgs& args_;
  std::uint32_t* words_;
  unsigned long long warp_;
  unsigned lane_;
  unsigned lanes_ = 0;
  unsigned at_ = 0;  // words of this warp so far
  unsigned path_ = 0;
  unsigned passes_ = 0;  // along path_, not yet written
};

}  // namespace warpfold::capture::workload

// The kernels of a workload, as warpfold_NAME_VARIANT, and the function NAME_kernels() that lists
// them. One of these, inside of a namespace:
//
//   WARPFOLD_PRIMITIVE_KERNELS(NAME, BODY)   the active lanes of a reduce call share a primitive:
//                                            all variants
//   WARPFOLD_SCATTER_KERNELS(NAME, BODY)     they may not: without skip and cccl
//   WARPFOLD_DIVERGENT_KERNELS(NAME, BODY)   and threads cannot stay together: without sw-b
//   WARPFOLD_SLOT_KERNELS(NAME, BODY)        as the second, for blocks of up to 8 warps:
//                                            shared-slot as well
//   WARPFOLD_STRUCT_KERNELS(NAME, BODY)      as the first, for blocks of up to 8 warps; the
//                                            parameters of a primitive lie one behind the other
//                                            from a multiple of 16 bytes on: vector REDs and
//                                            shared-slot as well
//   WARPFOLD_APART_KERNELS(NAME, BODY)       the active lanes never share a primitive: only the
//                                            baseline
//   WARPFOLD_APART_FIXED_KERNELS(NAME, BODY)   the same, and in fixed point; params are as
//                                            fixed_point.cuh wants them
//   WARPFOLD_APART_STRUCT_KERNELS(NAME, BODY)   only the baseline, with vector REDs and bulk
//                                            operations
//   WARPFOLD_APART_STRUCT_FIXED_KERNELS(NAME, BODY)   the same, and in fixed point
//   WARPFOLD_HALF_KERNELS(NAME, BODY)        parameters are a pair of halves in a word: only the
//                                            baseline, with a packed RED
#define WARPFOLD_PRIMITIVE_KERNELS(NAME, BODY)              \
  WARPFOLD_BASIC_KERNELS(NAME, BODY)                        \
  WARPFOLD_KERNEL(NAME, sw_b, BODY, ::warpfold::SwB)        \
  WARPFOLD_KERNEL(NAME, skip, BODY, ::warpfold::Skip)       \
  WARPFOLD_KERNEL(NAME, cccl, BODY, ::warpfold::Cccl)       \
  ::warpfold::capture::workload::Kernels NAME##_kernels() { \
    ::warpfold::capture::workload::Kernels kernels;         \
    WARPFOLD_BASIC_ENTRIES(NAME)                            \
    WARPFOLD_ENTRY(kSwB, NAME, sw_b)                        \
    WARPFOLD_ENTRY(kSkip, NAME, skip)                       \
    WARPFOLD_ENTRY(kCccl, NAME, cccl)                       \
    return kernels;                                         \
  }
#define WARPFOLD_SCATTER_KERNELS(NAME, BODY)                \
  WARPFOLD_BASIC_KERNELS(NAME, BODY)                        \
  WARPFOLD_KERNEL(NAME, sw_b, BODY, ::warpfold::SwB)        \
  ::warpfold::capture::workload::Kernels NAME##_kernels() { \
    ::warpfold::capture::workload::Kernels kernels;         \
    WARPFOLD_BASIC_ENTRIES(NAME)                            \
    WARPFOLD_ENTRY(kSwB, NAME, sw_b)                        \
    return kernels;                                         \
  }
#define WARPFOLD_DIVERGENT_KERNELS(NAME, BODY)              \
  WARPFOLD_BASIC_KERNELS(NAME, BODY)                        \
  ::warpfold::capture::workload::Kernels NAME##_kernels() { \
    ::warpfold::capture::workload::Kernels kernels;         \
    WARPFOLD_BASIC_ENTRIES(NAME)                            \
    return kernels;                                         \
  }
#define WARPFOLD_SLOT_KERNELS(NAME, BODY)                          \
  WARPFOLD_BASIC_KERNELS(NAME, BODY)                               \
  WARPFOLD_KERNEL(NAME, sw_b, BODY, ::warpfold::SwB)               \
  WARPFOLD_KERNEL(NAME, shared_slot, BODY, ::warpfold::SharedSlot) \
  ::warpfold::capture::workload::Kernels NAME##_kernels() {        \
    ::warpfold::capture::workload::Kernels kernels;                \
    WARPFOLD_BASIC_ENTRIES(NAME)                                   \
    WARPFOLD_ENTRY(kSwB, NAME, sw_b)                               \
    WARPFOLD_ENTRY(kSharedSlot, NAME, shared_slot)                 \
    return kernels;                                                \
  }
#define WARPFOLD_STRUCT_KERNELS(NAME, BODY)                        \
  WARPFOLD_BASIC_KERNELS(NAME, BODY)                               \
  WARPFOLD_KERNEL(NAME, sw_b, BODY, ::warpfold::SwB)               \
  WARPFOLD_KERNEL(NAME, skip, BODY, ::warpfold::Skip)              \
  WARPFOLD_KERNEL(NAME, cccl, BODY, ::warpfold::Cccl)              \
  WARPFOLD_KERNEL(NAME, vector, BODY, ::warpfold::Vector)          \
  WARPFOLD_KERNEL(NAME, skip_vector, BODY, ::warpfold::SkipVector) \
  WARPFOLD_KERNEL(NAME, shared_slot, BODY, ::warpfold::SharedSlot) \
  ::warpfold::capture::workload::Kernels NAME##_kernels() {        \
    ::warpfold::capture::workload::Kernels kernels;                \
    WARPFOLD_BASIC_ENTRIES(NAME)                                   \
    WARPFOLD_ENTRY(kSwB, NAME, sw_b)                               \
    WARPFOLD_ENTRY(kSkip, NAME, skip)                              \
    WARPFOLD_ENTRY(kCccl, NAME, cccl)                              \
    WARPFOLD_ENTRY(kVector, NAME, vector)                          \
    WARPFOLD_ENTRY(kSkipVector, NAME, skip_vector)                 \
    WARPFOLD_ENTRY(kSharedSlot, NAME, shared_slot)                 \
    return kernels;                                                \
  }
#define WARPFOLD_APART_KERNELS(NAME, BODY)                  \
  WARPFOLD_PLAIN_KERNELS(NAME, BODY)                        \
  ::warpfold::capture::workload::Kernels NAME##_kernels() { \
    ::warpfold::capture::workload::Kernels kernels;         \
    WARPFOLD_PLAIN_ENTRIES(NAME)                            \
    return kernels;                                         \
  }
#define WARPFOLD_APART_FIXED_KERNELS(NAME, BODY)            \
  WARPFOLD_PLAIN_KERNELS(NAME, BODY)                        \
  WARPFOLD_FIXED_POINT_KERNELS(NAME, BODY)                  \
  ::warpfold::capture::workload::Kernels NAME##_kernels() { \
    ::warpfold::capture::workload::Kernels kernels;         \
    WARPFOLD_PLAIN_ENTRIES(NAME)                            \
    WARPFOLD_FIXED_POINT_ENTRIES(NAME)                      \
    return kernels;                                         \
  }
#define WARPFOLD_APART_STRUCT_FIXED_KERNELS(NAME, BODY)               \
  WARPFOLD_PLAIN_KERNELS(NAME, BODY)                                  \
  WARPFOLD_KERNEL(NAME, vector, BODY, ::warpfold::Vector)             \
  WARPFOLD_KERNEL(NAME, bulk, BODY, ::warpfold::Bulk<BODY::kThreads>) \
  WARPFOLD_FIXED_POINT_KERNELS(NAME, BODY)                            \
  ::warpfold::capture::workload::Kernels NAME##_kernels() {           \
    ::warpfold::capture::workload::Kernels kernels;                   \
    WARPFOLD_PLAIN_ENTRIES(NAME)                                      \
    WARPFOLD_ENTRY(kVector, NAME, vector)                             \
    WARPFOLD_ENTRY(kBulk, NAME, bulk)                                 \
    WARPFOLD_FIXED_POINT_ENTRIES(NAME)                                \
    return kernels;                                                   \
  }
#define WARPFOLD_APART_STRUCT_KERNELS(NAME, BODY)                     \
  WARPFOLD_PLAIN_KERNELS(NAME, BODY)                                  \
  WARPFOLD_KERNEL(NAME, vector, BODY, ::warpfold::Vector)             \
  WARPFOLD_KERNEL(NAME, bulk, BODY, ::warpfold::Bulk<BODY::kThreads>) \
  ::warpfold::capture::workload::Kernels NAME##_kernels() {           \
    ::warpfold::capture::workload::Kernels kernels;                   \
    WARPFOLD_PLAIN_ENTRIES(NAME)                                      \
    WARPFOLD_ENTRY(kVector, NAME, vector)                             \
    WARPFOLD_ENTRY(kBulk, NAME, bulk)                                 \
    return kernels;                                                   \
  }

#define WARPFOLD_HALF_KERNELS(NAME, BODY)                      \
  WARPFOLD_KERNEL(NAME, baseline, BODY, ::warpfold::HalfPairs) \
  WARPFOLD_FLOOR_KERNELS(NAME, BODY)                           \
  ::warpfold::capture::workload::Kernels NAME##_kernels() {    \
    ::warpfold::capture::workload::Kernels kernels;            \
    WARPFOLD_PLAIN_ENTRIES(NAME)                               \
    return kernels;                                            \
  }

// Parts of the above.
#define WARPFOLD_KERNEL(NAME, VARIANT, BODY, POLICY)                                        \
  extern "C" __global__ void __launch_bounds__(BODY::kThreads)                              \
      warpfold_##NAME##_##VARIANT(const __grid_constant__ BODY::Args args, int threshold) { \
    ::warpfold::capture::workload::Adding<POLICY> mode(threshold);                          \
    BODY::run(args, mode);                                                                  \
    mode.finish();                                                                          \
  }
#define WARPFOLD_FIXED_POINT_KERNELS(NAME, BODY)             \
  WARPFOLD_KERNEL(NAME, fixed, BODY, ::warpfold::FixedPoint) \
  WARPFOLD_KERNEL(NAME, greatest, BODY, ::warpfold::Greatest)
#define WARPFOLD_FIXED_POINT_ENTRIES(NAME) \
  WARPFOLD_ENTRY(kFixed, NAME, fixed)      \
  kernels.greatest = reinterpret_cast<const void*>(warpfold_##NAME##_greatest);
#define WARPFOLD_BASIC_KERNELS(NAME, BODY) \
  WARPFOLD_PLAIN_KERNELS(NAME, BODY)       \
  WARPFOLD_KERNEL(NAME, sw_s, BODY, ::warpfold::SwS)
#define WARPFOLD_PLAIN_KERNELS(NAME, BODY)                    \
  WARPFOLD_KERNEL(NAME, baseline, BODY, ::warpfold::Baseline) \
  WARPFOLD_FLOOR_KERNELS(NAME, BODY)
#define WARPFOLD_FLOOR_KERNELS(NAME, BODY)                                                 \
  WARPFOLD_KERNEL(NAME, none, BODY, ::warpfold::capture::NoAtomics)                        \
  extern "C" __global__ void __launch_bounds__(BODY::kThreads) warpfold_##NAME##_recorder( \
      const __grid_constant__ BODY::Args args,                                             \
      const __grid_constant__ ::warpfold::capture::workload::RecorderArgs recorder) {      \
    ::warpfold::capture::workload::Recording mode(recorder);                               \
    BODY::run(args, mode);                                                                 \
    mode.finish();                                                                         \
  }
#define WARPFOLD_BASIC_ENTRIES(NAME) \
  WARPFOLD_PLAIN_ENTRIES(NAME)       \
  WARPFOLD_ENTRY(kSwS, NAME, sw_s)
#define WARPFOLD_PLAIN_ENTRIES(NAME)        \
  WARPFOLD_ENTRY(kBaseline, NAME, baseline) \
  WARPFOLD_ENTRY(kNone, NAME, none)         \
  kernels.recorder = reinterpret_cast<const void*>(warpfold_##NAME##_recorder);
#define WARPFOLD_ENTRY(INDEX, NAME, VARIANT)                                                  \
  kernels.variants[static_cast<std::size_t>(::warpfold::capture::workload::Variant::INDEX)] = \
      reinterpret_cast<const void*>(warpfold_##NAME##_##VARIANT);

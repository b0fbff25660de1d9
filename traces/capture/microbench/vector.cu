// SPDX-License-Identifier: Apache-2.0
// Throughput of REDs of vectors, of as many REDs of floats, and of bulk reductions from shared to
// global memory. Vectors and bulk reductions need compute capability 9.0.
#include <cstring>
#include <numeric>

#include "traces/capture/microbench/benches.hpp"
#include "traces/capture/microbench/kernels_red.cuh"
#include "traces/capture/microbench/vector_cases.hpp"

namespace warpfold::microbench {
namespace {

constexpr int kVectorCapability = 90;
constexpr int kBulkBytes = 1024;

__device__ void red_v2(const char* address, float value) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  asm volatile("red.global.add.v2.f32 [%0], {%1, %1};" ::"l"(address), "f"(value) : "memory");
#endif
}

__device__ void red_v4(const char* address, float value) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  asm volatile("red.global.add.v4.f32 [%0], {%1, %1, %1, %1};" ::"l"(address), "f"(value)
               : "memory");
#endif
}

template <VectorForm kForm>
__device__ __forceinline__ void add_words(const char* address, float value) {
  if constexpr (kForm == VectorForm::kV2) {
    red_v2(address, value);
  } else if constexpr (kForm == VectorForm::kV4) {
    red_v4(address, value);
  } else if constexpr (kForm == VectorForm::kV4x9) {
    red_v4(address, value);
    red_v4(address + 16, value);
    red_add(address + 32, value);
  } else if constexpr (kForm == VectorForm::kHalf2) {
    asm volatile("red.global.add.noftz.f16x2 [%0], %1;" ::"l"(address), "r"(0x04000400U)
                 : "memory");
  } else {
    constexpr int kWords = kForm == VectorForm::kScalar1   ? 1
                           : kForm == VectorForm::kScalar2 ? 2
                           : kForm == VectorForm::kScalar4 ? 4
                                                           : 9;
#pragma unroll
    for (int w = 0; w < kWords; ++w) {
      red_add(address + 4 * w, value);
    }
  }
}

// What an iteration of warp `warp` adds to, for one lane.
class Places {
 public:
  __device__ Places(char* base, const VectorPattern& pattern, std::uint32_t warp)
      : pattern_(pattern),
        base_(base + pattern.lane[lane_id()]),
        place_(warp * pattern.warp_step) {}
  __device__ char* next() {
    char* const at = base_ + static_cast<std::uint64_t>(place_ & pattern_.mask) * pattern_.scale;
    place_ += pattern_.step;
    return at;
  }

 private:
  const VectorPattern& pattern_;
  char* base_;
  std::uint32_t place_;
};

template <VectorForm kForm>
__global__ void vector_red(Probe probe, char* base, const __grid_constant__ VectorPattern pattern,
                           int iterations) {
  const int warp = enter(probe);
  if (warp < 0) {
    return;
  }
  Stopwatch watch;
  watch.start();
  if ((pattern.active >> lane_id() & 1U) != 0) {
    Places places(base, pattern, static_cast<std::uint32_t>(warp));
#pragma unroll 1
    for (int i = 0; i < iterations; ++i) {
      const char* at = places.next();
#pragma unroll
      for (int a = 0; a < kVectorArrays; ++a) {
        add_words<kForm>(at, 1.0F);
        at += pattern.array;
      }
    }
  }
  watch.stop(probe, warp, true);
}

// Each active lane has its reductions read from one and the same shared memory, which holds ones.
__global__ void bulk_reduce(Probe probe, char* base, const __grid_constant__ VectorPattern pattern,
                            int iterations, int bytes, bool one_by_one) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  __shared__ alignas(128) float ones[kBulkBytes / 4];
  for (unsigned i = threadIdx.x; i < kBulkBytes / 4; i += blockDim.x) {
    ones[i] = 1.0F;
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  const int warp = enter(probe);
  if (warp < 0) {
    return;
  }
  const auto from = static_cast<std::uint32_t>(__cvta_generic_to_shared(ones));
  Stopwatch watch;
  watch.start();
  if ((pattern.active >> lane_id() & 1U) != 0) {
    Places places(base, pattern, static_cast<std::uint32_t>(warp));
#pragma unroll 1
    for (int i = 0; i < iterations; ++i) {
      char* at = places.next();
#pragma unroll
      for (int a = 0; a < kVectorArrays; ++a) {
        asm volatile(
            "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(
                __cvta_generic_to_global(at)),
            "r"(from), "r"(bytes)
            : "memory");
        at += pattern.array;
        if (one_by_one) {
          asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
        }
      }
    }
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  }
  // The group is done once the L2 has taken it, not once it has added.
  watch.stop_when(probe, warp, [] {
    asm volatile("cp.async.bulk.wait_group 0; fence.proxy.async.global;" ::: "memory");
    __syncwarp();
    __threadfence();
  });
#endif
}

class VectorBench {
 public:
  explicit VectorBench(Harness& harness) : harness_(harness), buffer_(kRedBytes) {
    buffer_.clear_async();
  }

  void vectors() {
    const bool has_vectors = harness_.device().compute_capability >= kVectorCapability;
    for (const VectorCase& one : vector_cases(harness_.device().sms)) {
      const bool vector = one.form == VectorForm::kV2 || one.form == VectorForm::kV4 ||
                          one.form == VectorForm::kV4x9;
      if (has_vectors || !vector) {
        harness_.attempt(one.name, [&] { run(one); });
        if (one.checked) {
          clear();
          launch(one, 0);
          expect_sum(one.name, operations_of(one) * one.lanes * words_of(one.form), one.whole_gpu);
        }
      }
    }
  }

  void bulks() {
    if (harness_.device().compute_capability < kVectorCapability) {
      return;
    }
    for (const BulkCase& one : bulk_cases()) {
      const auto samples = launch(one, harness_.repetitions());
      const double operations = operations_of(one) * one.lanes;
      Result result = window_result("bulk", one.name, with(one.parameters, one.iterations),
                                    "SM cycles/bulk reduction of an SM",
                                    harness_.place(one.warps, one.whole_gpu), samples, operations);
      result.extra["bytes_per_cycle"] =
          operations * one.bytes * samples.front().sms /
          summarize_member(samples, &Sample::drained_window, 1).median;
      harness_.report().add(result);
      if (one.checked) {
        clear();
        launch(one, 0);
        expect_sum(one.name, operations * one.bytes / 4, one.whole_gpu);
      }
    }
  }

 private:
  static Json with(Json parameters, int iterations) {
    parameters["iterations"] = iterations;
    return parameters;
  }
  // Of all warps of an SM.
  template <class Case>
  static double operations_of(const Case& one) {
    return static_cast<double>(one.iterations) * kVectorArrays * one.warps;
  }

  void clear() { capture::check(cudaMemset(buffer_.data(), 0, buffer_.size()), "cudaMemset"); }

  // Every lane added ones, few enough to a word that floats count them.
  void expect_sum(const std::string& name, double added_by_sm, bool whole_gpu) {
    const std::vector<char> bytes = buffer_.to_host();
    std::vector<float> floats(bytes.size() / sizeof(float));
    std::memcpy(floats.data(), bytes.data(), bytes.size());
    const double sum = std::accumulate(floats.begin(), floats.end(), 0.0);
    const double added = added_by_sm * (whole_gpu ? harness_.device().sms : 1);
    if (sum != added) {
      throw capture::CudaError(name + " added " + std::to_string(sum) + ", not " +
                               std::to_string(added));
    }
  }

  // One launch to warm up, and so many more.
  std::vector<Sample> launch(const BulkCase& one, int repetitions) {
    return harness_.run(harness_.place(one.warps, one.whole_gpu), repetitions,
                        [&](const Probe& probe, int grid, int block) {
                          bulk_reduce<<<grid, block>>>(probe, buffer_.data(), one.pattern,
                                                       one.iterations, one.bytes, one.one_by_one);
                        });
  }
  std::vector<Sample> launch(const VectorCase& one, int repetitions) {
    const auto with_kernel = [&](const auto& kernel) {
      return harness_.run(harness_.place(one.warps, one.whole_gpu), repetitions,
                          [&](const Probe& probe, int grid, int block) {
                            kernel<<<grid, block>>>(probe, buffer_.data(), one.pattern,
                                                    one.iterations);
                          });
    };
    switch (one.form) {
      case VectorForm::kScalar1:
        return with_kernel(vector_red<VectorForm::kScalar1>);
      case VectorForm::kScalar2:
        return with_kernel(vector_red<VectorForm::kScalar2>);
      case VectorForm::kScalar4:
        return with_kernel(vector_red<VectorForm::kScalar4>);
      case VectorForm::kScalar9:
        return with_kernel(vector_red<VectorForm::kScalar9>);
      case VectorForm::kV2:
        return with_kernel(vector_red<VectorForm::kV2>);
      case VectorForm::kV4:
        return with_kernel(vector_red<VectorForm::kV4>);
      case VectorForm::kV4x9:
        return with_kernel(vector_red<VectorForm::kV4x9>);
      case VectorForm::kHalf2:
        break;
    }
    return with_kernel(vector_red<VectorForm::kHalf2>);
  }

  void run(const VectorCase& one) {
    const auto samples = launch(one, one.launches * harness_.repetitions());
    Result result =
        window_result("vector", one.name, with(one.parameters, one.iterations),
                      "SM cycles/addition of a warp's vectors of an SM",
                      harness_.place(one.warps, one.whole_gpu), samples, operations_of(one));
    result.extra["words_per_cycle"] = operations_of(one) * one.lanes * words_of(one.form) *
                                      samples.front().sms /
                                      summarize_member(samples, &Sample::drained_window, 1).median;
    harness_.report().add(result);
  }

  Harness& harness_;
  DeviceBuffer<char> buffer_;
};

}  // namespace

void bench_vector(Harness& harness) {
  VectorBench(harness).vectors();
}

void bench_bulk(Harness& harness) {
  VectorBench(harness).bulks();
}

}  // namespace warpfold::microbench

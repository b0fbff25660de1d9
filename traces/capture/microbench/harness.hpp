// SPDX-License-Identifier: Apache-2.0
// Host side of a measurement: launches a kernel several times with a Probe and turns the clocks
// that its warps recorded into windows of SM cycles. Every method throws CudaError when a call
// fails.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <regex>
#include <string>
#include <vector>

#include "traces/capture/common/device_buffer.hpp"
#include "traces/capture/microbench/report.hpp"

namespace warpfold::microbench {

using capture::check;
using capture::check_launch;
using capture::DeviceBuffer;

// What one warp recorded: SM clocks, and the nanosecond timer around them.
struct WarpRecord {
  std::uint64_t start;
  std::uint64_t end;      // issued
  std::uint64_t drained;  // its memory operations done, where the kernel waits for them
  std::uint64_t time_start;
  std::uint64_t time_end;
  std::uint32_t sm;
  std::uint32_t hardware_warp;
  std::uint32_t valid;
  std::uint32_t unused;
};

// Handed to every measuring kernel.
struct Probe {
  WarpRecord* records;
  std::uint32_t* counters;  // tickets, arrivals, those who waited in vain for all to arrive
  int only_sm;              // -1: CTAs work wherever they are
  int ctas;                 // that work
  int subcores;             // warps of the first so many sub-cores of an SM work
};

inline constexpr int kSubcores = 4;  // of an SM; a warp's is its hardware number modulo this

// Where the warps are.
struct Placement {
  int grid = 1;
  int block = 32;
  int only_sm = -1;
  int ctas = 1;
  int subcores = kSubcores;
  bool whole_gpu = false;
};

// One launch, seen from its records. Windows go from the first start to the last end on an SM.
struct Sample {
  double window = 0;          // of the SM that took longest, to the last issue
  double mean_window = 0;     // over the SMs
  double drained_window = 0;  // of the SM that took longest, to the last drained warp
  double first_end = 0;       // first warp to end, on that SM
  double middle_start = 0;    // ns after the first SM began, as the GPU's timer steps
  double last_start = 0;      // the same of the last one
  double mhz = 0;
  int warps = 0;
  int sms = 0;
};

// Bytes of dynamic shared memory with which no more than so many CTAs of the kernel fit an SM,
// which it may have from now on.
[[nodiscard]] int shared_for_ctas(const void* kernel, int ctas);

// Two events around work on the device.
class Events {
 public:
  Events() {
    check(cudaEventCreate(&begin_), "cudaEventCreate");
    check(cudaEventCreate(&end_), "cudaEventCreate");
  }
  ~Events() {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;
  // Milliseconds that it takes, with its launch.
  template <class Work>
  double time(const Work& work) {
    check(cudaEventRecord(begin_), "cudaEventRecord");
    work();
    check(cudaEventRecord(end_), "cudaEventRecord");
    check(cudaEventSynchronize(end_), "cudaEventSynchronize");
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin_, end_), "cudaEventElapsedTime");
    return ms;
  }

 private:
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
};

// The warps did not come to lie as they should have: CTAs that do not fit an SM at the same time,
// or a CTA with other numbers of warps in its sub-cores.
class NotPlaced : public capture::CudaError {
 public:
  using CudaError::CudaError;
};

struct Device {
  int sms = 0;
  int max_warps = 0;  // on an SM
  int compute_capability = 0;
  std::size_t l2_bytes = 0;
  int max_ctas = 0;      // on an SM
  int registers = 0;     // of an SM
  int shared_bytes = 0;  // of an SM
  int clock_khz = 0;     // of the SMs, at most
  int memory_clock_khz = 0;
  int memory_bus_bits = 0;
};
[[nodiscard]] Device this_device();

class Harness {
 public:
  // `match`: a regular expression that the names of cases for attempt() have in them.
  Harness(Report& report, int repetitions, const std::string& match);

  [[nodiscard]] const Device& device() const { return device_; }
  [[nodiscard]] int repetitions() const { return repetitions_; }
  [[nodiscard]] Report& report() { return report_; }

  // `warps` on each SM, in one CTA of up to 32 or several of 16; on one SM or on all. With
  // `subcores` below four only the warps of the first so many sub-cores work.
  [[nodiscard]] Placement place(int warps, bool whole_gpu, int subcores = kSubcores) const;

  using Launch = std::function<void(const Probe&, int grid, int block)>;
  // One warm-up and `repetitions` launches. Throws if a warp that should have worked did
  // not, and NotPlaced where several CTAs of an SM did not come to lie as asked.
  std::vector<Sample> run(const Placement& placement, int repetitions, const Launch& launch);
  std::vector<Sample> run(const Placement& placement, const Launch& launch) {
    return run(placement, repetitions_, launch);
  }

  // Runs a case that is wanted and may not fit an SM, and leaves it out if so.
  template <class Case>
  void attempt(const std::string& name, const Case& work) const {
    if (!std::regex_search(name, match_)) {
      return;
    }
    try {
      work();
    } catch (const NotPlaced& error) {
      std::printf("  left out: %s: %s\n", name.c_str(), error.what());
    }
  }

 private:
  Report& report_;
  int repetitions_;
  std::regex match_;
  Device device_;
  DeviceBuffer<WarpRecord> records_;
  DeviceBuffer<std::uint32_t> counters_;
};

// Summary of one member of the samples over `divisor`.
[[nodiscard]] Summary summarize_member(const std::vector<Sample>& samples, double Sample::*member,
                                       double divisor);

// The result whose value is the window over `operations`, the number of them on an SM; drained
// window and mean window go into `extra` likewise.
[[nodiscard]] Result window_result(std::string group, std::string name, Json parameters,
                                   std::string unit, const Placement& placement,
                                   const std::vector<Sample>& samples, double operations);

}  // namespace warpfold::microbench

// SPDX-License-Identifier: Apache-2.0
// An owned CUDA event on the default stream.
#pragma once

#include "traces/capture/common/device_buffer.hpp"

namespace warpfold::capture {

class GpuEvent {
 public:
  GpuEvent() { check(cudaEventCreate(&event_), "cudaEventCreate"); }
  ~GpuEvent() { cudaEventDestroy(event_); }
  GpuEvent(const GpuEvent&) = delete;
  GpuEvent& operator=(const GpuEvent&) = delete;
  void record() const { check(cudaEventRecord(event_), "cudaEventRecord"); }
  void wait() const { check(cudaEventSynchronize(event_), "cudaEventSynchronize"); }
  // Milliseconds; both must be over.
  [[nodiscard]] float since(const GpuEvent& begin) const {
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin.event_, event_), "cudaEventElapsedTime");
    return ms;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace warpfold::capture

// SPDX-License-Identifier: Apache-2.0
// What GPU this is and how fast it runs. No CUDA in this header.
#pragma once

#include <memory>
#include <string>

namespace warpfold::capture {

struct GpuInfo {
  std::string name;
  std::string driver;  // as NVML names it, else the CUDA version it supports
  std::string cuda;    // runtime
  int sms = 0;
  int compute_capability = 0;  // 90
};
// Throws CudaError if there is no GPU that can be used.
[[nodiscard]] GpuInfo gpu_info();

// The current device, as NVML and nvidia-smi know it. Throws CudaError.
[[nodiscard]] std::string pci_bus_id();

// Reads the SM clock of the current device through NVML, else nvidia-smi.
class ClockReader {
 public:
  ClockReader();
  ~ClockReader();
  ClockReader(const ClockReader&) = delete;
  ClockReader& operator=(const ClockReader&) = delete;

  [[nodiscard]] double sm_clock_mhz() const;         // 0 if it cannot be read
  [[nodiscard]] std::string driver_version() const;  // empty if it cannot be read

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace warpfold::capture

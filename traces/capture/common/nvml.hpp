// SPDX-License-Identifier: Apache-2.0
// NVML, loaded at run time, so that a program needs neither its header nor its library to be built
// or to start.
#pragma once

#include <string>

namespace warpfold::capture {

// The part of NVML's C interface that is used here.
using NvmlDevice = struct NvmlDeviceTag*;
using NvmlReturn = int;  // 0 is success
inline constexpr unsigned kNvmlClockSm = 1;
inline constexpr unsigned kNvmlTemperatureGpu = 0;

class Nvml {
 public:
  // Finds the GPU by its PCI bus ID, as cudaDeviceGetPCIBusId gives it.
  explicit Nvml(const std::string& pci_bus_id);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  // Null where NVML does not know the GPU.
  [[nodiscard]] NvmlDevice device() const { return device_; }

  // A function by its name; null where this machine has no NVML, or NVML no such function.
  template <class Function>
  [[nodiscard]] Function function(const char* name) const {
    return reinterpret_cast<Function>(symbol(name));
  }

 private:
  [[nodiscard]] void* symbol(const char* name) const;

  void* library_ = nullptr;  // null unless it has started
  NvmlDevice device_ = nullptr;
};

}  // namespace warpfold::capture

// SPDX-License-Identifier: Apache-2.0
// What the injected libraries ask the CUDA driver and NVML, both found at run time: the program has
// loaded the driver, and a machine may lack NVML.
#pragma once

#include <cuda.h>
#include <dlfcn.h>

#include <array>
#include <string>

namespace warpfold::record {

template <typename Function>
Function symbol(const char* library, const char* name) {
  void* handle = dlopen(library, RTLD_NOW);
  return handle == nullptr ? nullptr : reinterpret_cast<Function>(dlsym(handle, name));
}
template <typename Function>
Function driver_symbol(const char* name) {
  return symbol<Function>("libcuda.so.1", name);
}

// An attribute of a kernel; 0 if it cannot be read.
inline int kernel_attribute(CUfunction kernel, CUfunction_attribute attribute) {
  static const auto get =
      driver_symbol<CUresult (*)(int*, CUfunction_attribute, CUfunction)>("cuFuncGetAttribute");
  int value = 0;
  return get != nullptr && get(&value, attribute, kernel) == CUDA_SUCCESS ? value : 0;
}

// Empty if it cannot be read.
inline std::string device_name(CUdevice device) {
  static const auto get = driver_symbol<CUresult (*)(char*, int, CUdevice)>("cuDeviceGetName");
  std::array<char, 256> name{};
  const int size = static_cast<int>(name.size());
  return get != nullptr && get(name.data(), size, device) == CUDA_SUCCESS ? name.data() : "";
}

// The newest CUDA that the driver knows, "13.0".
inline std::string cuda_version() {
  static const auto get = driver_symbol<CUresult (*)(int*)>("cuDriverGetVersion");
  int version = 0;
  if (get == nullptr || get(&version) != CUDA_SUCCESS) {
    return "";
  }
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

inline std::string driver_version() {
  const auto init = symbol<int (*)()>("libnvidia-ml.so.1", "nvmlInit_v2");
  const auto get =
      symbol<int (*)(char*, unsigned)>("libnvidia-ml.so.1", "nvmlSystemGetDriverVersion");
  std::array<char, 96> text{};
  const unsigned size = text.size();
  return init != nullptr && get != nullptr && init() == 0 && get(text.data(), size) == 0
             ? text.data()
             : "";
}

// MHz that the SMs of the GPU run at now; 0 if it cannot be read.
inline unsigned sm_clock_mhz(CUdevice device) {
  static const auto init = symbol<int (*)()>("libnvidia-ml.so.1", "nvmlInit_v2");
  static const auto find =
      symbol<int (*)(const char*, void**)>("libnvidia-ml.so.1", "nvmlDeviceGetHandleByPciBusId_v2");
  static const auto clock =
      symbol<int (*)(void*, int, unsigned*)>("libnvidia-ml.so.1", "nvmlDeviceGetClockInfo");
  static const auto bus = driver_symbol<CUresult (*)(char*, int, CUdevice)>("cuDeviceGetPCIBusId");
  static const bool ready = init != nullptr && init() == 0;
  std::array<char, 32> id{};
  const int size = static_cast<int>(id.size());
  void* handle = nullptr;
  unsigned mhz = 0;
  constexpr int kSm = 1;
  const bool good = ready && find != nullptr && clock != nullptr && bus != nullptr &&
                    bus(id.data(), size, device) == CUDA_SUCCESS && find(id.data(), &handle) == 0 &&
                    clock(handle, kSm, &mhz) == 0;
  return good ? mhz : 0;
}

}  // namespace warpfold::record

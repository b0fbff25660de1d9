// SPDX-License-Identifier: Apache-2.0
// What the injected libraries ask the CUDA driver and NVML, both found at run time: the program has
// loaded the driver, and a machine may lack NVML.
#pragma once

#include <cuda.h>
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
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

// Where a launch has its parameters: pointers to each, or one buffer with all.
struct LaunchParameters {
  void** each = nullptr;
  void** extra = nullptr;
};

// The bytes of a launch's parameters, in hexadecimal digits; empty if they cannot be read.
inline std::string bytes_of(CUfunction kernel, const LaunchParameters& parameters) {
  static const auto place =
      driver_symbol<CUresult (*)(CUfunction, std::size_t, std::size_t*, std::size_t*)>(
          "cuFuncGetParamInfo");
  constexpr std::size_t kMost = 32'764;  // of any kernel
  std::string bytes;
  if (parameters.extra != nullptr) {
    const void* buffer = nullptr;
    std::size_t size = 0;
    for (void** item = parameters.extra; *item != CU_LAUNCH_PARAM_END; item += 2) {
      if (*item == CU_LAUNCH_PARAM_BUFFER_POINTER) {
        buffer = item[1];
      } else if (*item == CU_LAUNCH_PARAM_BUFFER_SIZE) {
        size = *static_cast<const std::size_t*>(item[1]);
      }
    }
    if (buffer != nullptr && size <= kMost) {
      bytes.assign(static_cast<const char*>(buffer), size);
    }
  } else if (parameters.each != nullptr && place != nullptr) {
    std::size_t offset = 0;
    std::size_t size = 0;
    for (std::size_t i = 0; place(kernel, i, &offset, &size) == CUDA_SUCCESS; ++i) {
      if (offset + size > kMost || parameters.each[i] == nullptr) {
        return "";
      }
      bytes.resize(std::max(bytes.size(), offset + size), 0);
      std::memcpy(bytes.data() + offset, parameters.each[i], size);
    }
  }
  std::string digits;
  for (const char c : bytes) {
    constexpr const char* kDigits = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(c);
    digits += kDigits[byte >> 4U];
    digits += kDigits[byte & 15U];
  }
  return digits;
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

// SPDX-License-Identifier: Apache-2.0
// NVML is loaded at run time, so that the program needs neither its header nor its library to be
// built.
#include "traces/capture/common/gpu_info.hpp"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <array>
#include <cstdio>
#include <cstdlib>

#include "traces/capture/common/device_buffer.hpp"

namespace warpfold::capture {
namespace {

// The part of NVML's C interface that is used here.
using NvmlDevice = struct NvmlDeviceTag*;
using NvmlReturn = int;  // 0 is success
constexpr unsigned kNvmlClockSm = 1;

template <class Function>
Function symbol(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace

std::string pci_bus_id() {
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  std::array<char, 32> id{};
  check(cudaDeviceGetPCIBusId(id.data(), static_cast<int>(id.size()), device), "PCI bus id");
  return id.data();
}

struct ClockReader::State {
  void* library = nullptr;
  NvmlDevice device = nullptr;
  NvmlReturn (*clock)(NvmlDevice, unsigned, unsigned*) = nullptr;
  NvmlReturn (*driver)(char*, unsigned) = nullptr;
  std::string bus_id;
};

ClockReader::ClockReader() : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.bus_id = pci_bus_id();
  s.library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
  if (s.library == nullptr) {
    return;
  }
  const auto init = symbol<NvmlReturn (*)()>(s.library, "nvmlInit_v2");
  const auto find = symbol<NvmlReturn (*)(const char*, NvmlDevice*)>(
      s.library, "nvmlDeviceGetHandleByPciBusId_v2");
  if (init == nullptr || find == nullptr || init() != 0) {
    return;
  }
  s.driver = symbol<NvmlReturn (*)(char*, unsigned)>(s.library, "nvmlSystemGetDriverVersion");
  if (find(s.bus_id.c_str(), &s.device) == 0) {
    s.clock = symbol<NvmlReturn (*)(NvmlDevice, unsigned, unsigned*)>(s.library,
                                                                      "nvmlDeviceGetClockInfo");
  }
}

ClockReader::~ClockReader() {
  if (state_->library != nullptr) {
    if (const auto shutdown = symbol<NvmlReturn (*)()>(state_->library, "nvmlShutdown")) {
      shutdown();
    }
    dlclose(state_->library);
  }
}

double ClockReader::sm_clock_mhz() const {
  unsigned mhz = 0;
  if (state_->clock != nullptr && state_->clock(state_->device, kNvmlClockSm, &mhz) == 0) {
    return mhz;
  }
  const std::string command = "nvidia-smi --id=" + state_->bus_id +
                              " --query-gpu=clocks.sm --format=csv,noheader,nounits 2>/dev/null";
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) {
    return 0;
  }
  std::array<char, 64> line{};
  const char* text = std::fgets(line.data(), static_cast<int>(line.size()), pipe);
  const bool good = pclose(pipe) == 0 && text != nullptr;
  return good ? std::strtod(line.data(), nullptr) : 0.0;
}

std::string ClockReader::driver_version() const {
  std::array<char, 96> text{};
  if (state_->driver != nullptr &&
      state_->driver(text.data(), static_cast<unsigned>(text.size())) == 0) {
    return text.data();
  }
  return {};
}

GpuInfo gpu_info() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
    throw CudaError("no CUDA GPU can be used on this machine");
  }
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  int driver = 0;
  int runtime = 0;
  check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  check(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
  const std::string nvml_driver = ClockReader().driver_version();
  return {properties.name, nvml_driver.empty() ? "CUDA " + version_text(driver) : nvml_driver,
          version_text(runtime), properties.multiProcessorCount,
          properties.major * 10 + properties.minor};
}

}  // namespace warpfold::capture

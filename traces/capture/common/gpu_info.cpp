// SPDX-License-Identifier: Apache-2.0
#include "traces/capture/common/gpu_info.hpp"

#include <cuda_runtime_api.h>

#include <array>
#include <cstdio>
#include <cstdlib>

#include "traces/capture/common/device_buffer.hpp"
#include "traces/capture/common/nvml.hpp"

namespace warpfold::capture {
namespace {

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
  std::string bus_id = pci_bus_id();
  Nvml nvml{bus_id};
};

ClockReader::ClockReader() : state_(std::make_unique<State>()) {}

ClockReader::~ClockReader() = default;

double ClockReader::sm_clock_mhz() const {
  const Nvml& nvml = state_->nvml;
  const auto clock =
      nvml.function<NvmlReturn (*)(NvmlDevice, unsigned, unsigned*)>("nvmlDeviceGetClockInfo");
  unsigned mhz = 0;
  if (nvml.device() != nullptr && clock != nullptr &&
      clock(nvml.device(), kNvmlClockSm, &mhz) == 0) {
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
  const auto driver =
      state_->nvml.function<NvmlReturn (*)(char*, unsigned)>("nvmlSystemGetDriverVersion");
  if (driver != nullptr && driver(text.data(), static_cast<unsigned>(text.size())) == 0) {
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

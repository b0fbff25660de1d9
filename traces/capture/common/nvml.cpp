// SPDX-License-Identifier: Apache-2.0
#include "traces/capture/common/nvml.hpp"

#include <dlfcn.h>

namespace warpfold::capture {

Nvml::Nvml(const std::string& pci_bus_id) : library_(dlopen("libnvidia-ml.so.1", RTLD_NOW)) {
  const auto init = function<NvmlReturn (*)()>("nvmlInit_v2");
  if (init == nullptr || init() != 0) {
    if (library_ != nullptr) {
      dlclose(library_);
      library_ = nullptr;
    }
    return;
  }
  const auto find =
      function<NvmlReturn (*)(const char*, NvmlDevice*)>("nvmlDeviceGetHandleByPciBusId_v2");
  if (find == nullptr || find(pci_bus_id.c_str(), &device_) != 0) {
    device_ = nullptr;
  }
}

Nvml::~Nvml() {
  if (library_ == nullptr) {
    return;
  }
  if (const auto shutdown = function<NvmlReturn (*)()>("nvmlShutdown")) {
    shutdown();
  }
  dlclose(library_);
}

void* Nvml::symbol(const char* name) const {
  return library_ == nullptr ? nullptr : dlsym(library_, name);
}

}  // namespace warpfold::capture

// SPDX-License-Identifier: Apache-2.0
// Power of a GPU under steady work, through NVML. The library is loaded at run time, so that
// nothing is needed to build or to start. Host only, no CUDA.
#pragma once

#include <functional>
#include <memory>
#include <string>

namespace warpfold::capture {

struct PowerReading {
  double watts = 0;         // mean over the work less its first part
  double seconds = 0;       // that the work took
  int samples = 0;          // new values seen while it ran
  double sm_clock_mhz = 0;  // means; 0 where NVML does not tell
  double temperature_c = 0;
};

class PowerMeter {
 public:
  // `pci_bus_id` as cudaDeviceGetPCIBusId gives it.
  explicit PowerMeter(const std::string& pci_bus_id);
  ~PowerMeter();
  PowerMeter(const PowerMeter&) = delete;
  PowerMeter& operator=(const PowerMeter&) = delete;

  // What watts come from: "energy counter" (nvmlDeviceGetTotalEnergyConsumption, between two of its
  // steps), "power samples", or empty: neither can be read, and watts are 0.
  [[nodiscard]] std::string source() const;

  // Runs `work`, which keeps the GPU evenly busy until it returns. Reads from `settle_seconds`
  // after its beginning until its end.
  PowerReading measure(const std::function<void()>& work, double settle_seconds = 0.4);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace warpfold::capture

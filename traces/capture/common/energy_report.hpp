// SPDX-License-Identifier: Apache-2.0
// Joules of a kernel's launches, by NVML, and the file that they are written to.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "traces/capture/common/power.hpp"

namespace warpfold::capture {

class EnergyReport {
 public:
  // Measures what the idle GPU takes, for `seconds` (0.1 to 60). Throws CudaError where NVML reads
  // neither energy nor power, InputError for other seconds.
  EnergyReport(const std::string& scene, double seconds);

  // Launches of one policy until `seconds` are over. `launch` launches the kernel so many times and
  // waits for their end; `kernel_ms` is what one takes.
  void add(const std::string& policy, double kernel_ms, const std::function<void(int)>& launch);

  // As JSON of schema warpfold.energy/1; nothing without a name.
  void write(const std::filesystem::path& file) const;

 private:
  double seconds_;
  PowerMeter meter_;
  double idle_watts_ = 0;
  double first_joules_ = 0;
  nlohmann::ordered_json json_;
};

}  // namespace warpfold::capture

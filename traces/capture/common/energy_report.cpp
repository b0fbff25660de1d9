// SPDX-License-Identifier: Apache-2.0
#include "traces/capture/common/energy_report.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>

#include "traces/capture/common/device_buffer.hpp"
#include "traces/capture/common/gpu_info.hpp"
#include "traces/capture/common/input.hpp"
#include "traces/capture/common/trace_file.hpp"

namespace warpfold::capture {

EnergyReport::EnergyReport(const std::string& scene, double seconds)
    : seconds_(seconds), meter_(pci_bus_id()) {
  if (!(seconds >= 0.1 && seconds <= 60)) {
    throw InputError("a loop takes 0.1 to 60 seconds");
  }
  if (meter_.source().empty()) {
    throw CudaError("NVML reads neither energy nor power here");
  }
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  std::this_thread::sleep_for(std::chrono::seconds(1));
  idle_watts_ =
      meter_.measure([&] { std::this_thread::sleep_for(std::chrono::duration<double>(seconds_)); })
          .watts;
  const std::string gpu = gpu_info().name;
  std::printf("%s on %s, %s\n  %-12s %6.1f W\n", scene.c_str(), gpu.c_str(),
              meter_.source().c_str(), "idle", idle_watts_);
  json_["schema"] = "warpfold.energy/1";
  json_["scene"] = scene;
  json_["gpu"] = gpu;
  json_["source"] = meter_.source();
  json_["idle_watts"] = idle_watts_;
  json_["energy"] = nlohmann::ordered_json::array();
}

void EnergyReport::add(const std::string& policy, double kernel_ms,
                       const std::function<void(int)>& launch) {
  // Some 100 ms of launches at a time.
  const int batch = std::clamp(static_cast<int>(100 / kernel_ms), 1, 2000);
  long launches = 0;
  const PowerReading reading = meter_.measure([&] {
    using Clock = std::chrono::steady_clock;
    const auto span = std::chrono::duration<double>(seconds_);
    for (const auto begin = Clock::now(); Clock::now() - begin < span;) {
      launch(batch);
      launches += batch;
    }
  });
  const double each = reading.seconds / static_cast<double>(launches);
  const double joules = (reading.watts - idle_watts_) * each;
  if (json_["energy"].empty()) {
    first_joules_ = joules;
  }
  std::printf("  %-12s %6.1f W  %8.4f ms  %9.3f mJ above idle  %5.2fx  (%ld launches)\n",
              policy.c_str(), reading.watts, kernel_ms, joules * 1e3, first_joules_ / joules,
              launches);
  std::fflush(stdout);
  json_["energy"].push_back({{"policy", policy},
                             {"watts", reading.watts},
                             {"launches", launches},
                             {"seconds", reading.seconds},
                             {"kernel_ms", kernel_ms},
                             {"joules_per_launch", reading.watts * each},
                             {"joules_per_launch_above_idle", joules},
                             {"counter_steps", reading.samples},
                             {"sm_clock_mhz", reading.sm_clock_mhz},
                             {"temperature_c", reading.temperature_c}});
}

void EnergyReport::write(const std::filesystem::path& file) const {
  if (!file.empty()) {
    write_text(file, json_.dump(1) + "\n");
  }
}

}  // namespace warpfold::capture

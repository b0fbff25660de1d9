// SPDX-License-Identifier: Apache-2.0
#include "traces/capture/common/power.hpp"

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "traces/capture/common/nvml.hpp"

namespace warpfold::capture {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

struct Sample {
  double seconds;
  double value;  // joules so far, or watts
};

}  // namespace

struct PowerMeter::State {
  explicit State(const std::string& pci_bus_id) : nvml(pci_bus_id), device(nvml.device()) {}

  Nvml nvml;
  NvmlDevice device;
  NvmlReturn (*energy)(NvmlDevice, unsigned long long*) = nullptr;
  NvmlReturn (*power)(NvmlDevice, unsigned*) = nullptr;
  NvmlReturn (*clock)(NvmlDevice, unsigned, unsigned*) = nullptr;
  NvmlReturn (*temperature)(NvmlDevice, unsigned, unsigned*) = nullptr;

  [[nodiscard]] bool read(double& value) const {
    unsigned long long millijoules = 0;
    if (energy != nullptr) {
      const bool good = energy(device, &millijoules) == 0;
      value = static_cast<double>(millijoules) * 1e-3;
      return good;
    }
    unsigned milliwatts = 0;
    const bool good = power != nullptr && power(device, &milliwatts) == 0;
    value = milliwatts * 1e-3;
    return good;
  }
};

PowerMeter::PowerMeter(const std::string& pci_bus_id)
    : state_(std::make_unique<State>(pci_bus_id)) {
  State& s = *state_;
  if (s.device == nullptr) {
    return;
  }
  s.energy = s.nvml.function<NvmlReturn (*)(NvmlDevice, unsigned long long*)>(
      "nvmlDeviceGetTotalEnergyConsumption");
  s.power = s.nvml.function<NvmlReturn (*)(NvmlDevice, unsigned*)>("nvmlDeviceGetPowerUsage");
  s.clock =
      s.nvml.function<NvmlReturn (*)(NvmlDevice, unsigned, unsigned*)>("nvmlDeviceGetClockInfo");
  s.temperature =
      s.nvml.function<NvmlReturn (*)(NvmlDevice, unsigned, unsigned*)>("nvmlDeviceGetTemperature");
  double value = 0;
  if (s.energy != nullptr && !s.read(value)) {
    s.energy = nullptr;
  }
  if (s.energy == nullptr && !s.read(value)) {
    s.power = nullptr;
  }
}

PowerMeter::~PowerMeter() = default;

std::string PowerMeter::source() const {
  if (state_->energy != nullptr) {
    return "energy counter";
  }
  return state_->power != nullptr ? "power samples" : "";
}

PowerReading PowerMeter::measure(const std::function<void()>& work, double settle_seconds) {
  const State& s = *state_;
  std::vector<Sample> samples;
  double clocks = 0;
  double degrees = 0;
  int states = 0;
  std::atomic<bool> done = false;
  const auto begin = Clock::now();
  std::thread reader([&] {
    double last = -1;
    double next_state = settle_seconds;
    while (!done && !source().empty()) {
      double value = 0;
      const bool good = s.read(value);
      const double now = seconds_since(begin);
      // A value counts when it appears: between two appearances lies what it grew by.
      if (good && now >= settle_seconds && value != last && !done) {
        samples.push_back({now, value});
      }
      last = value;
      if (now >= next_state) {
        next_state += 0.25;
        unsigned mhz = 0;
        unsigned celsius = 0;
        if (s.clock != nullptr && s.clock(s.device, kNvmlClockSm, &mhz) == 0 &&
            s.temperature != nullptr &&
            s.temperature(s.device, kNvmlTemperatureGpu, &celsius) == 0) {
          clocks += mhz;
          degrees += celsius;
          ++states;
        }
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  });
  try {
    work();
  } catch (...) {
    done = true;
    reader.join();
    throw;
  }
  PowerReading reading;
  reading.seconds = seconds_since(begin);
  done = true;
  reader.join();

  // The first value seen may have appeared at any time before.
  if (s.energy != nullptr && samples.size() >= 3) {
    const Sample& first = samples[1];
    const Sample& last = samples.back();
    reading.watts = (last.value - first.value) / (last.seconds - first.seconds);
  } else if (s.energy == nullptr && !samples.empty()) {
    for (const Sample& sample : samples) {
      reading.watts += sample.value / static_cast<double>(samples.size());
    }
  }
  reading.samples = static_cast<int>(samples.size());
  if (states > 0) {
    reading.sm_clock_mhz = clocks / states;
    reading.temperature_c = degrees / states;
  }
  return reading;
}

}  // namespace warpfold::capture

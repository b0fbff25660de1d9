// SPDX-License-Identifier: Apache-2.0
// Energy of the backward kernel under the policies that matter.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <thread>

#include "traces/capture/commands/commands.hpp"
#include "traces/capture/common/device_buffer.hpp"
#include "traces/capture/common/gpu_info.hpp"
#include "traces/capture/common/power.hpp"
#include "traces/capture/common/trace_file.hpp"
#include "traces/capture/splat/rasterizer.hpp"

namespace warpfold::capture {
namespace {

PowerMeter meter_of_this_gpu() {
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  char id[32] = {};
  check(cudaDeviceGetPCIBusId(id, sizeof id, device), "PCI bus id");
  return PowerMeter(id);
}

// baseline, the fastest threshold of sw-b and of sw-s, skip.
std::vector<Policy> best_policies(Rasterizer& rasterizer) {
  rasterizer.time({Variant::kBaseline, 0}, 0, 20, [] {});
  std::vector<Policy> best = {{Variant::kBaseline, 0}};
  for (const Variant variant : {Variant::kSwB, Variant::kSwS, Variant::kSkip}) {
    Policy fastest{variant, 0};
    double least = 0;
    for (const Policy& policy : timed_policies()) {
      if (policy.variant != variant) {
        continue;
      }
      const double ms = rasterizer.time(policy, 2, 7, [] {}).median_ms;
      if (least == 0 || ms < least) {
        least = ms;
        fastest = policy;
      }
    }
    best.push_back(fastest);
  }
  return best;
}

}  // namespace

int energy_command(const EnergyOptions& options) {
  std::vector<Policy> others;
  for (const std::string& name : options.policies) {
    others.push_back(parse_policy(name));
  }
  const Scene scene = load_scene(options.scene.scene, options.scene.cameras, options.scene.name,
                                 options.scene.tiles);
  const GpuInfo gpu = gpu_info();
  PowerMeter meter = meter_of_this_gpu();
  if (meter.source().empty()) {
    throw CudaError("NVML reads neither energy nor power here");
  }
  Rasterizer rasterizer(scene.gaussians, scene.camera, scene.loss_gradient, scene.tiles);
  std::vector<Policy> policies = best_policies(rasterizer);
  for (const Policy& policy : others) {
    if (std::none_of(policies.begin(), policies.end(),
                     [&](const Policy& p) { return p.name() == policy.name(); })) {
      policies.push_back(policy);
    }
  }

  const auto span = std::chrono::duration<double>(options.seconds);
  std::this_thread::sleep_for(std::chrono::seconds(1));
  const PowerReading idle = meter.measure([&] { std::this_thread::sleep_for(span); });
  std::printf("%s on %s, %s\n  %-12s %6.1f W\n", scene.name.c_str(), gpu.name.c_str(),
              meter.source().c_str(), "idle", idle.watts);

  nlohmann::ordered_json json;
  json["schema"] = "warpfold.energy/1";
  json["scene"] = scene.name;
  json["gpu"] = gpu.name;
  json["source"] = meter.source();
  json["idle_watts"] = idle.watts;
  json["energy"] = nlohmann::ordered_json::array();
  double baseline = 0;
  for (const Policy& policy : policies) {
    const double ms = rasterizer.time(policy, 3, 21, [] {}).median_ms;
    // Some 100 ms of launches at a time, each with the gradients cleared before it.
    const int batch = std::clamp(static_cast<int>(100 / ms), 1, 2000);
    long launches = 0;
    const PowerReading reading = meter.measure([&] {
      using Clock = std::chrono::steady_clock;
      for (const auto begin = Clock::now(); Clock::now() - begin < span;) {
        rasterizer.time(policy, 0, batch, [] {});
        launches += batch;
      }
    });
    const double each = reading.seconds / static_cast<double>(launches);
    const double joules = (reading.watts - idle.watts) * each;
    if (policy.variant == Variant::kBaseline) {
      baseline = joules;
    }
    std::printf("  %-12s %6.1f W  %8.4f ms  %9.3f mJ above idle  %5.2fx  (%ld launches)\n",
                policy.name().c_str(), reading.watts, ms, joules * 1e3, baseline / joules,
                launches);
    std::fflush(stdout);
    json["energy"].push_back({{"policy", policy.name()},
                              {"watts", reading.watts},
                              {"launches", launches},
                              {"seconds", reading.seconds},
                              {"kernel_ms", ms},
                              {"joules_per_launch", reading.watts * each},
                              {"joules_per_launch_above_idle", joules},
                              {"counter_steps", reading.samples},
                              {"sm_clock_mhz", reading.sm_clock_mhz},
                              {"temperature_c", reading.temperature_c}});
  }
  if (!options.json.empty()) {
    write_text(options.json, json.dump(1) + "\n");
  }
  return 0;
}

}  // namespace warpfold::capture

// SPDX-License-Identifier: Apache-2.0
// Times and single launches of the backward kernels.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "traces/capture/commands/commands.hpp"
#include "traces/capture/common/gpu_info.hpp"
#include "traces/capture/common/input.hpp"
#include "traces/capture/common/trace_file.hpp"
#include "traces/capture/splat/rasterizer.hpp"

namespace warpfold::capture {

int time_command(const TimeOptions& options) {
  if (options.runs < 1 || options.warmup < 0) {
    throw InputError("at least one run, and no negative number of warm-up runs");
  }
  const Scene scene = load_scene(options.scene.scene, options.scene.cameras, options.scene.name,
                                 options.scene.tiles);
  const GpuInfo gpu = gpu_info();
  const ClockReader clock;
  Rasterizer rasterizer(scene.gaussians, scene.camera, scene.loss_gradient, scene.tiles);
  std::printf("%s on %s: backward render kernel, median of %d\n", scene.name.c_str(),
              gpu.name.c_str(), options.runs);
  for (const Policy& policy : profiled_policies()) {
    const KernelInfo info = kernel_info(policy.variant);
    std::printf("  %-16s %u registers, %u bytes of shared memory, %d CTAs on an SM\n",
                policy.name().c_str(), info.registers, info.shared_bytes, info.ctas_per_sm);
  }
  // Brings the clocks up before the first policy is timed.
  rasterizer.time({Variant::kBaseline, 0}, 0, 50, [] {});

  nlohmann::ordered_json json;
  json["schema"] = "warpfold.times/1";
  json["scene"] = scene.name;
  json["gpu"] = gpu.name;
  json["times"] = nlohmann::ordered_json::array();
  double baseline = 0;
  for (const Policy& policy : timed_policies()) {
    double mhz = 0;
    const Timing timing =
        rasterizer.time(policy, options.warmup, options.runs, [&] { mhz = clock.sm_clock_mhz(); });
    if (policy.variant == Variant::kBaseline) {
      baseline = timing.median_ms;
    }
    std::printf("  %-16s %8.4f ms  (%.4f to %.4f)  %5.2fx  SM %4.0f MHz", policy.name().c_str(),
                timing.median_ms, timing.min_ms, timing.max_ms, baseline / timing.median_ms, mhz);
    const auto published = scene.published_ms.find(policy.name());
    if (published != scene.published_ms.end()) {
      std::printf("  published %8.4f ms", published->second);
    }
    std::printf("\n");
    if (policy.variant == Variant::kSwBUniform) {
      continue;
    }
    json["times"].push_back({{"policy", policy.name()},
                             {"median_ms", timing.median_ms},
                             {"min_ms", timing.min_ms},
                             {"max_ms", timing.max_ms},
                             {"runs", timing.runs},
                             {"sm_clock_mhz", mhz}});
  }
  if (!options.json.empty()) {
    write_text(options.json, json.dump(1) + "\n");
  }
  return 0;
}

int launch_command(const LaunchOptions& options) {
  std::vector<Policy> policies = profiled_policies();
  if (!options.policies.empty()) {
    policies.clear();
    for (const std::string& name : options.policies) {
      policies.push_back(parse_policy(name));
    }
  }
  const Scene scene = load_scene(options.scene.scene, options.scene.cameras, options.scene.name,
                                 options.scene.tiles);
  Rasterizer rasterizer(scene.gaussians, scene.camera, scene.loss_gradient, scene.tiles);
  for (const Policy& policy : policies) {
    rasterizer.backward(policy);
  }
  return 0;
}

}  // namespace warpfold::capture

// SPDX-License-Identifier: Apache-2.0
// Energy of the backward kernel under the policies that matter.
#include <algorithm>

#include "traces/capture/commands/commands.hpp"
#include "traces/capture/common/energy_report.hpp"
#include "traces/capture/splat/rasterizer.hpp"

namespace warpfold::capture {
namespace {

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
  Rasterizer rasterizer(scene.gaussians, scene.camera, scene.loss_gradient, scene.tiles);
  std::vector<Policy> policies = best_policies(rasterizer);
  for (const Policy& policy : others) {
    if (std::none_of(policies.begin(), policies.end(),
                     [&](const Policy& p) { return p.name() == policy.name(); })) {
      policies.push_back(policy);
    }
  }

  EnergyReport report(scene.name, options.seconds);
  for (const Policy& policy : policies) {
    const double ms = rasterizer.time(policy, 3, 21, [] {}).median_ms;
    // Each with the gradients cleared before it.
    report.add(policy.name(), ms,
               [&](int launches) { rasterizer.time(policy, 0, launches, [] {}); });
  }
  report.write(options.json);
  return 0;
}

}  // namespace warpfold::capture

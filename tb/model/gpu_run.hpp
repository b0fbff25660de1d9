// SPDX-License-Identifier: Apache-2.0
// Whole runs of the GPU model for tests.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "model/gpu/run/reference_sums.hpp"
#include "model/gpu/run/simulate.hpp"
#include "tb/model/small_trace.hpp"

namespace warpfold::test {

inline RunResult run(const trace::Reader& trace, const GpuConfig& gpu, const std::string& policy) {
  SimOptions options;
  options.gpu = gpu;
  options.policy = parse_policy(policy);
  options.unit.model = UnitModel::kGolden;
  return simulate(options, trace, ReferenceSums::compute(trace));
}

inline std::uint64_t counter(const Counters& counters, const std::string& name) {
  for (const auto& [key, value] : counters) {
    if (key == name) {
      return value;
    }
  }
  ADD_FAILURE() << "no counter " << name;
  return 0;
}

// Cycle in which a warp of the first CTA can issue first: the dispatcher acts in cycle 1, the
// sub-core sees the launch in 2.
inline Cycle first_issue(const GpuConfig& gpu) {
  return 2 + gpu.latency.cta_launch;
}

}  // namespace warpfold::test

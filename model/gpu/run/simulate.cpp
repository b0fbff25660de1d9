// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/run/simulate.hpp"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <stdexcept>

#include "model/gpu/run/gpu.hpp"
#include "model/gpu/run/launch.hpp"
#include "model/kernel/clock_driver.hpp"

namespace warpfold {

RunResult simulate(const SimOptions& options, const trace::Reader& trace,
                   const ReferenceSums& reference) {
  const auto began = std::chrono::steady_clock::now();
  const Launch launch = prepare_launch(options, trace, reference);
  std::unique_ptr<Gpu> gpu;
  try {
    gpu = std::make_unique<Gpu>(options, launch);
  } catch (const std::invalid_argument& error) {  // of a rule
    throw SimulationError(fmt::format("{}: {}", trace.path().string(), error.what()));
  }
  run_to_rest(gpu->clock(), 1.0 / options.gpu.sm.clock_ghz);
  RunResult result = gpu->collect(reference);
  result.wall_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return result;
}

}  // namespace warpfold

// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/run/simulate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>

#include "model/gpu/run/gpu.hpp"
#include "model/gpu/run/occupancy.hpp"
#include "model/gpu/run/reference_sums.hpp"
#include "model/policy/rule.hpp"

namespace warpfold {

namespace {

// What an atomic buffer keeps of the SRAM is not there for shared memory.
GpuConfig beside_buffer(const GpuConfig& gpu, const Policy& policy) {
  GpuConfig machine = gpu;
  if (const std::uint64_t kept = policy.rule->kept_from_shared(gpu); kept > 0) {
    const std::uint64_t left = gpu.l1.bytes - std::min<std::uint64_t>(gpu.l1.bytes, kept);
    machine.sm.shared_bytes =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(gpu.sm.shared_bytes, left));
  }
  return machine;
}

// What that makes; std::invalid_argument of a policy or a rule is about what the user gave.
template <typename Make>
auto refusing(const trace::Reader& trace, Make make) {
  try {
    return make();
  } catch (const std::invalid_argument& error) {
    throw SimulationError(fmt::format("{}: {}", trace.path().string(), error.what()));
  }
}

}  // namespace

RunResult simulate(const SimOptions& options, const trace::Reader& trace,
                   const ReferenceSums& reference) {
  const auto began = std::chrono::steady_clock::now();
  const trace::Header& header = trace.header();
  const auto timing = refusing(
      trace, [&] { return std::make_unique<PolicyTiming>(header, options.gpu, options.policy); });
  std::uint32_t registers = header.registers_per_thread;
  const trace::VariantCost& cost =
      header.costs.at(options.gpu.sass_arch).at(options.policy.variant());
  if (cost.registers > 0) {
    registers = cost.registers;
  }
  const std::uint32_t resident =
      ctas_per_sm(beside_buffer(options.gpu, options.policy), header, registers);
  if (resident == 0) {
    throw SimulationError(
        fmt::format("{}: a CTA of {} threads with {} registers each and {} bytes of shared memory "
                    "does not fit an SM of {}",
                    trace.path().string(), header.warps_per_cta() * kLanes, registers,
                    header.shared_bytes_per_cta, options.gpu.name));
  }

  for (const trace::Parameter& parameter : header.parameters) {
    if (parameter.base + (header.primitive_count - 1) * parameter.stride_bytes > kAddrMask) {
      throw SimulationError(fmt::format("{}: {} reaches beyond the {} address bits of the unit",
                                        trace.path().string(), parameter.name, kAddrWidth));
    }
  }

  BufferShape buffer;
  if (options.policy.has_buffer()) {
    buffer = refusing(trace, [&] {
      return options.policy.rule->buffer(options.gpu,
                                         std::uint64_t{resident} * shared_per_cta(header));
    });
  }
  const Gpu::Launch launch{.trace = trace,
                           .timing = *timing,
                           .buffer = buffer,
                           .resident_ctas = resident,
                           .dense = reference.dense()};
  const auto gpu = refusing(trace, [&] { return std::make_unique<Gpu>(options, launch); });
  gpu->run();
  RunResult result = gpu->collect(reference);
  result.trace = trace.path().string();
  result.trace_hash = trace.file_hash();
  result.policy = options.policy.name();
  result.unit = std::string(unit_model_name(options.unit));
  result.unit_kind = std::string(unit_kind_name(options.unit_kind));
  result.wall_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return result;
}

}  // namespace warpfold

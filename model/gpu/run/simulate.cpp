// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/run/simulate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>

#include "model/gpu/run/gpu.hpp"
#include "model/gpu/run/occupancy.hpp"
#include "model/gpu/run/reference_sums.hpp"

namespace warpfold {

RunResult simulate(const SimOptions& options, const trace::Reader& trace,
                   const ReferenceSums& reference) {
  const auto began = std::chrono::steady_clock::now();
  const trace::Header& header = trace.header();
  std::unique_ptr<PolicyTiming> timing;
  std::uint32_t registers = header.registers_per_thread;
  try {
    timing = std::make_unique<PolicyTiming>(header, options.gpu, options.policy);
  } catch (const std::invalid_argument& error) {
    throw SimulationError(fmt::format("{}: {}", trace.path().string(), error.what()));
  }
  const trace::VariantCost& cost =
      header.costs.at(options.gpu.sass_arch).at(options.policy.variant());
  if (cost.registers > 0) {
    registers = cost.registers;
  }
  // What an atomic buffer takes of the SRAM is not there for shared memory.
  GpuConfig machine = options.gpu;
  if (options.policy.kind == PolicyKind::kLab) {
    machine.sm.shared_bytes = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(machine.sm.shared_bytes, machine.l1.bytes - machine.lab.bytes));
  }
  const std::uint32_t resident = ctas_per_sm(machine, header, registers);
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
  try {
    buffer = buffer_shape(options.policy.kind, options.gpu,
                          std::uint64_t{resident} * shared_per_cta(header));
  } catch (const std::invalid_argument& error) {
    throw SimulationError(fmt::format("{}: {}", trace.path().string(), error.what()));
  }
  buffer.lose_flushed = options.lose_flushed;
  Gpu gpu(options, {.trace = trace,
                    .timing = *timing,
                    .buffer = buffer,
                    .resident_ctas = resident,
                    .dense = reference.dense()});
  gpu.run();
  RunResult result = gpu.collect(reference);
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

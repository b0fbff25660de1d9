// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/run/launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "model/gpu/run/occupancy.hpp"
#include "model/gpu/run/reference_sums.hpp"
#include "model/policy/rule.hpp"
#include "model/unit/unit_declaration.hpp"

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

// Words that one instruction adds to at most.
std::uint32_t most_words(const SimOptions& options) {
  if (!options.policy.has_unit()) {
    return options.policy.rule->facts().words;
  }
  return options.unit.declaration().ports.max_words;
}

// The words that the policy's hardware sums.
WordType summed_words(const SimOptions& options) {
  if (!options.policy.has_unit()) {
    return WordType::kFp32;
  }
  return options.unit.declaration().promise.adds;
}

// Of a merge buffer, which adds FP32; 0 where the policy has none.
std::uint32_t merge_rows(const SimOptions& options, const trace::Reader& trace) {
  if (options.policy.rule->facts().merge == MergePlace::kNowhere) {
    return 0;
  }
  if (summed_words(options) != WordType::kFp32) {
    throw SimulationError(fmt::format("{}: the merge buffer of policy {} adds FP32, the unit not",
                                      trace.path().string(), options.policy.name()));
  }
  return options.gpu.arc.merge_rows;
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

Launch prepare_launch(const SimOptions& options, const trace::Reader& trace,
                      const ReferenceSums& reference) {
  const trace::Header& header = trace.header();
  const StructLayout structs(header, most_words(options), !options.policy.has_unit());
  Launch launch{.trace = trace,
                .header = header,
                .timing = refusing(trace,
                                   [&] {
                                     return std::make_unique<PolicyTiming>(header, options.gpu,
                                                                           options.policy, structs,
                                                                           summed_words(options));
                                   }),
                .buffer = {},
                .merge = options.policy.rule->facts().merge,
                .merge_rows = merge_rows(options, trace),
                .dense = reference.dense()};
  launch.header.sites = structs.sites(header);
  launch.header.shared_bytes_per_cta += options.policy.rule->shared_bytes(header);
  const std::uint32_t registers = launch.timing->registers;
  launch.resident_ctas =
      ctas_per_sm(beside_buffer(options.gpu, options.policy), launch.header, registers);
  if (launch.resident_ctas == 0) {
    throw SimulationError(
        fmt::format("{}: a CTA of {} threads with {} registers each and {} bytes of shared memory "
                    "does not fit an SM of {}",
                    trace.path().string(), header.warps_per_cta() * kLanes, registers,
                    launch.header.shared_bytes_per_cta, options.gpu.name));
  }

  for (const trace::Site& site : launch.header.sites) {
    for (const trace::Parameter& parameter : site.parameters) {
      const std::uint64_t last = (site.primitive_count - 1) * parameter.stride_bytes;
      if (parameter.base + last > kAddrMask) {
        throw SimulationError(fmt::format("{}: {} reaches beyond the {} address bits of the unit",
                                          trace.path().string(), parameter.name, kAddrWidth));
      }
    }
  }

  const std::uint64_t shared = std::uint64_t{launch.resident_ctas} * shared_per_cta(launch.header);
  const std::uint64_t taken = shared + options.policy.rule->kept_from_shared(options.gpu);
  launch.l1_bytes = options.gpu.l1.bytes - std::min(options.gpu.l1.bytes, taken);
  if (!launch.timing->memory.empty() &&
      (options.gpu.l1.line_bytes != kLineBytes || options.gpu.l2.line_bytes != kLineBytes)) {
    throw SimulationError(fmt::format(
        "{}: the trace says what loads touch, and {} has lines of {} and {} bytes: only "
        "{} are simulated",
        trace.path().string(), options.gpu.name, options.gpu.l1.line_bytes,
        options.gpu.l2.line_bytes, kLineBytes));
  }
  if (options.policy.has_buffer()) {
    launch.buffer =
        refusing(trace, [&] { return options.policy.rule->buffer(options.gpu, shared); });
  }
  return launch;
}

}  // namespace warpfold

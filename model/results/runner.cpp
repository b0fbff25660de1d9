// SPDX-License-Identifier: Apache-2.0
#include "model/results/runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <utility>

#include "model/gpu/run/reference_sums.hpp"
#include "model/gpu/run/rules.hpp"
#include "model/gpu/run/simulate.hpp"
#include "model/policy/group_sizes.hpp"
#include "model/policy/timing.hpp"
#include "model/results/json.hpp"
#include "model/unit/wave_file.hpp"
#include "traces/format/header.hpp"

namespace warpfold {
namespace {

// The reference of the trace that is being simulated, computed once for all its runs. Children that
// were forked earlier keep their own copy.
struct SharedReference {
  const trace::Reader* trace = nullptr;
  std::unique_ptr<ReferenceSums> sums;

  void prepare(const trace::Reader& wanted) {
    if (trace != &wanted) {
      try {
        sums = std::make_unique<ReferenceSums>(ReferenceSums::compute(wanted));
      } catch (const std::bad_alloc&) {
        throw BadInputError(fmt::format("{}: out of memory", wanted.path().string()));
      }
      trace = &wanted;
    }
  }
};

std::string name_of(const trace::Reader& trace, const GpuConfig& gpu, const Policy& policy) {
  return fmt::format("{} {} {}", trace.path().string(), gpu.name, policy.name());
}

// The blocks that are looked at must be there.
void check_places(const SimulationPlan& plan, const trace::Reader& trace, const GpuConfig& gpu) {
  const auto check = [&](const char* option, std::uint32_t index, std::uint32_t count,
                         const char* what) {
    if (index >= count) {
      throw BadInputError(fmt::format("{} {}: {} has {} 0 to {} for {}", option, index, gpu.name,
                                      what, count - 1, trace.path().string()));
    }
  };
  for (const std::uint32_t sm : plan.timeline_detail.sms) {
    check("--timeline-sm", sm, gpu.sm.count, "SMs");
  }
  for (const std::uint32_t port : plan.timeline_detail.l2_ports) {
    check("--timeline-l2", port, gpu.l2.ports(), "ports of the L2");
  }
  if (plan.wave) {
    check("--wave-sm", plan.wave->sm, gpu.sm.count, "SMs");
    check("--wave-subcore", plan.wave->subcore, gpu.sm.subcores, "sub-cores");
  }
}

// When the unit of a probe works: to tell somebody whose window shows nothing.
struct WorkOfUnit {
  std::optional<Cycle> first;
  Cycle last = 0;
  bool in_window = false;

  void add(Cycle cycle, const CycleRange& window) {
    first = first.value_or(cycle);
    last = cycle;
    in_window = in_window || window.contains(cycle);
  }
};

// The waves are written when the run is over.
RunResult simulate_with_wave(SimOptions options, const WavePlan& wave, const trace::Reader& trace,
                             const ReferenceSums& reference) {
  WaveFile file(options.unit.declaration().ports, {"arc_subcore"});
  PortValues ports;
  WorkOfUnit work;
  const PortProbe probe{.window = wave.window,
                        .sm = wave.sm,
                        .subcore = wave.subcore,
                        .show =
                            [&](Cycle cycle, const UnitInputs& inputs, const UnitOutputs& outputs) {
                              ports = {inputs, outputs};
                              file.add(cycle, {&ports});
                            },
                        .works = [&](Cycle cycle) { work.add(cycle, wave.window); }};
  options.probe = &probe;
  const RunResult run = simulate(options, trace, reference);
  if (run.cycles <= wave.window.begin) {
    throw BadInputError(fmt::format("--wave-cycles {}:{}: the run ended after {} cycles",
                                    wave.window.begin, wave.window.end, run.cycles));
  }
  if (!work.in_window) {
    throw BadInputError(fmt::format(
        "--wave-cycles {}:{}: sub-core {} of SM {} has nothing for its unit then, {}",
        wave.window.begin, wave.window.end, wave.subcore, wave.sm,
        work.first ? fmt::format("but in cycles {} to {}", *work.first, work.last)
                   : "nor in the whole run: --wave-sm and --wave-subcore name another"));
  }
  wave.file->write(file.finish());
  return run;
}

// Whether loads find the L2 as a launch like this one left it.
bool starts_warm(const SimulationPlan& plan, const trace::Header& header) {
  return plan.warm_l2.value_or(std::any_of(
      header.times.begin(), header.times.end(),
      [](const trace::VariantTime& time) { return time.state == trace::TimeState::kWarm; }));
}

PoolTask make_task(const SimulationPlan& plan, const trace::Reader& trace, const GpuConfig& gpu,
                   const Policy& policy, const std::size_t& threads, SharedReference& reference) {
  const SimOptions options{.gpu = gpu,
                           .policy = policy,
                           .unit = plan.unit,
                           .reference = plan.reference,
                           .warm_l2 = starts_warm(plan, trace.header()),
                           .timeline_interval = plan.timeline_interval,
                           .timeline_detail = plan.timeline_detail,
                           .progress = {}};
  check_places(plan, trace, gpu);
  PoolTask task;
  task.name = name_of(trace, gpu, policy);
  task.prepare = [&reference, &trace] { reference.prepare(trace); };
  task.work = [options, &plan, &threads, &reference,
               &trace](const std::function<void(double)>& progress) {
    SimOptions with_progress = options;
    with_progress.threads = threads;
    with_progress.progress = progress;
    try {
      return plan.wave ? simulate_with_wave(with_progress, *plan.wave, trace, *reference.sums)
                       : simulate(with_progress, trace, *reference.sums);
    } catch (const OutputError& error) {
      throw BadInputError(error.what());
    } catch (const SimulationError& error) {
      throw BadInputError(error.what());
    } catch (const trace::TraceError& error) {
      throw BadInputError(error.what());
    }
  };
  return task;
}

// Sizes that tell the plan's thresholds apart, of each trace; nothing where none of its policies
// could come out as another.
std::optional<GroupSizes> sizes_of(const SimulationPlan& plan, const trace::Reader& trace) {
  const auto has_other_threshold = [&](const Policy& policy) {
    return std::count_if(plan.policies.begin(), plan.policies.end(),
                         [&](const Policy& other) { return other.rule == policy.rule; }) > 1;
  };
  if (std::none_of(plan.policies.begin(), plan.policies.end(), has_other_threshold)) {
    return std::nullopt;
  }
  GroupSizes sizes;
  for (std::size_t i = 0; i < trace.cta_count(); ++i) {
    for (const trace::WarpTrace& warp : trace.read_cta(i).warps) {
      sizes.add(warp);
    }
  }
  return sizes;
}

GpuConfig part_of(const GpuConfig& gpu, std::uint32_t part, const trace::Reader& trace) {
  try {
    return part_of_gpu(gpu, part);
  } catch (const ConfigError& error) {
    throw BadInputError(fmt::format("{}: a sample of 1 CTA in {}: {} (--whole-gpu takes all of it)",
                                    trace.path().string(), part, error.what()));
  }
}

void refuse_unknown_rules(const GpuConfig& gpu) {
  try {
    check_rules(gpu);
  } catch (const std::invalid_argument& error) {
    throw BadInputError(fmt::format("{}: {}", gpu.name, error.what()));
  }
}

// Measured time of the kernel variant that the run simulated, if the trace has one: on the GPU that
// the machine is, or else on the one that was traced. What was timed is the whole launch, which
// says nothing about a part of it that does not stand for it.
void add_measurement(const trace::Header& header, RunResult& run) {
  if (!header.sampling.empty() && run.gpu_part == 1) {
    return;
  }
  // The best so far; unless its loads find the L2 cold, a warm launch is nearer to the model.
  int best = -1;
  for (const trace::VariantTime& time : header.times) {
    const std::string& gpu = time.gpu.empty() ? header.gpu : time.gpu;
    const bool of_machine = is_measured_gpu(run.gpu, gpu);
    const trace::TimeState wanted =
        run.l2_start == "cold" ? trace::TimeState::kCold : trace::TimeState::kWarm;
    const int worth = (of_machine ? 4 : 0) + (time.state == wanted                       ? 2
                                              : time.state == trace::TimeState::kUnknown ? 1
                                                                                         : 0);
    if (time.policy == run.policy && (of_machine || time.gpu.empty()) && worth > best) {
      best = worth;
      run.measured_ms = time.median_ms;
      run.measured_clock_mhz = time.sm_clock_mhz;
      run.measured_gpu = gpu;
      run.measured_state = time.state == trace::TimeState::kWarm   ? "warm"
                           : time.state == trace::TimeState::kCold ? "cold"
                                                                   : "";
    }
  }
}

// What whoever reads the results is to know of the trace, each in a line.
std::vector<std::string> remarks_of(const trace::Header& header, const RunResult& run) {
  std::vector<std::string> remarks = header.remarks;
  std::uint64_t left_out = 0;
  for (const trace::Omission& omission : header.omissions) {
    left_out += omission.count;
  }
  if (left_out > 0) {
    remarks.push_back(fmt::format(
        "left out are {} warp instructions, beside {} that are simulated: {}{}", left_out,
        run.warp_atomics, header.omissions.front().what,
        header.omissions.size() > 1 ? fmt::format(" and {} more kinds", header.omissions.size() - 1)
                                    : ""));
  }
  if (run.other_atomics > 0) {
    remarks.push_back(fmt::format(
        "{:.1f} % of the warp-atomics add no floats: every policy leaves them as they are",
        100.0 * static_cast<double>(run.other_atomics) / static_cast<double>(run.warp_atomics)));
  }
  const trace::InstructionBounds& bounds = header.instructions;
  if (header.costs_from == trace::CostSource::kCode) {
    remarks.push_back(
        fmt::format("the costs are of the machine code alone: {} warp instructions{}", bounds.taken,
                    bounds.least < bounds.most
                        ? fmt::format(", and they may be {} to {}", bounds.least, bounds.most)
                        : std::string()));
  } else if (header.costs_from == trace::CostSource::kCounts) {
    remarks.emplace_back("the costs are held to ncu's counts");
  }
  return remarks;
}

// What a failed check of a finished run is called; empty if there is none.
std::string failure_of(const RunResult& run) {
  if (!run.failure.empty()) {
    return run.failure;
  }
  if (!run.conserved) {
    return "not every lane value was added exactly once";
  }
  return run.sums_match ? "" : "the sums differ from the reference";
}

// A run that was asked for.
struct Source {
  const trace::Reader* trace;
  GpuConfig gpu;
  std::uint32_t part;
  Policy policy;
  std::size_t task;  // whose outcome it is; thresholds that decide alike share one
};

// Of the policies that are asked for those that the trace has code for; the others are told of.
std::vector<Policy> policies_for(const SimulationPlan& plan, const trace::Reader& trace,
                                 const GpuConfig& gpu, std::vector<std::string>& left_out) {
  std::vector<Policy> policies;
  std::string first;
  for (const Policy& policy : plan.policies) {
    if (PolicyTiming::has_code(trace.header(), gpu, policy)) {
      policies.push_back(policy);
      continue;
    }
    const std::string why =
        fmt::format("the trace has no {} code of variant {}",
                    PolicyTiming::code_of(trace.header(), gpu), policy.variant());
    first = first.empty()
                ? fmt::format("{}: {}, which {} needs", trace.path().string(), why, policy.name())
                : first;
    left_out.push_back(
        fmt::format("{}: left out {}: {}", trace.path().string(), policy.name(), why));
  }
  if (policies.empty()) {
    throw BadInputError(first);
  }
  return policies;
}

}  // namespace

SimulationReport run_simulations(const SimulationPlan& plan) {
  SimulationReport report;
  SharedReference reference;
  std::vector<PoolTask> tasks;
  std::size_t threads = 1;  // of each, known when all are
  std::vector<Source> sources;
  for (const trace::Reader& trace : plan.traces) {
    const std::uint32_t part = plan.whole_gpu ? 1 : trace.header().sample_every;
    const std::optional<GroupSizes> sizes = sizes_of(plan, trace);
    for (const GpuConfig& whole : plan.gpus) {
      refuse_unknown_rules(whole);
      const GpuConfig gpu = part == 1 ? whole : part_of(whole, part, trace);
      std::vector<std::pair<Policy, std::size_t>> tasks_of;
      for (const Policy& policy : policies_for(plan, trace, gpu, report.left_out)) {
        const Policy alike = sizes ? sizes->lowest_alike(policy) : policy;
        auto known = std::find_if(tasks_of.begin(), tasks_of.end(),
                                  [&](const auto& task) { return task.first == alike; });
        if (known == tasks_of.end()) {
          known = tasks_of.insert(known, {alike, tasks.size()});
          tasks.push_back(make_task(plan, trace, gpu, policy, threads, reference));
        }
        sources.push_back({&trace, gpu, part, policy, known->second});
      }
    }
  }
  constexpr std::size_t kMostThreads = 8;
  threads = plan.threads != 0
                ? plan.threads
                : std::clamp<std::size_t>(plan.jobs / std::max<std::size_t>(1, tasks.size()), 1,
                                          kMostThreads);
  auto outcomes =
      run_pool(tasks, {.jobs = plan.jobs, .progress = plan.progress, .stopped = plan.stopped});

  for (const Source& source : sources) {
    const auto& outcome = outcomes[source.task];
    const std::string name = name_of(*source.trace, source.gpu, source.policy);
    if (!outcome.result) {
      report.failures.push_back(fmt::format("{}: {}", name, outcome.error));
      ++report.missing;
      continue;
    }
    RunResult run = *outcome.result;
    run.policy = source.policy.name();
    run.config = source.gpu;
    run.gpu_part = source.part;
    run.warning = trace::address_warning(source.trace->header());
    if (!source.trace->header().memory.empty()) {
      run.l2_start = starts_warm(plan, source.trace->header()) ? "warm" : "cold";
    }
    add_measurement(source.trace->header(), run);
    run.remarks = remarks_of(source.trace->header(), run);
    if (const std::string failure = failure_of(run); !failure.empty()) {
      report.failures.push_back(fmt::format("{}: {}", name, failure));
    }
    report.runs.push_back(std::move(run));
  }
  return report;
}

}  // namespace warpfold

// SPDX-License-Identifier: Apache-2.0
// Every combination of traces, GPUs and policies, each simulated in a process of its own. Owned by
// the warpfold command.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/gpu/run/simulate.hpp"
#include "model/machine/config.hpp"
#include "model/outcome/run_result.hpp"
#include "model/policy/policy.hpp"
#include "model/results/output_file.hpp"
#include "model/results/process_pool.hpp"
#include "model/unit/arc_unit.hpp"
#include "traces/format/reader.hpp"

namespace warpfold {

// Waves of one ARC unit, under the name "arc_subcore", into a file.
struct WavePlan {
  CycleRange window;
  std::uint32_t sm = 0;
  std::uint32_t subcore = 0;
  const OutputFile* file = nullptr;
};

struct SimulationPlan {
  std::vector<trace::Reader> traces;
  std::vector<GpuConfig> gpus;
  // Where a trace has no instruction costs of a policy's variant that run is left out.
  std::vector<Policy> policies;
  UnitSource unit;
  bool reference = false;
  // How loads that say what they touch find the L2; as the measured time did where this is nothing:
  // warm if the trace has the time of a warm launch.
  std::optional<bool> warm_l2;
  bool whole_gpu = false;               // for samples too, which else run on their part of it
  std::uint64_t timeline_interval = 0;  // SimOptions::timeline_interval
  TimelineDetail timeline_detail;
  std::optional<WavePlan> wave;  // of a plan of one run
  std::size_t jobs = 1;
  // Host threads of each simulation; 0: where there are fewer simulations than jobs, their share of
  // those, up to eight (README.md: more gain nothing).
  std::size_t threads = 0;
  std::function<void(const PoolProgress&)> progress;  // may be empty
  std::function<bool()> stopped = nullptr;            // PoolOptions::stopped
};

struct SimulationReport {
  std::vector<RunResult> runs;        // by trace, GPU, policy, in the order of the plan
  std::vector<std::string> left_out;  // one line for each run that was left out
  std::vector<std::string> failures;  // one line for each failed check and for each run that died
  std::size_t missing = 0;            // runs without a result
};

// Throws BadInputError for what a simulation cannot work with.
SimulationReport run_simulations(const SimulationPlan& plan);

}  // namespace warpfold

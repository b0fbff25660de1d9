// SPDX-License-Identifier: Apache-2.0
// simulate() elaborates a GPU, runs one trace under one policy on it to the end and checks it.
// SystemC has one simulation context a process, so it may be called once in a process: callers that
// run several simulations fork one process for each (model/results/runner.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "model/gpu/sm/port_probe.hpp"
#include "model/kernel/recorder.hpp"
#include "model/machine/config.hpp"
#include "model/outcome/run_result.hpp"
#include "model/policy/policy.hpp"
#include "model/unit/arc_unit.hpp"
#include "model/unit/unit_declaration.hpp"
#include "model/unit/unit_source.hpp"
#include "traces/format/printable.hpp"
#include "traces/format/reader.hpp"

namespace warpfold {

// A trace that this machine or policy cannot run (no instruction costs for the architecture, a CTA
// that does not fit an SM): one clear line.
class SimulationError : public std::runtime_error {
 public:
  explicit SimulationError(std::string_view what) : std::runtime_error(trace::printable(what)) {}
};

struct SimOptions {
  GpuConfig gpu;
  Policy policy;
  UnitSource unit;
  // SystemC clocks every block in every cycle instead of only those with work, all SMs in step
  // (kernel/step_clock.hpp). Slow; the results are the same bit for bit, which is what it is there
  // to show. One thread, whatever `threads` says.
  bool reference = false;
  // Host threads that share the work of a cycle. The results are the same whatever their number.
  std::size_t threads = 1;
  // A fault for tests of the checks: each atomic buffer loses so many sectors when it is flushed.
  std::uint64_t lose_flushed = 0;
  // Another: the first SM is not told so many times that a port of the L2 has let something in.
  std::uint64_t lose_grants = 0;
  // What the launch's loads and stores touch has been touched before, as by a launch like it; else
  // the L2 holds of the memory the arrays that are added to alone.
  bool warm_l2 = false;
  // Record how busy the units were in every so many cycles; 0: do not.
  std::uint64_t timeline_interval = 0;
  TimelineDetail timeline_detail;  // with an interval
  // Has the ports of an ARC unit looked at; null: does not.
  const PortProbe* probe = nullptr;
  // Called now and then with the share of CTAs that have finished, 0..1; may be empty.
  std::function<void(double)> progress;
};

// What the sums at the end are compared with, computed once per trace and shared by all its runs.
class ReferenceSums;

RunResult simulate(const SimOptions& options, const trace::Reader& trace,
                   const ReferenceSums& reference);

}  // namespace warpfold

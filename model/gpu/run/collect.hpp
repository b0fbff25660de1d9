// SPDX-License-Identifier: Apache-2.0
// What a run comes to: counters of all blocks together, what is reported of them, and the checks at
// the end of every run. Pure functions of what has been counted.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "model/gpu/memory/l2_port.hpp"
#include "model/gpu/run/reference_sums.hpp"
#include "model/gpu/sm/sm.hpp"
#include "model/gpu/traffic/tally.hpp"
#include "model/machine/config.hpp"
#include "model/outcome/run_result.hpp"

namespace warpfold {

struct Totals {
  Tally tally;
  SubcoreStats subcores;
  CauseCycles cycles{}, warp_cycles{};
  ArcPort::Stats units;
  BufferStats buffers;
  std::uint64_t buffer_count = 0;
  L2Stats l2;
  L1Cache::Stats l1;     // of loads and stores of which the trace says what they touch
  L2Reads::Stats reads;  // the same
  Ticks lsu_busy = 0, port_busy = 0;
  std::uint64_t lsu_blocked = 0;
  std::uint64_t packets = 0, flits = 0, lone_words = 0, load_flits = 0;
  // What the unit of each kind that had most to do was busy for.
  struct {
    std::uint64_t issue = 0, unit = 0;
    Ticks lsu = 0, adder = 0, port = 0;
  } busiest;

  void add(const Sm& sm);
  void add(const Subcore& subcore);
  void add(const BufferStats& buffer);
  void add(const L2Stats& port);
  void add(const L1Cache::Stats& cache);
  void add(const L2Reads::Stats& port);
};

// All that follows from these alone. `end`: the run's cycles.
RunResult summarize(const Totals& totals, const GpuConfig& config, Cycle end);

// Conservation: every lane value went one way, arrived, and was added once; every sub-core cycle is
// accounted for. The first that does not hold is the result's failure. `stuck`: why the GPU has not
// come to rest, or nothing. `lanes`: how many should have been added.
void check_run(const Totals& totals, const GpuConfig& config, const ReferenceSums& reference,
               std::uint64_t lanes, const std::string& stuck, RunResult& result);
// What has been added up, by element, against the trace.
void check_sums(const ReferenceSums& reference, std::span<const Fp32Bits> memory,
                RunResult& result);
// That nothing has, under a policy that adds nothing.
void check_untouched(std::span<const Fp32Bits> memory, RunResult& result);

}  // namespace warpfold

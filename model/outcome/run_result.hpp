// SPDX-License-Identifier: Apache-2.0
// What one simulation run measured. Filled once at the end of a run by the GPU model; plain data.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "model/machine/config.hpp"

namespace warpfold {

// Named counters in a fixed order, so that every output lists them alike.
using Counters = std::vector<std::pair<std::string, std::uint64_t>>;
using Fractions = std::vector<std::pair<std::string, double>>;

// What a unit did for a time, in 1/256 cycles.
struct TimelineSlice {
  std::uint64_t begin = 0;
  std::uint64_t length = 0;
  std::uint32_t what = 0;   // TimelineTrack::what
  std::uint32_t count = 0;  // TimelineTrack::count
  friend bool operator==(const TimelineSlice&, const TimelineSlice&) = default;
};

// Of one unit, one after the other.
struct TimelineTrack {
  std::uint32_t place = 0;  // Timeline::places
  std::string name;
  std::vector<std::string> what;
  std::string count;  // what the counts are of; empty: there are none
  std::vector<TimelineSlice> slices;
  friend bool operator==(const TimelineTrack&, const TimelineTrack&) = default;
};

// How much a queue held from a cycle on.
struct TimelineLevel {
  std::uint64_t cycle = 0;
  std::uint64_t value = 0;
  friend bool operator==(const TimelineLevel&, const TimelineLevel&) = default;
};
struct TimelineLevels {
  std::uint32_t place = 0;
  std::string name;
  std::uint32_t parts = 1;  // that make one of what it counts
  std::vector<TimelineLevel> levels;
  friend bool operator==(const TimelineLevels&, const TimelineLevels&) = default;
};

// How busy units were in every interval of a run, the last of which ends with the run. Empty unless
// asked for.
struct Timeline {
  std::uint64_t interval = 0;  // cycles
  Counters units;              // units of each kind
  // Of each kind, busy cycles of all its units together, by interval. In multiples of 2^-8, so that
  // their sum is exact: it is the kind's utilization x its units x the run's cycles.
  std::vector<std::pair<std::string, std::vector<double>>> busy;
  // What all queues of a kind together have room for, and hold at the end of each interval.
  Counters room;
  std::vector<std::pair<std::string, std::vector<double>>> held;
  // In detail, cycles from window_begin on before window_end.
  std::uint64_t window_begin = 0;
  std::uint64_t window_end = 0;
  std::vector<std::string> places;  // "SM 0", "L2 port 3"
  std::vector<TimelineTrack> tracks;
  std::vector<TimelineLevels> levels;
};

struct RunResult {
  std::string trace;       // path as given
  std::string trace_hash;  // XXH64 of the file
  std::string gpu;
  std::string policy;
  std::string unit;
  std::string unit_kind;
  std::string costs_of;  // architecture of the instruction costs: the machine's or the nearest
  std::string warning;   // why no result of the trace is to be trusted; mostly empty

  std::uint64_t cycles = 0;         // SM cycles from launch until the last addition at a ROP
  std::uint64_t events = 0;         // reduce calls
  std::uint64_t warp_atomics = 0;   // instructions of all events: what the program asked for
  std::uint64_t other_atomics = 0;  // of these, those that add no floats
  std::uint64_t lane_atomics = 0;   // active lanes x parameters
  // Of these, those that the policy's hardware could not reduce for their type: plain REDs.
  std::uint64_t passed_on = 0;
  std::uint64_t rop_ops = 0;  // sector operations done by ROP units
  std::uint64_t noc_packets = 0;
  std::uint64_t noc_bytes = 0;
  Counters subcore_cycles;  // where sub-core cycles went; sums to cycles x sub-cores
  Counters warp_cycles;     // where resident warp cycles went
  Counters activity;        // instructions issued, REDs, shuffles, reductions, lanes by route
  Fractions utilization;    // 0..1 per unit kind, over the whole run
  Timeline timeline;
  // Cycles that no run with this work can be under, for each kind of unit: those of the unit that
  // had most to do, and of each if all had the same.
  Counters bounds;
  Counters even_bounds;
  // Checks at the end of the run; `failure` names the first that failed.
  bool sums_match = false;
  bool conserved = false;
  // How the sums were compared: "exact", "bound", or "none": there are to be none.
  std::string sum_check;
  double max_sum_error = 0;  // largest |sum - reference| over its allowed bound
  std::string failure;
  std::string failure_label;  // for a table: "LANES LOST", "STUCK"

  double wall_seconds = 0;
  std::uint32_t gpu_part = 1;  // N: `config` is an Nth of the GPU, for a sample of 1 CTA in N
  // Measured time of the same kernel variant on the traced GPU, from the trace header; 0 if absent.
  double measured_ms = 0;
  std::string measured_gpu;
  double measured_clock_mhz = 0;
  std::string measured_state;  // "cold", "warm", or nothing is known
  // How loads found the L2: "cold", "warm"; empty where the trace does not say what they touch.
  std::string l2_start;
  std::vector<std::string> remarks;  // what the trace lacks, and what is not known of its costs
  GpuConfig config;
};

}  // namespace warpfold

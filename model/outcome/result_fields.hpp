// SPDX-License-Identifier: Apache-2.0
// The one list of what a run measured: results files are written and read by it, and children send
// it to their parent. A new column is a member of RunResult and a line here.
#pragma once

#include <utility>

#include "model/outcome/run_result.hpp"

namespace warpfold {

// What a results file holds of a run, in its order (docs/results-file.md). Calls, for each,
//   visit(key, member)            a word, number, flag, or a list of named numbers; "a/b" is b in
//   the object a visit.if_any(key, member)     a count or text that is left out where it is 0 or
//   empty visit.derived(key)            here stands what is worked out from others
template <typename Visitor, typename Run>
void visit_result(Visitor&& visit, Run&& run) {
  visit("trace", run.trace);
  visit("trace_hash", run.trace_hash);
  visit("gpu", run.gpu);
  visit("policy", run.policy);
  visit("unit", run.unit);
  visit("unit_kind", run.unit_kind);
  visit.derived("costs_of");
  visit.if_any("warning", run.warning);
  visit("cycles", run.cycles);
  visit.derived("speedup");
  visit("events", run.events);
  visit("warp_atomics", run.warp_atomics);
  visit.if_any("other_atomics", run.other_atomics);
  visit("lane_atomics", run.lane_atomics);
  visit.if_any("passed_on", run.passed_on);
  visit("rop_ops", run.rop_ops);
  visit("noc_packets", run.noc_packets);
  visit("noc_bytes", run.noc_bytes);
  visit("stalls/subcore_cycles", run.subcore_cycles);
  visit("stalls/warp_cycles", run.warp_cycles);
  visit("utilization", run.utilization);
  visit.derived("bounds");
  visit("activity", run.activity);
  visit.derived("energy_nj");
  visit("sums_match", run.sums_match);
  visit("conserved", run.conserved);
  visit("sum_check", run.sum_check);
  visit("max_sum_error", run.max_sum_error);
  visit("wall_seconds", run.wall_seconds);
  visit.derived("measured");
  visit("gpu_part", run.gpu_part);
  visit.if_any("l2_start", run.l2_start);
  visit.if_any("remarks", run.remarks);
  visit.derived("config");
}

// What a simulation finds beside that. `config`, `measured_*` and `gpu_part` are known to who
// starts it.
template <typename Visitor, typename Run>
void visit_unpublished(Visitor&& visit, Run&& run) {
  visit("costs_of", run.costs_of);
  visit("timeline/interval", run.timeline.interval);
  visit("timeline/units", run.timeline.units);
  visit("timeline/busy", run.timeline.busy);
  visit("timeline/room", run.timeline.room);
  visit("timeline/held", run.timeline.held);
  visit("timeline/begin", run.timeline.window_begin);
  visit("timeline/end", run.timeline.window_end);
  visit("timeline/places", run.timeline.places);
  visit("timeline/tracks", run.timeline.tracks);
  visit("timeline/levels", run.timeline.levels);
  visit("bounds", run.bounds);
  visit("even_bounds", run.even_bounds);
  visit("failure", run.failure);
  visit("failure_label", run.failure_label);
}

}  // namespace warpfold

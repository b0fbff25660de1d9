// SPDX-License-Identifier: Apache-2.0
// The one list of GpuConfig's parameters: key in the file, member, allowed range. The reader of GPU
// files and the JSON writer both walk it, so neither can forget a parameter. No state, no clock.
#pragma once

#include <cstdint>
#include <string_view>

#include "model/machine/config.hpp"

namespace warpfold {

// Both ends are allowed. A value outside is a mistake, not a machine.
template <typename T>
struct Range {
  T min;
  T max;
};

// Of a parameter that a file may leave out, for what GpuConfig has without it.
template <typename T>
struct OptionalRange : Range<T> {};

// Calls visit(section, key, member, range) for each number and visit(section, key, member) for the
// rest, in the order in which they are printed. `section` is empty for the top level.
template <typename Config, typename Visitor>
void visit_config(Config& gpu, Visitor&& visit) {
  using Count = Range<std::uint32_t>;
  using Real = Range<double>;
  using Bytes = Range<std::uint64_t>;
  constexpr Real kCycles{.min = 0.01, .max = 10000};
  constexpr Count kLatency{.min = 1, .max = 100000};

  visit("", "name", gpu.name);
  visit("", "sass_arch", gpu.sass_arch);

  visit("sm", "count", gpu.sm.count, Count{1, 1024});
  visit("sm", "subcores", gpu.sm.subcores, Count{1, 16});
  visit("sm", "clock_ghz", gpu.sm.clock_ghz, Real{0.01, 100});
  visit("sm", "max_warps", gpu.sm.max_warps, Count{1, 1024});
  visit("sm", "max_ctas", gpu.sm.max_ctas, Count{1, 1024});
  visit("sm", "registers", gpu.sm.registers, Count{1024, 1U << 24U});
  visit("sm", "shared_bytes", gpu.sm.shared_bytes, Count{1024, 1U << 24U});
  visit("sm", "issue_order", gpu.sm.issue_order);

  visit("rules", "admission", gpu.rules.admission);
  visit("rules", "scheduler", gpu.rules.scheduler);
  visit("rules", "l2_order", gpu.rules.l2_order);
  visit("rules", "slice_map", gpu.rules.slice_map);
  visit("rules", "red_wait", gpu.rules.red_wait);
  visit("rules", "packets", gpu.rules.packets);

  visit("pipe", "integer", gpu.pipe.integer, kCycles);
  visit("pipe", "sfu", gpu.pipe.sfu, kCycles);

  visit("latency", "shared", gpu.latency.shared, kLatency);
  visit("latency", "sfu", gpu.latency.sfu, kLatency);
  visit("latency", "shuffle", gpu.latency.shuffle, kLatency);
  visit("latency", "shuffle_index", gpu.latency.shuffle_index, kLatency);
  visit("latency", "match", gpu.latency.match, kLatency);
  visit("latency", "match_group", gpu.latency.match_group, Count{0, 1000});
  visit("latency", "redux", gpu.latency.redux, kLatency);
  visit("latency", "special", gpu.latency.special, kLatency);
  visit("latency", "uniform", gpu.latency.uniform, kLatency);
  visit("latency", "constant", gpu.latency.constant, kLatency);
  visit("latency", "global_load", gpu.latency.global_load, kLatency);
  visit("latency", "l1_load", gpu.latency.l1_load, kLatency);
  visit("latency", "branch", gpu.latency.branch, Count{0, 1000});
  visit("latency", "barrier", gpu.latency.barrier, kLatency);
  visit("latency", "barrier_warp", gpu.latency.barrier_warp, Real{.min = 0, .max = 1000});
  visit("latency", "cta_launch", gpu.latency.cta_launch, kLatency);
  visit("latency", "shared_cas", gpu.latency.shared_cas,
        OptionalRange<std::uint32_t>{{.min = 1, .max = 100000}});
  visit("latency", "fence", gpu.latency.fence,
        OptionalRange<std::uint32_t>{{.min = 1, .max = 100000}});
  visit("latency", "launch", gpu.latency.launch,
        OptionalRange<std::uint32_t>{{.min = 0, .max = 1'000'000}});

  visit("lsu", "queue_depth", gpu.lsu.queue_depth, Count{1, 1024});
  visit("lsu", "sleep_cycles", gpu.lsu.sleep_cycles, Count{0, 1'000'000});
  visit("lsu", "tick_groups", gpu.lsu.tick_groups, Count{1, 1024});
  visit("lsu", "red_min", gpu.lsu.red_min, kCycles);
  visit("lsu", "red_flit", gpu.lsu.red_flit, kCycles);
  visit("lsu", "red_change", gpu.lsu.red_change, Real{.min = 0, .max = 1000});
  visit("lsu", "red_word", gpu.lsu.red_word, OptionalRange<double>{{.min = 0, .max = 1000}});
  visit("lsu", "shuffle", gpu.lsu.shuffle, kCycles);
  visit("lsu", "match", gpu.lsu.match, kCycles);
  visit("lsu", "shared_access", gpu.lsu.shared_access, kCycles);
  visit("lsu", "shared_wide", gpu.lsu.shared_wide, kCycles);
  visit("lsu", "shared_cas", gpu.lsu.shared_cas,
        OptionalRange<double>{{.min = 0.01, .max = 10000}});
  visit("lsu", "global_load", gpu.lsu.global_load, kCycles);
  visit("lsu", "match_unit", gpu.lsu.match_unit, kCycles);
  visit("lsu", "hand_red", gpu.lsu.hand_red, kCycles);
  visit("lsu", "hand_shuffle", gpu.lsu.hand_shuffle, kCycles);
  visit("lsu", "hand_shuffle_index", gpu.lsu.hand_shuffle_index, kCycles);
  visit("lsu", "hand_match", gpu.lsu.hand_match, kCycles);

  visit("arc", "queue_depth", gpu.arc.queue_depth, Count{1, 1024});
  visit("arc", "merge_rows", gpu.arc.merge_rows,
        OptionalRange<std::uint32_t>{{.min = 8, .max = 1U << 16U}});

  visit("l1", "bytes", gpu.l1.bytes, Bytes{4096, std::uint64_t{1} << 24U});
  visit("l1", "line_bytes", gpu.l1.line_bytes, Count{32, 128});
  visit("l1", "ways", gpu.l1.ways, Count{1, 1024});
  visit("l1", "access_cycles", gpu.l1.access_cycles, kCycles);
  visit("l1", "load_lines", gpu.l1.load_lines, Count{0, 32});
  visit("l1", "misses", gpu.l1.misses, OptionalRange<std::uint32_t>{{.min = 4, .max = 1U << 20U}});

  visit("lab", "bytes", gpu.lab.bytes, Bytes{128, std::uint64_t{1} << 24U});
  visit("lab", "entry_bytes", gpu.lab.entry_bytes, Count{32, 128});
  visit("lab", "ways", gpu.lab.ways, Count{1, 1024});

  visit("buffer", "queue_depth", gpu.buffer.queue_depth, Count{1, 1024});
  visit("buffer", "victims", gpu.buffer.victims, Count{1, 1024});
  visit("buffer", "add_cycles", gpu.buffer.add_cycles, kCycles);

  visit("noc", "injection_depth", gpu.noc.injection_depth, Count{1, 4096});
  visit("noc", "flit_cycles", gpu.noc.flit_cycles, Real{1, 1000});
  visit("noc", "latency", gpu.noc.latency, kLatency);
  visit("noc", "request_bytes", gpu.noc.request_bytes, Count{1, 1024});
  visit("noc", "sector_bytes", gpu.noc.sector_bytes, Count{1, 1024});
  visit("noc", "return_cycles", gpu.noc.return_cycles,
        OptionalRange<double>{{.min = 0.01, .max = 10000}});

  visit("l2", "slices", gpu.l2.slices, Count{1, 1024});
  visit("l2", "slices_per_port", gpu.l2.slices_per_port, Count{1, 64});
  visit("l2", "input_sms", gpu.l2.input_sms, Count{1, 1024});
  visit("l2", "port_cycles", gpu.l2.port_cycles, kCycles);
  visit("l2", "flit_cycles", gpu.l2.flit_cycles, kCycles);
  visit("l2", "rop_cycles", gpu.l2.rop_cycles, kCycles);
  visit("l2", "line_cycles", gpu.l2.line_cycles, kCycles);
  visit("l2", "sector_cycles", gpu.l2.sector_cycles, kCycles);
  visit("l2", "load_cycles", gpu.l2.load_cycles, OptionalRange<double>{{.min = 0, .max = 10000}});
  visit("l2", "read_cycles", gpu.l2.read_cycles,
        OptionalRange<double>{{.min = 0.01, .max = 10000}});
  visit("l2", "turn_spread", gpu.l2.turn_spread, Real{.min = 0, .max = 0.5});
  visit("l2", "ingress_flits", gpu.l2.ingress_flits, Count{1, 65536});
  visit("l2", "interleave_bytes", gpu.l2.interleave_bytes, Count{32, 1U << 20U});
  visit("l2", "slice_bytes", gpu.l2.slice_bytes, Count{32, 1U << 20U});
  visit("l2", "bytes", gpu.l2.bytes, Bytes{4096, std::uint64_t{1} << 30U});
  visit("l2", "ways", gpu.l2.ways, Count{1, 1024});
  visit("l2", "line_bytes", gpu.l2.line_bytes, Count{32, 4096});
  visit("l2", "dram_latency", gpu.l2.dram_latency, kLatency);
  visit("l2", "dram_bytes_per_cycle", gpu.l2.dram_bytes_per_cycle, Real{0.01, 1e6});
  visit("l2", "dram_share", gpu.l2.dram_share, OptionalRange<double>{{.min = 0.01, .max = 1}});
  visit("l2", "dram_burst", gpu.l2.dram_burst, OptionalRange<double>{{.min = 0, .max = 4096}});

  constexpr Real kPicojoules{.min = 0, .max = 1e6};
  constexpr Real kWatts{.min = 0, .max = 10000};
  visit("energy", "instruction_pj", gpu.energy.instruction_pj, kPicojoules);
  visit("energy", "shuffle_pj", gpu.energy.shuffle_pj, kPicojoules);
  visit("energy", "register_lane_pj", gpu.energy.register_lane_pj, kPicojoules);
  visit("energy", "unit_lane_pj", gpu.energy.unit_lane_pj, kPicojoules);
  visit("energy", "add_lane_pj", gpu.energy.add_lane_pj, kPicojoules);
  visit("energy", "buffer_access_pj", gpu.energy.buffer_access_pj, kPicojoules);
  visit("energy", "noc_byte_pj", gpu.energy.noc_byte_pj, kPicojoules);
  visit("energy", "rop_pj", gpu.energy.rop_pj, kPicojoules);
  visit("energy", "dram_byte_pj", gpu.energy.dram_byte_pj, kPicojoules);
  visit("energy", "active_watts", gpu.energy.active_watts, kWatts);
  visit("energy", "idle_watts", gpu.energy.idle_watts, kWatts);
}

}  // namespace warpfold

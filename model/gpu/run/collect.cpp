// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/run/collect.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/base/ticks.hpp"

namespace warpfold {

void Totals::add(const Subcore& subcore) {
  for (std::size_t i = 0; i < kCycleCauses; ++i) {
    cycles[i] += subcore.ledger().cycles()[i];
    warp_cycles[i] += subcore.ledger().warp_cycles()[i];
  }
  const SubcoreStats& s = subcore.stats();
  subcores.issued += s.issued;
  subcores.reds += s.reds;
  subcores.atomreds += s.atomreds;
  subcores.shuffles += s.shuffles;
  subcores.shuffles_of_zeros += s.shuffles_of_zeros;
  subcores.events += s.events;
  subcores.loads += s.loads;
  subcores.stores += s.stores;
  const ArcPort::Stats& unit = subcore.arc_port().stats();
  units.read_cycles += unit.read_cycles;
  units.blocked_cycles += unit.blocked_cycles;
  busiest.issue = std::max(busiest.issue, s.issued);
  busiest.unit = std::max(busiest.unit, unit.read_cycles);
}

void Totals::add(const BufferStats& buffer) {
  buffers.hits += buffer.hits;
  buffers.misses += buffer.misses;
  buffers.evicted += buffer.evicted;
  buffers.flushed += buffer.flushed;
  buffers.blocked_cycles += buffer.blocked_cycles;
  buffers.adder_busy += buffer.adder_busy;
  busiest.adder = std::max(busiest.adder, buffer.adder_busy);
  ++buffer_count;
}

void Totals::add(const Sm& sm) {
  for (const auto& subcore : sm.subcores()) {
    add(*subcore);
  }
  if (sm.buffer() != nullptr) {
    add(sm.buffer()->stats());
  }
  if (sm.lsu().l1() != nullptr) {
    add(sm.lsu().l1()->stats());
  }
  const InjectionPort& port = sm.port();
  lsu_blocked += sm.lsu().blocked_cycles();
  lsu_busy += sm.pipe().busy();
  port_busy += port.busy();
  busiest.lsu = std::max(busiest.lsu, sm.pipe().busy());
  busiest.port = std::max(busiest.port, port.busy());
  packets += port.packets();
  flits += port.flits();
  lone_words += port.lone_words();
  load_flits += port.load_flits();
}

void Totals::add(const L2Stats& port) {
  l2.packets += port.packets;
  l2.rop_ops += port.rop_ops;
  l2.rop_busy += port.rop_busy;
  l2.port_busy += port.port_busy;
  l2.rop_busiest = std::max(l2.rop_busiest, port.rop_busiest);
  l2.hits += port.hits;
  l2.misses += port.misses;
  l2.evictions += port.evictions;
}

void Totals::add(const L1Cache::Stats& cache) {
  l1.accesses += cache.accesses;
  l1.hits += cache.hits;
  l1.merged += cache.merged;
  l1.asked += cache.asked;
  l1.filled += cache.filled;
  l1.stored += cache.stored;
  l1.alone = l1.alone || cache.alone;
}

void Totals::add(const L2Reads::Stats& port) {
  reads.hits += port.hits;
  reads.misses += port.misses;
  reads.read += port.read;
  reads.stored += port.stored;
  reads.sent += port.sent;
  reads.evictions += port.evictions;
}

namespace {

double share(double part, double whole) {
  return whole > 0 ? part / whole : 0.0;
}

Counters activity(const Totals& t) {
  Counters counters = {
      {"instructions", t.subcores.issued},
      {"reds", t.subcores.reds},
      {"atomreds", t.subcores.atomreds},
      {"shuffles", t.subcores.shuffles},
      {"shuffles_of_zeros", t.subcores.shuffles_of_zeros},
      {"lanes_as_red", t.tally.lanes_as_red},
      {"lanes_to_unit", t.tally.lanes_to_unit},
      {"lanes_in_software", t.tally.lanes_software},
      {"lanes_to_buffer", t.tally.lanes_buffered},
      {"sums_to_buffer", t.tally.sums_buffered},
      {"sums_from_unit", t.tally.unit_reduced},
      {"sums_from_software", t.tally.software_reduced},
      {"sums_from_buffer", t.tally.buffer_reduced},
      {"buffer_hits", t.buffers.hits},
      {"buffer_misses", t.buffers.misses},
      {"buffer_evicted_sectors", t.buffers.evicted},
      {"buffer_flushed_sectors", t.buffers.flushed},
      {"buffer_blocked_cycles", t.buffers.blocked_cycles},
      {"unit_blocked_cycles", t.units.blocked_cycles},
      {"lsu_blocked_cycles", t.lsu_blocked},
      {"noc_flits", t.flits},
      {"noc_lone_words", t.lone_words},
      {"noc_load_flits", t.load_flits},
      {"l2_hits", t.l2.hits},
      {"l2_misses", t.l2.misses},
      {"l2_evictions", t.l2.evictions},
  };
  if (t.subcores.loads + t.subcores.stores > 0) {
    counters.insert(counters.end(), {{"loads", t.subcores.loads},
                                     {"stores", t.subcores.stores},
                                     {"load_sectors", t.l1.accesses},
                                     {"l1_hit_sectors", t.l1.hits},
                                     {"l1_merged_sectors", t.l1.merged},
                                     {"l2_load_hit_sectors", t.reads.hits},
                                     {"l2_load_miss_sectors", t.reads.misses},
                                     {"dram_read_sectors", t.reads.read},
                                     {"store_sectors", t.l1.stored},
                                     {"l2_load_evictions", t.reads.evictions}});
  }
  return counters;
}

Fractions utilization(const Totals& t, const GpuConfig& config, Cycle end) {
  const auto cycles = static_cast<double>(end);
  const auto sms = static_cast<double>(config.sm.count);
  const auto subcores = sms * static_cast<double>(config.sm.subcores);
  const auto ticks = static_cast<double>(kTicksPerCycle);
  const auto slices = static_cast<double>(config.l2.slices);
  const auto buffers = static_cast<double>(t.buffer_count);
  return {
      {"issue", share(static_cast<double>(t.subcores.issued), cycles * subcores)},
      {"arc_unit", share(static_cast<double>(t.units.read_cycles), cycles * subcores)},
      {"lsu", share(static_cast<double>(t.lsu_busy), cycles * sms * ticks)},
      {"buffer", share(static_cast<double>(t.buffers.adder_busy), cycles * buffers * ticks)},
      {"noc", share(static_cast<double>(t.port_busy), cycles * sms * ticks)},
      {"rop", share(static_cast<double>(t.l2.rop_busy), cycles * slices * ticks)},
  };
}

// A unit that is busy for so long keeps the run from ending sooner. Rounded down.
Counters bounds(const Totals& t, Cycle end) {
  Counters found = {
      {"issue", t.busiest.issue},        {"arc_unit", t.busiest.unit},
      {"lsu", cycle_of(t.busiest.lsu)},  {"buffer", cycle_of(t.busiest.adder)},
      {"noc", cycle_of(t.busiest.port)}, {"rop", cycle_of(t.l2.rop_busiest)},
  };
  // What rounds at the L2 take is rounded down, by less than 2^-12 of it.
  constexpr std::uint64_t kRoundedBy = 1U << 12U;
  if (std::uint64_t& rop = found.back().second; rop - rop / kRoundedBy <= end + 1) {
    rop = std::min(rop, end);
  }
  return found;
}

Counters even_bounds(const Totals& t, const GpuConfig& config) {
  const auto even = [](std::uint64_t work, double units) {
    return static_cast<std::uint64_t>(static_cast<double>(work) / units);
  };
  const auto sms = static_cast<double>(config.sm.count);
  const auto subcores = sms * static_cast<double>(config.sm.subcores);
  const auto ticks = static_cast<double>(kTicksPerCycle);
  // Of the L2, either all slices or all ports are the narrower place.
  const double rop =
      std::max(static_cast<double>(t.l2.rop_busy) / (ticks * static_cast<double>(config.l2.slices)),
               static_cast<double>(t.l2.port_busy) / (ticks * config.l2.ports()));
  return {
      {"issue", even(t.subcores.issued, subcores)},
      {"arc_unit", even(t.units.read_cycles, subcores)},
      {"lsu", even(t.lsu_busy, sms * ticks)},
      {"buffer", t.buffer_count == 0
                     ? 0
                     : even(t.buffers.adder_busy, static_cast<double>(t.buffer_count) * ticks)},
      {"noc", even(t.port_busy, sms * ticks)},
      {"rop", static_cast<std::uint64_t>(rop)},
  };
}

}  // namespace

RunResult summarize(const Totals& totals, const GpuConfig& config, Cycle end) {
  RunResult result;
  result.config = config;
  result.gpu = config.name;
  result.cycles = end;
  result.rop_ops = totals.l2.rop_ops;
  result.passed_on = totals.tally.lanes_passed_on;
  result.noc_packets = totals.packets;
  result.noc_bytes = totals.packets * (config.noc.request_bytes + config.noc.sector_bytes);
  for (std::size_t i = 0; i < kCycleCauses; ++i) {
    const auto cause = static_cast<CycleCause>(i);
    const char* name = cycle_cause_name(cause);
    result.subcore_cycles.emplace_back(name, totals.cycles[i]);
    result.warp_cycles.emplace_back(cause == CycleCause::kIdle ? "not_selected" : name,
                                    totals.warp_cycles[i]);
  }
  result.activity = activity(totals);
  result.utilization = utilization(totals, config, end);
  result.bounds = bounds(totals, end);
  result.even_bounds = even_bounds(totals, config);
  return result;
}

namespace {

void require(bool holds, const std::string& what, const char* label, RunResult& result) {
  if (!holds && result.failure.empty()) {
    result.failure = what;
    result.failure_label = label;
  }
}

}  // namespace

void check_run(const Totals& totals, const GpuConfig& config, const ReferenceSums& reference,
               std::uint64_t lanes_to_add, const std::string& stuck, RunResult& result) {
  const Cycle end = result.cycles;
  const Tally& t = totals.tally;
  const auto lanes = [&result](bool holds, const char* what) {
    require(holds, what, "LANES LOST", result);
  };
  require(stuck.empty(), stuck, "STUCK", result);
  lanes(t.lanes_issued + t.lanes_software == lanes_to_add,
        "lanes issued differ from lanes in the trace");
  lanes(t.lanes_as_red + t.lanes_to_unit + t.lanes_buffered == t.lanes_issued,
        "lanes sent and lanes reduced differ from lanes issued");
  lanes(t.lanes_added == t.lanes_as_red, "lanes added at ROPs differ from lanes sent");
  lanes(t.buffer_reduced == t.buffer_sums_begun,
        "sums sent by atomic buffers differ from sums begun in them");
  lanes(t.sums_added + t.sums_buffered == t.unit_reduced + t.software_reduced + t.buffer_reduced,
        "sums added at ROPs differ from sums sent");
  lanes(totals.l2.packets == totals.packets, "packets served differ from packets injected");
  const auto loads = [&result](bool holds, const char* what) {
    require(holds, what, "LOADS LOST", result);
  };
  loads(totals.subcores.loads + totals.subcores.stores == reference.accesses(),
        "loads and stores issued differ from those in the trace");
  loads(totals.l1.hits + totals.l1.merged + totals.l1.asked == totals.l1.accesses,
        "sectors that hit and that missed differ from those loaded");
  const std::uint64_t asked = totals.l1.alone ? 0 : totals.l1.asked;
  loads(totals.reads.hits + totals.reads.misses == asked,
        "sectors looked up in the L2 differ from those that it was asked for");
  loads(totals.reads.sent == asked && totals.l1.filled == totals.l1.asked,
        "sectors that the L2 has sent differ from those that it was asked for");
  loads(totals.reads.stored == (totals.l1.alone ? 0 : totals.l1.stored),
        "sectors written to the L2 differ from those stored");
  require(totals.subcores.events == reference.events(),
          "events issued differ from events in the trace", "EVENTS LOST", result);
  std::uint64_t accounted = 0;
  for (const std::uint64_t count : totals.cycles) {
    accounted += count;
  }
  require(accounted == end * config.sm.count * config.sm.subcores, "sub-core cycles do not add up",
          "CYCLES WRONG", result);
  require(totals.cycles[static_cast<std::size_t>(CycleCause::kIssued)] == totals.subcores.issued,
          "issue cycles differ from instructions issued", "CYCLES WRONG", result);
  for (const auto& [name, bound] : result.bounds) {
    require(bound <= end, fmt::format("{} was busy for {} cycles of a run of {}", name, bound, end),
            "BOUND WRONG", result);
  }
  result.conserved = result.failure.empty();
}

void check_sums(const ReferenceSums& reference, std::span<const Fp32Bits> memory,
                RunResult& result) {
  const ReferenceSums::Comparison sums = reference.compare(memory);
  result.sums_match = sums.match;
  result.sum_check = sums.exact ? "exact" : "bound";
  result.max_sum_error = sums.max_error;
  require(sums.match, sums.first_difference, "SUMS DIFFER", result);
}

void check_untouched(std::span<const Fp32Bits> memory, RunResult& result) {
  result.sums_match =
      std::all_of(memory.begin(), memory.end(), [](Fp32Bits word) { return word == 0; });
  result.sum_check = "none";
  require(result.sums_match, "something was added", "SUMS DIFFER", result);
}

}  // namespace warpfold

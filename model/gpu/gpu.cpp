// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/gpu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>

#include "model/gpu/gradient_memory.hpp"
#include "model/gpu/l2.hpp"
#include "model/gpu/lazy_array.hpp"
#include "model/gpu/reference_sums.hpp"
#include "model/gpu/sm.hpp"
#include "model/gpu/timeline.hpp"

// The SystemC library asks for this entry, which a program that has its own main() never reaches.
// A program's own sc_main() takes its place.
[[gnu::weak]] int sc_main(int, char**) {
  return 0;
}

namespace warpfold {

namespace {

constexpr Cycle kWatched = Cycle{1} << 22U;  // cycles in which something must happen

// All blocks of the GPU and what they share, in the order in which they must be built.
class Gpu {
 public:
  Gpu(const SimOptions& options, const trace::Reader& trace, const PolicyTiming& timing,
      std::uint32_t resident_ctas, const BufferShape& buffer, bool dense)
      : config_(options.gpu),
        has_values_(trace.header().values == trace::ValueMode::kFp32),
        addresses_(trace.header()),
        memory_(addresses_.element_count(), dense),
        map_(config_),
        clock_("clock", 1.0 / config_.sm.clock_ghz, partitions(options), options.clock_all),
        tallies_(clock_.partitions()),
        dispatcher_("dispatcher", clock_.partition(0), trace, ctas_, resident_ctas,
                    options.progress) {
    const bool needs_unit = options.policy.kind == PolicyKind::kArcHw;
    const auto unit = [&]() -> std::unique_ptr<ArcUnit> {
      return needs_unit ? make_unit(options.unit, options.unit_kind) : nullptr;
    };
    std::vector<Sm*> sms;
    std::vector<InjectionPort*> ports;
    for (std::uint32_t i = 0; i < config_.sm.count; ++i) {
      const std::size_t place = i % clock_.partitions();
      const Subcore::Context context{.config = config_,
                                     .timing = timing,
                                     .addresses = addresses_,
                                     .has_values = has_values_,
                                     .clock_all = options.clock_all,
                                     .unit_kind = options.unit_kind,
                                     .buffered = buffer.present(),
                                     .tick_offset = tick_offset(i),
                                     .tally = tallies_[place]};
      sms_.push_back(std::make_unique<Sm>(fmt::format("sm{}", i).c_str(), clock_.partition(place),
                                          context, ctas_, i, unit, buffer, sums_, resident_ctas,
                                          quantum(options)));
      sms.push_back(sms_.back().get());
      ports.push_back(&sms.back()->port);
    }
    std::vector<SliceIngress*> ingresses;
    for (std::uint32_t i = 0; i < config_.l2.ports(); ++i) {
      const std::size_t place = i % clock_.partitions();
      l2_.push_back(std::make_unique<L2Port>(
          fmt::format("l2_{}", i).c_str(), clock_.partition(place), config_, addresses_,
          has_values_, memory_.span(), sums_, tallies_[place], ctas_));
      l2_.back()->ingress.connect(*l2_.back(), ports);
      ingresses.push_back(&l2_.back()->ingress);
    }
    for (Sm* sm : sms) {
      sm->connect(dispatcher_, map_, ingresses);
    }
    dispatcher_.connect(sms);
    warm(trace.header());
    sms_.front()->port.lose_grants(options.lose_grants);
    clock_.watch_every(kWatched, [this](Cycle cycle) { watch(cycle); });
    if (options.timeline_interval > 0) {
      timeline_.emplace(options.timeline_interval, options.timeline_detail, config_, sms_, l2_);
      clock_.sample_every(options.timeline_interval,
                          [this](Cycle cycle) { timeline_->sample(cycle); });
    }
    if (options.probe != nullptr) {
      sms_.at(options.probe->sm)->probe(*options.probe);
    }
  }

  void run() {
    // Coming to rest is the normal end of a run and needs no notice.
    sc_core::sc_report_handler::set_actions("/OSCI/SystemC", sc_core::SC_DO_NOTHING);
    sc_core::sc_start();
    clock_.rethrow_failure();
  }

  [[nodiscard]] RunResult collect(const ReferenceSums& reference);

 private:
  // Of each kind of block, the first that waits for something, and for what: ": sm0.lsu ...".
  [[nodiscard]] std::string who_waits() const;
  // Throws CheckError where neither has anything been done since the last call nor will be after a
  // time that is known: warps that only look again and again whether they may go on.
  void watch(Cycle cycle);

  // Long enough for an SM's share of a processor's cache to pay. Samples of a timeline are taken
  // while all SMs keep step.
  static Cycle quantum(const SimOptions& options) {
    constexpr Cycle kQuantum = 4096;
    return options.timeline_interval > 0 ? options.timeline_interval : kQuantum;
  }

  // A launch begins at any time of the clocks that ticks come from: those of the groups lie evenly.
  [[nodiscard]] Cycle tick_offset(std::uint32_t sm) const {
    const Cycle groups = config_.lsu.tick_groups;
    return config_.lsu.sleep_cycles * (sm % groups) / groups;
  }

  // More than there are SMs would have nothing to do, and many more than there are processors would
  // wait for each other.
  static std::size_t partitions(const SimOptions& options) {
    constexpr std::size_t kAlways = 8;
    const std::size_t processors =
        std::max<std::size_t>(std::thread::hardware_concurrency(), kAlways);
    return std::clamp<std::size_t>(std::min(options.threads, processors), 1, options.gpu.sm.count);
  }

  // The arrays were cleared just before the kernel, in address order: as much of them as fits is in
  // the L2, the last lines first.
  void warm(const trace::Header& header) {
    const std::uint64_t bytes = config_.l2.line_bytes;
    std::vector<std::uint64_t> next(header.parameters.size(), 0);  // primitive, by parameter
    constexpr std::uint64_t kNone = ~std::uint64_t{0};
    for (std::uint64_t line = 0;; ++line) {
      // The first line from `line` on in which a parameter has an element.
      std::uint64_t first = kNone;
      for (std::size_t p = 0; p < next.size(); ++p) {
        const trace::Parameter& array = header.parameters[p];
        const std::uint64_t begin = line * bytes;
        if (array.base + next[p] * array.stride_bytes < begin) {
          next[p] = (begin - array.base + array.stride_bytes - 1) / array.stride_bytes;
        }
        if (next[p] < header.primitive_count) {
          first = std::min(first, (array.base + next[p] * array.stride_bytes) / bytes);
        }
      }
      if (first == kNone) {
        return;
      }
      line = first;
      l2_[map_.place(line * bytes).port]->warm(line * bytes);
    }
  }

  GpuConfig config_;
  const bool has_values_;
  AddressMap addresses_;
  LazyArray<Fp32Bits> memory_;
  CtaStore ctas_;
  LineSumsPool sums_;
  SliceMap map_;
  Clock clock_;
  std::vector<Tally> tallies_;  // by partition
  Dispatcher dispatcher_;
  std::vector<std::unique_ptr<Sm>> sms_;
  std::vector<std::unique_ptr<L2Port>> l2_;
  std::uint64_t watched_ = ~std::uint64_t{0};  // what had been done when it was last looked at
  std::optional<TimelineRecorder> timeline_;
};

double share(double part, double whole) {
  return whole > 0 ? part / whole : 0.0;
}

std::string Gpu::who_waits() const {
  std::string text;
  std::vector<std::string> told;  // kinds of block
  const auto tell = [&](const std::string& kind, const std::string& what) {
    if (!what.empty() && std::find(told.begin(), told.end(), kind) == told.end()) {
      text += fmt::format("{} {}", told.empty() ? ":" : ";", what);
      told.push_back(kind);
    }
  };
  for (const auto& sm : sms_) {
    for (const auto& subcore : sm->subcores) {
      tell("subcore", subcore->waits());
    }
    tell("lsu", sm->lsu.waits());
    if (sm->buffer) {
      tell("buffer", sm->buffer->waits());
    }
    tell("port", sm->port.waits());
  }
  for (const auto& port : l2_) {
    tell("l2", port->waits());
  }
  return text;
}

void Gpu::watch(Cycle cycle) {
  std::uint64_t done = dispatcher_.completed();
  bool time_is_known = false;
  for (const auto& sm : sms_) {
    for (const auto& subcore : sm->subcores) {
      done += subcore->issued_before(cycle) + subcore->stats().unit_read_cycles;
      time_is_known = time_is_known || subcore->waits_for_time();
    }
    done += sm->pipe.busy() + sm->port.packets() + sm->port.load_flits();
    done += sm->buffer ? sm->buffer->stats().adder_busy + sm->buffer->stats().flushed : 0;
  }
  for (const auto& port : l2_) {
    done += port->stats().rop_ops;
    time_is_known = time_is_known || port->waits_for_time();
  }
  if (done == watched_ && !time_is_known) {
    throw CheckError(fmt::format("nothing has advanced for {} cycles before cycle {}{}", kWatched,
                                 cycle, who_waits()));
  }
  watched_ = done;
}

RunResult Gpu::collect(const ReferenceSums& reference) {
  RunResult result;
  result.config = config_;
  result.gpu = config_.name;

  // Everything must have come to rest; a warp or packet left behind is a deadlock of the model.
  std::string stuck;
  if (!dispatcher_.done()) {
    stuck = "CTAs have not finished";
  } else if (!std::all_of(sms_.begin(), sms_.end(), [](const auto& sm) { return sm->empty(); })) {
    stuck = "an SM still holds work";
  } else if (!std::all_of(l2_.begin(), l2_.end(), [](const auto& port) { return port->empty(); })) {
    stuck = "a port of the L2 still holds work";
  } else if (!ctas_.empty()) {
    stuck = "a CTA is still referred to";
  } else if (!sums_.empty()) {
    stuck = "a partial sum is still on its way";
  }
  if (!stuck.empty()) {
    stuck += who_waits();
  }

  // Units may have to do with what has left them for longer than that takes to arrive.
  Cycle end = dispatcher_.last_end();
  for (const auto& sm : sms_) {
    end = std::max(end, cycle_after(sm->busy_until()));
  }
  L2Stats l2;
  for (const auto& port : l2_) {
    const L2Stats& s = port->stats();
    end = std::max(end, s.last_done);
    l2.rop_ops += s.rop_ops;
    l2.rop_busy += s.rop_busy;
    l2.port_busy += s.port_busy;
    l2.rop_busiest = std::max(l2.rop_busiest, s.rop_busiest);
    l2.hits += s.hits;
    l2.misses += s.misses;
    l2.evictions += s.evictions;
  }
  Tally tally;
  for (const Tally& of_partition : tallies_) {
    tally += of_partition;
  }
  SubcoreStats cores;
  BufferStats buffers;
  // What the unit of each kind that had most to do was busy for.
  struct {
    std::uint64_t issue = 0, unit = 0;
    Ticks lsu = 0, adder = 0, port = 0;
  } busiest;
  std::uint64_t noc_flits = 0, noc_lone_words = 0, noc_load_flits = 0;
  std::uint64_t lsu_blocked = 0;
  Ticks lsu_busy = 0;
  Ticks port_busy = 0;
  for (const auto& sm : sms_) {
    for (const auto& subcore : sm->subcores) {
      subcore->finish(end);
      const SubcoreStats& s = subcore->stats();
      for (std::size_t i = 0; i < kCycleCauses; ++i) {
        cores.cycles[i] += s.cycles[i];
        cores.warp_cycles[i] += s.warp_cycles[i];
      }
      cores.issued += s.issued;
      cores.reds += s.reds;
      cores.atomreds += s.atomreds;
      cores.shuffles += s.shuffles;
      cores.events += s.events;
      cores.unit_read_cycles += s.unit_read_cycles;
      cores.unit_blocked_cycles += s.unit_blocked_cycles;
      busiest.issue = std::max(busiest.issue, s.issued);
      busiest.unit = std::max(busiest.unit, s.unit_read_cycles);
    }
    lsu_blocked += sm->lsu.blocked_cycles();
    lsu_busy += sm->pipe.busy();
    port_busy += sm->port.busy();
    busiest.lsu = std::max(busiest.lsu, sm->pipe.busy());
    busiest.port = std::max(busiest.port, sm->port.busy());
    result.noc_packets += sm->port.packets();
    noc_flits += sm->port.flits();
    noc_lone_words += sm->port.lone_words();
    noc_load_flits += sm->port.load_flits();
    if (sm->buffer) {
      const BufferStats& s = sm->buffer->stats();
      buffers.hits += s.hits;
      buffers.misses += s.misses;
      buffers.evicted += s.evicted;
      buffers.flushed += s.flushed;
      buffers.blocked_cycles += s.blocked_cycles;
      buffers.adder_busy += s.adder_busy;
      busiest.adder = std::max(busiest.adder, s.adder_busy);
    }
  }

  result.cycles = end;
  result.events = reference.events();
  result.warp_atomics = reference.events() * addresses_.parameter_count();
  result.lane_atomics = reference.lane_atomics();
  result.rop_ops = l2.rop_ops;
  result.noc_bytes = result.noc_packets * (config_.noc.request_bytes + config_.noc.sector_bytes);
  for (std::size_t i = 0; i < kCycleCauses; ++i) {
    const auto cause = static_cast<CycleCause>(i);
    result.subcore_cycles.emplace_back(cycle_cause_name(cause), cores.cycles[i]);
    result.warp_cycles.emplace_back(
        cause == CycleCause::kIdle ? "not_selected" : cycle_cause_name(cause),
        cores.warp_cycles[i]);
  }
  result.activity = {
      {"instructions", cores.issued},
      {"reds", cores.reds},
      {"atomreds", cores.atomreds},
      {"shuffles", cores.shuffles},
      {"lanes_as_red", tally.lanes_as_red},
      {"lanes_to_unit", tally.lanes_to_unit},
      {"lanes_in_software", tally.lanes_software},
      {"lanes_to_buffer", tally.lanes_buffered},
      {"sums_from_unit", tally.unit_reduced},
      {"sums_from_software", tally.software_reduced},
      {"sums_from_buffer", tally.buffer_reduced},
      {"buffer_hits", buffers.hits},
      {"buffer_misses", buffers.misses},
      {"buffer_evicted_sectors", buffers.evicted},
      {"buffer_flushed_sectors", buffers.flushed},
      {"buffer_blocked_cycles", buffers.blocked_cycles},
      {"unit_blocked_cycles", cores.unit_blocked_cycles},
      {"lsu_blocked_cycles", lsu_blocked},
      {"noc_flits", noc_flits},
      {"noc_lone_words", noc_lone_words},
      {"noc_load_flits", noc_load_flits},
      {"l2_hits", l2.hits},
      {"l2_misses", l2.misses},
      {"l2_evictions", l2.evictions},
  };
  const auto cycles = static_cast<double>(end);
  const auto sms = static_cast<double>(config_.sm.count);
  const auto subcores = sms * static_cast<double>(config_.sm.subcores);
  const auto ticks = static_cast<double>(kTicksPerCycle);
  const auto slices = static_cast<double>(config_.l2.slices);
  result.utilization = {
      {"issue", share(static_cast<double>(cores.issued), cycles * subcores)},
      {"arc_unit", share(static_cast<double>(cores.unit_read_cycles), cycles * subcores)},
      {"lsu", share(static_cast<double>(lsu_busy), cycles * sms * ticks)},
      {"buffer", share(static_cast<double>(buffers.adder_busy), cycles * sms * ticks)},
      {"noc", share(static_cast<double>(port_busy), cycles * sms * ticks)},
      {"rop", share(static_cast<double>(l2.rop_busy), cycles * slices * ticks)},
  };

  if (timeline_) {
    result.timeline = timeline_->finish(end);
  }

  // A unit that is busy for so long keeps the run from ending sooner. Rounded down.
  const auto even = [](std::uint64_t work, double units) {
    return static_cast<std::uint64_t>(static_cast<double>(work) / units);
  };
  result.bounds = {
      {"issue", busiest.issue},        {"arc_unit", busiest.unit},
      {"lsu", cycle_of(busiest.lsu)},  {"buffer", cycle_of(busiest.adder)},
      {"noc", cycle_of(busiest.port)}, {"rop", cycle_of(l2.rop_busiest)},
  };
  // What rounds at the L2 take is rounded down, by less than 2^-12 of it.
  constexpr std::uint64_t kRoundedBy = 1U << 12U;
  if (std::uint64_t& rop = result.bounds.back().second; rop - rop / kRoundedBy <= end + 1) {
    rop = std::min(rop, end);
  }
  // Of the L2, either all slices or all ports are the narrower place.
  const double rop_even =
      std::max(static_cast<double>(l2.rop_busy) / (ticks * slices),
               static_cast<double>(l2.port_busy) / (ticks * config_.l2.ports()));
  result.even_bounds = {
      {"issue", even(cores.issued, subcores)}, {"arc_unit", even(cores.unit_read_cycles, subcores)},
      {"lsu", even(lsu_busy, sms * ticks)},    {"buffer", even(buffers.adder_busy, sms * ticks)},
      {"noc", even(port_busy, sms * ticks)},   {"rop", static_cast<std::uint64_t>(rop_even)},
  };

  // Conservation: every lane value went one way, arrived, and was added once; every sub-core cycle
  // is accounted for.
  std::uint64_t accounted = 0;
  for (const std::uint64_t count : cores.cycles) {
    accounted += count;
  }
  const Tally& t = tally;
  const auto require = [&](bool holds, const char* what, const char* label = "LANES LOST") {
    if (!holds && result.failure.empty()) {
      result.failure = what;
      result.failure_label = label;
    }
  };
  require(stuck.empty(), stuck.c_str(), "STUCK");
  require(t.lanes_issued + t.lanes_software == reference.lane_atomics(),
          "lanes issued differ from lanes in the trace");
  require(t.lanes_as_red + t.lanes_to_unit + t.lanes_buffered == t.lanes_issued,
          "lanes sent and lanes reduced differ from lanes issued");
  require(t.lanes_added == t.lanes_as_red, "lanes added at ROPs differ from lanes sent");
  require(t.buffer_reduced == t.buffer_sums_begun,
          "sums sent by atomic buffers differ from sums begun in them");
  require(t.sums_added == t.unit_reduced + t.software_reduced + t.buffer_reduced,
          "sums added at ROPs differ from sums sent");
  require(l2.rop_ops == result.noc_packets, "packets served differ from packets injected");
  require(cores.events == reference.events(), "events issued differ from events in the trace",
          "EVENTS LOST");
  require(accounted == end * config_.sm.count * config_.sm.subcores,
          "sub-core cycles do not add up", "CYCLES WRONG");
  require(cores.cycles[static_cast<std::size_t>(CycleCause::kIssued)] == cores.issued,
          "issue cycles differ from instructions issued", "CYCLES WRONG");
  for (const auto& [name, bound] : result.bounds) {
    require(bound <= end,
            fmt::format("{} was busy for {} cycles of a run of {}", name, bound, end).c_str(),
            "BOUND WRONG");
  }
  result.conserved = result.failure.empty();

  const ReferenceSums::Comparison sums = reference.compare(memory_.span());
  result.sums_match = sums.match;
  result.sum_check = sums.exact ? "exact" : "bound";
  result.max_sum_error = sums.max_error;
  require(sums.match, sums.first_difference.c_str(), "SUMS DIFFER");
  return result;
}

}  // namespace

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
  Gpu gpu(options, trace, *timing, resident, buffer, reference.dense());
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

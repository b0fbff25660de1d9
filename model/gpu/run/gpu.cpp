// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/run/gpu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "model/gpu/memory/dram_channel.hpp"
#include "model/gpu/run/collect.hpp"

namespace warpfold {

namespace {

// Long enough for an SM's share of a processor's cache to pay. Samples of a timeline are taken
// while all SMs keep step.
Cycle quantum_of(const SimOptions& options) {
  constexpr Cycle kQuantum = 4096;
  return options.timeline_interval > 0 ? options.timeline_interval : kQuantum;
}

// More than there are SMs would have nothing to do, and many more than there are processors would
// wait for each other.
std::size_t partitions(const SimOptions& options) {
  if (options.reference) {
    return 1;
  }
  constexpr std::size_t kAlways = 8;
  const std::size_t processors =
      std::max<std::size_t>(std::thread::hardware_concurrency(), kAlways);
  return std::clamp<std::size_t>(std::min(options.threads, processors), 1, options.gpu.sm.count);
}

}  // namespace

Gpu::Gpu(const SimOptions& options, const Launch& launch, const Outside& outside)
    : options_(options),
      config_(options_.gpu),
      trace_(launch.trace),
      costs_of_(launch.timing->costs_of),
      quantum_(quantum_of(options)),
      addresses_(launch.header),
      memory_(addresses_.element_count(), launch.dense),
      map_(make_slice_map(config_)),
      clock_(outside.any() ? 1 : partitions(options), options.reference),
      tallies_(clock_.partitions()),
      dispatcher_("dispatcher", clock_.partition(0), launch.trace, ctas_, launch.resident_ctas,
                  options.progress),
      watchdog_(dispatcher_, sms_, l2_, links_) {
  build_sms(options, launch, outside.l2.empty() ? std::nullopt : std::optional(outside.way_back));
  build_l2(launch, outside);
  if (outside.l2.empty()) {
    warm_l2(launch.header);
    if (options.warm_l2) {
      warm_l2_by_loads();
    }
  }
  sms_.front()->lose_grants(options.lose_grants);
  for (const auto& sm : sms_) {
    sm->lose_flushed(options.lose_flushed);
  }
  clock_.stop_when([this] { return at_rest(); });
  clock_.watch_every(Watchdog::kInterval, [this](Cycle cycle) { watchdog_.look(cycle); });
  if (options.timeline_interval > 0) {
    timeline_.emplace(options.timeline_interval, options.timeline_detail, config_, sms_, l2_);
    clock_.sample_every(options.timeline_interval,
                        [this](Cycle cycle) { timeline_->sample(cycle); });
  }
  if (options.probe != nullptr) {
    sms_.at(options.probe->sm)->probe(*options.probe);
  }
}

void Gpu::build_sms(const SimOptions& options, const Launch& launch,
                    std::optional<Cycle> way_back) {
  const auto unit = [&]() -> std::unique_ptr<ArcUnit> {
    return options.policy.has_unit() ? options.unit.make(options.gpu.rules.scheduler.or_else(""))
                                     : nullptr;
  };
  std::vector<Residency*> residencies;
  for (std::uint32_t i = 0; i < config_.sm.count; ++i) {
    const std::size_t place = i % clock_.partitions();
    const SmContext context{.config = config_,
                            .timing = *launch.timing,
                            .addresses = addresses_,
                            .buffer = launch.buffer,
                            .merge_rows = launch.merge == MergePlace::kSm ? launch.merge_rows : 0,
                            .sums = sums_,
                            .tally = tallies_[place],
                            .reference = options.reference,
                            .index = i,
                            .resident_ctas = launch.resident_ctas,
                            .quantum = quantum_,
                            .way_back = way_back,
                            .l1_bytes = launch.l1_bytes};
    sms_.push_back(
        std::make_unique<Sm>(fmt::format("sm{}", i), clock_.partition(place), context, unit));
    residencies.push_back(&sms_.back()->residency());
  }
  dispatcher_.connect(std::move(residencies));
}

void Gpu::build_l2(const Launch& launch, const Outside& outside) {
  std::vector<Injector*> injectors;
  for (const auto& sm : sms_) {
    injectors.push_back(&sm->injector());
  }
  std::vector<Entrance*> entrances;
  for (std::uint32_t i = 0; i < config_.l2.ports(); ++i) {
    const std::size_t place = i % clock_.partitions();
    const RopAdder::Context additions{
        .addresses = addresses_, .memory = memory_.span(), .sums = sums_, .tally = tallies_[place]};
    const ServiceOrderRule& order = l2_order_rules().find(l2_order_of(config_));
    if (!outside.l2.empty()) {
      links_.push_back(std::make_unique<L2Link>(fmt::format("l2_{}", i), clock_.partition(place),
                                                L2Link::Context{.config = config_,
                                                                .additions = additions,
                                                                .order = order,
                                                                .out = *outside.l2.at(i),
                                                                .way_back = outside.way_back}));
      links_.back()->connect(injectors);
      entrances.push_back(&links_.back()->ingress);
      continue;
    }
    if (outside.memory.empty()) {
      behind_.push_back(std::make_unique<DramChannel>(config_));
    } else {
      auto link = std::make_unique<MemoryLink>(*outside.memory.at(i), config_.l2.line_bytes);
      memory_links_.push_back(link.get());
      behind_.push_back(std::move(link));
    }
    const L2Context context{
        .config = config_,
        .additions = additions,
        .order = order,
        .behind = *behind_.back(),
        .map = *map_,
        .merge_rows = launch.merge == MergePlace::kL2Port ? launch.merge_rows : 0,
        .has_loads = !launch.timing->memory.empty()};
    l2_.push_back(
        std::make_unique<L2Port>(fmt::format("l2_{}", i), clock_.partition(place), context));
    l2_.back()->ingress.connect(*l2_.back(), injectors);
    if (!memory_links_.empty()) {
      memory_links_.back()->connect(*l2_.back());
    }
    entrances.push_back(&l2_.back()->ingress);
    if (launch.merge == MergePlace::kL2Port) {
      dispatcher_.tell_end([this, port = l2_.back().get(), place] {
        dispatcher_.partition().tell(clock_.partition(place), *port, 0,
                                     [](L2Port& l2, std::uint64_t) { l2.end_kernel(); });
      });
    }
  }
  for (const auto& sm : sms_) {
    sm->connect(*map_, entrances);
  }
}

bool Gpu::l2_is_empty() const {
  const auto empty = [](const auto& port) { return port->empty(); };
  return std::all_of(l2_.begin(), l2_.end(), empty) &&
         std::all_of(links_.begin(), links_.end(), empty);
}

void Gpu::warm_l2(const trace::Header& header) {
  const std::uint64_t bytes = config_.l2.line_bytes;
  struct Next {
    const trace::Parameter& array;
    std::uint64_t primitives;
    std::uint64_t primitive;
  };
  std::vector<Next> nexts;
  for (const trace::Site& site : header.sites) {
    for (const trace::Parameter& parameter : site.parameters) {
      nexts.push_back({parameter, site.primitive_count, 0});
    }
  }
  constexpr std::uint64_t kNone = ~std::uint64_t{0};
  for (std::uint64_t line = 0;; ++line) {
    // The first line from `line` on in which a parameter has an element.
    std::uint64_t first = kNone;
    for (Next& next : nexts) {
      const trace::Parameter& array = next.array;
      const std::uint64_t begin = line * bytes;
      if (array.base + next.primitive * array.stride_bytes < begin) {
        next.primitive = (begin - array.base + array.stride_bytes - 1) / array.stride_bytes;
      }
      if (next.primitive < next.primitives) {
        first = std::min(first, (array.base + next.primitive * array.stride_bytes) / bytes);
      }
    }
    if (first == kNone) {
      return;
    }
    line = first;
    l2_[map_->place(line * bytes).port]->warm(line * bytes);
  }
}

// CTAs one behind the other: who came last is in for sure.
void Gpu::warm_l2_by_loads() {
  const std::vector<trace::MemorySite>& memory = trace_.header().memory;
  for (std::size_t i = 0; !memory.empty() && i < trace_.cta_count(); ++i) {
    const trace::CtaTrace cta = trace_.read_cta(i);
    for (const trace::WarpTrace& warp : cta.warps) {
      for (const trace::Record& record : warp.records) {
        if (record.kind != trace::RecordKind::kAccess) {
          continue;
        }
        const bool store = memory[record.site].kind == trace::AccessKind::kStore;
        for (std::uint32_t s = 0; s < record.count; ++s) {
          const std::uint64_t sector = warp.sectors[record.values + s];
          const std::uint64_t line = sector / kLineSectors;
          l2_[map_->place(line * kLineBytes).port]->warm(line, 1U << sector % kLineSectors, store);
        }
      }
    }
  }
}

bool Gpu::at_rest() const {
  return dispatcher_.done() &&
         std::all_of(sms_.begin(), sms_.end(), [](const auto& sm) { return sm->empty(); }) &&
         l2_is_empty();
}

// A warp or packet left behind is a deadlock of the model.
std::string Gpu::stuck() const {
  std::string why;
  if (!dispatcher_.done()) {
    why = "CTAs have not finished";
  } else if (!std::all_of(sms_.begin(), sms_.end(), [](const auto& sm) { return sm->empty(); })) {
    why = "an SM still holds work";
  } else if (!l2_is_empty()) {
    why = "a port of the L2 still holds work";
  } else if (!ctas_.empty()) {
    why = "a CTA is still referred to";
  } else if (!sums_.empty()) {
    why = "a partial sum is still on its way";
  }
  return why.empty() ? why : why + watchdog_.who_waits();
}

bool Gpu::flush() {
  bool started = false;
  for (MemoryLink* link : memory_links_) {
    started = link->flush() || started;
  }
  return started;
}

void Gpu::read(Address address, std::span<std::uint8_t> data) const {
  std::fill(data.begin(), data.end(), std::uint8_t{0});
  constexpr Address kWord = sizeof(Fp32Bits);
  for (Address word = address / kWord * kWord; word < address + data.size(); word += kWord) {
    const std::optional<ElementIndex> element = addresses_.find(word);
    for (Address byte = std::max(word, address);
         element && byte < std::min(word + kWord, address + data.size()); ++byte) {
      data[byte - address] =
          static_cast<std::uint8_t>(memory_.span()[*element] >> 8 * (byte - word));
    }
  }
}

bool Gpu::peek(Address address, std::span<std::uint8_t> data) const {
  return !memory_links_.empty() && memory_links_[map_->place(address).port]->peek(address, data);
}

RunResult Gpu::collect(const ReferenceSums& reference) {
  // Units may have to do with what has left them for longer than that takes to arrive.
  Cycle end = dispatcher_.last_end();
  for (const auto& sm : sms_) {
    end = std::max(end, cycle_after(sm->busy_until()));
  }
  for (const auto& port : l2_) {
    end = std::max(end, port->stats().last_done);
  }
  for (const auto& port : links_) {
    end = std::max(end, port->stats().last_done);
  }
  Totals totals;
  for (const auto& sm : sms_) {
    sm->finish(end);
    totals.add(*sm);
  }
  for (const auto& port : l2_) {
    totals.add(port->stats());
    if (port->reads() != nullptr) {
      totals.add(port->reads()->stats());
    }
    if (port->buffer_stats() != nullptr) {
      totals.add(*port->buffer_stats());
    }
  }
  for (const auto& port : links_) {
    totals.add(port->stats());
  }
  for (const Tally& of_partition : tallies_) {
    totals.tally += of_partition;
  }
  RunResult result = summarize(totals, config_, end);
  result.events = reference.events();
  result.warp_atomics = reference.warp_atomics();
  result.other_atomics = reference.other_atomics();
  result.lane_atomics = reference.lane_atomics();
  if (timeline_) {
    result.timeline = timeline_->finish(end);
  }
  const bool adds = options_.policy.adds();
  check_run(totals, config_, reference, adds ? reference.lane_atomics() : 0, stuck(), result);
  if (adds) {
    check_sums(reference, memory_.span(), result);
  } else {
    check_untouched(memory_.span(), result);
  }
  result.trace = trace_.path().string();
  result.trace_hash = trace_.file_hash();
  result.policy = options_.policy.name();
  result.costs_of = costs_of_;
  result.unit = options_.unit.model_name();
  result.unit_kind = options_.unit.name();
  return result;
}

}  // namespace warpfold

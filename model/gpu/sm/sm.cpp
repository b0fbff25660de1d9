// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/sm/sm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace warpfold {

CtaContext& CtaStore::add(trace::CtaTrace trace) {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) {
    store_.emplace_back();
    store_.back().slot = static_cast<std::uint32_t>(store_.size() - 1);
    free_.push_back(store_.back().slot);
  }
  CtaContext& cta = store_[free_.back()];
  free_.pop_back();
  cta.trace = std::move(trace);
  cta.live = static_cast<std::uint32_t>(cta.trace.warps.size());
  cta.no_end_before = 0;
  return cta;
}

void CtaStore::release(CtaContext* cta) {
  const std::uint32_t held = cta->live.fetch_sub(1, std::memory_order_acq_rel);
  ARC_CHECK(held > 0, "a CTA was released more often than held");
  if (held == 1) {
    cta->trace = {};
    const std::lock_guard lock(mutex_);
    free_.push_back(cta->slot);
  }
}

void SmControl::launch(CtaContext* cta) {
  running_.push_back({.cta = cta,
                      .warps = static_cast<std::uint32_t>(cta->trace.warps.size()),
                      .at_barrier = 0,
                      .arrived = 0});
}

SmControl::Running& SmControl::find(const CtaContext* cta) {
  const auto found = std::find_if(running_.begin(), running_.end(),
                                  [cta](const Running& r) { return r.cta == cta; });
  ARC_CHECK(found != running_.end(), "a warp of a CTA that is not running");
  return *found;
}

void SmControl::warp_finished(CtaContext* cta) {
  --find(cta).warps;
  request_update();
}

void SmControl::barrier_arrived(CtaContext* cta, Cycle cycle) {
  arrivals_.push_back(cta);
  arrived_in_ = cycle;
  request_update();
}

Cycle SmControl::no_end_before() const {
  Cycle first = kNever;
  for (const Running& running : running_) {
    first = std::min(first, running.cta->no_end_before);
  }
  return first;
}

void SmControl::update() {
  // Those of one cycle are taken in the order of their CTAs.
  std::sort(arrivals_.begin(), arrivals_.end(),
            [](const CtaContext* a, const CtaContext* b) { return a->sequence < b->sequence; });
  for (const CtaContext* cta : arrivals_) {
    arrived_ = std::max(arrived_, at_cycle(arrived_in_)) + barrier_warp_;
    Running& arrived = find(cta);
    ++arrived.at_barrier;
    arrived.arrived = arrived_;
  }
  arrivals_.clear();
  std::erase_if(running_, [&](Running& running) {
    if (running.warps > 0 && running.at_barrier == running.warps) {
      running.at_barrier = 0;
      for (Subcore* subcore : subcores_) {
        subcore->barrier_releases.deliver({running.cta, running.arrived});
      }
    }
    const bool over = running.warps == 0 && (!buffered_ || running.cta->reds_out == 0);
    if (over) {
      ended.push_back({.cta = running.cta, .cycle = domain().now()});
    }
    return over;
  });
}

void Residency::launch(CtaContext* cta) {
  launched_.push_back(cta);
  request_update();
}

void Residency::close() {
  closes_ = true;
  request_update();
}

void Residency::flush() {
  flushes_ = true;
  request_update();
}

void Residency::ended(CtaContext* cta) {
  const auto found = std::find_if(residents_.begin(), residents_.end(),
                                  [cta](const Resident& r) { return r.cta == cta; });
  ARC_CHECK(found != residents_.end(), "a CTA that is not resident has ended");
  found->ended = true;
  request_update();
}

void Residency::place(CtaContext* cta) {
  Resident resident{
      .cta = cta, .ended = false, .placed = std::vector<std::uint32_t>(held_.size(), 0)};
  sm_.receive();
  sm_.control.launch(cta);
  for (std::uint32_t warp = 0; warp < cta->trace.warps.size(); ++warp) {
    std::size_t best = turn_;
    for (std::size_t i = 1; i < held_.size(); ++i) {
      const std::size_t subcore = (turn_ + i) % held_.size();
      if (held_[subcore] < held_[best]) {
        best = subcore;
      }
    }
    ++held_[best];
    ++resident.placed[best];
    turn_ = (best + 1) % held_.size();
    subcores_[best]->launches.deliver({cta, warp});
  }
  residents_.push_back(std::move(resident));
}

void Residency::update() {
  // Warps that end in this cycle still hold their places.
  for (CtaContext* cta : launched_) {
    place(cta);
  }
  launched_.clear();
  closed_ = closes_;
  if (flushes_) {
    std::for_each(subcores_.begin(), subcores_.end(), [](Subcore* s) { s->end_probe(); });
  }
  if (flushes_ && sm_.buffer) {
    sm_.receive();
    sm_.lsu.flushes.deliver(true);
  }
  flushes_ = false;
  std::erase_if(residents_, [&](const Resident& resident) {
    if (!resident.ended || resident.cta->reds_out > 0) {
      return false;
    }
    sm_.port.partition().tell(dispatcher_->partition(), dispatcher_->finished, resident.cta->sm,
                              [](Mailbox<std::uint32_t>& finished, std::uint64_t sm) {
                                finished.deliver(static_cast<std::uint32_t>(sm));
                              });
    // The warps' own holds on the CTA end together, so that no sub-core can outlive its trace.
    for (std::size_t warps = resident.cta->trace.warps.size(); warps > 0; --warps) {
      ctas_.release(resident.cta);
    }
    for (std::size_t subcore = 0; subcore < held_.size(); ++subcore) {
      held_[subcore] -= resident.placed[subcore];
    }
    return true;
  });
}

Sm::Sm(const sc_core::sc_module_name& name, Partition& partition, const Subcore::Context& context,
       CtaStore& ctas, std::uint32_t index, const std::function<std::unique_ptr<ArcUnit>()>& unit,
       const BufferShape& shape, LineSumsPool& sums, std::uint32_t resident_ctas, Cycle quantum)
    : Block(name, partition),
      domain(kAhead, context.clock_all),
      residency(partition, ctas, *this),
      control(domain, ctas, context.config, shape.present()),
      queue_turn(domain),
      pipe(domain),
      match_pipe(domain),
      port("port", partition, context.config, index, *this),
      buffer(shape.present() ? std::make_unique<AtomicBuffer>(
                                   "buffer", domain, shape, context.addresses, context.has_values,
                                   pipe, port.queue, sums, context.tally, ctas)
                             : nullptr),
      lsu("lsu", domain, context.config, context.addresses, context.has_values, control, pipe,
          port.queue, buffer ? &buffer->input : nullptr, shape.beside_pipe, sums, context.tally,
          ctas),
      resident_ctas_(resident_ctas),
      quantum_(quantum),
      load_latency_(context.config.latency.global_load),
      warps_sleep_(context.config.lsu.sleep_cycles > 0),
      clock_all_(context.clock_all) {
  std::vector<Subcore*> list;
  for (std::uint32_t i = 0; i < context.config.sm.subcores; ++i) {
    subcores.push_back(std::make_unique<Subcore>(fmt::format("subcore{}", i).c_str(), domain,
                                                 context, control, queue_turn, pipe, match_pipe,
                                                 unit()));
    subcores.back()->watch(port.queue);
    list.push_back(subcores.back().get());
    list.back()->memory_queue.bind(*list.back(), lsu, &lsu.inputs, static_cast<std::uint32_t>(i));
    if (shape.load_lines > 0) {
      list.back()->tell_loads_to(buffer->loads);
    }
  }
  if (buffer) {
    buffer->input.bind(lsu, *buffer);
    port.queue.bind(*buffer, port);
  } else {
    port.queue.bind(lsu, port);
  }
  control.connect(list);
  lsu.connect(std::move(list));
}

void Sm::connect(Dispatcher& dispatcher, const SliceMap& map, std::vector<SliceIngress*> slices) {
  std::vector<Subcore*> list;
  for (const auto& subcore : subcores) {
    list.push_back(subcore.get());
  }
  residency.connect(std::move(list), dispatcher);
  port.connect(map, std::move(slices));
}

void Sm::receive() {
  ARC_CHECK(domain.now() <= now() && next_cycle() > now(),
            "something comes to an SM that does not keep step");
  domain.skip_to(now());
  no_end_before_ = 0;
  estimate_at_ = 0;
  pause_ = 0;
  wake_next();
}

void Sm::answer_load(const Transaction& load, Cycle due) {
  ARC_CHECK(due > domain.now(), "an SM has run ahead of the answer to a load");
  subcores[load.subcore]->load_answered(load.answers, due);
  wake_at(due);
}

void Sm::probe(const PortProbe& probe) {
  subcores.at(probe.subcore)->probe(probe);
  wake_at(domain.next());
}

// Whether it will not matter in that cycle, its next, what the injection port has taken meanwhile.
bool Sm::may_pass_port(Cycle next) const {
  const Outlet& outlet = port.queue;
  if (outlet.has_loads() && next + 1 >= now() + load_latency_) {
    return false;
  }
  return outlet.settled() ||
         (outlet.has_room() &&
          (!warps_sleep_ || std::none_of(subcores.begin(), subcores.end(), [](const auto& subcore) {
            return subcore->looks_at_way_out();
          })));
}

// Whether no CTA can come before one of those that run has ended. Not where all is to be clocked.
bool Sm::is_full() const {
  return !clock_all_ && control.running() > 0 &&
         (control.running() == resident_ctas_ || residency.closed());
}

// Until which cycle before `end` it may stay behind, or now().
Cycle Sm::may_stay_until(Cycle end) {
  constexpr Cycle kWorth = 64;         // less is not worth it
  constexpr Cycle kEnough = 512;       // that a look should find
  constexpr Cycle kMost = 2048;        // as far as it goes
  constexpr Cycle kLongest = 1 << 14;  // between two looks of which the first found too little
  if (no_end_before_ < now() + kWorth && now() >= estimate_at_) {
    for (const auto& subcore : subcores) {
      subcore->estimate_ends(kMost);
    }
    no_end_before_ = control.no_end_before();
    pause_ = no_end_before_ < now() + kEnough ? std::min(2 * pause_ + kWorth, kLongest) : 0;
    estimate_at_ = now() + pause_;
  }
  const Cycle until = std::min(no_end_before_, end);
  return until > now() + kWorth ? until - 1 : now();
}

void Sm::tick() {
  tell_ended();
  port.queue.set_behind(false);
  const Cycle end = (now() / quantum_ + 1) * quantum_;
  bool full = is_full();
  Cycle next = clock_all_ ? now() : next_cycle();
  while (next <= now() || (next < end && full && may_pass_port(next))) {
    port.queue.begin(next);
    domain.evaluate(next);
    domain.update();
    if (!control.ended.empty()) {
      full = is_full();
    }
    next = next_cycle();
  }
  tell_ended();
  if (full && next < end && port.queue.has_plenty()) {
    if (const Cycle until = may_stay_until(end); until > next) {
      port.queue.set_behind(true);
      next = until;
    }
  }
  if (!control.ended.empty()) {
    next = std::min(next, control.ended.front().cycle);
  }
  if (next != kNever) {
    wake_at(next);
  }
}

void Sm::tell_ended() {
  while (!control.ended.empty() && control.ended.front().cycle <= now()) {
    ARC_CHECK(control.ended.front().cycle == now(), "a CTA ended in an SM that is behind");
    residency.ended(control.ended.front().cta);
    control.ended.pop_front();
  }
}

bool Sm::empty() const {
  return residency.empty() && control.running() == 0 && lsu.empty() && port.idle() &&
         (!buffer || buffer->empty()) &&
         std::all_of(subcores.begin(), subcores.end(), [](const auto& subcore) {
           return subcore->empty() && subcore->memory_queue.empty();
         });
}

Dispatcher::Dispatcher(const sc_core::sc_module_name& name, Partition& partition,
                       const trace::Reader& trace, CtaStore& ctas, std::uint32_t ctas_per_sm,
                       std::function<void(double)> progress)
    : Block(name, partition),
      partition_(partition),
      trace_(trace),
      ctas_(ctas),
      ctas_per_sm_(ctas_per_sm),
      progress_(std::move(progress)) {
  finished.bind(*this);
}

void Dispatcher::connect(std::vector<Sm*> sms) {
  sms_ = std::move(sms);
  resident_.assign(sms_.size(), 0);
  wake_at(1);
}

void Dispatcher::tick() {
  const bool was_done = done();
  finished.take([this](std::uint32_t sm) {
    --resident_[sm];
    ++completed_;
    last_end_ = now();
    if (progress_) {
      progress_(static_cast<double>(completed_) / static_cast<double>(trace_.cta_count()));
    }
  });
  if (done() && !was_done) {
    for (Sm* sm : sms_) {
      partition_.tell(sm->port.partition(), sm->residency, 0,
                      [](Residency& residency, std::uint64_t) { residency.flush(); });
    }
  }
  if (now() == 0 || next_ == trace_.cta_count()) {
    return;
  }
  for (std::size_t i = 0; i < sms_.size(); ++i) {
    const std::size_t sm = (turn_ + i) % sms_.size();
    if (resident_[sm] < ctas_per_sm_) {
      CtaContext& cta = ctas_.add(trace_.read_cta(next_));
      cta.sm = static_cast<std::uint32_t>(sm);
      cta.sequence = next_;
      ++next_;
      ++resident_[sm];
      turn_ = sm + 1;
      partition_.tell(sms_[sm]->port.partition(), sms_[sm]->residency,
                      std::bit_cast<std::uint64_t>(&cta),
                      [](Residency& residency, std::uint64_t launched) {
                        residency.launch(std::bit_cast<CtaContext*>(launched));
                      });
      wake_next();
      break;
    }
  }
  if (next_ == trace_.cta_count()) {
    for (Sm* sm : sms_) {
      partition_.tell(sm->port.partition(), sm->residency, 0,
                      [](Residency& residency, std::uint64_t) { residency.close(); });
    }
  }
}

std::uint32_t shared_per_cta(const trace::Header& header) {
  // With 1 KiB of the system's own (CUDA C++ Programming Guide, compute capabilities 8.x and 9.0).
  constexpr std::uint32_t kSystemShared = 1024;
  return header.shared_bytes_per_cta + kSystemShared;
}

std::uint32_t ctas_per_sm(const GpuConfig& config, const trace::Header& header,
                          std::uint32_t registers_per_thread) {
  // Registers are given out to warps in blocks of 256 (the same source).
  constexpr std::uint32_t kRegisterBlock = 256;
  const std::uint32_t warps = header.warps_per_cta();
  std::uint32_t fit = std::min(config.sm.max_ctas, config.sm.max_warps / warps);
  const std::uint32_t warp_registers =
      (registers_per_thread * kLanes + kRegisterBlock - 1) / kRegisterBlock * kRegisterBlock;
  if (warp_registers > 0) {
    fit = std::min(fit, config.sm.registers / (warp_registers * warps));
  }
  fit = std::min(fit, config.sm.shared_bytes / shared_per_cta(header));
  return fit;
}

}  // namespace warpfold

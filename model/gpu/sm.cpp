// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/sm.hpp"

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
  launched_.push_back(cta);
  request_update();
}

void SmControl::place(CtaContext* cta) {
  Resident resident{.cta = cta,
                    .running = static_cast<std::uint32_t>(cta->trace.warps.size()),
                    .at_barrier = 0,
                    .arrived = 0,
                    .placed = std::vector<std::uint32_t>(held_.size(), 0)};
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

SmControl::Resident& SmControl::resident(const CtaContext* cta) {
  const auto found = std::find_if(residents_.begin(), residents_.end(),
                                  [cta](const Resident& r) { return r.cta == cta; });
  ARC_CHECK(found != residents_.end(), "a warp of a CTA that is not resident");
  return *found;
}

void SmControl::warp_finished(CtaContext* cta) {
  --resident(cta).running;
  request_update();
}

void SmControl::barrier_arrived(CtaContext* cta, Cycle cycle) {
  arrivals_.push_back(cta);
  arrived_in_ = cycle;
  request_update();
}

void SmControl::update() {
  // Warps that end in this cycle still hold their places.
  for (CtaContext* cta : launched_) {
    place(cta);
  }
  launched_.clear();
  // Those of one cycle are taken in the order of their CTAs.
  std::sort(arrivals_.begin(), arrivals_.end(),
            [](const CtaContext* a, const CtaContext* b) { return a->sequence < b->sequence; });
  for (const CtaContext* cta : arrivals_) {
    arrived_ = std::max(arrived_, at_cycle(arrived_in_)) + barrier_warp_;
    Resident& arrived = resident(cta);
    ++arrived.at_barrier;
    arrived.arrived = arrived_;
  }
  arrivals_.clear();
  for (std::size_t i = 0; i < residents_.size();) {
    Resident& resident = residents_[i];
    if (resident.running == 0 && resident.cta->reds_out == 0) {
      partition().tell(dispatcher_->partition(), dispatcher_->finished, resident.cta->sm,
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
      residents_.erase(residents_.begin() + static_cast<std::ptrdiff_t>(i));
      continue;
    }
    if (resident.running > 0 && resident.at_barrier == resident.running) {
      resident.at_barrier = 0;
      for (Subcore* subcore : subcores_) {
        subcore->barrier_releases.deliver({resident.cta, resident.arrived});
      }
    }
    ++i;
  }
}

Sm::Sm(const sc_core::sc_module_name& name, Partition& partition, const Subcore::Context& context,
       CtaStore& ctas, std::uint32_t index, const std::function<std::unique_ptr<ArcUnit>()>& unit,
       const BufferShape& shape, LineSumsPool& sums)
    : sc_module(name),
      control(partition, ctas, context.config),
      pipe(partition),
      match_pipe(partition),
      port("port", partition, context.config, index, control),
      buffer(shape.present() ? std::make_unique<AtomicBuffer>(
                                   "buffer", partition, shape, context.addresses,
                                   context.has_values, pipe, port.queue, sums, context.tally, ctas)
                             : nullptr),
      lsu("lsu", partition, context.config, context.addresses, context.has_values, control, pipe,
          buffer ? buffer->input : port.queue, buffer == nullptr, shape.beside_pipe, sums,
          context.tally, ctas) {
  std::vector<Subcore*> list;
  for (std::uint32_t i = 0; i < context.config.sm.subcores; ++i) {
    subcores.push_back(std::make_unique<Subcore>(fmt::format("subcore{}", i).c_str(), partition,
                                                 context, control, pipe, match_pipe, unit()));
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
  lsu.connect(std::move(list));
}

void Sm::connect(Dispatcher& dispatcher, const SliceMap& map, std::vector<SliceIngress*> slices) {
  std::vector<Subcore*> list;
  for (const auto& subcore : subcores) {
    list.push_back(subcore.get());
  }
  control.connect(std::move(list), dispatcher);
  port.connect(map, std::move(slices));
}

void Sm::flush() {
  if (buffer) {
    lsu.flushes.post(true);
  }
}

bool Sm::empty() const {
  return control.empty() && lsu.empty() && port.idle() && (!buffer || buffer->empty()) &&
         std::all_of(subcores.begin(), subcores.end(), [](const auto& subcore) {
           return subcore->empty() && subcore->memory_queue.empty();
         });
}

Dispatcher::Dispatcher(const sc_core::sc_module_name& name, Partition& partition,
                       const trace::Reader& trace, CtaStore& ctas, std::uint32_t ctas_per_sm,
                       std::function<void(double)> progress)
    : Block(name, partition),
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
      partition().tell(sm->port.partition(), *sm, 0,
                       [](Sm& ended, std::uint64_t) { ended.flush(); });
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
      partition().tell(sms_[sm]->port.partition(), sms_[sm]->control,
                       std::bit_cast<std::uint64_t>(&cta),
                       [](SmControl& control, std::uint64_t launched) {
                         control.launch(std::bit_cast<CtaContext*>(launched));
                       });
      wake_next();
      return;
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

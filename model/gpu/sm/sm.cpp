// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/sm/sm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "model/gpu/sm/atomic_buffer.hpp"
#include "model/gpu/sm/merge_buffer.hpp"
#include "model/gpu/sm/red_wait.hpp"

namespace warpfold {

Sm::Sm(std::string name, Partition& partition, const SmContext& context, const UnitMaker& make_unit)
    : Block(std::move(name), partition),
      context_(context),
      admission_(admission_rules().find(admission_of(context.config))),
      load_latency_(context.way_back.value_or(context.config.latency.global_load)),
      red_latency_(red_wait_rules().find(red_wait_of(context.config)).answered ||
                           context.timing.any_waits || !context.timing.memory.empty()
                       ? context.way_back.value_or(answer_cycles(context.config))
                       : kNever),
      domain_(kAhead, partition.steps()),
      residency_(partition, *this, context.config.sm.subcores),
      control_(domain_, context.config, context.sums_in_sm(), *this),
      pipe_(domain_),
      match_pipe_(domain_),
      outlet_(*this, domain_, context.config.noc.injection_depth),
      port_(Block::name() + ".port", partition, context.config, context.index, outlet_, *this,
            context.way_back),
      buffer_(make_buffer()),
      lsu_(Block::name() + ".lsu", domain_, context_, control_, pipe_,
           {.outlet = outlet_, .buffer = buffer_ ? &buffer_->input : nullptr}) {
  const Subcore::Shared shared{
      .control = control_, .pipe = pipe_, .match_pipe = match_pipe_, .loads = loads_};
  Admissions admissions = admission_.make(
      {.config = context.config, .domain = domain_, .way_out = outlet_, .sm = context.index});
  std::vector<Lsu::Source> sources;
  std::vector<Mailbox<BarrierRelease>*> releases;
  for (std::uint32_t i = 0; i < context.config.sm.subcores; ++i) {
    subcores_.push_back(std::make_unique<Subcore>(fmt::format("{}.subcore{}", Block::name(), i),
                                                  domain_, context_, shared,
                                                  std::move(admissions.at(i)), make_unit()));
    Subcore& subcore = *subcores_.back();
    subcore.memory_queue.bind(subcore, lsu_, &lsu_.inputs, i);
    sources.push_back({.queue = &subcore.memory_queue, .answers = &subcore});
    releases.push_back(&subcore.barrier_releases);
  }
  if (buffer_) {
    buffer_->input.bind(lsu_, *buffer_);
    outlet_.bind(*buffer_, port_);
  } else {
    outlet_.bind(lsu_, port_);
  }
  control_.connect(std::move(releases));
  lsu_.connect(std::move(sources));
}

std::unique_ptr<SumBuffer> Sm::make_buffer() {
  if (context_.merge_rows != 0) {
    return std::make_unique<MergeBuffer>(name() + ".buffer", domain_, context_, outlet_);
  }
  if (!context_.buffer.present()) {
    return nullptr;
  }
  auto buffer =
      std::make_unique<AtomicBuffer>(name() + ".buffer", domain_, context_, pipe_, outlet_);
  loads_ = context_.buffer.load_lines > 0 ? &buffer->loads : nullptr;
  return buffer;
}

void Sm::connect(const SliceMap& map, std::vector<Entrance*> entrances) {
  port_.connect(map, std::move(entrances));
}

void Sm::begin_cta(CtaContext& cta) {
  receive();
  control_.launch(&cta);
}

void Sm::begin_warp(CtaContext& cta, std::uint32_t warp, std::size_t subcore) {
  subcores_[subcore]->launches.deliver({&cta, warp});
}

void Sm::end_kernel() {
  std::for_each(subcores_.begin(), subcores_.end(),
                [](const auto& subcore) { subcore->end_probe(); });
  if (buffer_) {
    receive();
    lsu_.flushes.deliver(true);
  }
}

void Sm::receive() {
  if (context_.reference) {
    return;  // keeps step
  }
  ARC_CHECK(domain_.now() <= now() && next_cycle() > now(),
            "something comes to an SM that does not keep step");
  domain_.skip_to(now());
  no_end_before_ = 0;
  estimate_at_ = 0;
  pause_ = 0;
  wake_next();
}

void Sm::answer_load(std::uint64_t asker, Cycle due) {
  ARC_CHECK(due > domain_.now(), "an SM has run ahead of the answer to a load");
  subcores_[subcore_of_asker(asker)]->load_answered(slot_of_asker(asker), due);
  wake_at(due);
}

void Sm::answer_red(std::uint64_t asker, Cycle due) {
  ARC_CHECK(due > domain_.now(), "an SM has run ahead of the answer to a RED");
  subcores_[subcore_of_asker(asker)]->red_answered(slot_of_asker(asker), due);
  wake_at(due);
}

void Sm::fill(std::uint64_t line, std::uint32_t sectors, Cycle due) {
  ARC_CHECK(due > domain_.now(), "an SM has run ahead of what it loads");
  lsu_.fill(line, sectors, due);
  wake_at(due);
}

void Sm::record(const Recorders& recorders) {
  for (std::size_t i = 0; i < subcores_.size(); ++i) {
    subcores_[i]->record(recorders.of_subcores.at(i),
                         recorders.of_units.empty() ? nullptr : recorders.of_units.at(i));
    subcores_[i]->memory_queue.record(recorders.memory_queues.at(i));
  }
  pipe_.record(recorders.pipe);
  lsu_.record(recorders.pipe, recorders.lsu_blocked);
  port_.record(recorders.port);
  outlet_.record(recorders.outlet);
}

void Sm::probe(const PortProbe& probe) {
  subcores_.at(probe.subcore)->probe(probe);
  wake_at(domain_.next());
}

void Sm::finish(Cycle end) {
  for (const auto& subcore : subcores_) {
    subcore->finish(end);
  }
}

// Whether it will not matter in that cycle, its next, what the injection port has taken meanwhile.
inline bool Sm::may_pass_port(Cycle next) const {
  const Outlet& outlet = outlet_;
  if ((outlet.has_loads() || port_.loads_out() > 0) && next + 1 >= now() + load_latency_) {
    return false;
  }
  if (red_latency_ != kNever && next + 1 >= now() + red_latency_) {
    return false;
  }
  return outlet.settled() ||
         (outlet.has_room() && (!admission_.watches_way_out || !looks_at_way_out()));
}

bool Sm::looks_at_way_out() const {
  return std::any_of(subcores_.begin(), subcores_.end(),
                     [](const auto& subcore) { return subcore->looks_at_way_out(); });
}

// Whether no CTA can come before one of those that run has ended.
bool Sm::is_full() const {
  return control_.running() > 0 &&
         (control_.running() == context_.resident_ctas || residency_.closed());
}

// Until which cycle before `end` it may stay behind, or now().
Cycle Sm::may_stay_until(Cycle end) {
  constexpr Cycle kWorth = 64;         // less is not worth it
  constexpr Cycle kEnough = 512;       // that a look should find
  constexpr Cycle kMost = 2048;        // as far as it goes
  constexpr Cycle kLongest = 1 << 14;  // between two looks of which the first found too little
  if (no_end_before_ < now() + kWorth && now() >= estimate_at_) {
    for (const auto& subcore : subcores_) {
      subcore->estimate_ends(kMost);
    }
    no_end_before_ = control_.no_end_before();
    pause_ = no_end_before_ < now() + kEnough ? std::min(2 * pause_ + kWorth, kLongest) : 0;
    estimate_at_ = now() + pause_;
  }
  const Cycle until = std::min(no_end_before_, end);
  return until > now() + kWorth ? until - 1 : now();
}

void Sm::tick() {
  tell_ended();
  if (context_.reference) {
    return;  // what lies within is clocked beside it
  }
  outlet_.set_behind(false);
  const Cycle end = (now() / context_.quantum + 1) * context_.quantum;
  bool full = is_full();
  Cycle next = next_cycle();
  while (next <= now() || (next < end && full && may_pass_port(next))) {
    outlet_.begin(next);
    domain_.evaluate(next);
    domain_.update();
    if (!control_.ended.empty()) {
      full = is_full();
    }
    next = next_cycle();
  }
  tell_ended();
  if (full && next < end && outlet_.has_plenty()) {
    if (const Cycle until = may_stay_until(end); until > next) {
      outlet_.set_behind(true);
      next = until;
    }
  }
  if (!control_.ended.empty()) {
    next = std::min(next, control_.ended.front().cycle);
  }
  if (next != kNever) {
    wake_at(next);
  }
}

void Sm::tell_ended() {
  while (!control_.ended.empty() && control_.ended.front().cycle <= now()) {
    ARC_CHECK(control_.ended.front().cycle == now(), "a CTA ended in an SM that is behind");
    residency_.ended(*control_.ended.front().cta);
    control_.ended.pop_front();
  }
}

bool Sm::empty() const {
  return residency_.empty() && control_.running() == 0 && lsu_.empty() && port_.idle() &&
         (!buffer_ || buffer_->empty()) &&
         std::all_of(subcores_.begin(), subcores_.end(), [](const auto& subcore) {
           return subcore->empty() && subcore->memory_queue.empty();
         });
}

}  // namespace warpfold

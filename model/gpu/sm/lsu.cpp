// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/sm/lsu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "model/base/bits.hpp"
#include "model/gpu/sm/red_wait.hpp"

namespace warpfold {

Lsu::Lsu(std::string name, Domain& domain, const SmContext& context, SmControl& control,
         LsuPipe& pipe, const Sinks& sinks)
    : Block(std::move(name), domain),
      control_(control),
      pipe_(pipe),
      sinks_(sinks),
      beside_pipe_(context.buffer.beside_pipe),
      hand_red_(to_ticks(context.config.lsu.hand_red)),
      reds_answered_(red_wait_rules().find(red_wait_of(context.config)).answered),
      buffer_latency_(context.config.latency.l1_load),
      splitter_(context),
      l1_(context.timing.memory.empty()
              ? nullptr
              : std::make_unique<L1Cache>(context.l1_bytes, context.config.l1.ways,
                                          context.config.l1.misses, !context.timing.loads_pass)),
      loads_pass_(context.timing.loads_pass),
      l2_latency_(context.config.latency.global_load),
      memory_(context.timing.memory),
      access_ticks_(to_ticks(context.config.l1.access_cycles)) {
  flushes.bind(*this);
}

void Lsu::tick() {
  if (has_mail()) {
    flushes.take([this](bool) { flush_ = true; });
    mail_taken();
  }
  if (!holding_ && inputs.held == 0) {
    inputs.wanted = true;
    if (flush_) {
      send_flush();
    }
    return;
  }
  if (!beside_pipe_ && !pipe_.free()) {
    wake_at(cycle_of(pipe_.free_at()));
    return;
  }
  if (!holding_ && !take_next()) {
    inputs.wanted = true;  // of a sub-core that could hand over at once
    return;
  }
  if (accessing_) [[unlikely]] {
    if (beside_pipe_ && !pipe_.free()) {
      wake_at(cycle_of(pipe_.free_at()));
      return;
    }
    if (!serve_access()) {
      return;
    }
  } else if (holding_) {
    // Beside the pipe goes only what an atomic buffer takes.
    if (beside_pipe_ && splitter_.at(sent_).passes && !pipe_.free()) {
      wake_at(cycle_of(pipe_.free_at()));
      return;
    }
    if (!can_send()) {
      blocked();
      want_room();
      return;
    }
    send_next();
  }
  // The end of the kernel does not wait for the pipe.
  if (beside_pipe_ || flush_) {
    wake_next();
  } else if (!holding_ && !has_more()) {
    inputs.wanted = true;
  } else {
    wake_at(std::max(now() + 1, cycle_of(pipe_.started_until())));
  }
}

void Lsu::blocked() {
  if (blocked_since_ == kNever) {
    blocked_since_ = now();
  }
}

void Lsu::unblocked() {
  if (blocked_since_ != kNever) {
    blocked_cycles_ += now() - blocked_since_;
    if (blocked_ != nullptr) [[unlikely]] {
      blocked_->add(at_cycle(blocked_since_), at_cycle(now()), 0);
    }
    blocked_since_ = kNever;
  }
}

// Its sectors line by line, in the order of the lanes.
void Lsu::begin_access(MemOp& op, std::uint32_t source) {
  const trace::Record& record = op.event.event();
  const trace::WarpTrace& warp = op.event.warp_trace();
  lines_.clear();
  for (std::uint32_t i = 0; i < record.count; ++i) {
    const std::uint64_t sector = warp.sectors[record.values + i];
    const std::uint64_t line = sector / kLineSectors;
    auto part = std::find_if(lines_.begin(), lines_.end(),
                             [line](const LinePart& one) { return one.line == line; });
    if (part == lines_.end()) {
      part = lines_.insert(lines_.end(), {.line = line, .sectors = 0});
    }
    part->sectors |= 1U << sector % kLineSectors;
  }
  line_at_ = 0;
  access_due_ = 0;
  access_asker_ = {.source = source, .slot = op.warp_slot, .site = record.site};
  accessing_ = true;
  op.event = {};
}

// Looks the next line up; false where it has to wait.
bool Lsu::serve_access() {
  const LinePart part = lines_[line_at_];
  const trace::MemorySite& site = memory_[access_asker_.site];
  const bool load = site.kind == trace::AccessKind::kLoad;
  if (loads_pass_ && !can_send()) {
    blocked();
    want_room();
    return false;
  }
  if (load && !l1_->has_room(part.line, part.sectors, now())) {
    blocked();
    if (const Cycle room = l1_->more_room(); room != kNever) {
      wake_at(std::max(now() + 1, room));
    }
    return false;
  }
  unblocked();
  const Ticks until = pipe_.start(access_ticks_);
  if (slices_ != nullptr) [[unlikely]] {
    slices_->add(until - access_ticks_, until, static_cast<std::uint32_t>(LsuWork::kLoad));
  }
  holding_ = accessing_ = ++line_at_ < lines_.size();
  if (!load) {
    l1_->store(part.sectors);
    if (loads_pass_) {
      send_access(part.line, part.sectors, load);
    }
    return true;
  }
  AccessAnswers& answers = *sources_[access_asker_.source].answers;
  const L1Cache::Answer answer =
      l1_->load(part.line, part.sectors, site.cache != trace::CacheUse::kL2, access_asker_, now());
  access_due_ = std::max({access_due_, answer.due, now() + buffer_latency_});
  if (answer.waits > 0) {
    answers.load_parts(access_asker_.slot, access_asker_.site, answer.waits);
  }
  if (answer.missing != 0 && loads_pass_) {
    send_access(part.line, answer.missing, load);
  } else if (answer.missing != 0) {
    fill(part.line, answer.missing, now() + l2_latency_);
  }
  if (!accessing_) {
    answers.load_part(access_asker_.slot, access_asker_.site, access_due_);
  }
  return true;
}

// A load asks for all sectors of a line in one flit; a store brings them along.
void Lsu::send_access(std::uint64_t line, std::uint32_t sectors, bool load) {
  Transaction transaction;
  transaction.load = load;
  transaction.access = true;
  transaction.sectors = static_cast<std::uint8_t>(sectors);
  transaction.address = line * kLineBytes;
  transaction.flits = static_cast<std::uint16_t>(load ? 0 : 1 + std::popcount(sectors));
  send(std::move(transaction));
}

void Lsu::fill(std::uint64_t line, std::uint32_t sectors, Cycle due) {
  l1_->fill(line, sectors, due, [&](const L1Cache::Asker& asker) {
    sources_[asker.source].answers->load_part(asker.slot, asker.site, due);
  });
  if (accessing_) {
    wake_at(due);
  }
}

// The next transaction of the RED in hand leaves.
void Lsu::send_next() {
  unblocked();
  const bool buffered = sinks_.buffer != nullptr;
  holding_ = sent_ + 1 < splitter_.count();
  Transaction& sent = splitter_.at(sent_);
  if (!holding_ && !buffered) {
    sent.last_of = cta_;
  }
  if (!beside_pipe_ || sent.passes) {
    const Ticks occupancy = splitter_.occupancy(sent_);
    const Ticks until = pipe_.start(occupancy);
    if (slices_ != nullptr) [[unlikely]] {
      const LsuWork work = sent.load                      ? LsuWork::kLoad
                           : sent.reduced || sent.partial ? LsuWork::kReduced
                                                          : LsuWork::kRed;
      slices_->add(until - occupancy, until, static_cast<std::uint32_t>(work),
                   sent.load ? 1U : sent.packets);
    }
  }
  send(std::move(sent));
  if (!holding_ && buffered && cta_ != nullptr) {
    control_.red_buffered(cta_);
  }
  if (!holding_ && asker_ != nullptr) {
    asker_->red_answered(asker_slot_, now() + buffer_latency_);
  }
  ++sent_;
}

std::string Lsu::waits() const {
  if (accessing_) {
    return fmt::format("{} holds {} lines of a load or a store", name(), lines_.size() - line_at_);
  }
  if (holding_) {
    return fmt::format("{} holds {} transactions for the {}, which has {}", name(),
                       splitter_.count() - sent_,
                       sinks_.buffer != nullptr ? "atomic buffer" : "injection port",
                       can_send() ? "room" : "no room");
  }
  return flush_ ? fmt::format("{} has the end of the kernel to send", name()) : "";
}

void Lsu::send(Transaction&& transaction) {
  if (sinks_.buffer != nullptr) {
    sinks_.buffer->push(std::move(transaction));
  } else {
    sinks_.outlet.push(std::move(transaction));
  }
}

void Lsu::want_room() {
  if (sinks_.buffer != nullptr) {
    sinks_.buffer->want_room();
  } else {
    sinks_.outlet.want_room();
  }
}

void Lsu::send_flush() {
  if (!can_send()) {
    want_room();
    return;
  }
  Transaction transaction;
  transaction.flush = true;
  send(std::move(transaction));
  flush_ = false;
}

// Whether a memory queue holds anything when this cycle is over, but for what comes in it.
bool Lsu::has_more() const {
  const std::uint32_t taken = next_source_ - 1;  // of that source, the last one
  return (inputs.held & ~(std::uint32_t{1} << taken)) != 0 || !sources_[taken].queue->empty();
}

// Takes the next instruction that can start, sources in turn; false if there is none, as all wait
// for the pipe or to be handed over.
bool Lsu::take_next() {
  Ticks soonest = ~Ticks{0};
  std::uint32_t from = next_source_;
  for (std::uint32_t rest = inputs.held; rest != 0;) {
    const std::uint32_t source = next_from(rest, from);
    rest &= ~(std::uint32_t{1} << source);
    from = source + 1;
    MemOp& op = sources_[source].queue->front();  // stays until the cycle ends
    const Ticks start = std::max(handed_[source], is_on_pipe(op.kind) ? pipe_.free_at() : 0);
    if (start >= at_cycle(now() + 1)) {
      soonest = std::min(soonest, start);
      continue;
    }
    next_source_ = source + 1;
    sources_[source].queue->pop();
    take(op, source);
    return true;
  }
  wake_at(cycle_of(soonest));
  return false;
}

// Shuffles and shared-memory accesses are done with at once; a RED is held until its transactions
// have left.
void Lsu::take(MemOp& op, std::uint32_t source) {
  if (is_on_pipe(op.kind)) {
    serve_on_pipe(op, source);
    return;
  }
  sent_ = 0;
  holding_ = true;
  asker_ = nullptr;
  if (op.kind == MemOpKind::kAccess) {
    begin_access(op, source);
  } else if (op.kind == MemOpKind::kLoad) {
    cta_ = nullptr;
    splitter_.split_load(op, source);
  } else {
    handed_[source] = std::max(handed_[source], at_cycle(now())) + hand_red_;
    cta_ = op.cta;
    splitter_.split(op);
    if (reds_answered_ || op.waits) {
      expect_answers(op, source);
    }
  }
}

// The RED in hand is answered: by the L2, for each transaction, or by the atomic buffer.
void Lsu::expect_answers(const MemOp& op, std::uint32_t source) {
  AccessAnswers& answers = *sources_[source].answers;
  if (sinks_.buffer != nullptr && !op.passes) {
    asker_ = &answers;
    asker_slot_ = op.warp_slot;
    return;
  }
  for (std::size_t i = 0; i < splitter_.count(); ++i) {
    splitter_.at(i).subcore = static_cast<std::uint8_t>(source);
    splitter_.at(i).answers = op.warp_slot;
  }
  answers.red_split(op.warp_slot, static_cast<std::uint32_t>(splitter_.count()));
}

void Lsu::serve_on_pipe(const MemOp& op, std::uint32_t source) {
  handed_[source] = std::max(handed_[source], at_cycle(op.begun)) + op.hand_ticks;
  const Ticks until = pipe_.start(op.lsu_ticks);
  const Ticks done = std::max(until, handed_[source]);
  if (slices_ != nullptr) [[unlikely]] {
    const LsuWork work = op.kind == MemOpKind::kShuffle  ? LsuWork::kShuffle
                         : op.kind == MemOpKind::kShared ? LsuWork::kShared
                                                         : LsuWork::kLoad;
    slices_->add(until - op.lsu_ticks, until, static_cast<std::uint32_t>(work));
  }
  if (op.kind != MemOpKind::kCached) {
    sources_[source].answers->access_answered(op.warp_slot,
                                              std::max(now() + 1, cycle_after(done) + op.latency));
  }
}

}  // namespace warpfold

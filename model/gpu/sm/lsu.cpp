// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/sm/lsu.hpp"

#include <fmt/format.h>

#include <algorithm>
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
      splitter_(context) {
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
  if (holding_) {
    // Beside the pipe goes only what an atomic buffer takes.
    if (beside_pipe_ && splitter_.at(sent_).passes && !pipe_.free()) {
      wake_at(cycle_of(pipe_.free_at()));
      return;
    }
    if (!can_send()) {
      if (blocked_since_ == kNever) {
        blocked_since_ = now();
      }
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

// The next transaction of the RED in hand leaves.
void Lsu::send_next() {
  if (blocked_since_ != kNever) {
    blocked_cycles_ += now() - blocked_since_;
    if (blocked_ != nullptr) [[unlikely]] {
      blocked_->add(at_cycle(blocked_since_), at_cycle(now()), 0);
    }
    blocked_since_ = kNever;
  }
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
  if (op.kind == MemOpKind::kLoad) {
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

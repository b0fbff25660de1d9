// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/memory/port_merger.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "model/gpu/traffic/sector_transaction.hpp"

namespace warpfold {

PortMerger::PortMerger(const GpuConfig& config, const Context& context, SliceIngress& ingress)
    : additions_(context.additions),
      map_(context.map),
      ingress_(ingress),
      merger_(context.additions, context.rows, config.sms_each),
      word_time_(nearest(config.l2.port_cycles, kFineBits)),
      flit_time_(nearest(config.l2.flit_cycles, kFineBits)),
      period_(config.sms_each),
      sms_(config.sm.count),
      room_(config.buffer.victims),
      quiet_(config.noc.latency) {}

void PortMerger::push(Arrival&& arrival, Cycle now) {
  arrivals_.push_back(std::move(arrival));
  quiet_since_ = now;
}

void PortMerger::end_kernel(Cycle now) {
  ended_ = true;
  quiet_since_ = now;
}

bool PortMerger::flushes(Cycle now) const {
  return ended_ && merger_.words() != 0 && arrivals_.empty() && now >= quiet_since_ + quiet_;
}

std::optional<PortMerger::Arrival> PortMerger::clock(Cycle now) {
  if (!clocked(now)) {
    return std::nullopt;
  }
  if (!busy_ && !arrivals_.empty() && port_free_at_ < (now + 1) << kFineBits) {
    begin(now);
  }
  if (flushes(now)) {
    merger_.flush();
  }
  std::optional<SumsOfSector> sums;
  if (merger_.busy()) {
    sums = merger_.clock(leaving_ < room_);
  }
  if (busy_ && merger_.ready()) {
    end();
  }
  if (!sums) {
    return std::nullopt;
  }
  ++leaving_;
  return arrival_of(*sums, now);
}

// The port takes in the first transaction that waits.
void PortMerger::begin(Cycle now) {
  busy_ = true;
  Transaction& transaction = arrivals_.front().transaction;
  const Fine flits = transaction.flits - transaction.lone_words;
  const Fine time = transaction.lone_words * word_time_ + flits * flit_time_;
  port_free_at_ = std::max(port_free_at_, now << kFineBits) + time;
  port_busy_ += time;
  packets_ += transaction.packets;
  merger_.take(transaction);
}

// All requests of the transaction in hand have been accepted.
void PortMerger::end() {
  busy_ = false;
  const Arrival& arrival = arrivals_.front();
  if (arrival.transaction.answers != Transaction::kNoAnswer) {
    ingress_.answer(arrival.sm, arrival.transaction);
  }
  ingress_.give_back(arrival.transaction.room());
  arrivals_.pop_front();
}

PortMerger::Arrival PortMerger::arrival_of(const SumsOfSector& sums, Cycle now) {
  Arrival arrival{.cycle = now,
                  .sm = next_sm_,
                  .transaction = sector_transaction(additions_.sums, additions_.tally, sums)};
  arrival.transaction.slice = static_cast<std::uint8_t>(map_.place(sums.address).slice);
  next_sm_ = (next_sm_ + 1) % sms_;
  return arrival;
}

Cycle PortMerger::next(Cycle now) const {
  Cycle next = kNever;
  if (merger_.busy()) {
    next = now + 1;
  } else if (!arrivals_.empty()) {
    next = std::max(now + 1, port_free_at_ >> kFineBits);
  } else if (ended_ && merger_.words() != 0) {
    next = std::max(now + 1, quiet_since_ + quiet_);
  }
  return next == kNever ? kNever : (next + period_ - 1) / period_ * period_;
}

std::string PortMerger::waits() const {
  return empty() ? ""
                 : fmt::format("its merge buffer holds {} sums, {} requests and {} transactions",
                               merger_.words(), merger_.requests(), arrivals_.size());
}

}  // namespace warpfold

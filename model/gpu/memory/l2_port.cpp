// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/memory/l2_port.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "model/base/check.hpp"
#include "model/gpu/memory/additions.hpp"

namespace warpfold {

namespace {

// Lines that are neighbours and share a place of their slice.
constexpr std::uint64_t kPairLines = 2;

// The transaction as the model of rounds sees it.
RoundWork work_of(const Transaction& transaction, std::uint32_t sm) {
  const std::uint64_t line = transaction.address / kLineBytes;
  return {
      .sm = sm,
      .slice = transaction.slice,
      .pair = line / kPairLines,
      .sectors = static_cast<std::uint8_t>(transaction.sectors << line % kPairLines * kLineSectors),
      .whole = transaction.whole,
      .turns = transaction.turns,
      .packets = transaction.packets,
      .lone_words = transaction.lone_words,
      .flits = transaction.flits};
}

}  // namespace

L2Port::L2Port(std::string name, Partition& partition, const L2Context& context)
    : Block(std::move(name), partition),
      order_(context.order.make(context.config)),
      ingress(partition, context.config, *order_),
      behind_(context.behind),
      behind_has_data_(context.behind.has_data()),
      line_bytes_(context.config.l2.line_bytes),
      tags_(context.config.l2.bytes / context.config.l2.ports(), context.config.l2.ways,
            context.config.l2.line_bytes),
      additions_(context.additions),
      adder_(context.additions),
      queues_(order_->queues()),
      rounds_(context.config) {
  if (context.has_loads) {
    reads_.emplace(context.config, tags_, behind_);
  }
  if (context.merge_rows != 0) {
    const RopAdder::Context& additions = context.additions;
    merger_.emplace(context.config,
                    PortMerger::Context{.additions = {.addresses = additions.addresses,
                                                      .sums = additions.sums,
                                                      .tally = additions.tally},
                                        .map = context.map,
                                        .rows = context.merge_rows},
                    ingress);
  }
}

bool L2Port::empty() const {
  return ingress.empty() && waiting_.empty() && rounds_.empty() && (!merger_ || merger_->empty()) &&
         (!reads_ || reads_->empty());
}

L2Stats L2Port::stats() const {
  L2Stats stats = stats_;
  if (merger_) {
    stats.packets += merger_->packets();
    stats.port_busy += merger_->port_busy();
  }
  return stats;
}

std::string L2Port::waits() const {
  if (empty()) {
    return "";
  }
  const std::string merging = merger_ ? merger_->waits() : "";
  return fmt::format(
      "{} serves {} transactions, {} wait for DRAM and {} SMs for its {} flits of room{}{}", name(),
      rounds_.size(), waiting_.size(), ingress.waiting(), ingress.room() / 2,
      merging.empty() ? "" : "; ", merging);
}

void L2Port::end_kernel() {
  if (merger_) {
    merger_->end_kernel(now());
    wake_next();
  }
}

void L2Port::record(const std::vector<SliceRecorder*>& of_slices) {
  for (SliceRecorder* of_slice : of_slices) {
    recorded_.push_back({.recorder = of_slice});
  }
}

void L2Port::tick() {
  serve((now() << kFineBits) + 1);
  take_filled();
  take_arrivals();
  if (const Transaction* coming = ingress.coming(); coming != nullptr) {
    expect(*coming);
  }
  if (reads_) [[unlikely]] {
    reads_->clock(now(), [this](const L2Reads::Load& load) {
      ingress.send(load.sm, load.line, load.sectors);
    });
    if (const Cycle next = reads_->next(); next != kNever) {
      wake_at(next);
    }
  }
  serve((now() + 1) << kFineBits);
  if (!rounds_.empty()) {
    const RoundModel::End next = rounds_.next_end();
    __builtin_prefetch(&queues_.front(next.queue));
    wake_at(next.time >> kFineBits);
  }
}

// By its merge buffer, if it has one and that sums them, or else at once.
void L2Port::take_arrivals() {
  while (Arrival* arrival = ingress.arrived()) {
    if (merger_ && PortMerger::takes(arrival->transaction)) {
      merger_->push(std::move(*arrival), now());
    } else {
      accept(*arrival);
    }
    ingress.take();
  }
  if (!merger_) {
    return;
  }
  if (std::optional<Arrival> sums = merger_->clock(now())) {
    accept(*sums);
  }
  if (const Cycle next = merger_->next(now()); next != kNever) {
    wake_at(next);
  }
}

// Has the host's cache fetch what a transaction will need that comes soon.
void L2Port::expect(const Transaction& transaction) const {
  tags_.prefetch(transaction.address);
  if (transaction.event.cta) {
    __builtin_prefetch(&transaction.event.event());
  }
}

// What has waited for its line goes on to its slice.
void L2Port::take_filled() {
  while (!waiting_.empty() && waiting_.begin()->first.first <= now()) {
    Arrival arrival = std::move(waiting_.begin()->second);
    waiting_.erase(waiting_.begin());
    if (const auto fill = filling_.find(line_bytes_.quotient(arrival.transaction.address));
        fill != filling_.end() && fill->second <= now()) {
      filling_.erase(fill);
    }
    enqueue(arrival);
  }
}

// Looks the line up; a transaction whose line is in goes on to its slice.
void L2Port::accept(Arrival& arrival) {
  if (arrival.transaction.access) [[unlikely]] {
    accept_access(arrival);
    return;
  }
  const Address address = arrival.transaction.address;
  const std::uint64_t line = line_bytes_.quotient(address);
  const L2Tags::Access access = tags_.access(address);
  if (!access.hit) {
    const Cycle ready = fetch(line, access);
    wait_until(ready, arrival);
    if (ready != kNever) {
      wake_at(ready);
    }
    return;
  }
  if (reads_ && reads_->lacks(address / kLineBytes, arrival.transaction.sectors)) [[unlikely]] {
    const Cycle ready = fetch(line, access);
    wait_until(ready, arrival);
    wake_at(ready);
    return;
  }
  ++stats_.hits;
  if (const auto fill = filling_.find(line); fill != filling_.end() && fill->second > now()) {
    wait_until(fill->second, arrival);
    return;
  }
  enqueue(arrival);
}

void L2Port::accept_access(const Arrival& arrival) {
  const Transaction& transaction = arrival.transaction;
  const std::uint64_t line = transaction.address / kLineBytes;
  if (transaction.load) {
    const auto fill = filling_.find(line);
    reads_->load({.sm = arrival.sm, .line = line, .sectors = transaction.sectors},
                 fill == filling_.end() ? now() : fill->second, now());
  } else {
    reads_->store(line, transaction.sectors, now());
    ingress.give_back(transaction.room());
  }
}

void L2Port::wait_until(Cycle cycle, Arrival& arrival) {
  waiting_.emplace(std::pair(cycle, waited_++), std::move(arrival));
}

// Has a line that is missed brought in: the cycle in which it is there.
Cycle L2Port::fetch(std::uint64_t line, const L2Tags::Access& access) {
  ++stats_.misses;
  if (access.evicted && !(reads_ && reads_->drops_clean(access.victim / kLineBytes))) {
    ++stats_.evictions;
    behind_.write_back(access.victim, now());
  }
  const Cycle ready = behind_.read(line * line_bytes_.divisor(), now());
  ARC_CHECK(ready > now(), "the memory behind the L2 has a line before it has been asked for it");
  filling_[line] = ready;
  return ready;
}

void L2Port::filled(Address address, Cycle cycle) {
  const std::uint64_t line = line_bytes_.quotient(address);
  cycle = std::max(cycle, now() + 1);
  filling_[line] = cycle;
  for (auto next = waiting_.lower_bound({kNever, 0}); next != waiting_.end();) {
    const auto each = next++;
    if (line_bytes_.quotient(each->second.transaction.address) == line) {
      auto moved = waiting_.extract(each);
      moved.key().first = cycle;
      waiting_.insert(std::move(moved));
    }
  }
  wake_at(cycle);
}

void L2Port::enqueue(Arrival& arrival) {
  const std::uint32_t queue = order_->queue_of(arrival.sm, arrival.transaction.slice);
  ARC_CHECK(queue < queues_.count(), "rules.l2_order names a queue that it does not have");
  queues_.push(queue, arrival.sm, std::move(arrival.transaction));
  if (queues_.size(queue) == 1) {
    begin(queue, now() << kFineBits);
  }
}

// Serves what is in front of a queue from then on.
void L2Port::begin(std::uint32_t queue, Fine time) {
  const Transaction& transaction = queues_.front(queue);
  rounds_.begin(queue, work_of(transaction, queues_.sm(queue)), time);
  adder_.prefetch(transaction);
  if (!recorded_.empty() && rounds_.streams_in(transaction.slice) == 1) [[unlikely]] {
    recorded_.at(transaction.slice).since = time;
  }
}

void L2Port::serve(Fine until) {
  while (!rounds_.empty() && rounds_.next_end().time < until) {
    finish();
  }
}

// The additions of what ends next are done.
void L2Port::finish() {
  const RoundModel::End end = rounds_.next_end();
  rounds_.end_next();
  if (!recorded_.empty() && rounds_.streams_in(end.slice) == 0) [[unlikely]] {
    const Recorded& slice = recorded_.at(end.slice);
    constexpr Fine kPerTick = kFineCycle / kTicksPerCycle;
    slice.recorder->add(slice.since / kPerTick, end.time / kPerTick, 0);
  }
  Transaction& transaction = queues_.front(end.queue);
  stats_.rop_ops += transaction.packets;
  stats_.rop_busy = rounds_.busy().all();
  stats_.port_busy = rounds_.busy().port();
  if (transaction.of_port()) {
    merger_->added();
  } else {
    stats_.packets += transaction.packets;
  }
  stats_.rop_busiest = std::max(stats_.rop_busiest, rounds_.busiest());
  stats_.last_done = std::max<Cycle>(stats_.last_done, (end.time + kFineCycle - 1) >> kFineBits);
  if (behind_has_data_) [[unlikely]] {
    for_each_addition(transaction, additions_,
                      [this](const Addition& addition) { behind_.add(addition); });
  }
  adder_.add(transaction);
  if (transaction.answers != Transaction::kNoAnswer) {
    ingress.answer(queues_.sm(end.queue), transaction);
  }
  ingress.give_back(transaction.room());
  queues_.pop(end.queue);
  if (queues_.size(end.queue) > 0) {
    begin(end.queue, end.time);
  }
}

}  // namespace warpfold

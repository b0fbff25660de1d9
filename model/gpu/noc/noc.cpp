// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/noc/noc.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "model/gpu/sm/sm.hpp"

namespace warpfold {

namespace {
constexpr std::uint32_t kWordBits = 64;
constexpr std::uint64_t bit_of(std::uint32_t sm) {
  return std::uint64_t{1} << sm % kWordBits;
}

// The numbers from 1 to `number` that have no divisor in common with it.
std::vector<std::uint32_t> coprime_to(std::uint32_t number) {
  std::vector<std::uint32_t> found;
  for (std::uint32_t step = 1; step <= number; ++step) {
    if (std::gcd(step, number) == 1) {
      found.push_back(step);
    }
  }
  return found;
}
}  // namespace

SliceMap::SliceMap(const GpuConfig& config)
    : ports_(config.l2.ports()),
      slices_per_port_(config.l2.slices_per_port),
      interleave_(config.l2.interleave_bytes),
      slice_bytes_(config.l2.slice_bytes),
      steps_(coprime_to(config.l2.ports())),
      step_count_(steps_.size()),
      apart_(steps_[steps_.size() / 3]) {}

SliceMap::Place SliceMap::place(Address address) const {
  const std::uint64_t piece = interleave_.quotient(address);
  const std::uint64_t run = ports_.quotient(piece);
  std::uint64_t hash = run;
  hash = (hash ^ (hash >> 31U)) * 0x9e3779b97f4a7c15ULL;
  hash = (hash ^ (hash >> 29U)) * 0xbf58476d1ce4e5b9ULL;
  hash ^= hash >> 32U;
  const std::uint64_t step = steps_[step_count_.remainder(hash)];
  const std::uint64_t group =
      ports_.remainder((piece - run * ports_.divisor()) * step + (hash >> 8U));
  const std::uint64_t turn =
      slices_per_port_.remainder(slice_bytes_.quotient(address) + (hash >> 40U));
  // The slices of a group lie behind different ports.
  return {static_cast<std::uint32_t>(ports_.remainder(group + turn * apart_)),
          static_cast<std::uint32_t>(turn)};
}

SliceIngress::SliceIngress(Partition& partition, const GpuConfig& config)
    : partition_(partition),
      latency_(config.noc.latency),
      input_sms_(config.l2.input_sms),
      room_(kRoomOfFlit * config.l2.ingress_flits),
      all_room_(room_) {
  join(partition);
}

void SliceIngress::connect(Block& l2, const std::vector<InjectionPort*>& ports) {
  l2_ = &l2;
  ports_ = ports;
  waiting_.assign((ports.size() + kWordBits - 1) / kWordBits, 0);
  heads_.assign(ports.size(), {});
  for (std::uint32_t sm = 0; sm < ports.size(); sm += input_sms_) {
    turns_.push_back(sm);
  }
}

void SliceIngress::request(Partition& from, std::uint32_t sm) {
  from.tell(partition_, *this, sm, [](SliceIngress& ingress, std::uint64_t which) {
    ingress.requested_.push_back(static_cast<std::uint32_t>(which));
    ingress.request_update();
  });
}

void SliceIngress::give_back(std::uint32_t room) {
  given_back_ += room;
  request_update();
}

const SliceIngress::Arrival* SliceIngress::arrived() const {
  if (arrivals_.empty() || arrivals_.front().cycle > partition_.now()) {
    return nullptr;
  }
  return &arrivals_.front();
}

// The first of these SMs that is waiting, or `end`.
std::uint32_t SliceIngress::first_waiting(std::uint32_t from, std::uint32_t end) const {
  while (from < end) {
    const std::uint64_t bits = waiting_[from / kWordBits] & ~(bit_of(from) - 1);
    if (bits != 0) {
      const std::uint32_t sm =
          from / kWordBits * kWordBits + static_cast<std::uint32_t>(std::countr_zero(bits));
      return std::min(sm, end);
    }
    from = (from / kWordBits + 1) * kWordBits;
  }
  return end;
}

// One of them is waiting: of the next input that has any, the next.
std::uint32_t SliceIngress::next_waiting() const {
  for (std::uint32_t input = input_;; input = input + 1 < turns_.size() ? input + 1 : 0) {
    const std::uint32_t first = input * input_sms_;
    const auto end = std::min(first + input_sms_, static_cast<std::uint32_t>(ports_.size()));
    if (const std::uint32_t sm = first_waiting(turns_[input], end); sm < end) {
      return sm;
    }
    if (const std::uint32_t sm = first_waiting(first, turns_[input]); sm < turns_[input]) {
      return sm;
    }
  }
}

// Lets in waiting transactions, inputs in turn and the SMs of each in turn, until one does not fit.
void SliceIngress::update() {
  const std::uint32_t room_before = room_;
  room_ += given_back_;
  given_back_ = 0;
  for (const std::uint32_t sm : requested_) {
    waiting_[sm / kWordBits] |= bit_of(sm);
    ++waiting_count_;
    const Transaction& head = ports_[sm]->head();
    heads_[sm] = {.transaction = &head, .room = head.room()};
  }
  requested_.clear();
  while (waiting_count_ > 0) {
    const std::uint32_t sm = next_waiting();
    if (heads_[sm].room > room_) {
      break;
    }
    room_ -= heads_[sm].room;
    waiting_[sm / kWordBits] &= ~bit_of(sm);
    --waiting_count_;
    const std::uint32_t input = sm / input_sms_;
    turns_[input] = sm + 1;
    input_ = input + 1 < turns_.size() ? input + 1 : 0;
    if (const Transaction& head = *heads_[sm].transaction; !head.load) {
      const Cycle arrival = partition_.now() + latency_;
      Arrival& coming = arrivals_.emplace_back();
      coming.cycle = arrival;
      coming.sm = sm;
      coming.transaction = head;
      l2_->wake_at(arrival);
    }
    partition_.tell(ports_[sm]->partition(), *ports_[sm], 0,
                    [](InjectionPort& port, std::uint64_t) { port.grant(); });
  }
  if (level_ != nullptr) {
    level_->change(partition_.now() + 1, std::int64_t{room_before} - std::int64_t{room_});
  }
}

// A quarter of it is plenty, for which the port takes some cycles.
Outlet::Outlet(Sm& sm, std::size_t depth)
    : sm_(sm),
      depth_(depth),
      ring_(depth),
      taken_(depth),
      plenty_(std::max<std::size_t>(depth / 4, 2)) {
  ARC_CHECK(depth > 0, "a queue needs room for one entry");
}

void Outlet::push(const Transaction& transaction) {
  ARC_CHECK(can_push(), "push into a full queue");
  const Cycle cycle = sm_.domain.now();
  Entry& entry = ring_[after(head_, left_)];
  entry.transaction = transaction;
  entry.pushed = cycle;
  ++left_;
  ++size_;
  loads_ += transaction.answers != Transaction::kNoAnswer ? 1U : 0U;
  if (level_ != nullptr) {
    level_->change(cycle + 1, 1);
  }
  pushed_ = cycle == last_push_ ? pushed_ + 1 : 1;
  last_push_ = cycle;
  if (port_waits_) {
    port_waits_ = false;
    port_->wake_at(cycle + 1);
  }
}

bool Outlet::quarter_full() const {
  const std::size_t pushed = sm_.domain.now() == last_push_ ? pushed_ : 0;
  return 4 * (size_ - pushed) >= depth_;
}

void Outlet::begin(Cycle cycle) {
  bool room = false;
  while (size_ > left_ && taken_[taken_first_] < cycle) {
    --size_;
    taken_first_ = after(taken_first_, 1);
    room = true;
  }
  if (room && writer_waits_) {
    writer_waits_ = false;
    writer_->wake_at(cycle);
  }
}

bool Outlet::empty() const {
  return left_ == 0 || ring_[head_].pushed >= port_->domain().now();
}

void Outlet::pop() {
  taken_[after(taken_first_, size_ - left_)] = port_->domain().now();
  loads_ -= front().answers != Transaction::kNoAnswer ? 1U : 0U;
  if (level_ != nullptr) {
    level_->change(port_->domain().now() + 1, -1);
  }
  --left_;
  // Entries of an empty queue go where the last ones were: the whole ring would not stay in a
  // processor's cache.
  head_ = left_ == 0 ? 0 : after(head_, 1);
  // A processor's cache is to have the one behind the next when that is popped.
  __builtin_prefetch(&ring_[after(head_, 1)]);
  if (behind_ ? !has_plenty() : writer_waits_) {
    sm_.wake_next();
  }
}

void Outlet::want_entries() {
  if (left_ == 0) {
    port_waits_ = true;
  } else {
    port_->wake_at(std::max(port_->domain().now(), ring_[head_].pushed) + 1);
  }
}

InjectionPort::InjectionPort(const sc_core::sc_module_name& name, Partition& partition,
                             const GpuConfig& config, std::uint32_t index, Sm& sm)
    : Block(name, partition),
      queue(sm, config.noc.injection_depth),
      partition_(partition),
      index_(index),
      sm_(sm),
      flit_ticks_(to_ticks(config.noc.flit_cycles)),
      load_latency_(config.latency.global_load) {}

void InjectionPort::connect(const SliceMap& map, std::vector<SliceIngress*> ingresses) {
  map_ = &map;
  ingresses_ = std::move(ingresses);
}

std::string InjectionPort::waits() const {
  if (idle()) {
    return "";
  }
  return waiting_ ? fmt::format("{} waits for port {} of the L2", name(),
                                map_->place(head_->address).port)
                  : fmt::format("{} holds transactions", name());
}

void InjectionPort::grant() {
  if (lose_grants_ > 0) {
    --lose_grants_;
    return;
  }
  granted_ = true;
  granted_in_ = now();
  wake_next();
}

void InjectionPort::tick() {
  if (granted_) {
    packets_ += head_->packets;
    flits_ += head_->flits;
    lone_words_ += head_->lone_words;
    load_flits_ += head_->load ? 1U : 0U;
    if (head_->last_of != nullptr) {
      sm_.residency.red_left(head_->last_of);
    }
    if (head_->answers != Transaction::kNoAnswer) {
      sm_.answer_load(*head_, std::max(granted_in_ + load_latency_, now() + 1));
    }
    const Ticks occupancy = flit_ticks_ * (head_->load ? 1U : head_->flits);
    if (slices_ != nullptr) {
      const Ticks begin = std::max(free_at_, at_cycle(granted_in_));
      slices_->add(std::max(free_at_, at_cycle(waiting_since_)), begin,
                   static_cast<std::uint32_t>(PortWork::kWaits));
      slices_->add(begin, begin + occupancy,
                   static_cast<std::uint32_t>(head_->load ? PortWork::kLoad : PortWork::kSends),
                   head_->load ? 1U : head_->flits);
    }
    queue.pop();
    free_at_ = std::max(free_at_, at_cycle(granted_in_)) + occupancy;
    busy_ += occupancy;
    granted_ = false;
    waiting_ = false;
  }
  if (waiting_) {
    return;
  }
  if (queue.empty()) {
    queue.want_entries();
    return;
  }
  if (free_at_ >= at_cycle(now() + 1)) {
    wake_at(cycle_of(free_at_));
    return;
  }
  waiting_ = true;
  waiting_since_ = now();
  head_ = &queue.front();
  const SliceMap::Place place = map_->place(head_->address);
  queue.send_to(static_cast<std::uint8_t>(place.slice));
  ingresses_[place.port]->request(partition_, index_);
}

}  // namespace warpfold

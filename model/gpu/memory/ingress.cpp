// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/memory/ingress.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace warpfold {

namespace {
constexpr std::uint32_t kWordBits = 64;
constexpr std::uint64_t bit_of(std::uint32_t sm) {
  return std::uint64_t{1} << sm % kWordBits;
}
}  // namespace

SliceIngress::SliceIngress(Partition& partition, const GpuConfig& config)
    : partition_(partition),
      latency_(config.noc.latency),
      input_sms_(config.l2.input_sms),
      room_(kRoomOfFlit * config.l2.ingress_flits),
      all_room_(room_) {
  join(partition);
}

void SliceIngress::connect(Block& l2, const std::vector<Injector*>& ports) {
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

SliceIngress::Arrival* SliceIngress::arrived() {
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
    Transaction& head = ports_[sm]->head();
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
    if (Transaction& head = *heads_[sm].transaction; !head.load) {
      const Cycle arrival = partition_.now() + latency_;
      Arrival& coming = arrivals_.emplace_back();
      coming.cycle = arrival;
      coming.sm = sm;
      coming.transaction = std::move(head);
      l2_->wake_at(arrival);
    }
    partition_.tell(ports_[sm]->partition(), *ports_[sm], 0,
                    [](Injector& port, std::uint64_t) { port.grant(); });
  }
  if (level_ != nullptr) {
    level_->change(partition_.now() + 1, std::int64_t{room_before} - std::int64_t{room_});
  }
}

}  // namespace warpfold

// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/memory/ingress.hpp"

#include <utility>

#include "model/base/check.hpp"

namespace warpfold {

SliceIngress::SliceIngress(Partition& partition, const GpuConfig& config, ServiceOrder& order)
    : partition_(partition),
      latency_(config.noc.latency),
      order_(order),
      room_(kRoomOfFlit * config.l2.ingress_flits),
      all_room_(room_) {
  join(partition);
}

void SliceIngress::connect(Block& l2, const std::vector<Injector*>& ports, bool loads) {
  loads_ = loads;
  l2_ = &l2;
  ports_ = ports;
  heads_.assign(ports.size(), {});
}

void SliceIngress::request(Partition& from, std::uint32_t sm) {
  from.tell(partition_, *this, sm, [](SliceIngress& ingress, std::uint64_t which) {
    ingress.requested_.push_back(static_cast<std::uint32_t>(which));
    ingress.request_update();
  });
}

void SliceIngress::answer(std::uint32_t sm, const Transaction& transaction) {
  partition_.tell(ports_[sm]->partition(), *ports_[sm], asker_of(transaction),
                  [](Injector& port, std::uint64_t asker) { port.added(asker); });
}

void SliceIngress::send(std::uint32_t sm, std::uint64_t line, std::uint32_t sectors) {
  partition_.tell(ports_[sm]->partition(), *ports_[sm], line << kLineSectors | sectors,
                  [](Injector& port, std::uint64_t what) {
                    port.sent(what >> kLineSectors,
                              static_cast<std::uint32_t>(what & ((1U << kLineSectors) - 1)));
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

void SliceIngress::take_requests() {
  for (const std::uint32_t sm : requested_) {
    order_.waits(sm, partition_.now());
    ++waiting_count_;
    Transaction& head = ports_[sm]->head();
    heads_[sm] = {.transaction = &head, .room = head.room()};
  }
  requested_.clear();
}

void SliceIngress::let_in(std::uint32_t sm) {
  Transaction& head = *std::exchange(heads_[sm].transaction, nullptr);
  room_ -= heads_[sm].room;
  order_.let_in(sm);
  --waiting_count_;
  if (!head.load || loads_ || head.access) {
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

// Lets in waiting transactions until the one whose turn it is does not fit.
void SliceIngress::update() {
  const std::uint32_t room_before = room_;
  room_ += given_back_;
  given_back_ = 0;
  take_requests();
  while (waiting_count_ > 0) {
    const std::uint32_t sm = order_.next();
    ARC_CHECK(heads_[sm].transaction != nullptr, "rules.l2_order lets in an SM that does not wait");
    if (heads_[sm].room > room_) {
      break;
    }
    let_in(sm);
  }
  if (level_ != nullptr) [[unlikely]] {
    level_->change(partition_.now() + 1, std::int64_t{room_before} - std::int64_t{room_});
  }
}

}  // namespace warpfold

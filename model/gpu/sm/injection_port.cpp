// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/sm/injection_port.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "model/gpu/sm/red_wait.hpp"

namespace warpfold {

InjectionPort::InjectionPort(std::string name, Partition& partition, const GpuConfig& config,
                             std::uint32_t index, Outlet& queue, PortOwner& owner,
                             std::optional<Cycle> way_back)
    : Block(std::move(name), partition),
      partition_(partition),
      index_(index),
      queue_(queue),
      owner_(owner),
      flit_ticks_(to_ticks(config.noc.flit_cycles)),
      outside_(way_back.has_value()),
      load_latency_(config.latency.global_load),
      answer_cycles_(way_back.value_or(answer_cycles(config))),
      return_ticks_(to_ticks(config.noc.return_cycles)) {}

void InjectionPort::connect(const SliceMap& map, std::vector<Entrance*> entrances) {
  map_ = &map;
  entrances_ = std::move(entrances);
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

void InjectionPort::sent(std::uint64_t line, std::uint32_t sectors) {
  sent_.push_back({.cycle = now(), .line = line, .sectors = sectors});
  wake_next();
}

// Lines come in one after the other, those that have left in one cycle in the order of addresses.
void InjectionPort::take_sent() {
  std::stable_sort(sent_.begin(), sent_.end(), [](const Sent& a, const Sent& b) {
    return std::pair(a.cycle, a.line) < std::pair(b.cycle, b.line);
  });
  const auto end = std::find_if(sent_.begin(), sent_.end(),
                                [this](const Sent& one) { return one.cycle >= now(); });
  std::for_each(sent_.begin(), end, [this](const Sent& one) {
    const auto count = static_cast<Ticks>(std::popcount(one.sectors));
    return_free_at_ =
        std::max(return_free_at_, at_cycle(one.cycle + answer_cycles_)) + count * return_ticks_;
    owner_.fill(one.line, one.sectors, cycle_after(return_free_at_));
  });
  sent_.erase(sent_.begin(), end);
}

void InjectionPort::tick() {
  if (!sent_.empty()) [[unlikely]] {
    take_sent();
  }
  if (granted_) {
    packets_ += head_->packets;
    flits_ += head_->flits;
    lone_words_ += head_->lone_words;
    load_flits_ += head_->load ? 1U : 0U;
    if (head_->last_of != nullptr) {
      owner_.red_left(*head_->last_of);
    }
    if (head_->load && head_->answers != Transaction::kNoAnswer) {
      if (outside_) {
        ++loads_out_;
      } else {
        owner_.answer_load(asker_of(*head_), std::max(granted_in_ + load_latency_, now() + 1));
      }
    }
    const Ticks occupancy = flit_ticks_ * (head_->load ? 1U : head_->flits);
    if (slices_ != nullptr) [[unlikely]] {
      const Ticks begin = std::max(free_at_, at_cycle(granted_in_));
      slices_->add(std::max(free_at_, at_cycle(waiting_since_)), begin,
                   static_cast<std::uint32_t>(PortWork::kWaits));
      slices_->add(begin, begin + occupancy,
                   static_cast<std::uint32_t>(head_->load ? PortWork::kLoad : PortWork::kSends),
                   head_->load ? 1U : head_->flits);
    }
    queue_.pop();
    free_at_ = std::max(free_at_, at_cycle(granted_in_)) + occupancy;
    busy_ += occupancy;
    granted_ = false;
    waiting_ = false;
  }
  if (waiting_) {
    return;
  }
  if (queue_.empty()) {
    queue_.want_entries();
    return;
  }
  if (free_at_ >= at_cycle(now() + 1)) {
    wake_at(cycle_of(free_at_));
    return;
  }
  waiting_ = true;
  waiting_since_ = now();
  head_ = &queue_.front();
  const SliceMap::Place place = map_->place(head_->address);
  queue_.send_to(static_cast<std::uint8_t>(place.slice));
  entrances_[place.port]->request(partition_, index_);
}

}  // namespace warpfold

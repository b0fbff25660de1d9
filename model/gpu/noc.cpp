// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/noc.hpp"

#include <algorithm>

namespace warpfold {

std::uint32_t SliceMap::slice(Address address) const {
  // A multiplicative hash spreads the pieces evenly, as GPUs' address hashes do.
  std::uint64_t x = address / interleave;
  x = (x ^ (x >> 32U)) * 0x9e3779b97f4a7c15ULL;
  x ^= x >> 29U;
  return static_cast<std::uint32_t>(x % slices);
}

std::uint32_t SliceMap::rop(Address address) const {
  // Neighbouring sectors alternate, and so do the first sectors of neighbouring lines.
  std::uint64_t sector = address >> 5U;
  sector ^= sector >> 32U;
  sector ^= sector >> 16U;
  sector ^= sector >> 8U;
  sector ^= sector >> 4U;
  sector ^= sector >> 2U;
  sector ^= sector >> 1U;
  return static_cast<std::uint32_t>(sector % rops);
}

SliceIngress::SliceIngress(const char* name, Clock& clock, const GpuConfig& config)
    : sc_prim_channel(name),
      clock_(clock),
      latency_(config.noc.latency),
      room_(config.l2.ingress_packets) {}

void SliceIngress::connect(Block& slice, const std::vector<InjectionPort*>& ports) {
  slice_ = &slice;
  ports_ = ports;
  waiting_.assign(ports.size(), false);
}

void SliceIngress::request(std::uint32_t sm) {
  requested_.push_back(sm);
  request_update();
}

void SliceIngress::give_back(std::uint32_t packets) {
  given_back_ += packets;
  request_update();
}

const Transaction* SliceIngress::arrived() const {
  if (arrivals_.empty() || arrivals_.front().cycle > clock_.now()) {
    return nullptr;
  }
  return &arrivals_.front().transaction;
}

std::uint32_t SliceIngress::next_waiting(std::uint32_t from) const {
  const auto begin = waiting_.begin();
  auto found = std::find(begin + from, waiting_.end(), true);
  if (found == waiting_.end()) {
    found = std::find(begin, waiting_.end(), true);
  }
  return static_cast<std::uint32_t>(found - begin);
}

// Lets in waiting transactions, SMs in turn, until one does not fit.
void SliceIngress::update() {
  room_ += given_back_;
  given_back_ = 0;
  for (const std::uint32_t sm : requested_) {
    waiting_[sm] = true;
    ++waiting_count_;
  }
  requested_.clear();
  while (waiting_count_ > 0) {
    const std::uint32_t sm = next_waiting(turn_);
    const Transaction& head = ports_[sm]->head();
    if (head.packets > room_) {
      break;
    }
    room_ -= head.packets;
    waiting_[sm] = false;
    --waiting_count_;
    turn_ = (sm + 1) % static_cast<std::uint32_t>(waiting_.size());
    const Cycle arrival = clock_.now() + latency_;
    arrivals_.push_back({arrival, head});
    slice_->wake_at(arrival);
    ports_[sm]->grant();
  }
}

InjectionPort::InjectionPort(const sc_core::sc_module_name& name, Clock& clock,
                             const GpuConfig& config, std::uint32_t sm)
    : Block(name, clock),
      queue("injection", config.noc.injection_depth),
      sm_(sm),
      packet_ticks_(to_ticks(config.noc.packet_cycles)) {}

void InjectionPort::connect(const SliceMap& map, std::vector<SliceIngress*> slices) {
  map_ = &map;
  slices_ = std::move(slices);
}

void InjectionPort::grant() {
  granted_ = true;
  granted_in_ = now();
  wake_next();
}

void InjectionPort::tick() {
  if (granted_) {
    const std::uint32_t packets = queue.front().packets;
    queue.pop();
    packets_ += packets;
    const Ticks occupancy = packet_ticks_ * packets;
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
  slices_[map_->slice(queue.front().address)]->request(sm_);
}

}  // namespace warpfold

// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/clock.hpp"

#include <utility>

#include "model/gpu/check.hpp"

namespace warpfold {

Block::Block(const sc_core::sc_module_name& name, Clock& clock)
    : sc_core::sc_module(name), clock_(clock) {
  clock_.blocks_.push_back(this);
}

Clock::Clock(const sc_core::sc_module_name& name, double period_ns, bool clock_all)
    : sc_core::sc_module(name),
      wheel_(kWheel),
      period_(period_ns, sc_core::SC_NS),
      clock_all_(clock_all) {
  SC_METHOD(advance);
}

void Clock::schedule_later(Block& block, Cycle cycle) {
  ARC_CHECK(cycle > now_, std::string(block.name()) + " asked for a cycle that has passed");
  if (cycle == block.last_asked_) {
    return;
  }
  block.last_asked_ = cycle;
  ++pending_;
  if (cycle - now_ < kWheel) {
    wheel_[cycle % kWheel].push_back(&block);
  } else {
    beyond_[cycle].push_back(&block);
  }
}

void Clock::sample_every(Cycle interval, std::function<void()> sample) {
  ARC_CHECK(interval > 0, "samples need an interval");
  sample_ = std::move(sample);
  sample_interval_ = interval;
  next_sample_ = interval;
}

void Clock::tick(const std::vector<Block*>& blocks) {
  for (Block* block : blocks) {
    if (block->last_tick_ != now_) {
      block->last_tick_ = now_;
      block->tick();
    }
  }
}

// One activation a cycle, which ticks the blocks of this cycle.
void Clock::advance() {
  present_.clear();
  if (started_) {
    ++now_;
    present_.swap(next_);
  }
  started_ = true;
  if (present_.empty() && pending_ == 0 && now_ > 0) {
    sc_core::sc_stop();  // nobody has anything left to do
    return;
  }
  if (now_ == next_sample_) {
    sample_();
    next_sample_ += sample_interval_;
  }
  const std::size_t at_once = present_.size();
  auto& slot = wheel_[now_ % kWheel];
  present_.insert(present_.end(), slot.begin(), slot.end());
  slot.clear();
  if (!beyond_.empty() && beyond_.begin()->first == now_) {
    present_.insert(present_.end(), beyond_.begin()->second.begin(), beyond_.begin()->second.end());
    beyond_.erase(beyond_.begin());
  }
  pending_ -= present_.size() - at_once;
  tick(present_);
  if (clock_all_) {
    tick(blocks_);
  }
  next_trigger(period_);
}

}  // namespace warpfold

// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/clock.hpp"

#include <immintrin.h>

#include <algorithm>
#include <utility>

#include "model/gpu/bits.hpp"
#include "model/gpu/check.hpp"

namespace warpfold {

Block::Block(const sc_core::sc_module_name& name, Partition& partition)
    : Ticked(partition), sc_core::sc_module(name) {
  partition_.blocks_.push_back(this);
}

Partition::Partition(std::size_t index, std::size_t count, bool clock_all)
    : wheel_(kWheel), index_(index), clock_all_(clock_all) {
  for (std::vector<Notices>& half : notices_) {
    half.resize(count);
  }
}

void Partition::schedule_later(Block& block, Cycle cycle) {
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

void Channel::join(Partition& partition) {
  partition_ = &partition;
  class_ = Partition::class_of(partition.channel_classes_, typeid(*this));
  partition.updates_.resize(partition.channel_classes_.size());
}

std::uint32_t Partition::class_of(std::vector<std::type_index>& classes,
                                  const std::type_info& type) {
  const auto found = std::find(classes.begin(), classes.end(), std::type_index(type));
  const auto index = static_cast<std::uint32_t>(found - classes.begin());
  if (found == classes.end()) {
    ARC_CHECK(index < 32, "more classes of blocks or channels than bits");
    classes.emplace_back(type);
  }
  return index;
}

// Has them ticked in this cycle.
void Partition::call(const std::vector<Block*>& blocks) {
  for (Block* block : blocks) {
    if (block->last_tick_ != now_) {
      block->last_tick_ = now_;
      called_[block->class_].push_back(block);
      classes_to_call_ |= std::uint32_t{1} << block->class_;
    }
  }
}

// What others have written for it in the half before. They make room for more themselves.
void Partition::take_notices(const All& all, Half half) {
  for (const auto& from : all) {
    for (const Notice& notice : from->notices_[half][index_].list) {
      notice.give(notice.target, notice.what);
    }
  }
}

void Partition::run(const All& all, Half half) {
  try {
    if (half == kEvaluate) {
      evaluate(all);
    } else {
      update(all);
    }
  } catch (...) {
    failure_ = failure_ ? failure_ : std::current_exception();
  }
  goes_on_ = failure_ || busy();
}

void Partition::evaluate(const All& all) {
  take_notices(all, kUpdate);
  half_ = kEvaluate;
  for (Notices& notices : notices_[half_]) {
    notices.list.clear();
  }
  if (now_ == 0) {
    for (Block* block : blocks_) {
      block->class_ = class_of(block_classes_, typeid(*block));
    }
    called_.resize(block_classes_.size());
  }
  ++now_;
  call(next_);
  next_.clear();
  std::vector<Block*>& slot = wheel_[now_ % kWheel];
  pending_ -= slot.size();
  call(slot);
  slot.clear();
  if (!beyond_.empty() && beyond_.begin()->first == now_) {
    pending_ -= beyond_.begin()->second.size();
    call(beyond_.begin()->second);
    beyond_.erase(beyond_.begin());
  }
  if (clock_all_) {
    call(blocks_);
  }
  for_each_bit(std::exchange(classes_to_call_, 0), [this](std::uint32_t index) {
    for (Block* block : called_[index]) {
      block->tick();
    }
    called_[index].clear();
  });
}

void Partition::update(const All& all) {
  take_notices(all, kEvaluate);
  half_ = kUpdate;
  for (Notices& notices : notices_[half_]) {
    notices.list.clear();
  }
  for_each_bit(std::exchange(classes_to_update_, 0), [this](std::uint32_t index) {
    for (Channel* channel : updates_[index]) {
      channel->update_requested_ = false;
      channel->update();
    }
    updates_[index].clear();
  });
}

bool Partition::busy() const {
  return !next_.empty() || pending_ > 0 ||
         std::any_of(notices_[kUpdate].begin(), notices_[kUpdate].end(),
                     [](const Notices& notices) { return !notices.list.empty(); });
}

Clock::Clock(const sc_core::sc_module_name& name, double period_ns, std::size_t threads,
             bool clock_all)
    : sc_core::sc_module(name), edge_("edge", *this), period_(period_ns, sc_core::SC_NS) {
  for (std::size_t i = 0; i < threads; ++i) {
    partitions_.push_back(std::make_unique<Partition>(i, threads, clock_all));
  }
  SC_METHOD(advance);
}

Clock::~Clock() {
  end();
}

void Clock::sample_every(Cycle interval, std::function<void(Cycle)> sample) {
  ARC_CHECK(interval > 0, "samples need an interval");
  sample_ = std::move(sample);
  sample_interval_ = interval;
  next_sample_ = interval;
}

// One activation a cycle. The other threads rest between two of them.
void Clock::advance() {
  if (partitions_.front()->now() == 0) {
    for (std::size_t i = 1; i < partitions_.size(); ++i) {
      threads_.emplace_back([this, i] { work(*partitions_[i]); });
    }
  } else if (std::none_of(partitions_.begin(), partitions_.end(),
                          [](const auto& partition) { return partition->goes_on_; })) {
    end();
    sc_core::sc_stop();  // nobody has anything left to do
    return;
  }
  for (const auto& partition : partitions_) {
    if (partition->goes_on_ && partition->failure_) {
      end();
      std::rethrow_exception(partition->failure_);
    }
  }
  const Cycle cycle = partitions_.front()->now() + 1;
  if (cycle == next_sample_) {
    sample_(cycle);
    next_sample_ += sample_interval_;
  }
  run(Partition::kEvaluate);
  edge_.request();
  next_trigger(period_);
}

void Clock::update_channels() {
  run(Partition::kUpdate);
}

namespace {

// Half a cycle takes some microseconds, and those of all partitions about as long as each other: a
// thread that waits looks again at once, so often. True if it need not wait any more.
template <typename Done>
bool spin(int times, Done&& done) {
  for (int i = 0; i < times; ++i) {
    if (done()) {
      return true;
    }
    _mm_pause();
  }
  return false;
}

}  // namespace

// Half a cycle of every partition, together with the other threads.
void Clock::run(Partition::Half half) {
  if (threads_.empty()) {
    partitions_.front()->run(partitions_, half);
    return;
  }
  const std::uint64_t number = open_.load(std::memory_order_relaxed) + 1;
  open_.store(number, std::memory_order_release);
  partitions_.front()->run(partitions_, half);
  for (std::size_t i = 1; i < partitions_.size(); ++i) {
    Partition& partition = *partitions_[i];
    const auto ended = [&] { return partition.ended_.load(std::memory_order_acquire) == number; };
    bool stood_in = false;
    while (!spin(partition.patience_, ended)) {
      if (begin(partition, number)) {
        partition.run(partitions_, half);
        partition.ended_.store(number, std::memory_order_release);
        stood_in = true;
      } else {
        std::this_thread::yield();
      }
    }
    partition.patience_ = stood_in ? 1 : Partition::kSpins;
  }
}

// False if another thread has begun that half.
bool Clock::begin(Partition& partition, std::uint64_t number) {
  std::uint64_t before = number - 1;
  return partition.begun_.compare_exchange_strong(before, number, std::memory_order_acq_rel);
}

// What a thread other than the first does until the end. Odd halves evaluate.
void Clock::work(Partition& partition) {
  for (std::uint64_t seen = 0; !over_.load(std::memory_order_acquire);) {
    std::uint64_t open = seen;
    const auto opened = [&] {
      open = open_.load(std::memory_order_acquire);
      return open != seen;
    };
    if (!spin(Partition::kSpins, opened)) {
      std::this_thread::yield();
      continue;
    }
    seen = open;
    if (begin(partition, seen)) {
      partition.run(partitions_, seen % 2 == 1 ? Partition::kEvaluate : Partition::kUpdate);
      partition.ended_.store(seen, std::memory_order_release);
    }
  }
}

void Clock::end() {
  over_.store(true, std::memory_order_release);
  threads_.clear();
}

}  // namespace warpfold

// SPDX-License-Identifier: Apache-2.0
#include "model/kernel/clock.hpp"

#include <algorithm>
#include <bit>
#include <typeindex>
#include <utility>

#include "model/base/check.hpp"
#include "model/kernel/step_clock.hpp"

namespace warpfold {

Block::Block(std::string name, Domain& domain) : domain_(domain), name_(std::move(name)) {
  ARC_CHECK(!domain.begun_, "a block that comes after the first cycle");
  domain.blocks_.push_back(this);
  if (domain.steps() != nullptr) {
    step_ = std::make_unique<StepBlock>(*this, *domain.steps());
  }
}

Block::~Block() = default;

void Block::tick_again() {
  step_->tick_again();
}

Channel::Channel() = default;
Channel::~Channel() = default;

void Channel::join(Domain& domain) {
  ARC_CHECK(!domain.begun_, "a channel that comes after the first cycle");
  domain_ = &domain;
  domain.channels_.push_back(this);
  if (domain.steps() != nullptr) {
    step_update_ = std::make_unique<StepUpdate>(*this, *domain.steps());
  }
}

void Channel::request_step() {
  step_update_->request();
}

Domain::Domain(std::size_t ahead, StepClock* steps)
    : ahead_(ahead), any_wanted_(ahead / kWordBits), steps_(steps) {
  ARC_CHECK(std::has_single_bit(ahead) && ahead >= kWordBits, "no ring of that length");
  if (steps_ != nullptr) {
    steps_->lead(*this);
  }
}

namespace {

// Puts those of one class together, classes in the order of their first.
template <typename T>
void group_by_class(std::vector<T*>& all) {
  std::vector<std::type_index> classes;
  std::vector<std::pair<std::ptrdiff_t, T*>> sorted;
  for (T* one : all) {
    const std::type_index type(typeid(*one));
    const auto found = std::find(classes.begin(), classes.end(), type);
    sorted.emplace_back(found - classes.begin(), one);
    if (found == classes.end()) {
      classes.push_back(type);
    }
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::transform(sorted.begin(), sorted.end(), all.begin(), [](const auto& s) { return s.second; });
}

}  // namespace

// All of its blocks and channels are known.
void Domain::begin() {
  begun_ = true;
  group_by_class(blocks_);
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    blocks_[i]->index_ = static_cast<std::uint32_t>(i);
  }
  group_by_class(channels_);
  for (std::size_t i = 0; i < channels_.size(); ++i) {
    channels_[i]->index_ = static_cast<std::uint32_t>(i);
  }
  to_update_.resize(channels_.size() / kWordBits + 1);
  set_words_ = blocks_.size() / kWordBits + 1;
  wanted_.resize(set_words_ * ahead_);
}

// Before the first cycle no block has its place in a set.
void Domain::schedule_far(Block& block, Cycle cycle) {
  if (steps_ != nullptr) {
    return;
  }
  ARC_CHECK(cycle > now_, block.name() + " asked for a cycle that has passed");
  std::vector<Block*>& blocks = beyond_[cycle];
  if (std::find(blocks.begin(), blocks.end(), &block) == blocks.end()) {
    blocks.push_back(&block);
  }
  next_beyond_ = beyond_.begin()->first;
}

// The ring goes round once.
Cycle Domain::next_in_ring() const {
  const std::size_t first = (now_ + 1) & (ahead_ - 1);
  const std::size_t words = any_wanted_.size();
  for (std::size_t i = 1; i <= words; ++i) {
    const Word wanted = any_wanted_[(first / kWordBits + i) % words];
    if (wanted != 0) {
      const std::size_t bit = i * kWordBits + static_cast<std::size_t>(std::countr_zero(wanted));
      return now_ + 1 + bit - first % kWordBits;
    }
  }
  return kNever;
}

void Domain::want(const std::vector<Block*>& blocks) {
  Word* const set = &wanted_[(now_ & (ahead_ - 1)) * set_words_];
  for (const Block* block : blocks) {
    set[block->index_ / kWordBits] |= Word{1} << block->index_ % kWordBits;
  }
}

void Domain::skip_to(Cycle cycle) {
  if (cycle > now_) {
    ARC_CHECK(next() > cycle, "cycles that somebody asked for were left out");
    now_ = cycle;
  }
}

Partition::Partition(std::size_t index, std::size_t count, StepClock* steps)
    : Domain(kAhead, steps), index_(index) {
  for (std::vector<Notices>& half : notices_) {
    half.resize(count);
  }
}

// Takes what others have written for it in the half before, and makes room for what it writes in
// this one. They make room for more themselves.
void Partition::turn_notices(const All& all, Half half) {
  for (const auto& from : all) {
    for (const Notice& notice :
         from->notices_[half == kEvaluate ? kUpdate : kEvaluate][index_].list) {
      notice.give(notice.target, notice.what);
    }
  }
  half_ = half;
  for (Notices& notices : notices_[half_]) {
    notices.list.clear();
  }
}

void Partition::run(const All& all, Half half) {
  try {
    if (all.size() > 1) {
      turn_notices(all, half);
    }
    if (half == kEvaluate) {
      evaluate(now() + 1);
      return;
    }
    update();
    next_due_ = find_next_due();
  } catch (...) {
    failure_ = failure_ ? failure_ : std::current_exception();
  }
}

Cycle Partition::find_next_due() const {
  const bool tells = std::any_of(notices_[kUpdate].begin(), notices_[kUpdate].end(),
                                 [](const Notices& notices) { return !notices.list.empty(); });
  return tells ? now() + 1 : next();
}

Clock::Clock(std::size_t threads, bool reference) {
  if (reference) {
    ARC_CHECK(threads == 1, "SystemC has one thread");
    steps_ = std::make_unique<StepClock>("steps", [this](Cycle cycle) { return step(cycle); });
  }
  for (std::size_t i = 0; i < threads; ++i) {
    partitions_.push_back(std::make_unique<Partition>(i, threads, steps_.get()));
  }
}

// Before a cycle of the reference.
bool Clock::step(Cycle cycle) {
  constexpr Cycle kLook = 256;
  if (cycle % kLook == 0 && done_()) {
    return false;
  }
  look(cycle);
  return true;
}

// Before a cycle: samples, and the watch.
void Clock::look(Cycle cycle) {
  if (cycle == next_sample_) {
    sample_(cycle);
    next_sample_ += sample_interval_;
  }
  if (cycle == next_watch_) {
    watch_(cycle);
    next_watch_ += watch_interval_;
  }
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

// Samples and the watch do not keep it going.
Cycle Clock::next() const {
  if (now() == 0) {
    return 1;
  }
  Cycle due = kNever;
  for (const auto& partition : partitions_) {
    due = std::min(due, partition->next_due_);
  }
  return due == kNever ? kNever : std::min({due, next_sample_, next_watch_});
}

// The other threads rest between two halves.
void Clock::evaluate(Cycle cycle) {
  if (now() == 0) {
    for (std::size_t i = 1; i < partitions_.size(); ++i) {
      threads_.emplace_back([this, i] { work(*partitions_[i]); });
    }
  }
  for (const auto& partition : partitions_) {
    partition->skip_to(cycle - 1);
  }
  try {
    look(cycle);
  } catch (...) {
    end();
    throw;
  }
  run(Partition::kEvaluate);
}

void Clock::skip_to(Cycle cycle) {
  for (const auto& partition : partitions_) {
    partition->skip_to(cycle);
  }
}

void Clock::update() {
  run(Partition::kUpdate);
}

namespace {

// Tells the processor that this thread waits for another.
void pause_processor() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("isb");  // `yield` passes at once on most
#endif
}

// Half a cycle takes some microseconds, and those of all partitions about as long as each other: a
// thread that waits looks again at once, so often. True if it need not wait any more.
template <typename Done>
bool spin(int times, Done&& done) {
  for (int i = 0; i < times; ++i) {
    if (done()) {
      return true;
    }
    pause_processor();
  }
  return false;
}

}  // namespace

// Half a cycle of every partition, together with the other threads.
inline void Clock::run(Partition::Half half) {
  if (threads_.empty()) {
    partitions_.front()->run(partitions_, half);
  } else {
    run_all(half);
  }
  for (const auto& partition : partitions_) {
    if (partition->failure_) [[unlikely]] {
      end();
      std::rethrow_exception(partition->failure_);
    }
  }
}

void Clock::run_all(Partition::Half half) {
  const std::uint64_t number = open_.load(std::memory_order_relaxed) + 1;
  open_.store(number, std::memory_order_release);
  partitions_.front()->run(partitions_, half);
  for (std::size_t i = 1; i < partitions_.size(); ++i) {
    Partition& partition = *partitions_[i];
    const auto ended = [&] {
      return partition.ended_halves_.load(std::memory_order_acquire) == number;
    };
    bool stood_in = false;
    while (!spin(partition.patience_, ended)) {
      if (begin(partition, number)) {
        partition.run(partitions_, half);
        partition.ended_halves_.store(number, std::memory_order_release);
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
  return partition.begun_halves_.compare_exchange_strong(before, number, std::memory_order_acq_rel);
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
      partition.ended_halves_.store(seen, std::memory_order_release);
    }
  }
}

void Clock::end() {
  over_.store(true, std::memory_order_release);
  threads_.clear();
}

}  // namespace warpfold

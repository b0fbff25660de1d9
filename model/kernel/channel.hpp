// SPDX-License-Identifier: Apache-2.0
// How blocks of a domain talk: what one writes in a cycle, the other sees in the next. Both
// channels change only when a cycle ends, so the order in which blocks run within it cannot show.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "model/base/check.hpp"
#include "model/kernel/clock.hpp"
#include "model/kernel/recorder.hpp"

namespace warpfold {

// What the reader of several queues looks at, so that it need not look at each.
struct Inputs {
  std::uint32_t held = 0;  // a bit for each queue: it holds entries as of the start of the cycle
  bool wanted = true;      // wake the reader in the first cycle in which a new entry can be popped
};

// Bounded queue of one writer and one reader. An entry pushed in cycle t can be popped in t+1; the
// room of an entry popped in t can be used in t+1. Wakes the reader when entries arrive and the
// writer when room appears, each only if it asked for that since the last time.
template <typename T>
class Fifo : public Channel {
 public:
  explicit Fifo(std::size_t depth) : depth_(depth), ring_(depth) {
    ARC_CHECK(depth > 0, "a queue needs room for one entry");
  }
  // `inputs`: of a reader of several queues, in which this one has bit `index`.
  void bind(Block& writer, Block& reader, Inputs* inputs = nullptr, std::uint32_t index = 0) {
    ARC_CHECK(&writer.domain() == &reader.domain(), "a queue lies in one domain");
    join(reader.domain());
    writer_ = &writer;
    reader_ = &reader;
    inputs_ = inputs != nullptr ? inputs : &own_;
    bit_ = std::uint32_t{1} << index;
  }

  // Writer's side.
  [[nodiscard]] bool can_push(std::size_t entries = 1) const {
    return size_ + pushed_ + entries <= depth_;
  }
  // A writer that leaves the rest of the queue to another's entries.
  [[nodiscard]] bool can_push_below(std::size_t limit) const {
    return can_push() && size_ + pushed_ < limit;
  }
  void push(T entry) { push_new() = std::move(entry); }
  // Pushes a new entry, which the writer fills in within the cycle.
  T& push_new() {
    ARC_CHECK(can_push(), "push into a full queue");
    T& entry = ring_[place(size_ + pushed_)];
    entry = T{};
    ++pushed_;
    request_update();
    return entry;
  }
  // Wakes the writer in the cycle in which room from a pop can be used.
  void want_room() { writer_waits_ = true; }

  // Reader's side.
  // Wakes the reader in the first cycle in which a new entry can be popped. Holds at the start.
  void want_entries() { inputs_->wanted = true; }
  [[nodiscard]] bool empty() const { return size_ == popped_; }
  [[nodiscard]] T& front() { return ring_[place(popped_)]; }
  void pop() {
    ARC_CHECK(!empty(), "pop from an empty queue");
    ++popped_;
    request_update();
  }

  // Entries held at the start of the cycle.
  [[nodiscard]] std::size_t size() const { return size_; }
  void record(LevelRecorder* level) { level_ = level; }

 private:
  // In the ring, of the entry so far behind the head.
  [[nodiscard]] std::size_t place(std::size_t behind) const {
    const std::size_t index = head_ + behind;
    return index < depth_ ? index : index - depth_;
  }
  void update() override {
    size_ -= popped_;
    // Entries of an empty queue go where the last ones were: the whole ring would not stay in a
    // processor's cache.
    head_ = size_ + pushed_ == 0 ? 0 : place(popped_);
    size_ += pushed_;
    inputs_->held = size_ > 0 ? inputs_->held | bit_ : inputs_->held & ~bit_;
    if (pushed_ > 0 && inputs_->wanted) {
      inputs_->wanted = false;
      reader_->wake_next();
    }
    if (popped_ > 0 && writer_waits_) {
      writer_waits_ = false;
      writer_->wake_next();
    }
    if (level_ != nullptr) [[unlikely]] {
      level_->change(domain().now() + 1,
                     static_cast<std::int64_t>(pushed_) - static_cast<std::int64_t>(popped_));
    }
    pushed_ = 0;
    popped_ = 0;
  }

  const std::size_t depth_;
  std::vector<T> ring_;
  std::size_t head_ = 0, size_ = 0;      // as of the start of the cycle
  std::size_t pushed_ = 0, popped_ = 0;  // during the cycle
  bool writer_waits_ = false;
  std::uint32_t bit_ = 1;
  Inputs own_;
  Inputs* inputs_ = nullptr;
  Block* writer_ = nullptr;
  Block* reader_ = nullptr;
  LevelRecorder* level_ = nullptr;
};

// Unbounded messages to one reader, from any number of writers of its domain; delivered together
// in the next cycle. Their order within a cycle is not defined: a reader must not depend on it.
template <typename T>
class Mailbox : public Channel {
 public:
  void bind(Block& reader) {
    join(reader.domain());
    reader_ = &reader;
  }

  void post(const T& message) {
    posted_.push_back(message);
    request_update();
  }
  // The same while channels change.
  void deliver(const T& message) {
    inbox_.push_back(message);
    reader_->wake_for_mail();
  }
  // Hands every arrived message to `handle`, once.
  template <typename Handle>
  void take(Handle&& handle) {
    for (const T& message : inbox_) {
      handle(message);
    }
    inbox_.clear();
  }

 private:
  void update() override {
    inbox_.insert(inbox_.end(), posted_.begin(), posted_.end());
    reader_->wake_for_mail();
    posted_.clear();
  }

  std::vector<T> posted_;
  std::vector<T> inbox_;
  Block* reader_ = nullptr;
};

}  // namespace warpfold

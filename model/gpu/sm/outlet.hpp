// SPDX-License-Identifier: Apache-2.0
// The queue by which transactions leave an SM.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/gpu/traffic/transaction.hpp"
#include "model/kernel/clock.hpp"
#include "model/kernel/recorder.hpp"

namespace warpfold {

// Bounded queue in front of an SM's injection port. Its two sides may be in different cycles, the
// SM ahead of the port or behind it; what they see is what they would if they kept step: the port
// an entry in the cycle after that in which it was put in, the SM the room of one that the port
// takes likewise. In the reference they keep step, and room appears when the cycle ends, as in any
// channel.
class Outlet : public Channel {
 public:
  // `sm`: whom the port wakes in its own cycles, so that what is inside the SM goes on; `inside`:
  // the domain of that.
  Outlet(Block& sm, Domain& inside, std::size_t depth);
  void bind(Block& writer, Block& port) {
    writer_ = &writer;
    port_ = &port;
  }

  // SM's side, in its own cycle. What the port takes meanwhile is not known where the SM is ahead.
  [[nodiscard]] bool can_push() const { return size_ < depth_; }
  void push(Transaction&& transaction);
  // Wakes the writer in the cycle in which room can be used.
  void want_room() { writer_waits_ = true; }
  // Whether it holds a quarter of what it can at the start of the cycle.
  [[nodiscard]] bool quarter_full() const;
  // Whether the port may find a load in it that is to be answered.
  [[nodiscard]] bool has_loads() const { return loads_ > 0; }
  // In the SM's next cycle, in which one entry may be put in, the answers to these do not depend on
  // what the port takes; or that of can_push() does not.
  [[nodiscard]] bool settled() const { return 4 * size_ < depth_; }
  [[nodiscard]] bool has_room() const { return size_ + 1 < depth_; }
  // The first cycle in which the writer is to be woken for room that is known of, or kNever.
  [[nodiscard]] Cycle room_from() const {
    return writer_waits_ && size_ > left_ ? taken_[taken_first_] + 1 : kNever;
  }
  // The SM's next cycle is that one; for the SM, but in the reference.
  void begin(Cycle cycle);
  // The SM stays behind until the port has little left.
  void set_behind(bool behind) { behind_ = behind; }
  [[nodiscard]] bool has_plenty() const { return left_ > plenty_; }

  // Port's side.
  [[nodiscard]] bool empty() const {
    return left_ == 0 || ring_[head_].pushed >= port_->domain().now();
  }
  [[nodiscard]] Transaction& front() { return ring_[head_].transaction; }
  // The front one goes to that slice of the L2's port.
  void send_to(std::uint8_t slice) { ring_[head_].transaction.slice = slice; }
  void pop();
  // Wakes the port in the first cycle in which there is an entry.
  void want_entries();
  [[nodiscard]] bool idle() const { return left_ == 0; }
  [[nodiscard]] std::size_t waiting() const { return left_; }
  void record(LevelRecorder* level) { level_ = level; }

 private:
  void update() override { begin(inside_.now() + 1); }
  // One line of a processor's cache.
  struct alignas(64) Entry {
    Transaction transaction;
    Cycle pushed = 0;
  };
  [[nodiscard]] std::size_t after(std::size_t place, std::size_t by) const {
    const std::size_t index = place + by;
    return index < depth_ ? index : index - depth_;
  }

  Block& sm_;
  Domain& inside_;
  const std::size_t depth_;
  std::vector<Entry> ring_;
  std::size_t head_ = 0;
  std::size_t left_ = 0;      // entries that the port has not taken
  std::size_t loads_ = 0;     // of those that answer a warp
  std::size_t size_ = 0;      // and those of which the SM does not know yet that it has,
  std::vector<Cycle> taken_;  // in these cycles
  std::size_t taken_first_ = 0;
  Cycle last_push_ = kNever;
  std::size_t pushed_ = 0;  // in that cycle
  bool writer_waits_ = false;
  bool port_waits_ = true;
  bool behind_ = false;
  const std::size_t plenty_;
  Block* writer_ = nullptr;
  Block* port_ = nullptr;
  LevelRecorder* level_ = nullptr;
};

}  // namespace warpfold

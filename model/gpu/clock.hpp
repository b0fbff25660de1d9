// SPDX-License-Identifier: Apache-2.0
// The gated clock of the simulated GPU. Every block is an sc_module that the clock's SC_METHOD
// ticks in the cycles for which somebody asked for it; a block that nobody wakes costs nothing. All
// blocks of a cycle run in one delta cycle of SystemC and talk only through channels that change in
// its update phase, so their order within the cycle cannot show.
//
// Nor can it show when several host threads tick them: the blocks and channels are dealt out to
// partitions. A cycle of a partition has two halves, and none begins a half before all have ended
// the last one:
//
//   evaluate   its blocks tick, in any order
//   update     its channels change, in any order
//
// What crosses over to another partition is a notice, handed over between two halves. A block or
// channel may read another partition's only where it stands still in that half. A thread looks
// after one partition each; what one has not begun when the others have long ended, because the
// host does not let it run, the first thread does in its place.
//
// Contract of a block: tick() may be called in any cycle, wanted or not, and does then exactly what
// clocking it in every cycle would have done. SimOptions::clock_all tests that.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <systemc>
#include <thread>
#include <typeindex>
#include <vector>

#include "model/types.hpp"

namespace warpfold {

class Channel;
class Partition;

// What a partition looks at of a block. Lies in front of what SystemC keeps of it, so that it takes
// one line of a processor's cache.
class Ticked {
 public:
  virtual ~Ticked() = default;

 protected:
  explicit Ticked(Partition& partition) : partition_(partition) {}
  virtual void tick() = 0;

 private:
  friend class Block;
  friend class Partition;

  Partition& partition_;
  Cycle last_tick_ = ~Cycle{0};
  Cycle last_asked_ = ~Cycle{0};  // cycle of the last wake_at()
  std::uint32_t class_ = 0;       // as the partition counts classes
  bool has_mail_ = false;
};

// A clocked part of the GPU. Owned by its parent block; ticked by its partition.
class alignas(64) Block : public Ticked, public sc_core::sc_module {
 public:
  static constexpr Cycle kNever = ~Cycle{0};

  Block(const sc_core::sc_module_name& name, Partition& partition);

  // Asks for a tick in that cycle, which must lie ahead. Asking twice is harmless. Only the
  // partition of the block may ask.
  void wake_at(Cycle cycle);
  // Asks for a tick in the next cycle: what a channel does for its reader.
  void wake_next();
  // The same, for a message that has come into one of its mailboxes.
  void wake_for_mail();
  // The same for one that it need not look at before that cycle, though it may.
  void wake_for_mail(Cycle due);
  [[nodiscard]] Partition& partition() const { return partition_; }

 protected:
  [[nodiscard]] Cycle now() const;
  // A message is in one of its mailboxes. The block says when it has taken all of them.
  [[nodiscard]] bool has_mail() const { return has_mail_; }
  void mail_taken() { has_mail_ = false; }
};

// What blocks of one partition talk through. Changes only in update(), which its partition calls at
// the end of every cycle in which it was asked for.
class Channel {
 public:
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  virtual ~Channel() = default;

 protected:
  Channel() = default;
  // For the constructor of the class that it is, or later.
  void join(Partition& partition);
  [[nodiscard]] Partition& partition() const { return *partition_; }
  void request_update();
  virtual void update() = 0;

 private:
  friend class Partition;
  Partition* partition_ = nullptr;
  std::uint32_t class_ = 0;
  bool update_requested_ = false;
};

// Blocks and channels that one host thread looks after.
class alignas(64) Partition {
 public:
  Partition(std::size_t index, std::size_t count, bool clock_all);

  [[nodiscard]] Cycle now() const { return now_; }
  [[nodiscard]] std::size_t index() const { return index_; }

  // Has `give`, a lambda without captures, called with `target`, which lives in partition `to`, and
  // `what`: at once if that is this partition, else by the thread of the other one before its next
  // half of a cycle, and before the next cycle. `give` itself tells nobody.
  template <typename Target, typename Give>
  void tell(Partition& to, Target& target, std::uint64_t what, Give give) {
    if (&to == this) {
      give(target, what);
    } else {
      notices_[half_][to.index_].list.push_back(
          {[](void* object, std::uint64_t value) { Give{}(*static_cast<Target*>(object), value); },
           &target, what});
    }
  }

 private:
  friend class Block;
  friend class Channel;
  friend class Clock;

  struct Notice {
    void (*give)(void* target, std::uint64_t what);
    void* target;
    std::uint64_t what;
  };
  enum Half : std::uint8_t { kEvaluate, kUpdate };

  void schedule(Block& block, Cycle cycle);
  void schedule_later(Block& block, Cycle cycle);
  struct alignas(64) Notices {
    std::vector<Notice> list;
  };
  using All = std::vector<std::unique_ptr<Partition>>;

  // Half a cycle; one that fails leaves an exception in failure_.
  void run(const All& all, Half half);
  void evaluate(const All& all);
  void update(const All& all);
  void take_notices(const All& all, Half half);
  void call(const std::vector<Block*>& blocks);
  static std::uint32_t class_of(std::vector<std::type_index>& classes, const std::type_info& type);
  // Whether anybody in it, or told by it, has something left to do.
  [[nodiscard]] bool busy() const;

  // Most ask for the next cycle. Cycles up to kWheel ahead are a ring of lists; the few beyond wait
  // in a map.
  static constexpr std::size_t kWheel = 1024;
  Cycle now_ = 0;
  std::vector<Block*> next_;
  std::vector<std::vector<Block*>> wheel_;
  std::map<Cycle, std::vector<Block*>> beyond_;
  std::vector<Block*> blocks_;
  // Those of one class are ticked or updated one after the other: where their calls go to, a
  // processor then knows ahead.
  std::vector<std::type_index> block_classes_, channel_classes_;
  std::vector<std::vector<Block*>> called_;     // by class: blocks to tick in this cycle
  std::vector<std::vector<Channel*>> updates_;  // by class: channels that ask for an update in it
  std::uint32_t classes_to_call_ = 0, classes_to_update_ = 0;  // those of which there are any
  std::uint64_t pending_ = 0;  // wakes asked for beyond the next cycle and not yet given
  // By the half in which they were written and the partition that they are for.
  std::array<std::vector<Notices>, 2> notices_;
  Half half_ = kUpdate;
  std::exception_ptr failure_;
  const std::size_t index_;
  const bool clock_all_;

  // Of the halves of cycles, in one row, those that somebody has begun and those that are over.
  alignas(64) std::atomic<std::uint64_t> begun_ = 0;
  alignas(64) std::atomic<std::uint64_t> ended_ = 0;
  // As of the last half, with failure_ one that goes on.
  bool goes_on_ = false;
  // How long the first thread waits for the partition's own before it takes its place: not at all
  // once it had to, until that thread is seen at work again.
  static constexpr int kSpins = 512;
  int patience_ = kSpins;
};

class Clock : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(Clock);
  // threads: host threads, the caller's among them, and so partitions. clock_all: tick every block
  // in every cycle.
  Clock(const sc_core::sc_module_name& name, double period_ns, std::size_t threads, bool clock_all);
  ~Clock() override;

  [[nodiscard]] std::size_t partitions() const { return partitions_.size(); }
  [[nodiscard]] Partition& partition(std::size_t index) { return *partitions_[index]; }
  // Calls `sample` before every cycle that is a multiple of `interval`, with that cycle: what it
  // sees is what the cycles before have left. It must change nothing.
  void sample_every(Cycle interval, std::function<void(Cycle)> sample);

 private:
  // What has SystemC's update phase bring every partition's channels up to date.
  class Edge : public sc_core::sc_prim_channel {
   public:
    Edge(const char* name, Clock& clock) : sc_prim_channel(name), clock_(clock) {}
    void request() { request_update(); }

   private:
    void update() override { clock_.update_channels(); }
    Clock& clock_;
  };

  void advance();
  void update_channels();
  void run(Partition::Half half);
  bool begin(Partition& partition, std::uint64_t number);
  void work(Partition& partition);
  void end();

  std::vector<std::unique_ptr<Partition>> partitions_;
  Edge edge_;
  sc_core::sc_time period_;
  std::function<void(Cycle)> sample_;
  Cycle sample_interval_ = 0;
  Cycle next_sample_ = Block::kNever;

  // Halves of cycles that may be begun.
  alignas(64) std::atomic<std::uint64_t> open_ = 0;
  std::atomic<bool> over_ = false;
  std::vector<std::jthread> threads_;
};

inline Cycle Block::now() const {
  return partition_.now();
}
inline void Partition::schedule(Block& block, Cycle cycle) {
  if (cycle != now_ + 1) {
    schedule_later(block, cycle);
  } else if (cycle != block.last_asked_) {
    block.last_asked_ = cycle;
    next_.push_back(&block);
  }
}
inline void Block::wake_at(Cycle cycle) {
  partition_.schedule(*this, cycle);
}
inline void Block::wake_next() {
  partition_.schedule(*this, partition_.now() + 1);
}
inline void Block::wake_for_mail() {
  has_mail_ = true;
  wake_next();
}
inline void Block::wake_for_mail(Cycle due) {
  has_mail_ = true;
  wake_at(due > partition_.now() ? due : partition_.now() + 1);
}
inline void Channel::request_update() {
  if (!update_requested_) {
    update_requested_ = true;
    partition_->updates_[class_].push_back(this);
    partition_->classes_to_update_ |= std::uint32_t{1} << class_;
  }
}

}  // namespace warpfold

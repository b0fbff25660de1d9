// SPDX-License-Identifier: Apache-2.0
// The gated clock of the simulated GPU. It ticks a block in the cycles for which somebody asked for
// it; a block that nobody wakes costs nothing, nor do cycles for which nobody asked. Blocks talk
// through channels that change when a cycle ends, or through what shows only from the next cycle on
// what it was told in one, so their order within the cycle cannot show. SystemC's time passes as
// clock_driver.hpp has it.
//
// Blocks and channels lie in domains, each with a current cycle of its own. Those of the GPU as a
// whole lie in the clock's partitions, which are all in the same cycle; what lies within an SM in
// the SM's domain, which may be ahead of them or behind (sm.hpp).
//
// Nor can it show when several host threads tick them, one for each partition. A cycle of a
// partition has two halves, and none begins a half before all have ended the last one:
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
// clocking it in every cycle would have done. The reference (step_clock.hpp), in which SystemC does
// that, shows it.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "model/base/check.hpp"
#include "model/types.hpp"

namespace warpfold {

inline constexpr Cycle kNever = ~Cycle{0};

class Domain;
class StepBlock;
class StepClock;
class StepUpdate;

// A clocked part of the GPU. Owned by its parent block; ticked by its domain. What that looks at
// takes one line of a processor's cache.
class alignas(64) Block {
 public:
  Block(std::string name, Domain& domain);
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  virtual ~Block();

  // Where it is in the GPU: "sm0.lsu".
  [[nodiscard]] const std::string& name() const { return name_; }

  // Asks for a tick in that cycle, which must lie ahead. Asking twice is harmless. Only blocks and
  // channels of its domain may ask, or who has brought that to the cycle.
  void wake_at(Cycle cycle);
  // Asks for a tick in the next cycle: what a channel does for its reader.
  void wake_next();
  // The same, for a message that has come into one of its mailboxes.
  void wake_for_mail();
  // In the reference alone: ticks once more in this cycle, whose channels change.
  void tick_again();
  [[nodiscard]] Domain& domain() const { return domain_; }

 protected:
  virtual void tick() = 0;
  [[nodiscard]] Cycle now() const;
  // A message is in one of its mailboxes. The block says when it has taken all of them.
  [[nodiscard]] bool has_mail() const { return has_mail_; }
  void mail_taken() { has_mail_ = false; }

 private:
  friend class Domain;
  friend class StepBlock;

  Domain& domain_;
  std::uint32_t index_ = 0;  // in its domain
  bool has_mail_ = false;
  std::unique_ptr<StepBlock> step_;  // in the reference alone
  const std::string name_;
};

// What blocks of one domain talk through. Changes only in update(), which its domain calls at the
// end of every cycle in which it was asked for.
class Channel {
 public:
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  virtual ~Channel();

 protected:
  Channel();
  // For the constructor of the class that it is, or later.
  void join(Domain& domain);
  [[nodiscard]] Domain& domain() const { return *domain_; }
  void request_update();
  virtual void update() = 0;

 private:
  friend class Domain;
  friend class StepUpdate;
  void request_step();
  Domain* domain_ = nullptr;
  std::uint32_t index_ = 0;                  // in it
  std::unique_ptr<StepUpdate> step_update_;  // in the reference alone
};

// Blocks and channels with a common current cycle, and who of them is asked for.
class Domain {
 public:
  // Most ask for a cycle less than `ahead` away, a power of two from 64 on; the few beyond cost
  // more. In the reference, `steps`, else null, clocks its blocks; nobody need ask.
  Domain(std::size_t ahead, StepClock* steps);
  Domain(const Domain&) = delete;
  Domain& operator=(const Domain&) = delete;

  // Null but in the reference.
  [[nodiscard]] StepClock* steps() const { return steps_; }
  // The last cycle that has begun.
  [[nodiscard]] Cycle now() const { return now_; }
  // The first later one for which a block is asked, or kNever.
  [[nodiscard]] Cycle next() const;
  // The cycles up to that one, for which nobody is asked, are over.
  void skip_to(Cycle cycle);
  // That cycle begins, the next or one before which nobody is asked for, and its blocks tick.
  void evaluate(Cycle cycle);
  // It ends: channels change.
  void update();

 private:
  friend class Block;
  friend class Channel;
  friend class StepClock;

  using Word = std::uint64_t;
  static constexpr std::uint32_t kWordBits = 64;

  void schedule(Block& block, Cycle cycle);
  void schedule_far(Block& block, Cycle cycle);
  void begin();
  [[nodiscard]] Cycle next_in_ring() const;
  void want(const std::vector<Block*>& blocks);

  Cycle now_ = 0;
  // A ring of sets of blocks, those of a cycle in set_words_ words, and the cycles with any.
  const std::size_t ahead_;
  std::size_t set_words_ = 1;
  std::vector<Word> wanted_;
  std::vector<Word> any_wanted_;
  std::map<Cycle, std::vector<Block*>> beyond_;
  Cycle next_beyond_ = kNever;
  // Blocks and channels of one class lie together: where their calls go to, a processor then knows
  // ahead.
  bool begun_ = false;
  std::vector<Block*> blocks_;
  std::vector<Channel*> channels_;
  std::vector<Word> to_update_;
  StepClock* const steps_;
};

// The domain of one host thread.
class alignas(64) Partition : public Domain {
 public:
  Partition(std::size_t index, std::size_t count, StepClock* steps);

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
  friend class Clock;

  struct Notice {
    void (*give)(void* target, std::uint64_t what);
    void* target;
    std::uint64_t what;
  };
  enum Half : std::uint8_t { kEvaluate, kUpdate };
  struct alignas(64) Notices {
    std::vector<Notice> list;
  };
  using All = std::vector<std::unique_ptr<Partition>>;

  // Half a cycle; one that fails leaves an exception in failure_.
  void run(const All& all, Half half);
  void turn_notices(const All& all, Half half);
  // The next cycle in which anybody in it, or told by it, has something to do, or kNever.
  [[nodiscard]] Cycle find_next_due() const;
  static constexpr std::size_t kAhead = 1024;
  // By the half in which they were written and the partition that they are for.
  std::array<std::vector<Notices>, 2> notices_;
  Half half_ = kUpdate;
  std::exception_ptr failure_;
  const std::size_t index_;

  // Of the halves of cycles, in one row, those that somebody has begun and those that are over.
  alignas(64) std::atomic<std::uint64_t> begun_halves_ = 0;
  alignas(64) std::atomic<std::uint64_t> ended_halves_ = 0;
  Cycle next_due_ = kNever;  // as of the end of the last cycle
  // How long the first thread waits for the partition's own before it takes its place: not at all
  // once it had to, until that thread is seen at work again.
  static constexpr int kSpins = 512;
  int patience_ = kSpins;
};

class Clock {
 public:
  // threads: host threads, the caller's among them, and so partitions. reference: SystemC clocks
  // every block in every cycle, in one thread, until `stop_when` says that all is done.
  explicit Clock(std::size_t threads, bool reference = false);
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  ~Clock();

  [[nodiscard]] std::size_t partitions() const { return partitions_.size(); }
  [[nodiscard]] Partition& partition(std::size_t index) { return *partitions_[index]; }
  // For the reference: asked now and then, between two cycles.
  void stop_when(std::function<bool()> done) { done_ = std::move(done); }
  // Calls `sample` before every cycle that is a multiple of `interval`, with that cycle: what it
  // sees is what the cycles before have left. It must change nothing.
  void sample_every(Cycle interval, std::function<void(Cycle)> sample);
  // The same with a watch, which may throw: that ends the simulation.
  void watch_every(Cycle interval, std::function<void(Cycle)> watch) {
    watch_ = std::move(watch);
    watch_interval_ = next_watch_ = interval;
  }

  // Null but in the reference, for which nothing below is called.
  [[nodiscard]] StepClock* steps() const { return steps_.get(); }
  // For who has cycles pass. Each half throws what a block, a channel or the watch has thrown in
  // it, and is the last then.
  [[nodiscard]] Cycle now() const { return partitions_.front()->now(); }
  // The next cycle in which anything comes about, or kNever.
  [[nodiscard]] Cycle next() const;
  // That cycle begins, the next or one before which nothing comes about, and blocks tick.
  void evaluate(Cycle cycle);
  // It begins with no block to tick: something from outside comes in it.
  void skip_to(Cycle cycle);
  // Between the two halves, something outside of all domains wakes blocks of the only partition.
  // The cycle ends: channels change.
  void update();

 private:
  friend class StepClock;

  // In the reference, before a cycle; false if all is done.
  bool step(Cycle cycle);
  void look(Cycle cycle);
  void run(Partition::Half half);
  void run_all(Partition::Half half);
  bool begin(Partition& partition, std::uint64_t number);
  void work(Partition& partition);
  void end();

  std::unique_ptr<StepClock> steps_;  // in the reference
  std::function<bool()> done_;
  std::vector<std::unique_ptr<Partition>> partitions_;
  std::function<void(Cycle)> sample_;
  Cycle sample_interval_ = 0;
  Cycle next_sample_ = kNever;
  std::function<void(Cycle)> watch_;
  Cycle watch_interval_ = 0;
  Cycle next_watch_ = kNever;

  // Halves of cycles that may be begun.
  alignas(64) std::atomic<std::uint64_t> open_ = 0;
  std::atomic<bool> over_ = false;
  std::vector<std::jthread> threads_;
};

inline Cycle Block::now() const {
  return domain_.now();
}
inline Cycle Domain::next() const {
  const Cycle next = now_ + 1;
  const std::size_t slot = next & (ahead_ - 1);
  const Word wanted = any_wanted_[slot / kWordBits] >> slot % kWordBits;
  return std::min(next_beyond_, wanted != 0
                                    ? next + static_cast<std::size_t>(std::countr_zero(wanted))
                                    : next_in_ring());
}
inline void Domain::evaluate(Cycle cycle) {
  if (!begun_) {
    begin();
  }
  ARC_CHECK(cycle > now_, "a cycle that has passed");
  now_ = cycle;
  const std::size_t slot = cycle & (ahead_ - 1);
  any_wanted_[slot / kWordBits] &= ~(Word{1} << slot % kWordBits);
  if (next_beyond_ == cycle) {
    want(beyond_.begin()->second);
    beyond_.erase(beyond_.begin());
    next_beyond_ = beyond_.empty() ? kNever : beyond_.begin()->first;
  }
  Word* const set = &wanted_[slot * set_words_];
  for (std::size_t i = 0; i < set_words_; ++i) {
    for (Word rest = std::exchange(set[i], 0); rest != 0; rest &= rest - 1) {
      blocks_[i * kWordBits + static_cast<std::size_t>(std::countr_zero(rest))]->tick();
    }
  }
}
inline void Domain::update() {
  for (std::size_t i = 0; i < to_update_.size(); ++i) {
    for (Word rest = std::exchange(to_update_[i], 0); rest != 0; rest &= rest - 1) {
      channels_[i * kWordBits + static_cast<std::size_t>(std::countr_zero(rest))]->update();
    }
  }
}
inline void Domain::schedule(Block& block, Cycle cycle) {
  if (cycle - now_ - 1 >= ahead_ - 1 || !begun_) {
    schedule_far(block, cycle);
    return;
  }
  const std::size_t slot = cycle & (ahead_ - 1);
  wanted_[slot * set_words_ + block.index_ / kWordBits] |= Word{1} << block.index_ % kWordBits;
  any_wanted_[slot / kWordBits] |= Word{1} << slot % kWordBits;
}
inline void Block::wake_at(Cycle cycle) {
  domain_.schedule(*this, cycle);
}
inline void Block::wake_next() {
  domain_.schedule(*this, domain_.now() + 1);
}
inline void Block::wake_for_mail() {
  has_mail_ = true;
  wake_next();
}
inline void Channel::request_update() {
  if (step_update_ != nullptr) [[unlikely]] {
    request_step();
    return;
  }
  domain_->to_update_[index_ / Domain::kWordBits] |= Domain::Word{1} << index_ % Domain::kWordBits;
}

}  // namespace warpfold

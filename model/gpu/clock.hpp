// SPDX-License-Identifier: Apache-2.0
// The gated clock of the simulated GPU. Every block is an sc_module that the clock's SC_METHOD
// ticks in the cycles for which somebody asked for it; a block that nobody wakes costs nothing. All
// blocks of a cycle run in one delta cycle of SystemC and talk only through channels that change in
// the update phase, so their order within the cycle cannot show.
//
// Contract of a block: tick() may be called in any cycle, wanted or not, and does then exactly what
// clocking it in every cycle would have done. SimOptions::clock_all tests that.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <systemc>
#include <vector>

#include "model/types.hpp"

namespace warpfold {

class Clock;

// A clocked part of the GPU. Owned by its parent block; ticked by the Clock.
class Block : public sc_core::sc_module {
 public:
  Block(const sc_core::sc_module_name& name, Clock& clock);

  // Asks for a tick in that cycle, which must lie ahead. Asking twice is harmless.
  void wake_at(Cycle cycle);
  // Asks for a tick in the next cycle: what a channel does for its reader.
  void wake_next();
  // The same, for a message that has come into one of its mailboxes.
  void wake_for_mail();

 protected:
  virtual void tick() = 0;
  [[nodiscard]] Cycle now() const;
  // A message is in one of its mailboxes. The block says when it has taken all of them.
  [[nodiscard]] bool has_mail() const { return has_mail_; }
  void mail_taken() { has_mail_ = false; }
  Clock& clock_;

 private:
  friend class Clock;

  Cycle last_tick_ = kNever;
  Cycle last_asked_ = kNever;  // cycle of the last wake_at()
  bool has_mail_ = false;

 public:
  static constexpr Cycle kNever = ~Cycle{0};
};

class Clock : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(Clock);
  // clock_all: tick every block in every cycle.
  Clock(const sc_core::sc_module_name& name, double period_ns, bool clock_all);

  [[nodiscard]] Cycle now() const { return now_; }
  // Calls `sample` at the beginning of every cycle that is a multiple of `interval`, before any
  // block: what it sees is what the cycles before have left. It must change nothing.
  void sample_every(Cycle interval, std::function<void()> sample);

 private:
  friend class Block;
  void schedule(Block& block, Cycle cycle);
  void schedule_later(Block& block, Cycle cycle);
  void advance();
  void tick(const std::vector<Block*>& blocks);

  // Most ask for the next cycle. Cycles up to kWheel ahead are a ring of lists; the few beyond wait
  // in a map.
  static constexpr std::size_t kWheel = 1024;
  std::vector<Block*> next_;
  std::vector<Block*> present_;
  std::vector<std::vector<Block*>> wheel_;
  std::map<Cycle, std::vector<Block*>> beyond_;
  std::vector<Block*> blocks_;
  sc_core::sc_time period_;
  bool clock_all_;
  bool started_ = false;
  Cycle now_ = 0;
  std::uint64_t pending_ = 0;  // wakes asked for beyond the next cycle and not yet given
  std::function<void()> sample_;
  Cycle sample_interval_ = 0;
  Cycle next_sample_ = Block::kNever;
};

inline Cycle Block::now() const {
  return clock_.now();
}
inline void Clock::schedule(Block& block, Cycle cycle) {
  if (cycle != now_ + 1) {
    schedule_later(block, cycle);
  } else if (cycle != block.last_asked_) {
    block.last_asked_ = cycle;
    next_.push_back(&block);
  }
}
inline void Block::wake_at(Cycle cycle) {
  clock_.schedule(*this, cycle);
}
inline void Block::wake_next() {
  clock_.schedule(*this, clock_.now() + 1);
}
inline void Block::wake_for_mail() {
  has_mail_ = true;
  wake_next();
}

}  // namespace warpfold

// SPDX-License-Identifier: Apache-2.0
// What a block of an SM is put between in a test: a clock, what an SM does for the blocks within
// it, and neighbours that do what a case says when it says so. SystemC can run once in a process,
// so a case has one bench.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "model/gpu/cta/cta.hpp"
#include "model/gpu/cta/gradient_memory.hpp"
#include "model/gpu/sm/mem_op.hpp"
#include "model/gpu/sm/outlet.hpp"
#include "model/gpu/sm/sm_context.hpp"
#include "model/gpu/traffic/transaction.hpp"
#include "model/kernel/channel.hpp"
#include "model/kernel/clock.hpp"
#include "tb/model/small_trace.hpp"

namespace warpfold::test {

using Cycles = std::vector<Cycle>;

// Who clocks the blocks.
enum class Clocking : std::uint8_t { kGated, kReference };
inline void PrintTo(Clocking clocking, std::ostream* out) {
  *out << (clocking == Clocking::kGated ? "gated" : "reference");
}

// What an SM does for the blocks within it: their domain goes through as many cycles as the GPU, is
// some ahead, or stays behind for a while and then makes up for it.
class Wheel : public Block {
 public:
  explicit Wheel(Partition& partition) : Block("wheel", partition), inside(256, partition.steps()) {
    wake_at(1);
  }
  void keep(Outlet& outlet) { outlet_ = &outlet; }
  void run_ahead(Cycle by) { ahead_ = by; }
  void stay_behind(Cycle from, Cycle until) {
    rests_from_ = from;
    rests_until_ = until;
  }

  Domain inside;

 private:
  void tick() override;
  [[nodiscard]] Cycle next_cycle() const {
    return std::min(inside.next(), outlet_ != nullptr ? outlet_->room_from() : kNever);
  }
  Outlet* outlet_ = nullptr;
  Cycle ahead_ = 0;
  Cycle rests_from_ = 0, rests_until_ = 0;
};

// Does in a cycle what it has been told.
class Script : public Block {
 public:
  explicit Script(Domain& domain) : Block("script", domain) {}
  void at(Cycle cycle, std::function<void()> what) {
    what_.emplace(cycle, std::move(what));
    wake_at(cycle);
  }

 private:
  void tick() override {
    for (auto [from, to] = what_.equal_range(now()); from != to; ++from) {
      from->second();
    }
  }
  std::multimap<Cycle, std::function<void()>> what_;
};

// Empties a queue: at once, or by one entry in each of these cycles.
template <typename Queue, typename T>
class Taker : public Block {
 public:
  Taker(Domain& domain, Queue& queue) : Block("taker", domain), queue_(queue) {}
  void only_in(Cycles cycles) {
    for (const Cycle cycle : cycles) {
      wake_at(cycle);
    }
    cycles_ = std::move(cycles);
    at_once_ = false;
  }
  struct Taken {
    Cycle cycle;
    T what;
  };
  std::vector<Taken> taken;
  [[nodiscard]] Cycles when() const {
    Cycles cycles;
    for (const Taken& each : taken) {
      cycles.push_back(each.cycle);
    }
    return cycles;
  }

 private:
  void tick() override {
    if (at_once_) {
      while (!queue_.empty()) {
        take();
      }
      queue_.want_entries();
    } else if (std::ranges::find(cycles_, now()) != cycles_.end() && !queue_.empty()) {
      take();
    }
  }
  void take() {
    taken.push_back({.cycle = now(), .what = std::move(queue_.front())});
    queue_.pop();
  }

  Queue& queue_;
  bool at_once_ = true;
  Cycles cycles_;
};

using OutletTaker = Taker<Outlet, Transaction>;
using BufferTaker = Taker<Fifo<Transaction>, Transaction>;
using QueueTaker = Taker<Fifo<MemOp>, MemOp>;

class SmBench {
 public:
  explicit SmBench(Clocking clocking = Clocking::kGated,
                   const SmallTrace& made_up = SmallTrace(1, 1, 1, 4096, 4));

  // What the blocks know of the GPU: call when the machine and the trace are as they are to be.
  const SmContext& context(const std::string& policy = "baseline");
  // For blocks within the SM.
  [[nodiscard]] Domain& inside() { return wheel.inside; }
  // A CTA of the trace, as dispatched.
  CtaContext& cta(std::size_t index = 0);
  // Notes in which cycles something grows: `count` is asked before every cycle.
  void note_growth(std::function<std::size_t()> count, Cycles& cycles);
  // Until that cycle at least, and until nobody has anything left to do.
  void run(Cycle until = 2000);

  SmallTrace trace;
  GpuConfig gpu = small_h200(1);
  BufferShape buffer;
  Tally tally;
  LineSumsPool sums;
  AddressMap addresses;
  CtaStore store;
  Clock clock;
  Wheel wheel;

 private:
  const bool reference_;
  std::unique_ptr<PolicyTiming> timing_;
  std::unique_ptr<SmContext> context_;
  std::vector<CtaHold> ctas_;
  std::vector<std::pair<std::function<std::size_t()>, Cycles*>> growth_;
};

}  // namespace warpfold::test

// SPDX-License-Identifier: Apache-2.0
// The reference: SystemC itself clocks every block, in every cycle, all in step. A block's tick()
// is an SC_METHOD on the positive edge of an sc_clock; a channel changes in SystemC's update phase,
// by an sc_prim_channel of its own. There is nothing else to it, and it is slow. The gated clock
// (clock.hpp) is held against it bit for bit.
#pragma once

#include <exception>
#include <functional>
#include <systemc>
#include <vector>

#include "model/types.hpp"

namespace warpfold {

class Block;
class Channel;
class Domain;

class StepClock : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(StepClock);
  // `between`: called between two cycles, with the one that comes; false: there is none. May throw.
  StepClock(const sc_core::sc_module_name& name, std::function<bool(Cycle)> between);

  // Blocks tick at this event.
  [[nodiscard]] const sc_core::sc_event& edge() const { return clock_.posedge_event(); }
  // Domains are in the cycle that the clock says.
  void lead(Domain& domain);
  // What has been thrown in a block or a channel ends the simulation.
  void fail(std::exception_ptr failure);
  // To the end. Throws that.
  void run();

 private:
  void between_cycles();

  sc_core::sc_clock clock_;
  std::function<bool(Cycle)> between_;
  std::vector<Domain*> domains_;
  Cycle cycle_ = 0;
  std::exception_ptr failure_;
};

// What has SystemC tick a block.
class StepBlock : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(StepBlock);
  StepBlock(Block& block, StepClock& clock);
  // In this cycle, in the next delta cycle.
  void tick_again() { again_.notify(sc_core::SC_ZERO_TIME); }

 private:
  void step();

  Block& block_;
  StepClock& clock_;
  sc_core::sc_event again_;
};

// What has SystemC's update phase bring a channel up to date.
class StepUpdate : public sc_core::sc_prim_channel {
 public:
  StepUpdate(Channel& channel, StepClock& clock)
      : sc_prim_channel(sc_core::sc_gen_unique_name("channel")), channel_(channel), clock_(clock) {}
  void request() { request_update(); }

 private:
  void update() override;

  Channel& channel_;
  StepClock& clock_;
};

}  // namespace warpfold

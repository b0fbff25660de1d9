// SPDX-License-Identifier: Apache-2.0
#include "model/kernel/step_clock.hpp"

#include <utility>

#include "model/kernel/clock.hpp"

namespace warpfold {

// The first edge is cycle 1, at time 0. Nobody asks how long a cycle is.
StepClock::StepClock(const sc_core::sc_module_name& name, std::function<bool(Cycle)> between)
    : sc_core::sc_module(name),
      clock_("clk", sc_core::sc_time(1, sc_core::SC_NS), 0.5, sc_core::SC_ZERO_TIME, true),
      between_(std::move(between)) {
  SC_METHOD(between_cycles);
  sensitive << clock_.negedge_event();
}

void StepClock::lead(Domain& domain) {
  domains_.push_back(&domain);
}

// At the negative edge, and before the first positive one: all of a cycle is over.
void StepClock::between_cycles() {
  ++cycle_;
  try {
    if (!between_(cycle_)) {
      sc_core::sc_stop();
    }
  } catch (...) {
    fail(std::current_exception());
  }
  for (Domain* domain : domains_) {
    domain->now_ = cycle_;
  }
}

void StepClock::fail(std::exception_ptr failure) {
  failure_ = failure_ ? failure_ : std::move(failure);
  sc_core::sc_stop();
}

void StepClock::run() {
  // Coming to rest is the normal end and needs no notice.
  sc_core::sc_report_handler::set_actions("/OSCI/SystemC", sc_core::SC_DO_NOTHING);
  sc_core::sc_start();
  if (failure_) {
    std::rethrow_exception(failure_);
  }
}

StepBlock::StepBlock(Block& block, StepClock& clock)
    : sc_core::sc_module(sc_core::sc_module_name(sc_core::sc_gen_unique_name("block"))),
      block_(block),
      clock_(clock) {
  SC_METHOD(step);
  sensitive << clock.edge() << again_;
  dont_initialize();
}

// SystemC would put what leaves a process into words of its own.
void StepBlock::step() {
  try {
    block_.tick();
  } catch (...) {
    clock_.fail(std::current_exception());
  }
}

void StepUpdate::update() {
  try {
    channel_.update();
  } catch (...) {
    clock_.fail(std::current_exception());
  }
}

}  // namespace warpfold

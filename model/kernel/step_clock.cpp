// SPDX-License-Identifier: Apache-2.0
#include "model/kernel/step_clock.hpp"

#include <utility>

#include "model/kernel/clock.hpp"

namespace warpfold {

// The first edge is cycle 1, as of the gated clock.
StepClock::StepClock(const sc_core::sc_module_name& name, const sc_core::sc_time& period,
                     std::function<void(Cycle)> between)
    : sc_core::sc_module(name),
      clock_("clk", period, 0.5, period, true),
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
    between_(cycle_);
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

void StepClock::rethrow_failure() const {
  if (failure_) {
    std::rethrow_exception(failure_);
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

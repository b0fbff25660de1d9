// SPDX-License-Identifier: Apache-2.0
#include "model/kernel/clock_driver.hpp"

// clang-format off
#include <tlm>
#include <tlm_utils/tlm_quantumkeeper.h>
// clang-format on

#include <algorithm>
#include <utility>

#include "model/base/check.hpp"
#include "model/base/ticks.hpp"
#include "model/kernel/step_clock.hpp"

namespace warpfold {

using sc_core::sc_time;
using sc_core::sc_time_stamp;

ClockDriver::ClockDriver(const sc_core::sc_module_name& name, const sc_time& period, Pace pace,
                         std::unique_ptr<tlm_utils::tlm_quantumkeeper> keeper)
    : sc_core::sc_module(name), period_(period), pace_(pace), keeper_(std::move(keeper)) {
  SC_METHOD(advance);
  sensitive << begins_;
  dont_initialize();
}

ClockDriver::~ClockDriver() = default;

sc_time ClockDriver::period_of(double period_ns) {
  constexpr std::uint64_t kParts = kTicksPerCycle;
  constexpr std::uint64_t kPrecise = 1000;  // that parts must be of the resolution at least
  const sc_time period(period_ns, sc_core::SC_NS);
  const std::uint64_t part = (period.value() + kParts / 2) / kParts;
  return part < kPrecise ? period : sc_time::from_value(part * kParts);
}

void ClockDriver::run(Clock& clock, Exchange* exchange, Done done) {
  begin_ = sc_time_stamp();
  cycle_ = 0;
  go_on(clock, exchange, std::move(done));
  stage_ = Stage::kNext;
}

void ClockDriver::go_on(Clock& clock, Exchange* exchange, Done done) {
  ARC_CHECK(clock_ == nullptr, "a driver that already runs a clock");
  clock_ = &clock;
  exchange_ = exchange;
  done_ = std::move(done);
  stage_ = Stage::kSend;
  begins_.notify(sc_core::SC_ZERO_TIME);
}

void ClockDriver::stop() {
  clock_ = nullptr;
  exchange_ = nullptr;
  done_ = nullptr;
  begins_.notify(sc_core::SC_ZERO_TIME);
}

sc_time ClockDriver::local_time() const {
  if (clock_ == nullptr || cycle_ == 0) {
    return sc_core::SC_ZERO_TIME;
  }
  const sc_time at = begin_of(cycle_);
  return at - std::min(at, sc_time_stamp());
}

// Comes back then, or when something has come from outside, or when it is stopped or told to run.
void ClockDriver::wait_for(const sc_time& time, bool or_comes) {
  waits_ = true;
  if (or_comes) {
    next_trigger(time, exchange_->came() | begins_);
  } else {
    next_trigger(time, begins_);
  }
}

// Whether it is that time, for what runs ahead at least; else waits.
bool ClockDriver::reach(const sc_time& time, bool or_comes) {
  const sc_time now = sc_time_stamp();
  if (time <= now) {
    return true;
  }
  const sc_time ahead = time - now;
  if (pace_ == Pace::kLoose) {
    keeper_->set(ahead);
    if (!keeper_->need_sync()) {
      return true;
    }
  }
  wait_for(ahead, or_comes);
  return false;
}

// The next cycle in which anything comes about, and has come.
void ClockDriver::next() {
  const bool busy = exchange_ != nullptr && exchange_->busy();
  const bool comes = busy && exchange_->holds();
  const Cycle asked = clock_->next();
  Cycle due = asked;
  if (comes) {
    due = std::min(due, std::max(cycle_at(sc_time_stamp()), cycle_ + 1));
  } else if (due == kNever) {
    if (busy) {
      waits_ = true;
      next_trigger(exchange_->came() | begins_);
    } else {
      stage_ = Stage::kRest;
    }
    return;
  }
  if (!reach(begin_of(due), busy && !comes)) {
    return;
  }
  cycle_ = due;
  if (asked == due) {
    clock_->evaluate(due);
    stage_ = Stage::kSend;
  } else {
    clock_->skip_to(due);
    stage_ = Stage::kReceive;
  }
}

// Until it has to wait: each stage goes on to another or says for what. A target may stop it.
void ClockDriver::advance_or_throw() {
  for (waits_ = false; !waits_ && clock_ != nullptr;) {
    switch (stage_) {
      case Stage::kNext:
        next();
        break;
      case Stage::kSend:
        stage_ = send(begin_of(cycle_)) ? Stage::kReceive : Stage::kSend;
        break;
      case Stage::kReceive:
        receive();
        break;
      case Stage::kAnswer:
        if (send(begin_of(cycle_ + 1)) && clock_ != nullptr) {
          clock_->update();
          stage_ = Stage::kNext;
        }
        break;
      case Stage::kRest:
        rest();
        break;
    }
  }
}

// False: in another delta cycle again.
bool ClockDriver::send(const sc_time& at) {
  const sc_time now = sc_time_stamp();
  if (exchange_ != nullptr && !exchange_->send(at - std::min(at, now))) {
    wait_for(sc_core::SC_ZERO_TIME, false);
    return false;
  }
  return true;
}

// In step, what comes in this cycle has come when it is over.
void ClockDriver::receive() {
  if (exchange_ != nullptr && exchange_->busy()) {
    const sc_time end = begin_of(cycle_ + 1);
    if (pace_ == Pace::kInStep && !reach(end, false)) {
      return;
    }
    exchange_->receive(cycle_, end);
  }
  stage_ = Stage::kAnswer;
}

void ClockDriver::rest() {
  if (const sc_time end = begin_of(cycle_ + 1); sc_time_stamp() < end) {
    wait_for(end - sc_time_stamp(), false);
  } else {
    finish(nullptr);
  }
}

void ClockDriver::advance() {
  if (clock_ == nullptr) {
    return;
  }
  keeper_->reset();
  try {
    advance_or_throw();
  } catch (...) {
    finish(std::current_exception());
  }
}

void ClockDriver::finish(std::exception_ptr failure) {
  const auto done = std::exchange(done_, nullptr);
  stop();
  done(std::move(failure));
}

namespace {

// Ends of quanta of its own.
class Keeper final : public tlm_utils::tlm_quantumkeeper {
 public:
  explicit Keeper(const sc_time& quantum) : quantum_(quantum) {}

 protected:
  sc_time compute_local_quantum() override { return quantum_; }

 private:
  const sc_time quantum_;
};

}  // namespace

void run_to_rest(Clock& clock, double period_ns) {
  if (clock.steps() != nullptr) {
    clock.steps()->run();
    return;
  }
  constexpr double kQuantum = 1 << 16;  // cycles
  const sc_time period = ClockDriver::period_of(period_ns);
  ClockDriver driver("clock", period, Pace::kLoose, std::make_unique<Keeper>(period * kQuantum));
  std::exception_ptr failed;
  driver.run(clock, nullptr,
             [&failed](std::exception_ptr failure) { failed = std::move(failure); });
  sc_core::sc_start();
  if (failed) {
    std::rethrow_exception(failed);
  }
}

}  // namespace warpfold

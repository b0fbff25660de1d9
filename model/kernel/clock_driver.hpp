// SPDX-License-Identifier: Apache-2.0
// Has SystemC's time pass as the cycles of a gated clock do, or the other way round. Cycle 1 of a
// clock begins when the driver is told to run it; one clock after the other, any number of them.
//
//   kLoose   cycles are ahead of SystemC's time, by the keeper's quantum at most: SystemC is asked
//            for time only at its ends, or when all wait for something from outside
//   kInStep  SystemC's time is that of the cycle
//
// What lies outside of the clock, and gives its blocks something to do, is an Exchange. A cycle is
// then: blocks tick; what they ask for goes out; in step, SystemC's time passes until the cycle
// ends; what has come back is given to blocks, and what they ask for then goes out; channels
// change.
//
// An SC_METHOD: nothing here waits, and whoever is behind the exchange has its own processes.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <systemc>

#include "model/kernel/clock.hpp"

namespace tlm_utils {
class tlm_quantumkeeper;
}

namespace warpfold {

enum class Pace : std::uint8_t { kLoose, kInStep };

class Exchange {
 public:
  virtual ~Exchange() = default;
  // What blocks have asked for in this cycle goes out, at sc_time_stamp() + `local`. False where
  // that needs another delta cycle; it is called again then.
  virtual bool send(const sc_core::sc_time& local) = 0;
  // Gives blocks what has come back before `end`, at which cycle `now` + 1 begins.
  virtual void receive(Cycle now, const sc_core::sc_time& end) = 0;
  // Something is under way, or has come back and has not been given to blocks.
  [[nodiscard]] virtual bool busy() const = 0;
  // Something has come back and has not been given to blocks.
  [[nodiscard]] virtual bool holds() const = 0;
  // Notified when it does.
  [[nodiscard]] virtual const sc_core::sc_event& came() const = 0;
};

class ClockDriver : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(ClockDriver);
  ClockDriver(const sc_core::sc_module_name& name, const sc_core::sc_time& period, Pace pace,
              std::unique_ptr<tlm_utils::tlm_quantumkeeper> keeper);
  ~ClockDriver() override;

  // A period of so many nanoseconds in SystemC's time: where its resolution allows (1 fs does), the
  // nearest that 256 parts of a cycle divide, in which blocks count.
  [[nodiscard]] static sc_core::sc_time period_of(double period_ns);
  [[nodiscard]] const sc_core::sc_time& period() const { return period_; }

  // Called at the time at which nobody has anything left to do, with what a block or the exchange
  // has thrown, or nothing. May throw, which leaves the driver's process.
  using Done = std::function<void(std::exception_ptr)>;
  // Cycle 1 of that clock begins now, in the next delta cycle. `exchange` may be null.
  void run(Clock& clock, Exchange* exchange, Done done);
  // In `done` or later: what has been asked of the exchange since is sent and waited for.
  void go_on(Clock& clock, Exchange* exchange, Done done);
  // Leaves the clock where it is. Not while a block ticks.
  void stop();
  [[nodiscard]] bool running() const { return clock_ != nullptr; }
  // When cycle 1 began, or does.
  [[nodiscard]] const sc_core::sc_time& begin() const { return begin_; }
  // At which a cycle begins.
  [[nodiscard]] sc_core::sc_time begin_of(Cycle cycle) const {
    return begin_ + sc_core::sc_time::from_value(period_.value() * (cycle - 1));
  }
  // In which that time lies.
  [[nodiscard]] Cycle cycle_at(const sc_core::sc_time& time) const {
    return (time.value() - begin_.value()) / period_.value() + 1;
  }
  // How far the cycle is ahead of sc_time_stamp().
  [[nodiscard]] sc_core::sc_time local_time() const;

 private:
  enum class Stage : std::uint8_t {
    kNext,
    kSend,     // what blocks have asked for
    kReceive,  // and what has come back
    kAnswer,   // what they ask for then
    kRest,
  };

  void advance();
  void advance_or_throw();
  bool send(const sc_core::sc_time& at);
  void receive();
  void rest();
  void next();
  void wait_for(const sc_core::sc_time& time, bool or_comes);
  bool reach(const sc_core::sc_time& time, bool or_comes);
  void finish(std::exception_ptr failure);

  const sc_core::sc_time period_;
  const Pace pace_;
  std::unique_ptr<tlm_utils::tlm_quantumkeeper> keeper_;
  sc_core::sc_event begins_;
  sc_core::sc_time begin_;
  Clock* clock_ = nullptr;
  Exchange* exchange_ = nullptr;
  Done done_;
  Stage stage_ = Stage::kNext;
  bool waits_ = false;
  Cycle cycle_ = 0;  // the last that has begun
};

// Runs a clock, or a reference, from SystemC's time 0 until nobody has anything left to do. Throws
// what a block has thrown. Once in a process.
void run_to_rest(Clock& clock, double period_ns);

}  // namespace warpfold

// SPDX-License-Identifier: Apache-2.0
// What an SM may have between its load-store unit and its injection port to sum additions before
// they leave for the L2: an atomic buffer or a merge buffer. Owned by its SM.
#pragma once

#include <cstdint>
#include <string>

#include "model/base/ticks.hpp"
#include "model/gpu/sm/sm_context.hpp"
#include "model/gpu/traffic/buffer_stats.hpp"
#include "model/gpu/traffic/line_sums.hpp"
#include "model/gpu/traffic/transaction.hpp"
#include "model/kernel/channel.hpp"
#include "model/kernel/clock.hpp"

namespace warpfold {

// Takes transactions by `input`. One that stands for the end of the kernel sends everything out.
class SumBuffer : public Block {
 public:
  SumBuffer(std::string name, Domain& domain, std::uint32_t queue_depth)
      : Block(std::move(name), domain), input(queue_depth) {}

  Fifo<Transaction> input;

  [[nodiscard]] virtual bool empty() const = 0;
  // What it has to do, and for what that waits, or nothing.
  [[nodiscard]] virtual std::string waits() const = 0;
  [[nodiscard]] virtual const BufferStats& stats() const = 0;
  // When its adders are done with what they were given.
  [[nodiscard]] virtual Ticks busy_until() const = 0;
  // Of adder_busy, what lies before a cycle that has not begun.
  [[nodiscard]] Ticks adder_busy_before(Cycle cycle) const {
    return done_before(cycle, stats().adder_busy, busy_until());
  }
  // A fault for tests: that many sectors of the flush get lost.
  void lose_flushed(std::uint64_t sectors) { lose_ = sectors; }

 protected:
  // Of sectors that are to be sent by the flush, whether this one gets lost.
  [[nodiscard]] bool loses_one() { return lose_ > 0 && lose_-- > 0; }

 private:
  std::uint64_t lose_ = 0;
};

// Sums of a sector on their way to the L2.
Transaction sector_packet(const SmContext& context, const SumsOfSector& sector);

}  // namespace warpfold

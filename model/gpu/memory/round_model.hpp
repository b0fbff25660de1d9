// SPDX-License-Identifier: Apache-2.0
// When the additions of transactions end that the slices behind a port of the L2 serve. Owned by
// the port, which says what begins and asks what ends; it knows times alone.
//
// A stream is a transaction at the head of its queue (service_order.hpp), while it is being served.
// Where every SM has a queue of its own, the turns of the SMs' transactions (transaction.hpp) come
// interleaved, one of each SM (a round), where all SMs come in by one input. What a round takes
// follows from four limits, each of which was measured alone on an H200 (config.hpp,
// GpuConfig::L2): the port takes a lone word per port_cycles and a flit of anything else per
// flit_cycles, p cycles for each turn of a transaction; a slice takes in a turn per rop_cycles; its
// ROP does a turn in t cycles, line_cycles for each sector, in the order in which they come; a turn
// with a sector of one before it begins no less than sector_cycles after that; and one on the same
// pair of lines, 256 bytes, as one before it that left out words of more than two sectors begins no
// less than t + line_cycles after that. With m SMs that have something to add, m_k of them in slice
// k, a round in random order takes
//
//     max(sector_cycles, sum p, max_k(m_k rop_cycles), max_k(sum t + w_k)).
//
// w_k is what turns wait: one that follows one on its sector at once waits for d, which is
// sector_cycles - t; with D_k the sum of d over the m_k (m_k - 1) ordered pairs of those that wait
// for each other that is D_k / (m_k - 1) in a round, and a share P of the turns. One that has
// another turn in between, P (1 - P) of them, waits for what is left of d after that one. Additions
// to sectors of a slice at random take so long within 3 % (share/random).
//
// Turns do not come as evenly as that: what lies between two of an SM varies (turn_spread). So a
// transaction takes some more or fewer rounds than it has turns (turn_spread.hpp), and counts in
// each round for so many turns less or more.
//
// In an Nth of a GPU (part_of_gpu) all these take N times as long, and each SM stands for N of the
// launch. How uneven the m_k of the launch's M SMs are has two reasons: each SM is at a slice of
// its own, of which the variance beside the square of the mean is A / M, and what all of them add
// to at the time lies more in some slices, A / M0. M / N SMs show N A / M of the former and as much
// of the latter. So what m_k lacks of m / S, with S slices, or has beyond it, counts
// sqrt((M0 + M) / (N M0 + M)). M0 is 30, between what brings samples of three frames nearest to
// their launches on 132 SMs, which is less, and on 28, which is more (docs/notebook.md).
// And an SM that is alone at the port stands for N that wait for each other's sectors no more than
// others do: the first of the limits stays as it is in the whole GPU.
//
// Where a port has several inputs, these take turns, and so do the SMs of each: with m SMs on n
// inputs, each SM of the m_i on input i has r_i = m / (n m_i) turns done while m of all are done.
// That is a round, in which a stream counts r_i times and a pair of them on one sector r_i r_j
// times; no SM has more than one turn in sector_cycles done, and what it cannot take is shared by
// the other inputs.
//
// Within a round the SMs of an input advance alike until one comes or goes, so that transactions
// are events, not their turns.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/base/ticks.hpp"
#include "model/gpu/memory/round_limits.hpp"
#include "model/gpu/memory/round_stream.hpp"
#include "model/gpu/memory/round_time.hpp"
#include "model/gpu/memory/slice_busy.hpp"
#include "model/gpu/memory/turn_spread.hpp"
#include "model/machine/config.hpp"

namespace warpfold {

class RoundModel {
 public:
  explicit RoundModel(const GpuConfig& config);

  [[nodiscard]] bool empty() const { return streams_.empty(); }
  [[nodiscard]] std::size_t size() const { return streams_.size(); }
  [[nodiscard]] std::uint32_t streams_in(std::uint32_t slice) const {
    return limits_.streams_in(slice);
  }

  // The head of a queue that has no stream is served from that time on, before which nothing ends
  // any more and which does not lie before another begin or end.
  void begin(std::uint32_t queue, const RoundWork& work, Fine time);

  // Of the streams, of which there are some, the one that ends first; of several that of the first
  // queue.
  struct End {
    std::uint32_t queue = 0;
    std::uint32_t slice = 0;
    Fine time = 0;
  };
  [[nodiscard]] const End& next_end() {
    if (!end_known_) {
      find_end();
    }
    return end_;
  }
  // That one is over.
  void end_next();

  // What the ROPs, or the port, have done of the streams that are over.
  [[nodiscard]] const SliceBusy& busy() const { return busy_; }
  // Of the slice, or the port, that had most to do.
  [[nodiscard]] Ticks busiest() const {
    return std::max(busy_.busiest(limits_.times().own, limits_.times().even, rounds_),
                    busy_.port());
  }
  // Of the ROPs over all slices, what they had done by that time, that of streams that go on too. A
  // time before which nothing ends any more; to be asked after next_end().
  [[nodiscard]] Ticks rop_busy_before(Fine time) const;

 private:
  static constexpr std::size_t kUnknown = ~std::size_t{0};

  [[nodiscard]] RoundStream stream_of(std::uint32_t queue, const RoundWork& work);
  [[nodiscard]] RoundTotals totals_of(const RoundWork& work) const;
  void count(const RoundStream& stream, std::uint64_t pair, RoundLimits::Change change);
  void settle();
  void find_end();
  void pass(Rounds rounds);
  [[nodiscard]] Rounds rounds_until(Fine time) const;
  [[nodiscard]] std::size_t find_next() const;
  [[nodiscard]] Rounds rounds_to_end(std::size_t stream) const;

  const std::uint32_t input_sms_;
  RoundLimits limits_;
  TurnSpread spread_;
  SliceBusy busy_;
  std::vector<RoundStream> streams_;
  // Of each stream, apart since they are looked through often.
  std::vector<Rounds> ends_;          // in turns of each stream of its input
  std::vector<std::uint64_t> pairs_;  // of lines, that it adds to
  std::vector<RoundTotals> totals_;
  std::vector<Rounds> served_;   // of each input, turns of each of its streams by time_
  Fine round_ = 0;               // what a round takes, where that is known
  bool round_known_ = false;     // of these streams
  std::size_t next_ = kUnknown;  // to end
  End end_;                      // of that one
  bool end_known_ = false;       // as of these streams and time_
  Rounds rounds_ = 0;            // that have passed by time_
  Fine time_ = 0;
};

}  // namespace warpfold

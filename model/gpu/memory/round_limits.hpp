// SPDX-License-Identifier: Apache-2.0
// How long a round of one port of the L2 is: the limits of round_model.hpp, over sums that change
// with each stream that begins or ends. Owned by the model of rounds; no clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/gpu/memory/round_stream.hpp"
#include "model/gpu/memory/round_time.hpp"
#include "model/machine/config.hpp"

namespace warpfold {

// What turns take, and how uneven slices count.
struct RoundTimes {
  explicit RoundTimes(const GpuConfig& config);
  // What a transaction takes of the port, and what a turn of it takes of its slice's ROP.
  [[nodiscard]] Fine port_time(const RoundWork& work) const {
    return port * work.lone_words + flit * (std::uint32_t{work.flits} - work.lone_words);
  }
  [[nodiscard]] Fine rop_time(const RoundWork& work) const {
    return line * work.packets / work.turns;
  }

  Fine port, flit, rop, line, sector;  // GpuConfig::L2, in which the names end with _cycles
  Fine floor;                          // the first limit of a round, with even turns
  Portion own, even;                   // how what a slice has and what all have counts for it
};

class RoundLimits {
 public:
  enum class Change : bool { kBegins, kEnds };

  explicit RoundLimits(const GpuConfig& config);
  [[nodiscard]] const RoundTimes& times() const { return times_; }
  [[nodiscard]] std::size_t inputs() const { return inputs_.size(); }
  [[nodiscard]] std::uint32_t streams_in(std::uint32_t slice) const {
    return slices_[slice].streams;
  }

  // A stream begins, or has ended, beside those that are there.
  void count(const RoundStream& stream, Change change);
  // That one is on the same pair of lines of the same slice.
  void count_pair(const RoundStream& stream, const RoundStream& other, Change change);

  // What a round of these streams takes, all that are counted. Sets what follows.
  [[nodiscard]] Fine round(std::span<const RoundStream> streams);
  // Turns of each SM of an input in a round, and rounds that a turn of each takes.
  [[nodiscard]] Portion rate(std::uint32_t input) const { return inputs_[input].rate; }
  [[nodiscard]] Portion rounds_each(std::uint32_t input) const {
    return inputs_[input].rounds_each;
  }

 private:
  struct Input {
    std::uint32_t streams = 0;
    Fine port = 0;  // over the streams
    Portion rate = kWhole;
    Portion rounds_each = kWhole;
    bool has_share = false;  // in share_among_inputs
  };
  struct Slice {
    struct Share {
      Portion turns = 0;
      Fine time = 0;
    };
    std::uint32_t streams = 0;
    Fine waits = 0;              // over the ordered pairs of streams on one sector
    Portion pairs = 0;           // their number
    std::vector<Share> shares;   // of the streams of each input, in a round
    std::vector<Fine> waits_of;  // a row for each input of one, with each input of the other
  };

  [[nodiscard]] Fine floor_of(std::span<const RoundStream> streams) const;
  [[nodiscard]] Fine share_among_inputs(std::size_t streams, Fine even_round, Fine floor);
  [[nodiscard]] Fine round_at_rates() const;
  [[nodiscard]] Fine round_wait(const Slice& slice, Portion turns, std::uint64_t time) const;

  const RoundTimes times_;
  std::vector<Slice> slices_;
  std::vector<Input> inputs_;
  std::uint32_t inputs_in_use_ = 0;  // with streams
  Fine stream_time_ = 0;             // over the streams
  Portion stream_turns_ = 0;         // theirs in a round
};

}  // namespace warpfold

// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/memory/round_model.hpp"

#include <algorithm>

#include "model/base/check.hpp"

namespace warpfold {

RoundModel::RoundModel(const GpuConfig& config)
    : input_sms_(config.l2.input_sms),
      limits_(config),
      spread_(config.l2.turn_spread, config.sm.count),
      busy_(config.l2.slices_per_port),
      served_(limits_.inputs()) {}

void RoundModel::begin(std::uint32_t queue, const RoundWork& work, Fine time) {
  if (!streams_.empty() && time != time_) {
    settle();
    pass(rounds_until(time));
  }
  time_ = time;
  const RoundStream stream = stream_of(queue, work);
  count(stream, work.pair, RoundLimits::Change::kBegins);
  streams_.push_back(stream);
  totals_.push_back(totals_of(work));
  pairs_.push_back(work.pair);
  ends_.push_back(served_[stream.input] + stream.rounds);
  round_known_ = end_known_ = false;
}

RoundStream RoundModel::stream_of(std::uint32_t queue, const RoundWork& work) {
  const RoundTimes& times = limits_.times();
  RoundStream stream;
  stream.queue = queue;
  stream.input = work.sm / input_sms_;
  stream.slice = work.slice;
  stream.sectors = work.sectors;
  stream.rounds = spread_.draw(work.sm, work.turns);
  stream.weight = work.turns * kOneRound * kWhole / stream.rounds;
  stream.port = part(times.port_time(work) / work.turns, stream.weight);
  const Fine time = times.rop_time(work);
  stream.time = part(time, stream.weight);
  const bool reread = !work.whole && work.packets > 2 * work.turns;
  stream.wait_beside = reread ? times.line : 0;
  stream.wait = std::max(times.sector, time + stream.wait_beside) - time;
  return stream;
}

RoundTotals RoundModel::totals_of(const RoundWork& work) const {
  const RoundTimes& times = limits_.times();
  return {.port = times.port_time(work),
          .intake = times.rop * work.turns,
          .additions = times.rop_time(work) * work.turns};
}

void RoundModel::count(const RoundStream& stream, std::uint64_t pair, RoundLimits::Change change) {
  limits_.count(stream, change);
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    if (pairs_[i] == pair && streams_[i].slice == stream.slice) {
      limits_.count_pair(stream, streams_[i], change);
    }
  }
}

// What a round of these streams takes, and at which rates.
void RoundModel::settle() {
  if (!round_known_) {
    round_ = limits_.round(streams_);
    round_known_ = true;
    next_ = kUnknown;
  }
}

void RoundModel::find_end() {
  settle();
  if (next_ == kUnknown) {
    next_ = find_next();
  }
  const RoundStream& stream = streams_[next_];
  constexpr Rounds kRoundUp = kOneRound - 1;
  const Wide rest = Wide{rounds_to_end(next_)} * round_ + kRoundUp;
  end_ = {.queue = stream.queue,
          .slice = stream.slice,
          .time = time_ + static_cast<Fine>(rest >> kRoundBits)};
  end_known_ = true;
}

void RoundModel::end_next() {
  time_ = next_end().time;
  const std::size_t ended = next_;
  const RoundStream stream = streams_[ended];
  const std::uint64_t pair = pairs_[ended];
  busy_.done(stream.slice, totals_[ended]);
  pass(rounds_to_end(ended));
  served_[stream.input] = ends_[ended];
  const auto take_out = [ended](auto& list) {
    list[ended] = list.back();
    list.pop_back();
  };
  take_out(streams_);
  take_out(totals_);
  take_out(pairs_);
  take_out(ends_);
  count(stream, pair, RoundLimits::Change::kEnds);
  round_known_ = end_known_ = false;
}

// From time_ to that one, of these streams.
Rounds RoundModel::rounds_until(Fine time) const {
  return scaled(time - time_, kOneRound, round_);
}

void RoundModel::pass(Rounds rounds) {
  rounds_ += rounds;
  if (served_.size() > 1) {
    next_ = kUnknown;  // by rounding, of several that end at about the same time
  }
  for (std::uint32_t i = 0; i < served_.size(); ++i) {
    served_[i] += part(rounds, limits_.rate(i));
  }
}

std::size_t RoundModel::find_next() const {
  std::size_t next = 0;
  const auto before = [&](std::size_t i, Rounds end, Rounds least) {
    return end < least || (end == least && streams_[i].queue < streams_[next].queue);
  };
  if (served_.size() == 1) {  // all are as far from their ends as these say
    for (std::size_t i = 1; i < ends_.size(); ++i) {
      if (before(i, ends_[i], ends_[next])) {
        next = i;
      }
    }
    return next;
  }
  Rounds least = ~Rounds{0};
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    const Rounds rest = rounds_to_end(i);
    if (before(i, rest, least)) {
      least = rest;
      next = i;
    }
  }
  return next;
}

// Rounds until it ends, which its input may pass faster or slower than others.
Rounds RoundModel::rounds_to_end(std::size_t stream) const {
  const std::uint32_t input = streams_[stream].input;
  const Rounds served = served_[input];
  const Rounds rest = ends_[stream] > served ? ends_[stream] - served : 0;
  return part(rest, limits_.rounds_each(input));
}

Ticks RoundModel::rop_busy_before(Fine time) const {
  if (streams_.empty()) {
    return busy_.all();
  }
  ARC_CHECK(round_known_, "the next end has not been asked for");
  // Every stream has got as far as the rounds have.
  const Rounds rounds = time > time_ ? rounds_until(time) : 0;
  std::vector<SliceBusy::Part> slices = busy_.slices();
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    const RoundStream& stream = streams_[i];
    const Rounds served = served_[stream.input] + part(rounds, limits_.rate(stream.input));
    const Rounds rest = ends_[i] > served ? ends_[i] - served : 0;
    const auto done = [&](Ticks all) { return all - all * rest / stream.rounds; };
    slices[stream.slice].intake += done(SliceBusy::intake_of(totals_[i]));
    slices[stream.slice].additions += done(SliceBusy::additions_of(totals_[i]));
  }
  Ticks busy = 0;
  for (const SliceBusy::Part& slice : slices) {
    busy += slice.busy();
  }
  return busy;
}

}  // namespace warpfold

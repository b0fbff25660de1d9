// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/memory/round_limits.hpp"

#include <algorithm>
#include <cmath>

namespace warpfold {

namespace {

// M0 of round_model.hpp.
constexpr double kSmsAsUneven = 30;

// How much what a slice has beyond its even share counts, 1 in a whole GPU (round_model.hpp).
double share_of_own(const GpuConfig& config) {
  const double sms = static_cast<double>(config.sm.count) * config.sms_each;
  return std::sqrt((kSmsAsUneven + sms) / (kSmsAsUneven * config.sms_each + sms));
}

template <typename Number>
void change_by(Number& sum, Number by, RoundLimits::Change change) {
  sum = change == RoundLimits::Change::kBegins ? sum + by : sum - by;
}

}  // namespace

RoundTimes::RoundTimes(const GpuConfig& config)
    : port(nearest(config.l2.port_cycles, kFineBits)),
      flit(nearest(config.l2.flit_cycles, kFineBits)),
      rop(nearest(config.l2.rop_cycles, kFineBits)),
      line(nearest(config.l2.line_cycles, kFineBits)),
      sector(nearest(config.l2.sector_cycles, kFineBits)),
      floor(sector / config.sms_each),
      own(nearest(share_of_own(config), kShareBits)),
      even((kWhole - own) / config.l2.slices_per_port) {}

RoundLimits::RoundLimits(const GpuConfig& config)
    : times_(config),
      slices_(config.l2.slices_per_port),
      inputs_((config.sm.count + config.l2.input_sms - 1) / config.l2.input_sms) {
  for (Slice& slice : slices_) {
    slice.shares.resize(inputs_.size());
    slice.waits_of.resize(inputs_.size() * inputs_.size());
  }
}

void RoundLimits::count(const RoundStream& stream, Change change) {
  Input& input = inputs_[stream.input];
  const bool first_or_last = input.streams == (change == Change::kBegins ? 0 : 1);
  change_by(inputs_in_use_, std::uint32_t{first_or_last}, change);
  change_by(input.streams, std::uint32_t{1}, change);
  change_by(input.port, stream.port, change);
  change_by(stream_time_, stream.time, change);
  change_by(stream_turns_, stream.weight, change);
  Slice& slice = slices_[stream.slice];
  change_by(slice.streams, std::uint32_t{1}, change);
  Slice::Share& share = slice.shares[stream.input];
  change_by(share.turns, stream.weight, change);
  change_by(share.time, stream.time, change);
}

// Each of the two has the other wait where it comes first.
void RoundLimits::count_pair(const RoundStream& stream, const RoundStream& other, Change change) {
  const bool together = (other.sectors & stream.sectors) != 0;
  const Fine wait = together ? stream.wait : stream.wait_beside;
  const Fine wait_other = together ? other.wait : other.wait_beside;
  const Portion waiting = together ? 2 : Portion{wait != 0} + Portion{wait_other != 0};
  if (waiting == 0) {
    return;
  }
  const Portion turns = part(stream.weight, other.weight);
  const Fine behind_stream = part(wait, turns);
  const Fine behind_other = part(wait_other, turns);
  Slice& slice = slices_[stream.slice];
  change_by(slice.waits, behind_stream + behind_other, change);
  change_by(slice.pairs, waiting * turns, change);
  const std::size_t inputs = inputs_.size();
  change_by(slice.waits_of[other.input * inputs + stream.input], behind_other, change);
  change_by(slice.waits_of[stream.input * inputs + other.input], behind_stream, change);
}

Fine RoundLimits::round(std::span<const RoundStream> streams) {
  for (Input& input : inputs_) {
    input.rate = input.rounds_each = kWhole;
  }
  const Fine even_round = round_at_rates();
  const Fine floor = floor_of(streams);
  if (inputs_in_use_ > 1 && even_round > floor) {
    return share_among_inputs(streams.size(), even_round, floor);
  }
  return std::max(floor, even_round);
}

// The first limit: with few streams the quickest of them decides.
Fine RoundLimits::floor_of(std::span<const RoundStream> streams) const {
  constexpr std::size_t kFew = 8;
  if (streams.size() > kFew) {
    return times_.floor;
  }
  Portion most = 0;
  for (const RoundStream& stream : streams) {
    most = std::max(most, stream.weight);
  }
  return part(times_.floor, most);
}

// As many turns of every input, those with fewest SMs first: these take no more of a round
// than what all can have done in one that lasts as long as if all SMs had even shares.
Fine RoundLimits::share_among_inputs(std::size_t streams, Fine even_round, Fine floor) {
  const Portion most = even_round * kWhole / floor;
  Portion turns = streams * kWhole;
  for (Input& input : inputs_) {
    input.has_share = input.streams == 0;
  }
  Portion highest = 0;
  for (std::uint32_t left = inputs_in_use_; left > 0; --left) {
    Input* fewest = nullptr;
    for (Input& input : inputs_) {
      if (!input.has_share && (fewest == nullptr || input.streams < fewest->streams)) {
        fewest = &input;
      }
    }
    fewest->has_share = true;
    fewest->rate = std::min(most, turns / left / fewest->streams);
    fewest->rounds_each = kWhole * kWhole / fewest->rate;
    turns -= fewest->rate * fewest->streams;
    highest = std::max(highest, fewest->rate);
  }
  return std::max(part(floor, highest), round_at_rates());
}

// All limits but the first.
Fine RoundLimits::round_at_rates() const {
  Fine round = 0;
  for (const Input& input : inputs_) {
    round += part(input.port, input.rate);
  }
  // With the fractions of the shares `even` and `own`.
  const std::uint64_t even_time = times_.even * stream_time_;
  const std::uint64_t even_intake = times_.even * part(times_.rop, stream_turns_);
  for (const Slice& slice : slices_) {
    Portion turns = 0;
    std::uint64_t time = 0;  // with the fractions of the rates
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      turns += part(slice.shares[i].turns, inputs_[i].rate);
      time += inputs_[i].rate * slice.shares[i].time;
    }
    const std::uint64_t intake = even_intake + times_.own * part(times_.rop, turns);
    const std::uint64_t additions = even_time + times_.own * (time >> kShareBits);
    round = std::max(
        {round, intake >> kShareBits, (additions >> kShareBits) + round_wait(slice, turns, time)});
  }
  return round;
}

// What turns on sectors that are being added to wait for in a round, of which the slice has so many
// turns, of that many cycles (2^-32), in random order.
Fine RoundLimits::round_wait(const Slice& slice, Portion turns, std::uint64_t time) const {
  if (slice.waits == 0) {
    return 0;
  }
  Fine waits = 0;  // with the fractions of the rates
  const Fine* pairs = slice.waits_of.data();
  for (const Input& one : inputs_) {
    for (const Input& other : inputs_) {
      waits += part(one.rate, other.rate) * *pairs++;
    }
  }
  const Fine behind = waits / (turns * (slice.streams - 1) / slice.streams);
  // Of the turns, those that wait for the one before them; and those that wait for the one before
  // that.
  const Fine each = slice.waits * kWhole / slice.pairs;
  const Portion direct = std::min(kWhole, scaled(behind * kWhole, kWhole, each * turns));
  const Portion two_behind = part(direct, kWhole - direct);
  const Fine mean = time / turns;
  if (each <= mean) {
    return behind;
  }
  // One turn between has passed, and what that waited for itself.
  const Fine rest = part(each - mean, kWhole - two_behind);
  return behind + part(rest, part(turns, two_behind));
}

}  // namespace warpfold

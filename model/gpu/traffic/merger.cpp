// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/traffic/merger.hpp"

#include <algorithm>
#include <bit>

#include "model/base/bits.hpp"
#include "model/base/check.hpp"

namespace warpfold {

Merger::Merger(const Context& context, std::uint32_t rows, std::uint32_t period)
    : context_(context), golden_(rows), period_(period) {
  while (golden_.busy()) {
    golden_.tick({});
  }
}

void Merger::take(Transaction& transaction) {
  ARC_CHECK(ready(), "a merge buffer is given a transaction before it is ready");
  Tally& tally = context_.tally;
  const auto additions = static_cast<std::uint64_t>(lane_count(transaction.mask));
  if (transaction.reduced) {
    add(transaction.address, transaction.data);
    ++tally.sums_buffered;
    return;
  }
  if (transaction.partial) {
    const LineSums sums = context_.sums.take(transaction.data);
    const Address line = transaction.address / kLineBytes * kLineBytes;
    for_each_bit(transaction.mask,
                 [&](std::uint32_t word) { add(line + word * sizeof(Fp32Bits), sums[word]); });
  } else if (transaction.event.cta) {
    const EventRef& event = transaction.event;
    const EventValues values(event, context_.addresses);
    const std::uint32_t p = transaction.parameter;
    for_each_bit(transaction.mask, [&](std::uint32_t lane) {
      add(transaction.uniform ? transaction.address
                              : context_.addresses.address(
                                    lane_primitive(event.warp_trace(), event.event(), lane), p),
          values.of(p, lane));
    });
    transaction.event = {};
  }
  if (transaction.partial && !transaction.own) {
    tally.sums_buffered += additions;
  } else {
    tally.lanes_as_red -= additions;
    tally.lanes_buffered += additions;
  }
}

// In the first request of its sector that does not add to the word yet, or a new one.
void Merger::add(Address address, Fp32Bits value) {
  const std::uint64_t sector = address / kSectorBytes;
  const std::size_t word = address % kSectorBytes / sizeof(Fp32Bits);
  auto request = std::find_if(requests_.begin(), requests_.end(), [&](const MergeInputs& r) {
    return r.req_sector == sector && (r.req_mask >> word & 1U) == 0;
  });
  if (request == requests_.end()) {
    requests_.push_back({.req_valid = true, .req_sector = sector});
    request = requests_.end() - 1;
  }
  request->req_mask |= 1U << word;
  request->req_data[word] = value;
}

std::optional<SumsOfSector> Merger::clock(bool room) {
  MergeInputs in = requests_.empty() ? MergeInputs{} : requests_.front();
  in.flush_valid = flushing_;
  in.out_ready = room;
  const auto before = golden_.stats();
  const MergeOutputs out = golden_.tick(in);
  const auto& after = golden_.stats();
  stats_.hits += after.hits - before.hits;
  stats_.misses += after.misses - before.misses;
  words_ += after.begun - before.begun;
  context_.tally.buffer_sums_begun += after.begun - before.begun;
  if (out.req_ready) {
    requests_.pop_front();
    stats_.adder_busy += period_ * kTicksPerCycle;
  }
  std::optional<SumsOfSector> leaving;
  if (out.out_valid && room) {
    ++(flushing_ ? stats_.flushed : stats_.evicted);
    words_ -= static_cast<std::uint64_t>(std::popcount(out.out_mask));
    leaving = SumsOfSector{
        .address = out.out_sector * kSectorBytes, .words = out.out_mask, .sums = out.out_data};
  } else if (out.out_valid) {
    ++stats_.blocked_cycles;
  }
  flushing_ = flushing_ && !out.flush_ready;
  return leaving;
}

}  // namespace warpfold

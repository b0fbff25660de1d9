// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/sm/merge_buffer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "model/base/bits.hpp"

namespace warpfold {

MergeBuffer::MergeBuffer(const sc_core::sc_module_name& name, Domain& domain,
                         const SmContext& context, Outlet& injection)
    : SumBuffer(name, domain, context.config.buffer.queue_depth),
      context_(context),
      injection_(injection),
      golden_(context.merge_rows) {
  // Its rows were cleared before the kernel.
  while (golden_.busy()) {
    golden_.tick({});
  }
}

void MergeBuffer::tick() {
  const bool passed = take();
  flushing_ = flushing_ || (ended_ && words_ != 0 && requests_.empty() && input.empty());
  if (!requests_.empty() || flushing_ || golden_.busy()) {
    clock(passed);
  }
  if (!requests_.empty() || flushing_ || golden_.busy() || !input.empty() ||
      (ended_ && words_ != 0)) {
    wake_next();
  } else {
    input.want_entries();
  }
}

std::string MergeBuffer::waits() const {
  return empty() ? ""
                 : fmt::format("{} holds {} sums, {} requests", name(), words_, requests_.size());
}

// Takes the next transaction once the last one's requests have been accepted. True if one went on
// to the injection port in this cycle.
bool MergeBuffer::take() {
  while (requests_.empty() && !input.empty()) {
    Transaction& transaction = input.front();
    if (transaction.load || transaction.passes) {
      if (!injection_.can_push()) {
        return false;
      }
      injection_.push(std::move(transaction));
      input.pop();
      return true;
    }
    ended_ = ended_ || transaction.flush;
    make_requests(transaction);
    input.pop();
  }
  return false;
}

// What a transaction adds, lanes in order, word by word.
void MergeBuffer::make_requests(Transaction& transaction) {
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
void MergeBuffer::add(Address address, Fp32Bits value) {
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

// A cycle of the golden model. What it sends leaves unless something else has `passed`.
void MergeBuffer::clock(bool passed) {
  MergeInputs in = requests_.empty() ? MergeInputs{} : requests_.front();
  in.flush_valid = flushing_;
  in.out_ready = !passed && injection_.can_push();
  const auto before = golden_.stats();
  const MergeOutputs out = golden_.tick(in);
  const auto& after = golden_.stats();
  stats_.hits += after.hits - before.hits;
  stats_.misses += after.misses - before.misses;
  words_ += after.begun - before.begun;
  context_.tally.buffer_sums_begun += after.begun - before.begun;
  if (out.req_ready) {
    requests_.pop_front();
    stats_.adder_busy += kTicksPerCycle;
  }
  if (out.out_valid && in.out_ready) {
    send(out);
  } else if (out.out_valid) {
    ++stats_.blocked_cycles;
  }
  flushing_ = flushing_ && !out.flush_ready;
}

void MergeBuffer::send(const MergeOutputs& out) {
  ++(flushing_ ? stats_.flushed : stats_.evicted);
  words_ -= static_cast<std::uint64_t>(std::popcount(out.out_mask));
  if (!flushing_ || !loses_one()) {
    injection_.push(
        sector_transaction(context_, out.out_sector * kSectorBytes, out.out_mask, out.out_data));
  }
}

}  // namespace warpfold

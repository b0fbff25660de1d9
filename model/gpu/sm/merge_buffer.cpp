// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/sm/merge_buffer.hpp"

#include <fmt/format.h>

#include <utility>

namespace warpfold {

MergeBuffer::MergeBuffer(std::string name, Domain& domain, const SmContext& context,
                         Outlet& injection)
    : SumBuffer(std::move(name), domain, context.config.buffer.queue_depth),
      context_(context),
      injection_(injection),
      merger_({.addresses = context.addresses, .sums = context.sums, .tally = context.tally},
              context.merge_rows) {}

void MergeBuffer::tick() {
  const bool passed = take();
  if (ended_ && merger_.words() != 0 && merger_.ready() && input.empty()) {
    merger_.flush();
  }
  if (merger_.busy()) {
    clock(passed);
  }
  if (merger_.busy() || !input.empty() || (ended_ && merger_.words() != 0)) {
    wake_next();
  } else {
    input.want_entries();
  }
}

std::string MergeBuffer::waits() const {
  return empty() ? ""
                 : fmt::format("{} holds {} sums, {} requests", name(), merger_.words(),
                               merger_.requests());
}

// Takes the next transaction once the last one's requests have been accepted. True if one went on
// to the injection port in this cycle.
bool MergeBuffer::take() {
  while (merger_.ready() && !input.empty()) {
    Transaction& transaction = input.front();
    if (transaction.load || transaction.passes) {
      if (!injection_.can_push()) {
        return false;
      }
      injection_.push(std::move(transaction));
      input.pop();
      return true;
    }
    if (transaction.flush) {
      ended_ = true;
    } else {
      merger_.take(transaction);
    }
    input.pop();
  }
  return false;
}

// What it sends leaves unless something else has `passed`.
void MergeBuffer::clock(bool passed) {
  const bool flushing = merger_.flushing();
  const auto leaving = merger_.clock(!passed && injection_.can_push());
  if (leaving && (!flushing || !loses_one())) {
    injection_.push(sector_packet(context_, *leaving));
  }
}

}  // namespace warpfold

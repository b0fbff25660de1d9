// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/sm/outlet.hpp"

#include <algorithm>
#include <utility>

#include "model/base/check.hpp"

namespace warpfold {

namespace {

bool answers_load(const Transaction& transaction) {
  return transaction.load && transaction.answers != Transaction::kNoAnswer;
}

}  // namespace

// A quarter of it is plenty, for which the port takes some cycles.
Outlet::Outlet(Block& sm, Domain& inside, std::size_t depth)
    : sm_(sm),
      inside_(inside),
      depth_(depth),
      ring_(depth),
      taken_(depth),
      plenty_(std::max<std::size_t>(depth / 4, 2)) {
  ARC_CHECK(depth > 0, "a queue needs room for one entry");
  if (inside.steps() != nullptr) {
    join(inside);
  }
}

void Outlet::push(Transaction&& transaction) {
  ARC_CHECK(can_push(), "push into a full queue");
  const Cycle cycle = inside_.now();
  Entry& entry = ring_[after(head_, left_)];
  loads_ += answers_load(transaction) ? 1U : 0U;
  entry.transaction = std::move(transaction);
  entry.pushed = cycle;
  ++left_;
  ++size_;
  if (level_ != nullptr) [[unlikely]] {
    level_->change(cycle + 1, 1);
  }
  pushed_ = cycle == last_push_ ? pushed_ + 1 : 1;
  last_push_ = cycle;
  if (port_waits_) {
    port_waits_ = false;
    port_->wake_at(cycle + 1);
  }
}

bool Outlet::quarter_full() const {
  const std::size_t pushed = inside_.now() == last_push_ ? pushed_ : 0;
  return 4 * (size_ - pushed) >= depth_;
}

void Outlet::begin(Cycle cycle) {
  bool room = false;
  while (size_ > left_ && taken_[taken_first_] < cycle) {
    --size_;
    taken_first_ = after(taken_first_, 1);
    room = true;
  }
  if (room && writer_waits_) {
    writer_waits_ = false;
    writer_->wake_at(cycle);
  }
}

void Outlet::pop() {
  taken_[after(taken_first_, size_ - left_)] = port_->domain().now();
  loads_ -= answers_load(front()) ? 1U : 0U;
  if (level_ != nullptr) [[unlikely]] {
    level_->change(port_->domain().now() + 1, -1);
  }
  --left_;
  if (inside_.steps() != nullptr) [[unlikely]] {
    request_update();
  }
  // Entries of an empty queue go where the last ones were: the whole ring would not stay in a
  // processor's cache.
  head_ = left_ == 0 ? 0 : after(head_, 1);
  // A processor's cache is to have the one behind the next when that is popped.
  __builtin_prefetch(&ring_[after(head_, 1)]);
  if (behind_ ? !has_plenty() : writer_waits_) {
    sm_.wake_next();
  }
}

void Outlet::want_entries() {
  if (left_ == 0) {
    port_waits_ = true;
  } else {
    port_->wake_at(std::max(port_->domain().now(), ring_[head_].pushed) + 1);
  }
}

}  // namespace warpfold

// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/memory/transaction_queues.hpp"

#include <utility>

namespace warpfold {

void TransactionQueues::push(std::uint32_t queue, std::uint32_t sm, Transaction&& transaction) {
  if (free_ == kNone) {
    free_ = static_cast<Index>(store_.size());
    store_.emplace_back();
  }
  const Index place = free_;
  free_ = store_[place].next;
  store_[place].transaction = std::move(transaction);
  store_[place].sm = sm;
  store_[place].next = kNone;
  Queue& q = queues_[queue];
  (q.size == 0 ? q.first : store_[q.last].next) = place;
  q.last = place;
  ++q.size;
}

void TransactionQueues::pop(std::uint32_t queue) {
  Queue& q = queues_[queue];
  const Index place = q.first;
  q.first = store_[place].next;
  --q.size;
  store_[place].next = free_;
  free_ = place;
}

}  // namespace warpfold

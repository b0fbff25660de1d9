// SPDX-License-Identifier: Apache-2.0
// First-in, first-out queues of transactions that share one store: there are many, and few hold
// anything at a time. Owned by a port of the L2; no clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/gpu/traffic/transaction.hpp"

namespace warpfold {

class TransactionQueues {
 public:
  explicit TransactionQueues(std::size_t queues) : queues_(queues) {}
  // Of that SM.
  void push(std::uint32_t queue, std::uint32_t sm, Transaction&& transaction);
  void pop(std::uint32_t queue);
  [[nodiscard]] Transaction& front(std::uint32_t queue) {
    return store_[queues_[queue].first].transaction;
  }
  [[nodiscard]] const Transaction& front(std::uint32_t queue) const {
    return store_[queues_[queue].first].transaction;
  }
  // Whose it is.
  [[nodiscard]] std::uint32_t sm(std::uint32_t queue) const {
    return store_[queues_[queue].first].sm;
  }
  [[nodiscard]] std::uint32_t size(std::uint32_t queue) const { return queues_[queue].size; }
  [[nodiscard]] std::size_t count() const { return queues_.size(); }
  // Transactions for which there has been room at a time.
  [[nodiscard]] std::size_t store_size() const { return store_.size(); }

 private:
  using Index = std::uint32_t;
  static constexpr Index kNone = ~Index{0};
  // One line of the host's cache.
  struct alignas(64) Entry {
    Transaction transaction;
    std::uint32_t sm = 0;
    Index next = kNone;  // in its queue, or free
  };
  struct Queue {
    Index first = kNone, last = kNone;
    std::uint32_t size = 0;
  };
  std::vector<Entry> store_;
  std::vector<Queue> queues_;
  Index free_ = kNone;
};

}  // namespace warpfold

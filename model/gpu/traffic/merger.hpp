// SPDX-License-Identifier: Apache-2.0
// The merge buffer (model/unit/golden_merge.hpp), and what of a transaction's additions it has
// not taken yet. Owned by a merge buffer of an SM or of a port of the L2, which clocks it.
//
//   transaction --> a request for each turn on a sector --> golden model --> sums of a sector
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "model/gpu/cta/gradient_memory.hpp"
#include "model/gpu/traffic/buffer_stats.hpp"
#include "model/gpu/traffic/line_sums.hpp"
#include "model/gpu/traffic/tally.hpp"
#include "model/gpu/traffic/transaction.hpp"
#include "model/types.hpp"
#include "model/unit/golden_merge.hpp"

namespace warpfold {

class Merger {
 public:
  // Plain data; all references outlive the merger.
  struct Context {
    const AddressMap& addresses;
    LineSumsPool& sums;
    Tally& tally;  // of its owner's partition
  };
  // Of a merge buffer of so many rows, which were cleared before the kernel, clocked once in
  // `period` cycles.
  Merger(const Context& context, std::uint32_t rows, std::uint32_t period = 1);

  // Nothing of the transaction that it was given last is left to request.
  [[nodiscard]] bool ready() const { return requests_.empty(); }
  // Requests what the transaction adds, lanes in order, word by word, and lets its CTA go. Only
  // while ready; additions of FP32 alone.
  void take(Transaction& transaction);
  // Has all sums leave. Only while ready.
  void flush() { flushing_ = true; }
  [[nodiscard]] bool flushing() const { return flushing_; }
  // It has work but the sums that it holds.
  [[nodiscard]] bool busy() const { return !ready() || flushing_ || golden_.busy(); }
  // Sums that it holds, and those begun by requests on their way.
  [[nodiscard]] std::uint64_t words() const { return words_; }
  [[nodiscard]] std::size_t requests() const { return requests_.size(); }
  [[nodiscard]] const BufferStats& stats() const { return stats_; }

  // A cycle, in which sums of a sector may leave if there is room for them.
  std::optional<SumsOfSector> clock(bool room);

 private:
  void add(Address address, Fp32Bits value);

  const Context context_;
  GoldenMergeBuffer golden_;
  const std::uint32_t period_;
  std::deque<MergeInputs> requests_;  // of the transaction in hand
  bool flushing_ = false;
  std::uint64_t words_ = 0;
  BufferStats stats_;
};

}  // namespace warpfold

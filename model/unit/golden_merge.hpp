// SPDX-License-Identifier: Apache-2.0
// Cycle model of the merge buffer of an SM, its SRAM included. It stands for no RTL of this
// project. Subnormals flush.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/types.hpp"

namespace warpfold {

// IndexBits of the RTL, its rows for a sector, its Words, and the bits of an address in a sector.
inline constexpr std::uint32_t kMergeIndexBits = 9;
inline constexpr std::uint32_t kMergeWays = 4;
inline constexpr std::uint32_t kMergeWords = 8;
inline constexpr std::uint32_t kMergeSectorBits = 5;
using MergeSums = std::array<Fp32Bits, kMergeWords>;

// What stands at its inputs in a cycle. A request, and flush_valid, stay until they are accepted.
struct MergeInputs {
  bool req_valid = false;
  std::uint64_t req_sector = 0;  // byte address / 32
  std::uint32_t req_mask = 0;    // words that are added to, at least one
  MergeSums req_data{};          // of others anything
  bool flush_valid = false;
  bool out_ready = false;
};

// Its outputs in the same cycle; payloads are zero while their valid is low.
struct MergeOutputs {
  bool req_ready = false;
  bool flush_ready = false;
  bool out_valid = false;
  std::uint64_t out_sector = 0;
  std::uint32_t out_mask = 0;
  MergeSums out_data{};
  bool ram_read = false;
  std::uint32_t ram_read_index = 0;
  bool ram_write = false;
  std::uint32_t ram_write_index = 0;
  bool busy = false;

  friend bool operator==(const MergeOutputs&, const MergeOutputs&) = default;
};

class GoldenMergeBuffer {
 public:
  // After reset: its rows are cleared in the first cycles, in which it is busy. `rows`: a power of
  // two of at least 2 * kMergeWays; the RTL's 2^IndexBits.
  explicit GoldenMergeBuffer(std::uint32_t rows = 1U << kMergeIndexBits);

  // One cycle.
  MergeOutputs tick(const MergeInputs& inputs);

  // The first of the kMergeWays rows in which a sector may lie. Row `way` of them, from 0, is
  // index_of(sector) ^ (way * rows() / kMergeWays).
  [[nodiscard]] std::uint32_t index_of(std::uint64_t sector) const;
  // Whether a register holds work; sums in the SRAM are none.
  [[nodiscard]] bool busy() const { return walk_ || !empty(); }
  // Of requests that have been looked up: those whose sector was in the row; words that had no sum
  // there yet.
  struct Stats {
    std::uint64_t hits = 0;
    std::uint64_t misses = 0;
    std::uint64_t begun = 0;
  };
  [[nodiscard]] const Stats& stats() const { return stats_; }
  [[nodiscard]] std::uint32_t rows() const { return static_cast<std::uint32_t>(ram_.size()); }

 private:
  static constexpr std::uint32_t kStages = 4;
  struct Row {
    std::uint64_t sector = 0;
    std::uint32_t mask = 0;
    MergeSums sums{};
  };
  struct Look {
    bool valid = false;
    bool walk = false;
    bool last = false;
    std::uint32_t index = 0;
    Row request;
  };
  struct Add {
    bool valid = false;
    std::uint32_t index = 0;
    Row row;  // as it will be written
  };

  [[nodiscard]] bool in_hand(std::uint32_t index) const;
  [[nodiscard]] std::optional<std::uint32_t> free_row_of(std::uint64_t sector) const;
  [[nodiscard]] bool empty() const;
  [[nodiscard]] Row summed(const Row& row, bool hit) const;

  std::vector<Row> ram_;
  Row read_;  // what the last read delivers
  Look look_;
  std::array<Add, kStages> adds_{};
  bool walk_ = true;
  bool clear_ = true;
  bool all_read_ = false;
  std::uint32_t walk_index_ = 0;
  Stats stats_;
};

}  // namespace warpfold

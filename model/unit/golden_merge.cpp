// SPDX-License-Identifier: Apache-2.0
#include "model/unit/golden_merge.hpp"

#include <algorithm>
#include <bit>

#include "model/base/check.hpp"
#include "model/unit/fp32.hpp"

namespace warpfold {

GoldenMergeBuffer::GoldenMergeBuffer(std::uint32_t rows) : ram_(rows) {
  ARC_CHECK(std::has_single_bit(rows) && rows >= 2 * kMergeWays,
            "rows of a merge buffer are a power of two of at least 8");
}

std::uint32_t GoldenMergeBuffer::index_of(std::uint64_t sector) const {
  const auto bits = static_cast<std::uint32_t>(std::countr_zero(rows()));
  std::uint64_t index = 0;
  for (; sector != 0; sector >>= bits) {
    index ^= sector & (rows() - 1);
  }
  return static_cast<std::uint32_t>(index);
}

// The first of a sector's rows that no request has in hand.
std::optional<std::uint32_t> GoldenMergeBuffer::free_row_of(std::uint64_t sector) const {
  const std::uint32_t first = index_of(sector);
  for (std::uint32_t way = 0; way < kMergeWays; ++way) {
    const std::uint32_t index = first ^ (way * (rows() / kMergeWays));
    if (!in_hand(index)) {
      return index;
    }
  }
  return std::nullopt;
}

bool GoldenMergeBuffer::in_hand(std::uint32_t index) const {
  return (look_.valid && look_.index == index) ||
         std::any_of(adds_.begin(), adds_.end(),
                     [index](const Add& add) { return add.valid && add.index == index; });
}

bool GoldenMergeBuffer::empty() const {
  return !look_.valid &&
         std::none_of(adds_.begin(), adds_.end(), [](const Add& add) { return add.valid; });
}

// The row after the request that is looked up, with the sums of before if it is a hit.
GoldenMergeBuffer::Row GoldenMergeBuffer::summed(const Row& row, bool hit) const {
  const Row& request = look_.request;
  const std::uint32_t kept = hit ? row.mask : 0;
  Row sum{.sector = request.sector, .mask = request.mask | kept};
  for (std::uint32_t w = 0; w < kMergeWords; ++w) {
    sum.sums[w] = fp32_add((kept >> w & 1U) != 0 ? row.sums[w] : kFp32MinusZero,
                           (request.mask >> w & 1U) != 0 ? request.sums[w] : kFp32MinusZero);
  }
  return sum;
}

MergeOutputs GoldenMergeBuffer::tick(const MergeInputs& inputs) {
  MergeOutputs out;
  out.busy = busy();
  const bool was_empty = empty();

  // Look-up.
  const bool held = read_.mask != 0;
  const bool hit = held && !look_.walk && read_.sector == look_.request.sector;
  out.out_valid = look_.valid && !clear_ && held && !hit;
  if (out.out_valid) {
    out.out_sector = read_.sector;
    out.out_mask = read_.mask;
    for (std::uint32_t w = 0; w < kMergeWords; ++w) {
      out.out_data[w] = (read_.mask >> w & 1U) != 0 ? read_.sums[w] : 0;
    }
  }
  const bool moves = look_.valid && (!out.out_valid || inputs.out_ready);
  const bool walk_ends = look_.walk && look_.last && moves;
  out.flush_ready = walk_ends && !clear_;

  // Accept, or walk.
  const std::optional<std::uint32_t> index = free_row_of(inputs.req_sector);
  out.req_ready =
      inputs.req_valid && !walk_ && !inputs.flush_valid && index && (!look_.valid || moves);
  const bool walk_reads = walk_ && !all_read_ && (!look_.valid || moves);
  out.ram_read = out.req_ready || walk_reads;
  out.ram_read_index = out.req_ready ? *index : walk_reads ? walk_index_ : 0;

  // Write back.
  const Add& written = adds_.back();
  const bool clears = look_.walk && moves;
  out.ram_write = written.valid || clears;
  out.ram_write_index = written.valid ? written.index : clears ? look_.index : 0;

  if (moves && !look_.walk) {
    ++(hit ? stats_.hits : stats_.misses);
    stats_.begun +=
        static_cast<std::uint64_t>(std::popcount(look_.request.mask & ~(hit ? read_.mask : 0)));
  }

  // The edge.
  if (out.ram_write) {
    ram_[out.ram_write_index] = written.valid ? written.row : Row{};
  }
  std::copy_backward(adds_.begin(), adds_.end() - 1, adds_.end());
  adds_.front() = {.valid = moves && !look_.walk, .index = look_.index, .row = summed(read_, hit)};
  look_.valid = out.ram_read || (look_.valid && !moves);
  if (out.ram_read) {
    read_ = ram_[out.ram_read_index];
    look_.walk = walk_reads;
    look_.last = walk_index_ == rows() - 1;
    look_.index = out.ram_read_index;
    look_.request = {.sector = inputs.req_sector, .mask = inputs.req_mask, .sums = inputs.req_data};
  }
  if (walk_reads) {
    all_read_ = walk_index_ == rows() - 1;
    walk_index_ = (walk_index_ + 1) % rows();
  }
  all_read_ = all_read_ && !walk_ends;
  walk_ = walk_ ? !walk_ends : inputs.flush_valid && was_empty;
  clear_ = clear_ && !walk_ends;
  return out;
}

}  // namespace warpfold

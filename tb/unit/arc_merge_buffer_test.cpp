// SPDX-License-Identifier: Apache-2.0
// The merge buffer in lockstep with its golden model, every port in every cycle, around an SRAM
// that keeps its contract: requests to few sectors and to many, a way out that is often busy,
// flushes. What leaves is compared, word by word, with the chain of additions in its row since the
// sector came there, which a scoreboard keeps from the requests and the row that each reads.

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "Varc_merge_buffer.h"
#include "Varc_merge_buffer_small.h"
#include "model/unit/fp32.hpp"
#include "model/unit/golden_merge.hpp"
#include "tb/unit/bench.hpp"

namespace warpfold {
namespace {

struct Whole {
  using Module = Varc_merge_buffer;
  static constexpr std::uint32_t kRows = 1U << kMergeIndexBits;
};
struct Small {
  using Module = Varc_merge_buffer_small;
  static constexpr std::uint32_t kRows = 8;
};

// Sums of each row that has some, from the requests that were accepted and the row that each took.
class Scoreboard {
 public:
  void add(const MergeInputs& request, std::uint32_t index) {
    ASSERT_FALSE(due_) << "a request came by sums that must leave";
    Row& row = rows_[index];
    if (row.mask != 0 && row.sector != request.req_sector) {
      due_ = row;
      row = {};
    }
    row.sector = request.req_sector;
    for (std::uint32_t w = 0; w < kMergeWords; ++w) {
      if ((request.req_mask >> w & 1U) != 0) {
        const bool first = (row.mask >> w & 1U) == 0;
        row.sums[w] = fp32_add(first ? kFp32MinusZero : row.sums[w], request.req_data[w]);
      }
    }
    row.mask |= request.req_mask;
  }
  // Sums leave of the row that was read last.
  void leave(const MergeOutputs& out, std::uint32_t index) {
    const auto found = rows_.find(index);
    ASSERT_TRUE(due_ || found != rows_.end()) << "sums of row " << index << " left twice";
    const Row& row = due_ ? *due_ : found->second;
    EXPECT_EQ(out.out_sector, row.sector);
    EXPECT_EQ(out.out_mask, row.mask);
    EXPECT_EQ(out.out_data, row.sums);
    if (due_) {
      due_.reset();
    } else {
      rows_.erase(found);
    }
  }
  bool empty() const { return rows_.empty() && !due_; }

 private:
  struct Row {
    std::uint64_t sector = 0;
    std::uint32_t mask = 0;
    MergeSums sums{};
  };
  std::map<std::uint32_t, Row> rows_;
  std::optional<Row> due_;  // sums that made room for the request accepted last
};

template <typename Kind>
class MergeBuffer : public testing::Test {
 protected:
  static constexpr std::uint32_t kTagBits =
      kAddrWidth - kMergeSectorBits - std::uint32_t(std::countr_zero(Kind::kRows / kMergeWays));

  MergeBuffer() : ram_(Kind::kRows), golden_(Kind::kRows) {
    std::mt19937_64 garbage(7);
    for (Row& row : ram_) {
      for (std::uint32_t& word : row) {
        word = static_cast<std::uint32_t>(garbage());
      }
    }
    drive({});
    put_row(ram_[0]);
    dut_.reset();
  }

  // One cycle of both; the outputs they agree on.
  MergeOutputs cycle(const MergeInputs& in) {
    drive(in);
    dut_.settle();
    const MergeOutputs out = outputs();
    const MergeOutputs expected = golden_.tick(in);
    EXPECT_EQ(out, expected) << describe(out) << "golden: " << describe(expected) << "cycle "
                             << dut_.cycle();
    if (out.ram_write) {
      for (std::size_t i = 0; i < ram_[0].size(); ++i) {
        ram_[out.ram_write_index][i] = word_of(dut_->ram_write_row_o, i);
      }
    }
    const Row row = ram_[out.ram_read ? out.ram_read_index : 0];
    dut_.edge();
    if (out.ram_read) {
      put_row(row);
    }
    if (out.out_valid && in.out_ready) {
      scoreboard_.leave(out, last_read_);
    }
    if (out.req_ready) {
      scoreboard_.add(in, out.ram_read_index);
    }
    if (out.ram_read) {
      last_read_ = out.ram_read_index;
    }
    return out;
  }
  // Until the rows are cleared; how many cycles that took.
  std::uint32_t clear() {
    std::uint32_t cycles = 0;
    while (cycle({}).busy) {
      ++cycles;
    }
    return cycles;
  }
  // Holds a request until it is accepted; how many cycles it stood.
  std::uint32_t request(const MergeInputs& in) {
    std::uint32_t cycles = 1;
    while (!cycle(in).req_ready) {
      ++cycles;
    }
    return cycles;
  }
  void idle(std::uint32_t cycles) {
    for (; cycles > 0; --cycles) {
      cycle({});
    }
  }
  // The row that was read last.
  std::uint32_t last_read() const { return last_read_; }
  std::vector<MergeOutputs> flush() {
    std::vector<MergeOutputs> left;
    for (;;) {
      const MergeOutputs out = cycle({.flush_valid = true, .out_ready = true});
      if (out.out_valid) {
        left.push_back(out);
      }
      if (out.flush_ready) {
        return left;
      }
    }
  }

  static MergeInputs addition(std::uint64_t sector, std::uint32_t word, float value) {
    MergeInputs in{.req_valid = true, .req_sector = sector, .req_mask = 1U << word};
    in.req_data[word] = std::bit_cast<Fp32Bits>(value);
    return in;
  }

  Scoreboard scoreboard_;
  GoldenMergeBuffer& golden() { return golden_; }

 private:
  static constexpr std::size_t kRowWords = (kTagBits + kMergeWords + 32 * kMergeWords + 31) / 32;
  using Row = std::array<std::uint32_t, kRowWords>;

  template <typename Wide>
  static std::uint32_t word_of(const Wide& wide, std::size_t i) {
    return wide[i];
  }
  void put_row(const Row& row) {
    for (std::size_t i = 0; i < kRowWords; ++i) {
      dut_->ram_row_i[i] = row[i];
    }
    constexpr std::uint32_t kTop = (kTagBits + kMergeWords) % 32;
    if (kTop != 0) {
      dut_->ram_row_i[kRowWords - 1] &= (1U << kTop) - 1;
    }
  }
  void drive(const MergeInputs& in) {
    dut_->req_valid_i = in.req_valid;
    dut_->req_sector_i = in.req_sector;
    dut_->req_mask_i = static_cast<std::uint8_t>(in.req_mask);
    for (std::uint32_t w = 0; w < kMergeWords; ++w) {
      dut_->req_data_i[w] = in.req_data[w];
    }
    dut_->flush_valid_i = in.flush_valid;
    dut_->out_ready_i = in.out_ready;
  }
  MergeOutputs outputs() {
    MergeOutputs out{.req_ready = dut_->req_ready_o != 0,
                     .flush_ready = dut_->flush_ready_o != 0,
                     .out_valid = dut_->out_valid_o != 0,
                     .out_sector = dut_->out_sector_o,
                     .out_mask = dut_->out_mask_o,
                     .ram_read = dut_->ram_read_o != 0,
                     .ram_read_index = dut_->ram_read_index_o,
                     .ram_write = dut_->ram_write_o != 0,
                     .ram_write_index = dut_->ram_write_index_o,
                     .busy = dut_->busy_o != 0};
    for (std::uint32_t w = 0; w < kMergeWords; ++w) {
      out.out_data[w] = dut_->out_data_o[w];
    }
    return out;
  }
  static std::string describe(const MergeOutputs& out) {
    return "ready " + std::to_string(out.req_ready) + " flush " + std::to_string(out.flush_ready) +
           " out " + std::to_string(out.out_valid) + " sector " + std::to_string(out.out_sector) +
           " read " + std::to_string(out.ram_read) + "@" + std::to_string(out.ram_read_index) +
           " write " + std::to_string(out.ram_write) + "@" + std::to_string(out.ram_write_index) +
           " busy " + std::to_string(out.busy) + "; ";
  }

  bench::ClockedDut<typename Kind::Module> dut_;
  std::vector<Row> ram_;
  std::uint32_t last_read_ = 0;
  GoldenMergeBuffer golden_;
};

using Kinds = testing::Types<Whole, Small>;
TYPED_TEST_SUITE(MergeBuffer, Kinds);

TYPED_TEST(MergeBuffer, ClearsItsRowsAfterReset) {
  EXPECT_EQ(this->clear(), TypeParam::kRows + 1);
  EXPECT_TRUE(this->flush().empty());
}

TYPED_TEST(MergeBuffer, AcceptsARequestInEveryCycleAndPutsItInItsFirstRow) {
  this->clear();
  for (std::uint64_t sector = 0; sector < 8; ++sector) {
    const MergeOutputs out = this->cycle(this->addition(sector, 0, 1));
    EXPECT_TRUE(out.req_ready);
    EXPECT_EQ(out.ram_read_index, this->golden().index_of(sector));
  }
  EXPECT_EQ(this->flush().size(), 8U);
}

TYPED_TEST(MergeBuffer, AcceptsFourRequestsOfASectorInSixCycles) {
  this->clear();
  const std::uint64_t hot = 9;
  const std::uint32_t first = this->golden().index_of(hot);
  // Values are powers of two, so the sum of a row tells its requests.
  for (std::uint32_t i = 0; i < 12; ++i) {
    const MergeInputs in = this->addition(hot, i < 11 ? 0 : 1, static_cast<float>(1U << i));
    EXPECT_EQ(this->request(in), i % 4 == 0 && i > 0 ? 3U : 1U) << "request " << i;
    EXPECT_EQ(this->last_read(), first ^ (i % 4 * (TypeParam::kRows / 4))) << "request " << i;
  }
  const auto left = this->flush();
  ASSERT_EQ(left.size(), 4U);
  std::uint32_t total = 0;
  for (const MergeOutputs& out : left) {
    EXPECT_EQ(out.out_sector, hot);
    for (std::uint32_t word = 0; word < 2; ++word) {
      if ((out.out_mask >> word & 1U) != 0) {
        total += static_cast<std::uint32_t>(std::bit_cast<float>(out.out_data[word]));
      }
    }
  }
  EXPECT_EQ(total, (1U << 12U) - 1);
  EXPECT_TRUE(this->scoreboard_.empty());
}

TYPED_TEST(MergeBuffer, TakesTheFirstRowAgainOnceItIsFree) {
  this->clear();
  this->request(this->addition(9, 0, 1));
  this->idle(4);
  // Five cycles after, the first row is still in hand.
  this->request(this->addition(9, 0, 2));
  EXPECT_NE(this->last_read(), this->golden().index_of(9));
  this->request(this->addition(9, 1, 4));
  EXPECT_EQ(this->last_read(), this->golden().index_of(9));
  const auto left = this->flush();
  ASSERT_EQ(left.size(), 2U);
  EXPECT_EQ(left[0].out_sector, 9U);
  EXPECT_EQ(left[1].out_sector, 9U);
}

TYPED_TEST(MergeBuffer, NeighboursDoNotPushEachOtherOut) {
  this->clear();
  for (std::uint32_t i = 0; i < 40; ++i) {
    const std::uint64_t sector = 8 + i % 2;
    MergeInputs in = this->addition(sector, 0, 1);
    in.out_ready = true;
    for (;;) {
      const MergeOutputs out = this->cycle(in);
      EXPECT_FALSE(out.out_valid) << "sums of sector " << out.out_sector << " left";
      if (out.req_ready) {
        break;
      }
    }
  }
  const auto left = this->flush();
  float total = 0;
  for (const MergeOutputs& out : left) {
    total += std::bit_cast<float>(out.out_data[0]);
  }
  EXPECT_EQ(total, 40.0F);
}

TYPED_TEST(MergeBuffer, SendsTheSumsOfASectorThatMustGo) {
  this->clear();
  const std::uint64_t first = 5;
  std::uint64_t second = 6;
  while (this->golden().index_of(second) != this->golden().index_of(first)) {
    ++second;
  }
  this->request(this->addition(first, 2, 7));
  this->idle(8);
  this->request(this->addition(second, 3, 8));
  // It waits for the way out, and lets nobody by.
  for (int i = 0; i < 5; ++i) {
    const MergeOutputs out = this->cycle({});
    EXPECT_TRUE(out.out_valid);
    EXPECT_EQ(out.out_sector, first);
  }
  EXPECT_TRUE(this->cycle({.out_ready = true}).out_valid);
  const auto left = this->flush();
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left[0].out_sector, second);
  EXPECT_TRUE(this->scoreboard_.empty());
}

TYPED_TEST(MergeBuffer, AddsAsAGlobalRedDoes) {
  this->clear();
  const Fp32Bits subnormal = 0x00400000U;
  const Fp32Bits quiet = 0x7fc01234U;
  MergeInputs in{.req_valid = true, .req_sector = 1, .req_mask = 0xfU};
  in.req_data = {subnormal, quiet, kFp32MinusZero, kFp32Infinity, 0, 0, 0, 0};
  this->request(in);
  this->idle(5);
  in.req_data = {subnormal, 0, kFp32MinusZero, kFp32Infinity | kFp32Sign, 0, 0, 0, 0};
  this->request(in);
  const auto left = this->flush();
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left[0].out_data,
            (MergeSums{0, kFp32CanonicalNan, kFp32MinusZero, kFp32CanonicalNan, 0, 0, 0, 0}));
}

// Of so many sectors, beside so busy a way out, with so many requests among 100 cycles.
template <typename Bench>
void run_at_random(Bench& bench, bench::Rng& rng, std::uint64_t sectors, unsigned free,
                   unsigned busy) {
  const auto any = [&] {
    MergeInputs in{.req_valid = true};
    // A few bits of the address, spread over all of it.
    const std::uint64_t pick = rng() % sectors;
    in.req_sector = (pick & 3U) | (pick >> 2U & 7U) << 8U | (pick >> 5U) << 40U;
    in.req_sector &= (std::uint64_t{1} << (kAddrWidth - kMergeSectorBits)) - 1;
    in.req_mask = static_cast<std::uint32_t>(1 + rng() % 255);
    for (Fp32Bits& word : in.req_data) {
      word = bench::chance(rng, 10)
                 ? static_cast<Fp32Bits>(rng())
                 : std::bit_cast<Fp32Bits>(static_cast<float>(rng() % 999) - 500);
    }
    return in;
  };
  std::optional<MergeInputs> request;
  bool flushes = false;
  for (int i = 0; (i < 20000 || request || flushes) && !testing::Test::HasFailure(); ++i) {
    if (i < 20000 && !request && bench::chance(rng, busy)) {
      request = any();
    }
    flushes = flushes || (i < 20000 && rng() % 4000 == 0);
    MergeInputs in = request.value_or(MergeInputs{});
    in.flush_valid = flushes;
    in.out_ready = bench::chance(rng, free);
    const MergeOutputs out = bench.cycle(in);
    if (out.req_ready) {
      request.reset();
    }
    if (out.flush_ready) {
      flushes = false;
      EXPECT_TRUE(bench.scoreboard_.empty()) << "sums stayed behind a flush";
    }
  }
}

template <typename Kind>
class RandomMergeBuffer : public MergeBuffer<Kind> {
 public:
  using MergeBuffer<Kind>::cycle;
  using MergeBuffer<Kind>::scoreboard_;
};
TYPED_TEST_SUITE(RandomMergeBuffer, Kinds);

TYPED_TEST(RandomMergeBuffer, AgreesWithGoldenAndLosesNothing) {
  bench::Rng rng(bench::seed());
  for (const std::uint64_t sectors : {1U, 2U, 16U, 255U}) {
    for (const unsigned free : {100U, 60U, 5U}) {
      run_at_random(*this, rng, sectors, free, sectors == 16 ? 30 : 95);
    }
  }
  this->flush();
  EXPECT_TRUE(this->scoreboard_.empty());
}

}  // namespace
}  // namespace warpfold

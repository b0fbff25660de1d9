// SPDX-License-Identifier: Apache-2.0
// The merge buffer in lockstep with its golden model, every port in every cycle, around an SRAM
// that keeps its contract: requests to few sectors and to many, a way out that is often busy,
// flushes. What leaves is compared, word by word, with the chain of additions since the sector
// came, which a scoreboard keeps from the requests alone.

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
  static constexpr std::uint32_t kRows = 4;
};

// Sums of each sector that has some, from the requests that were accepted.
class Scoreboard {
 public:
  void add(const MergeInputs& request) {
    Sector& sector = sectors_[request.req_sector];
    for (std::uint32_t w = 0; w < kMergeWords; ++w) {
      if ((request.req_mask >> w & 1U) != 0) {
        const bool first = (sector.mask >> w & 1U) == 0;
        sector.sums[w] = fp32_add(first ? kFp32MinusZero : sector.sums[w], request.req_data[w]);
      }
    }
    sector.mask |= request.req_mask;
  }
  void leave(const MergeOutputs& out) {
    const auto found = sectors_.find(out.out_sector);
    ASSERT_NE(found, sectors_.end()) << "sums of sector " << out.out_sector << " left twice";
    EXPECT_EQ(out.out_mask, found->second.mask);
    EXPECT_EQ(out.out_data, found->second.sums);
    sectors_.erase(found);
  }
  bool empty() const { return sectors_.empty(); }
  std::size_t size() const { return sectors_.size(); }

 private:
  struct Sector {
    std::uint32_t mask = 0;
    MergeSums sums{};
  };
  std::map<std::uint64_t, Sector> sectors_;
};

template <typename Kind>
class MergeBuffer : public testing::Test {
 protected:
  static constexpr std::uint32_t kTagBits =
      kAddrWidth - kMergeSectorBits - std::uint32_t(std::countr_zero(Kind::kRows));

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
    if (out.req_ready) {
      scoreboard_.add(in);
    }
    if (out.out_valid && in.out_ready) {
      scoreboard_.leave(out);
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
  GoldenMergeBuffer golden_;
};

using Kinds = testing::Types<Whole, Small>;
TYPED_TEST_SUITE(MergeBuffer, Kinds);

TYPED_TEST(MergeBuffer, ClearsItsRowsAfterReset) {
  EXPECT_EQ(this->clear(), TypeParam::kRows + 1);
  EXPECT_TRUE(this->flush().empty());
}

TYPED_TEST(MergeBuffer, AcceptsARequestOfAnotherRowInEveryCycle) {
  this->clear();
  for (std::uint64_t sector = 0; sector < 4; ++sector) {
    EXPECT_EQ(this->request(this->addition(sector, 0, 1)), 1U);
  }
}

TYPED_TEST(MergeBuffer, AcceptsTheNextOfARowAfterSixCycles) {
  this->clear();
  this->request(this->addition(9, 0, 1));
  EXPECT_EQ(this->request(this->addition(9, 0, 2)), 6U);
  EXPECT_EQ(this->request(this->addition(9, 1, 4)), 6U);
  const auto left = this->flush();
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left[0].out_sector, 9U);
  EXPECT_EQ(left[0].out_mask, 3U);
  EXPECT_EQ(left[0].out_data[0], std::bit_cast<Fp32Bits>(3.0F));
  EXPECT_EQ(left[0].out_data[1], std::bit_cast<Fp32Bits>(4.0F));
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
    in.req_sector = (pick & 3U) | (pick >> 2U & 7U) << 9U | (pick >> 5U) << 40U;
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
  for (const std::uint64_t sectors : {2U, 16U, 255U}) {
    for (const unsigned free : {100U, 60U, 5U}) {
      run_at_random(*this, rng, sectors, free, sectors == 16 ? 30 : 95);
    }
  }
  this->flush();
  EXPECT_TRUE(this->scoreboard_.empty());
}

}  // namespace
}  // namespace warpfold
